"""Whose order it is, which one, and in which state it has to be."""

from __future__ import annotations

import json

import pytest

from ledgeragent import (
    Decision,
    Path,
    Reply,
    Session,
    ToolCall,
    ToolReturn,
)
from ledgeragent.testing import assert_revises, judge
from ledgeragent.types import Json
from tests.packs.retail.talk import (
    FRIEND,
    GIFT,
    ME,
    ORDER,
    PAYPAL,
    RETAIL,
    SECOND,
    SHOE,
    SHOE_BLACK,
    address,
    by_email,
    cancel,
    exchange,
    give_back,
    known,
    look,
    modify,
    order,
    payment,
    profile,
    read,
    shoes,
    talk,
    user,
    verdict_of,
)
from tests.packs.talk import asked, violated

# Who is served


FAILURES = [
    ("Error: User not found", False),
    ("Error: user not found", True),
    (f"{ME}", True),
    ("This lookup was refused, ask the customer again.", False),
    ("Unavailable", False),
    ("null", False),
    ("", False),
    (f'["{ME}", "{FRIEND}"]', False),
    (f"{ME} {FRIEND}", False),
    (f"the customer is {ME}", False),
    ('{"error": "no such customer"}', False),
    (f"{ME}\u0000", False),
]


@pytest.mark.parametrize(("answer", "error"), FAILURES)
def test_a_failed_lookup_identifies_nobody(answer: str, error: bool) -> None:
    session = talk((by_email(), answer), error=error)
    session.state = session.state.observe(Reply(calls=(look(order())[0],)), RETAIL)
    session.observe(ToolReturn(call_id="1", content=json.dumps(order())))
    verdict = verdict_of(session, cancel())
    assert verdict.decision is Decision.REVISE
    assert {f.predicate for f in verdict.findings} == {"retail/authenticated"}
    assert asked(verdict) == {"find_user_id_by_email()", "find_user_id_by_name_zip()"}


@pytest.mark.parametrize(
    "answer",
    [
        f'"{ME}"',
        f'{{"result": "{ME}"}}',
        f" {ME}\n",
        {"result": ME},
        [{"type": "text", "text": f'"{ME}"'}],
    ],
    ids=str,
)
def test_a_lookup_identifies_however_its_answer_is_wrapped(answer: Json) -> None:
    session = Session(RETAIL)
    session.filter(Reply(calls=(by_email(),)))
    session.observe(ToolReturn(call_id="1", content=answer))
    session.filter(Reply(calls=(look(order())[0],)))
    session.observe(ToolReturn(call_id="1", content=json.dumps(order())))
    assert verdict_of(session, cancel()).allowed
    assert verdict_of(session, profile()).allowed


@pytest.mark.parametrize(
    "user_id", [ME, "o'neil_de-la-cruz_7", "josé_luis_muñoz_12", "Ada_Lund_3100"]
)
def test_ids_of_real_names_identify(user_id: str) -> None:
    assert verdict_of(talk((by_email(), user_id)), profile(user_id)).allowed


def test_a_decoded_list_is_no_user_id() -> None:
    session = Session(RETAIL)
    session.filter(Reply(calls=(by_email(),)))
    absorption = session.observe(ToolReturn(call_id="1", content=[ME]))
    assert absorption.stored == ()
    assert "a lookup answers with one user id" in (absorption.skipped or "")


def test_a_second_attempt_identifies() -> None:
    session = talk(
        (by_email(), "Error: User not found"),
        (read("find_user_id_by_name_zip", first_name="A", last_name="L", zip="9"), ME),
        look(order()),
    )
    assert verdict_of(session, cancel()).allowed


def test_a_user_id_the_customer_gave_identifies_nobody() -> None:
    verdict = verdict_of(talk(look(user()), look(order())), cancel())
    assert verdict.decision is Decision.REVISE
    assert asked(verdict) == {"find_user_id_by_email()", "find_user_id_by_name_zip()"}


THEIRS = order("delivered", owner=FRIEND, order_id=SECOND)


@pytest.mark.parametrize(
    "curiosity",
    [
        look(user(FRIEND)),
        (by_email("bo@example.com"), FRIEND),
        (read("find_user_id_by_name_zip", first_name="Bo", last_name="Friis", zip="1"), FRIEND),
    ],
    ids=["profile", "email", "name and zip"],
)
def test_looking_at_a_friend_does_not_make_them_the_customer(
    curiosity: tuple[ToolCall, Json],
) -> None:
    session = talk((by_email(), ME), curiosity, look(order()), look(THEIRS))
    assert verdict_of(session, cancel()).allowed
    assert verdict_of(session, profile()).allowed
    for call in (give_back([SHOE], order_id=SECOND), profile(FRIEND)):
        verdict = verdict_of(session, call)
        assert verdict.decision is Decision.BLOCK
        assert {finding.clause for finding in verdict.violations} == {"retail/one-user"}
        assert FRIEND not in verdict.feedback or call.name == "modify_user_address"


def test_locating_the_customer_again_changes_nothing() -> None:
    session = talk(
        (by_email(), ME), look(order()), (by_email("bo@x"), FRIEND), (by_email(), ME), look(THEIRS)
    )
    verdict = verdict_of(session, give_back([SHOE], order_id=SECOND))
    assert verdict.decision is Decision.BLOCK
    facts = {fact.path: fact.value for fact in verdict.violations[0].evidence}
    assert facts == {
        f"orders.{SECOND}.user_id": FRIEND,
        f"auth.course.located:{ME}": "email",
    }


def test_a_mistyped_lookup_can_be_corrected_before_anything_is_opened() -> None:
    mistyped, right = (by_email("bo@x"), FRIEND), (by_email(), ME)
    session = talk(mistyped, right, look(order()), look(THEIRS))
    assert verdict_of(session, cancel()).allowed
    assert verdict_of(session, profile()).allowed
    for call in (give_back([SHOE], order_id=SECOND), profile(FRIEND)):
        assert verdict_of(session, call).decision is Decision.BLOCK
    assert verdict_of(talk(mistyped, right), profile()).allowed
    assert verdict_of(talk(look(order()), mistyped, right), cancel()).allowed


def test_of_two_people_located_the_one_whose_record_is_opened_is_served() -> None:
    session = talk((by_email(), ME), (by_email("bo@x"), FRIEND), look(order()), look(THEIRS))
    assert verdict_of(session, cancel()).allowed
    assert verdict_of(session, give_back([SHOE], order_id=SECOND)).decision is Decision.BLOCK


@pytest.mark.parametrize("answer", ["the address was changed", user()], ids=["receipt", "profile"])
def test_whoever_had_their_profile_changed_stays_the_customer(answer: Json) -> None:
    session = talk((by_email(), ME), (profile(), answer), (by_email("bo@x"), FRIEND))
    assert verdict_of(session, profile()).allowed
    assert verdict_of(session, profile(FRIEND)).decision is Decision.BLOCK
    both = session.filter(Reply(calls=(profile(), profile(FRIEND))))
    assert [verdict.allowed for verdict in both.verdicts] == [True, False]


def test_an_unreadable_answer_hands_the_conversation_to_nobody() -> None:
    session = talk(
        (by_email(), ME),
        look(order()),
        (by_email("bo@x"), FRIEND),
        (look(order())[0], "Unavailable"),
        (by_email(), "Unavailable"),
        look(THEIRS),
    )
    verdict = verdict_of(session, give_back([SHOE], order_id=SECOND))
    assert verdict.decision is Decision.BLOCK
    assert violated(verdict) == {"retail/one-user"}


def test_an_argument_of_another_tool_smuggles_nobody_in() -> None:
    call = ToolCall(
        name="cancel_pending_order",
        arguments={**cancel(SECOND).arguments, "user_id": ME},
    )
    theirs = order(owner=FRIEND, order_id=SECOND)
    verdict = verdict_of(talk((by_email(), ME), look(theirs)), call)
    assert violated(verdict) == {"gate/unknown-argument", "retail/one-user"}
    own = ToolCall(
        name="modify_user_address", arguments={**profile(FRIEND).arguments, "order_id": ORDER}
    )
    verdict = verdict_of(talk((by_email(), ME), look(order())), own)
    assert violated(verdict) == {"gate/unknown-argument", "retail/one-user-profile"}


def test_nobody_is_sent_to_open_a_strangers_profile() -> None:
    session = talk((by_email(), ME), look(user()), look(THEIRS))
    verdict = verdict_of(session, give_back([SHOE], GIFT, SECOND))
    assert violated(verdict) == {"retail/one-user"}
    assert asked(verdict) == set()


# States and reasons


STATUSES = (
    "pending",
    "pending (item modified)",
    "pending (items modifed)",
    "processed",
    "delivered",
    "cancelled",
    "return requested",
    "exchange requested",
)
CHANGED_ONCE = (*STATUSES[1:3], "return requested", "exchange requested")


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(
    ("call", "needed"),
    [
        (cancel(), "pending"),
        (address(), "pending"),
        (payment(PAYPAL), "pending"),
        (modify([SHOE], [SHOE_BLACK]), "pending"),
        (give_back([SHOE]), "delivered"),
        (exchange([SHOE], [SHOE_BLACK]), "delivered"),
    ],
    ids=lambda value: value.name if isinstance(value, ToolCall) else "",
)
def test_each_write_needs_its_status(call: ToolCall, needed: str, status: str) -> None:
    records = known(order(status), user(), shoes())
    verdict = judge(RETAIL, records, call.name, **call.arguments)
    assert verdict.decision is (Decision.ALLOW if status == needed else Decision.BLOCK)
    assert ("retail/once-per-order" in violated(verdict)) is (status in CHANGED_ONCE)


@pytest.mark.parametrize("reason", ["", "no longer needed.", "changed my mind", "No Longer Needed"])
def test_another_reason_is_revised_with_the_accepted_ones(reason: str) -> None:
    verdict = assert_revises(
        RETAIL, known(order()), "cancel_pending_order", order_id=ORDER, reason=reason
    )
    assert violated(verdict) == {"retail/cancel-reason"}
    assert "'no longer needed' or 'ordered by mistake'" in verdict.feedback


# Ids


def test_repeated_call_ids_are_paired_in_order() -> None:
    session = talk((by_email(), ME))
    calls = tuple(read("get_order_details", "same", order_id=one) for one in (ORDER, SECOND))
    session.filter(Reply(calls=calls))
    for record in (order(), order("delivered", order_id=SECOND)):
        session.observe(ToolReturn(call_id="same", content=json.dumps(record)))
    assert verdict_of(session, cancel(ORDER)).allowed
    assert violated(verdict_of(session, cancel(SECOND))) == {"retail/cancel-pending"}


@pytest.mark.parametrize(
    "odd", ["#W12.34", 'say "hi"', "two\nlines", "</ledger>", "#W10 ", "＃W10", "orders.#W10"]
)
def test_odd_ids_are_other_orders(odd: str) -> None:
    session = talk((by_email(), ME), look(order()), look(order("delivered", order_id=odd)))
    assert verdict_of(session, cancel(ORDER)).allowed
    verdict = verdict_of(session, cancel(odd))
    assert violated(verdict) == {"retail/cancel-pending"}
    assert "\n" not in verdict.feedback
    assert session.context().count("</ledger>") == 1
    entry = session.ledger.get(Path(("orders", odd)))
    assert entry is not None
    assert Path.parse(str(entry.path)) == entry.path


@pytest.mark.parametrize("odd", [10, None, ["#W10"], {"id": "#W10"}, True, "#W10\u0000,#W20"])
def test_an_order_id_that_is_no_text_is_refused_by_name(odd: Json) -> None:
    call = ToolCall(
        name="cancel_pending_order", arguments={"order_id": odd, "reason": "no longer needed"}
    )
    verdict = verdict_of(talk((by_email(), ME), look(order()), look(order(order_id="10"))), call)
    assert verdict.decision is Decision.REVISE
    assert {f.predicate for f in verdict.findings} == {"gate/arguments"}
    assert "order_id" in verdict.feedback


@pytest.mark.parametrize(
    "status", ["Pending", "PENDING", "shipped", "", None, 3, "pending\u0000", "It is pending."]
)
def test_a_status_that_is_none_of_the_shops_is_no_evidence(status: Json) -> None:
    session = talk((by_email(), ME), look({**order(), "status": status}), look(user()))
    for call in (cancel(), address(), give_back([SHOE])):
        verdict = verdict_of(session, call)
        assert verdict.decision is Decision.REVISE
        assert violated(verdict) == set()
        assert asked(verdict) == {f'get_order_details(order_id="{ORDER}")'}
        assert "was read, but status" in verdict.feedback
