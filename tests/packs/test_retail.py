"""The retail pack: samples, routes, who is served, staleness, evidence, the paper's example, cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Any

import pytest

from ledgeragent import (
    Decision,
    Domain,
    Effect,
    Gate,
    Kind,
    Ledger,
    LedgerAgent,
    Path,
    Reply,
    Session,
    ToolCall,
    ToolReturn,
    UserMessage,
    Verdict,
    load_domain,
)
from ledgeragent.offline.cases import judge_cases, read_cases
from ledgeragent.packs import versions
from ledgeragent.packs.retail.records import Order, Product, User
from ledgeragent.packs.samples import Sample, run, samples_from_json
from ledgeragent.testing import ScriptedModel, assert_allows, assert_revises, judge
from ledgeragent.types import Json

RETAIL = load_domain("retail")
TAU = load_domain("retail", "tau")
SAMPLES = samples_from_json(FilePath(str(files("ledgeragent.packs.retail") / "samples.json")))

ME, FRIEND = "ada_lund_3100", "bo_friis_4200"
CARD, GIFT, PAYPAL = "credit_card_71", "gift_card_72", "paypal_73"
SHOE, SHOE_BLACK, SHOE_GONE = "9001", "9002", "9003"
HAT = "9101"
SHOES, HATS = "8001", "8002"
ORDER, SECOND = "#W10", "#W20"
NEW_ADDRESS = {
    "address1": "5 Mill Lane",
    "address2": "",
    "city": "Salem",
    "state": "OR",
    "country": "USA",
    "zip": "97301",
}


def user(user_id: str = ME, *, balance: Json = 40.0) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "name": {"first_name": "Ada", "last_name": "Lund"},
        "address": NEW_ADDRESS,
        "email": f"{user_id}@example.com",
        "payment_methods": {
            CARD: {"id": CARD, "source": "credit_card", "brand": "visa", "last_four": "7171"},
            GIFT: {"id": GIFT, "source": "gift_card", "balance": balance},
            PAYPAL: {"id": PAYPAL, "source": "paypal"},
        }
        if user_id == ME
        else {"gift_card_99": {"id": "gift_card_99", "source": "gift_card", "balance": 500.0}},
        "orders": [ORDER, SECOND],
    }


def item(item_id: str, product_id: str = SHOES, price: Json = 50.0) -> dict[str, Any]:
    name = {SHOES: "Running Shoe", HATS: "Sun Hat"}[product_id]
    return {
        "name": name,
        "product_id": product_id,
        "item_id": item_id,
        "price": price,
        "options": {"color": item_id},
    }


def order(
    status: str = "pending",
    *items: dict[str, Any],
    order_id: str = ORDER,
    owner: str = ME,
    paid_with: str = CARD,
) -> dict[str, Any]:
    held = items or (item(SHOE), item(HAT, HATS, 20.0))
    total = sum(float(one["price"]) for one in held)
    return {
        "order_id": order_id,
        "user_id": owner,
        "address": NEW_ADDRESS,
        "items": list(held),
        "status": status,
        "fulfillments": [],
        "payment_history": [
            {"transaction_type": "payment", "amount": total, "payment_method_id": paid_with}
        ],
    }


def shoes(*, price: Json = 65.0) -> dict[str, Any]:
    variants = {
        one: {"item_id": one, "options": {"color": one}, "available": available, "price": cost}
        for one, available, cost in (
            (SHOE, True, 50.0),
            (SHOE_BLACK, True, price),
            (SHOE_GONE, False, 45.0),
        )
    }
    return {"name": "Running Shoe", "product_id": SHOES, "variants": variants}


def known(*records: Mapping[str, Json]) -> dict[str, Json]:
    """The ledger of an identified customer with these records, each under its canonical path."""
    return {"auth.user_id": ME, **{path_of(record): record for record in records}}


def path_of(record: Mapping[str, Json]) -> str:
    for family, key in (
        ("orders", "order_id"),
        ("products", "product_id"),
        ("items", "item_id"),
        ("users", "user_id"),
    ):
        if key in record:
            return str(Path((family, record[key])))
    raise AssertionError(record)


def cancel(order_id: str = ORDER, reason: str = "no longer needed") -> ToolCall:
    arguments = {"order_id": order_id, "reason": reason}
    return ToolCall(name="cancel_pending_order", arguments=arguments, id="w")


def address(order_id: str = ORDER) -> ToolCall:
    arguments = {"order_id": order_id, **NEW_ADDRESS}
    return ToolCall(name="modify_pending_order_address", arguments=arguments, id="w")


def payment(method: str, order_id: str = ORDER) -> ToolCall:
    arguments = {"order_id": order_id, "payment_method_id": method}
    return ToolCall(name="modify_pending_order_payment", arguments=arguments, id="w")


def replace(tool: str, old: Json, new: Json, method: str = CARD) -> ToolCall:
    arguments = {
        "order_id": ORDER,
        "item_ids": old,
        "new_item_ids": new,
        "payment_method_id": method,
    }
    return ToolCall(name=tool, arguments=arguments, id="w")


def modify(old: Json, new: Json, method: str = CARD) -> ToolCall:
    return replace("modify_pending_order_items", old, new, method)


def exchange(old: Json, new: Json, method: str = CARD) -> ToolCall:
    return replace("exchange_delivered_order_items", old, new, method)


def give_back(items: Json, method: Json = CARD, order_id: str = ORDER) -> ToolCall:
    arguments = {"order_id": order_id, "item_ids": items, "payment_method_id": method}
    return ToolCall(name="return_delivered_order_items", arguments=arguments, id="w")


def profile(user_id: str = ME) -> ToolCall:
    arguments = {"user_id": user_id, **NEW_ADDRESS}
    return ToolCall(name="modify_user_address", arguments=arguments, id="w")


def by_email(email: str = "ada@example.com", id: str = "1") -> ToolCall:
    return ToolCall(name="find_user_id_by_email", arguments={"email": email}, id=id)


def read(tool: str, id: str = "1", **arguments: Json) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments, id=id)


def talk(
    *exchanges: tuple[ToolCall, Json], domain: Domain = RETAIL, error: bool = False
) -> Session:
    """A session in which these calls answered so, whatever the gate would have said to them."""
    session = Session(domain)
    for call, answer in exchanges:
        content = answer if isinstance(answer, str) else json.dumps(answer)
        session.state = session.state.observe(Reply(calls=(call,)), domain)
        session.observe(ToolReturn(call_id=call.id, content=content, error=error))
    return session


def look(record: Mapping[str, Json], id: str = "1") -> tuple[ToolCall, Json]:
    """The read that supplies a record, and the record."""
    tools = {
        "order_id": "get_order_details",
        "product_id": "get_product_details",
        "item_id": "get_item_details",
        "user_id": "get_user_details",
    }
    key = next(key for key in tools if key in record)
    return read(tools[key], id, **{key: record[key]}), record


def verdict_of(session: Session, call: ToolCall) -> Verdict:
    return session.gate.judge(call, session.ledger)


def broken(verdict: Verdict) -> set[str]:
    """The rules that observed facts contradict."""
    return {finding.predicate for finding in verdict.violations}


def asked(verdict: Verdict) -> set[str]:
    """The reads that the verdict asks for."""
    return {str(call) for finding in verdict.missing for call in finding.reads}


# ── Samples and clauses ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("domain", [RETAIL, TAU], ids=["tau2", "tau"])
@pytest.mark.parametrize(
    "sample", SAMPLES, ids=[f"{s.rule}-{s.side}-{n}" for n, s in enumerate(SAMPLES)]
)
def test_sample(sample: Sample, domain: Domain) -> None:
    assert run(sample, domain).problem == ""


def test_every_predicate_has_samples_of_both_kinds_and_a_clause() -> None:
    ids = {rule.id for rule in RETAIL.predicates}
    for side in ("allowed", "rejected"):
        assert {sample.rule for sample in SAMPLES if sample.side == side} == ids
    named = [name for clause in RETAIL.clauses for name in clause.predicates]
    assert sorted(named) == sorted(ids)
    by_id = {clause.id: clause for clause in RETAIL.clauses}
    assert all(rule.id in by_id[rule.clause].predicates for rule in RETAIL.predicates)


def test_every_state_clause_has_a_predicate_and_every_other_says_why_not() -> None:
    for clause in RETAIL.clauses:
        audited = clause.predicates == ("retail/transfer-untried",)
        assert bool(clause.predicates) is (clause.checkable == "state" or audited)
        assert bool(clause.why) is (clause.checkable != "state")


def test_reasons_are_one_line_and_name_no_rule() -> None:
    for sample in SAMPLES:
        for finding in run(sample, RETAIL).verdict.findings:
            assert finding.reason and "\n" not in finding.reason
            assert "retail/" not in finding.reason
            assert "{" not in finding.reason


# ── Routes ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("call", "answer", "path", "value"),
    [
        (by_email(), ME, "auth.user_id", ME),
        (
            read("find_user_id_by_name_zip", first_name="Ada", last_name="Lund", zip="97301"),
            ME,
            "auth.user_id",
            ME,
        ),
        (by_email(), ME, "auth.located", {ME: "email"}),
        (*look(user()), f"users.{ME}", user()),
        (*look(order()), f"orders.{ORDER}", order()),
        (*look(shoes()), f"products.{SHOES}", shoes()),
        (
            *look(shoes()["variants"][SHOE]),
            f"items.{SHOE}",
            shoes()["variants"][SHOE],
        ),
        (read("list_all_product_types"), {"Sun Hat": HATS}, "product_types", {"Sun Hat": HATS}),
    ],
)
def test_each_read_lands_at_its_path(call: ToolCall, answer: Json, path: str, value: Json) -> None:
    entry = talk((call, answer)).ledger.get(Path.parse(path))
    assert entry is not None
    assert entry.value == value
    assert entry.source == call


def test_a_record_is_filed_under_its_own_id() -> None:
    session = talk((read("get_order_details", order_id="w10"), order()))
    assert session.ledger.get(Path(("orders", ORDER))) is not None
    assert session.ledger.get(Path(("orders", "w10"))) is None


@pytest.mark.parametrize(
    ("path", "reads"),
    [
        ("auth.user_id", {"find_user_id_by_email()", "find_user_id_by_name_zip()"}),
        ("orders.#W10", {'get_order_details(order_id="#W10")'}),
        (f"users.{ME}", {f'get_user_details(user_id="{ME}")'}),
        ("products.8001", {'get_product_details(product_id="8001")'}),
        ("items.9001", {'get_item_details(item_id="9001")'}),
    ],
)
def test_each_path_names_the_read_that_supplies_it(path: str, reads: set[str]) -> None:
    assert {str(call) for call in RETAIL.reads_for(Path.parse(path))} == reads


def test_versions_differ_in_their_tools_only() -> None:
    assert list(versions("retail")) == ["tau2", "tau", "tau_trait"]
    assert TAU.predicates == RETAIL.predicates
    assert TAU.clauses == RETAIL.clauses
    assert RETAIL.effect("get_item_details") is Effect.READ
    assert TAU.effect("get_item_details") is Effect.WRITE
    assert TAU.effect("think") is Effect.NEUTRAL
    for domain in (RETAIL, TAU):
        for tool in ("calculate", "transfer_to_human_agents"):
            assert domain.effect(tool) is Effect.NEUTRAL


# ── Who is served ───────────────────────────────────────────────────────────────────────────────


FAILURES = [
    ("Error: User not found", False),
    ("Error: user not found", True),
    (f"{ME}", True),
    ("This lookup was refused, ask the customer again.", False),
    ("", False),
    (f'["{ME}", "{FRIEND}"]', False),
]


@pytest.mark.parametrize(("answer", "error"), FAILURES)
def test_a_failed_lookup_identifies_nobody(answer: str, error: bool) -> None:
    session = talk((by_email(), answer), error=error)
    assert len(session.ledger) == 0
    session = talk((by_email(), answer), look(order()))
    if not error:
        verdict = verdict_of(session, cancel())
        assert verdict.decision is Decision.REVISE
        assert {f.predicate for f in verdict.findings} == {"retail/authenticated"}


def test_a_decoded_list_is_no_user_id() -> None:
    session = Session(RETAIL)
    session.filter(Reply(calls=(by_email(),)))
    absorption = session.observe(ToolReturn(call_id="1", content=[ME]))
    assert absorption.stored == ()
    assert absorption.skipped == "a lookup answers with one user id"


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
    session = talk((by_email(), ME), (by_email("bo@x"), FRIEND), (by_email(), ME), look(THEIRS))
    verdict = verdict_of(session, give_back([SHOE], order_id=SECOND))
    assert verdict.decision is Decision.BLOCK
    facts = {fact.path: fact.value for fact in verdict.violations[0].evidence}
    assert facts == {f"orders.{SECOND}.user_id": FRIEND, f"auth.located.{ME}": "email"}


def test_an_argument_of_another_tool_smuggles_nobody_in() -> None:
    call = ToolCall(
        name="cancel_pending_order",
        arguments={**cancel(SECOND).arguments, "user_id": ME},
    )
    theirs = order(owner=FRIEND, order_id=SECOND)
    verdict = verdict_of(talk((by_email(), ME), look(theirs)), call)
    assert broken(verdict) == {"gate/unknown-argument", "retail/one-user"}
    own = ToolCall(
        name="modify_user_address", arguments={**profile(FRIEND).arguments, "order_id": ORDER}
    )
    verdict = verdict_of(talk((by_email(), ME), look(order())), own)
    assert broken(verdict) == {"gate/unknown-argument", "retail/one-user-profile"}


def test_nobody_is_sent_to_open_a_strangers_profile() -> None:
    session = talk((by_email(), ME), look(user()), look(THEIRS))
    verdict = verdict_of(session, give_back([SHOE], GIFT, SECOND))
    assert broken(verdict) == {"retail/one-user"}
    assert asked(verdict) == set()


# ── States, reasons, items ──────────────────────────────────────────────────────────────────────


STATUSES = (
    "pending",
    "pending (item modified)",
    "processed",
    "delivered",
    "cancelled",
    "return requested",
    "exchange requested",
)


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
    once = status in ("pending (item modified)", "return requested", "exchange requested")
    assert ("retail/once-per-order" in broken(verdict)) is once


@pytest.mark.parametrize("reason", ["", "no longer needed.", "changed my mind", 3])
def test_another_reason_is_revised_with_the_accepted_ones(reason: Json) -> None:
    verdict = assert_revises(
        RETAIL, known(order()), "cancel_pending_order", order_id=ORDER, reason=reason
    )
    assert broken(verdict) == {"retail/cancel-reason"}
    assert "'no longer needed' or 'ordered by mistake'" in verdict.feedback


def test_two_of_one_kind_are_in_the_order_twice_and_not_three_times() -> None:
    records = known(order("delivered", item(SHOE), item(SHOE)))
    for count, decision in ((1, Decision.ALLOW), (2, Decision.ALLOW), (3, Decision.REVISE)):
        call = give_back([SHOE] * count)
        assert judge(RETAIL, records, call.name, **call.arguments).decision is decision


def test_numbers_are_read_as_ids_and_text_as_numbers() -> None:
    texts = known(
        order("delivered", item(SHOE, price="50.0")), user(balance="15.00"), shoes(price="65")
    )
    call = exchange([int(SHOE)], [int(SHOE_BLACK)], GIFT)
    assert_allows(RETAIL, texts, call.name, **call.arguments)
    poorer = {**texts, f"users.{ME}": user(balance="14.99")}
    verdict = assert_revises(RETAIL, poorer, call.name, **call.arguments)
    assert broken(verdict) == {"retail/difference-balance"}


@pytest.mark.parametrize("items", [SHOE, None, [{"item_id": SHOE}], [None], 7])
def test_items_of_the_wrong_shape_are_sent_back(items: Json) -> None:
    call = give_back(items)
    verdict = assert_revises(RETAIL, known(order("delivered")), call.name, **call.arguments)
    assert [finding.predicate for finding in verdict.findings] == ["gate/arguments"]


def test_lists_that_do_not_pair_are_answered_by_their_own_rule() -> None:
    call = modify([SHOE, HAT], [SHOE_BLACK])
    verdict = judge(RETAIL, known(order(), shoes()), call.name, **call.arguments)
    assert {finding.predicate for finding in verdict.findings} == {"retail/item-pairs"}


def test_pairs_in_the_wrong_order_are_of_another_product() -> None:
    call = modify([HAT, SHOE], [SHOE_BLACK, HAT])
    hats = {"name": "Sun Hat", "product_id": HATS, "variants": {HAT: shoes()["variants"][SHOE]}}
    verdict = judge(RETAIL, known(order(), shoes(), hats), call.name, **call.arguments)
    assert broken(verdict) == {"retail/item-same-product"}


def test_a_broken_record_fails_closed_for_its_call_alone() -> None:
    records = known({**order("delivered"), "items": None})
    call = give_back([SHOE])
    verdict = judge(RETAIL, records, call.name, **call.arguments)
    assert verdict.decision is Decision.BLOCK
    assert [finding.predicate for finding in verdict.errors] == ["retail/items-in-order"]
    assert broken(verdict) == set()


# ── Evidence, only where it decides ─────────────────────────────────────────────────────────────


def asked_for(call: ToolCall, *records: Mapping[str, Json], domain: Domain = RETAIL) -> set[str]:
    return asked(judge(domain, known(*records), call.name, **call.arguments))


PROFILE_READ = {f'get_user_details(user_id="{ME}")'}
PRODUCT_READ = {f'get_product_details(product_id="{SHOES}")'}


def test_a_method_of_the_order_needs_no_profile() -> None:
    delivered = order("delivered")
    assert asked_for(give_back([SHOE], CARD), delivered) == set()
    assert asked_for(give_back([SHOE], GIFT), delivered) == PROFILE_READ
    assert asked_for(exchange([SHOE], [SHOE_BLACK], CARD), delivered, shoes()) == set()
    assert asked_for(exchange([SHOE], [SHOE_BLACK], PAYPAL), delivered, shoes()) == PROFILE_READ


def test_an_exchange_for_itself_needs_no_product() -> None:
    call = exchange([SHOE], [SHOE])
    verdict = judge(RETAIL, known(order("delivered")), call.name, **call.arguments)
    assert broken(verdict) == {"retail/item-different-option"}
    assert verdict.missing == ()


def test_a_gift_card_needs_its_balance_only_where_there_is_something_to_pay() -> None:
    paid_by_gift = order("delivered", paid_with=GIFT)
    cheaper = shoes(price=49.99)
    assert asked_for(exchange([SHOE], [SHOE_BLACK], GIFT), paid_by_gift, cheaper) == set()
    assert asked_for(exchange([SHOE], [SHOE_BLACK], GIFT), paid_by_gift, shoes()) == PROFILE_READ


def test_the_product_is_asked_for_once_and_by_name() -> None:
    call = exchange([SHOE], [SHOE_BLACK])
    verdict = judge(RETAIL, known(order("delivered")), call.name, **call.arguments)
    assert asked(verdict) == PRODUCT_READ
    assert verdict.feedback.count("get_product_details") == 1


def test_a_violation_does_not_hide_behind_a_request() -> None:
    call = exchange([HAT, SHOE], ["9102", SHOE_GONE])
    verdict = judge(RETAIL, known(order("delivered"), shoes()), call.name, **call.arguments)
    assert broken(verdict) == {"retail/item-available"}


def test_an_order_that_lists_the_new_item_tells_its_product() -> None:
    other = order("delivered", item(SHOE_BLACK), order_id=SECOND)
    call = modify([SHOE], [SHOE_BLACK])
    assert asked_for(call, order()) == PRODUCT_READ
    assert asked_for(call, order(), other) == set()
    verdict = judge(RETAIL, known(order()), call.name, **modify([SHOE], [HAT]).arguments)
    assert broken(verdict) == {"retail/item-same-product"}
    dearer = order("delivered", item(SHOE_BLACK, price=80.0), order_id=SECOND)
    gift = modify([SHOE], [SHOE_BLACK], GIFT)
    assert asked_for(gift, order(), other, user()) == set()
    assert asked_for(gift, order(), dearer, user()) == PRODUCT_READ


def test_items_of_an_order_written_since_tell_nothing() -> None:
    other = order("pending", item(SHOE_BLACK), order_id=SECOND)
    written = ToolCall(
        name="modify_pending_order_items",
        arguments={**modify([SHOE_BLACK], [SHOE]).arguments, "order_id": SECOND},
        id="w",
    )
    session = talk((by_email(), ME), look(order()), look(other), (written, "{}"))
    assert asked(verdict_of(session, modify([SHOE], [SHOE_BLACK]))) == PRODUCT_READ


def test_the_latest_look_at_an_item_counts() -> None:
    gone = {**shoes()["variants"][SHOE_BLACK], "available": False}
    session = talk((by_email(), ME), look(order()), look(shoes()), look(gone))
    assert broken(verdict_of(session, modify([SHOE], [SHOE_BLACK]))) == {"retail/item-available"}
    session.heard("Is it back?")
    session.state = session.state.observe(Reply(calls=(look(shoes())[0],)), RETAIL)
    session.observe(ToolReturn(call_id="1", content=json.dumps(shoes())))
    assert verdict_of(session, modify([SHOE], [SHOE_BLACK])).allowed


def test_a_tool_the_agent_lacks_is_never_asked_for() -> None:
    bound = load_domain(
        "retail", tools=["find_user_id_by_email", "get_order_details", "modify_pending_order_items"]
    )
    call = modify([SHOE], [SHOE_BLACK])
    verdict = judge(bound, known(order()), call.name, **call.arguments)
    assert verdict.allowed
    assert {finding.kind for finding in verdict.shadow} == {Kind.UNDECIDED}
    verdict = judge(bound, {f"orders.{ORDER}": order()}, call.name, **call.arguments)
    assert asked(verdict) == {"find_user_id_by_email()"}


# ── Payment ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("method", "balance", "rules"),
    [
        (GIFT, 70.0, set()),
        (GIFT, 69.99, {"retail/payment-balance"}),
        (PAYPAL, 0.0, set()),
        (CARD, 70.0, {"retail/payment-different"}),
        ("paypal_00", 70.0, {"retail/payment-in-profile"}),
    ],
)
def test_a_new_payment_method(method: str, balance: float, rules: set[str]) -> None:
    records = known(order(), user(balance=balance))
    call = payment(method)
    verdict = judge(RETAIL, records, call.name, **call.arguments)
    assert broken(verdict) == rules
    assert verdict.missing == ()


@pytest.mark.parametrize(
    ("history", "allowed"),
    [
        ([("payment", 60.0, CARD)], True),
        ([("payment", 60.0, CARD), ("payment", 20.0, PAYPAL)], False),
        ([("payment", 60.0, CARD), ("payment", 20.0, PAYPAL), ("refund", 20.0, PAYPAL)], True),
    ],
)
def test_a_gift_card_pays_for_all_that_an_order_has_cost(
    history: list[tuple[str, float, str]], allowed: bool
) -> None:
    names = ("transaction_type", "amount", "payment_method_id")
    paid = {"payment_history": [dict(zip(names, row, strict=True)) for row in history]}
    call = payment(GIFT)
    records = known({**order(), **paid}, user(balance=60.0))
    verdict = judge(RETAIL, records, call.name, **call.arguments)
    assert broken(verdict) == (set() if allowed else {"retail/payment-balance"})


@pytest.mark.parametrize(
    ("method", "allowed"), [(CARD, True), (GIFT, True), (PAYPAL, False), ("gift_card_99", False)]
)
def test_where_a_refund_may_go(method: str, allowed: bool) -> None:
    records = {**known(order("delivered"), user()), f"users.{FRIEND}": user(FRIEND)}
    call = give_back([SHOE], method)
    verdict = judge(RETAIL, records, call.name, **call.arguments)
    assert verdict.allowed is allowed
    if not allowed:
        assert broken(verdict) == {"retail/refund-destination"}
        assert f"{CARD} or {GIFT}, not to {method}" in verdict.feedback


def test_a_method_the_order_was_changed_to_later_is_not_its_original_one() -> None:
    paid = [(CARD, "payment"), (PAYPAL, "payment"), (CARD, "refund")]
    history = [
        {"transaction_type": kind, "amount": 100.0, "payment_method_id": method}
        for method, kind in paid
    ]
    records = known({**order("delivered"), "payment_history": history}, user())
    call = give_back([SHOE], PAYPAL)
    assert broken(judge(RETAIL, records, call.name, **call.arguments)) == {
        "retail/refund-destination"
    }
    call = give_back([SHOE], CARD)
    assert judge(RETAIL, records, call.name, **call.arguments).allowed


# ── Staleness, field by field ───────────────────────────────────────────────────────────────────


def stale_fields(session: Session, path: Path[Json]) -> set[str]:
    entry = session.ledger.get(path)
    assert entry is not None
    return {".".join(mark.fields) for mark in entry.stale}


@pytest.mark.parametrize(
    ("write", "status", "fields", "cards"),
    [
        (address(), "pending", {"address"}, set()),
        (cancel(), "pending", {"status", "cancel_reason", "payment_history"}, {GIFT}),
        (payment(CARD), "pending", {"payment_history"}, {GIFT}),
        (modify([SHOE], [SHOE_BLACK], CARD), "pending", {"status", "items", "payment_history"}, set()),
        (modify([SHOE], [SHOE_BLACK], GIFT), "pending", {"status", "items", "payment_history"}, {GIFT}),
        (
            give_back([SHOE], GIFT),
            "delivered",
            {"status", "return_items", "return_payment_method_id"},
            {GIFT},
        ),
        (
            exchange([SHOE], [SHOE_BLACK], CARD),
            "delivered",
            {
                "status",
                "exchange_items",
                "exchange_new_items",
                "exchange_payment_method_id",
                "exchange_price_difference",
            },
            set(),
        ),
    ],
    ids=lambda value: value.name if isinstance(value, ToolCall) else "",
)  # fmt: skip
def test_a_write_makes_stale_what_it_changes(
    write: ToolCall, status: str, fields: set[str], cards: set[str]
) -> None:
    paid_by_gift = order(status, paid_with=GIFT)
    session = talk((by_email(), ME), look(user()), look(paid_by_gift), (write, "{}"))
    assert stale_fields(session, Path(("orders", ORDER))) == fields
    balances = {f"payment_methods.{card}.balance" for card in cards}
    assert stale_fields(session, Path(("users", ME))) == balances


def test_a_new_profile_address_makes_only_that_stale() -> None:
    session = talk((by_email(), ME), look(user()), look(order()), (profile(), "{}"))
    assert stale_fields(session, Path(("users", ME))) == {"address"}
    assert stale_fields(session, Path(("orders", ORDER))) == set()


def test_a_new_address_leaves_status_and_items_known() -> None:
    session = talk((by_email(), ME), look(order()), look(shoes()), (address(), "{}"))
    for call in (cancel(), address(), modify([SHOE], [SHOE_BLACK])):
        assert verdict_of(session, call).allowed


def test_after_modified_items_the_order_has_to_be_read_again() -> None:
    session = talk(
        (by_email(), ME), look(order()), look(shoes()), (modify([SHOE], [SHOE_BLACK]), "{}")
    )
    for call in (cancel(), address(), modify([SHOE], [SHOE_BLACK])):
        verdict = verdict_of(session, call)
        assert verdict.decision is Decision.REVISE
        assert broken(verdict) == set()
        assert asked(verdict) == {f'get_order_details(order_id="{ORDER}")'}


def test_a_new_payment_leaves_the_status_known_and_the_history_unknown() -> None:
    session = talk((by_email(), ME), look(user()), look(order()), (payment(PAYPAL), "{}"))
    assert verdict_of(session, address()).allowed
    assert verdict_of(session, cancel()).allowed
    assert asked(verdict_of(session, payment(GIFT))) == {f'get_order_details(order_id="{ORDER}")'}


def test_a_gift_card_that_paid_has_to_be_looked_at_before_it_pays_again() -> None:
    second = order(order_id=SECOND)
    session = talk(
        (by_email(), ME),
        look(user(balance=100.0)),
        look(order()),
        look(second),
        (payment(GIFT), "{}"),
    )
    assert asked(verdict_of(session, payment(GIFT, SECOND))) == PROFILE_READ
    assert verdict_of(session, payment(PAYPAL, SECOND)).allowed
    session.state = session.state.observe(Reply(calls=(look(user())[0],)), RETAIL)
    session.observe(ToolReturn(call_id="1", content=json.dumps(user(balance=30.0))))
    assert broken(verdict_of(session, payment(GIFT, SECOND))) == {"retail/payment-balance"}


def test_a_cancelled_order_nobody_read_may_have_refunded_any_gift_card() -> None:
    session = talk((by_email(), ME), look(user()), (cancel(), "{}"))
    assert stale_fields(session, Path(("users", ME))) == {f"payment_methods.{GIFT}.balance"}


def test_a_refund_to_a_gift_card_needs_no_balance() -> None:
    second = order("delivered", order_id=SECOND)
    session = talk(
        (by_email(), ME), look(user()), look(order()), look(second), (payment(GIFT), "{}")
    )
    assert verdict_of(session, give_back([SHOE], GIFT, SECOND)).allowed
    assert broken(verdict_of(session, give_back([SHOE], PAYPAL, SECOND))) == {
        "retail/refund-destination"
    }


def test_a_failed_write_makes_nothing_stale() -> None:
    session = talk((by_email(), ME), look(order()), (cancel(), "Error: try again"))
    assert stale_fields(session, Path(("orders", ORDER))) == set()
    assert verdict_of(session, cancel()).allowed


def test_the_return_of_a_write_is_no_observation() -> None:
    session = talk((by_email(), ME), look(order()), (cancel(), order("cancelled")))
    verdict = verdict_of(session, address())
    assert broken(verdict) == set()
    assert asked(verdict) == {f'get_order_details(order_id="{ORDER}")'}


# ── Ids ─────────────────────────────────────────────────────────────────────────────────────────


def test_repeated_call_ids_are_paired_in_order() -> None:
    session = talk((by_email(), ME))
    calls = tuple(read("get_order_details", "same", order_id=one) for one in (ORDER, SECOND))
    session.filter(Reply(calls=calls))
    for record in (order(), order("delivered", order_id=SECOND)):
        session.observe(ToolReturn(call_id="same", content=json.dumps(record)))
    assert verdict_of(session, cancel(ORDER)).allowed
    assert broken(verdict_of(session, cancel(SECOND))) == {"retail/cancel-pending"}


@pytest.mark.parametrize(
    "odd", ["#W12.34", 'say "hi"', "two\nlines", "</ledger>", "#W10 ", "＃W10", "orders.#W10"]
)
def test_odd_ids_are_other_orders(odd: str) -> None:
    session = talk((by_email(), ME), look(order()), look(order("delivered", order_id=odd)))
    assert verdict_of(session, cancel(ORDER)).allowed
    verdict = verdict_of(session, cancel(odd))
    assert broken(verdict) == {"retail/cancel-pending"}
    assert "\n" not in verdict.feedback
    assert session.context().count("</ledger>") == 1
    entry = session.ledger.get(Path(("orders", odd)))
    assert entry is not None
    assert Path.parse(str(entry.path)) == entry.path


def test_an_order_id_that_is_a_number_is_read_as_text() -> None:
    call = ToolCall(
        name="cancel_pending_order", arguments={"order_id": 10, "reason": "no longer needed"}
    )
    session = talk((by_email(), ME), look(order(order_id="10")))
    assert verdict_of(session, call).allowed


# ── The paper's second running example ──────────────────────────────────────────────────────────

CHEN, TABLET_ORDER, TABLET = "chen_silva_7485", "#W9571698", "6065192424"
CHENS_GIFT, MASTERCARD = "gift_card_7250692", "credit_card_1565124"


def chen() -> dict[str, Any]:
    return {
        "user_id": CHEN,
        "name": {"first_name": "Chen", "last_name": "Silva"},
        "address": {**NEW_ADDRESS, "zip": "46281"},
        "email": "someone@example.com",
        "payment_methods": {
            CHENS_GIFT: {"id": CHENS_GIFT, "source": "gift_card", "balance": 59.0},
            MASTERCARD: {
                "id": MASTERCARD,
                "source": "credit_card",
                "brand": "mastercard",
                "last_four": "2732",
            },
        },
        "orders": [TABLET_ORDER],
    }


def tablets() -> dict[str, Any]:
    """A delivered order of four items, paid by gift card; the paper prints the tablet only."""
    tablet = {
        "name": "Tablet",
        "product_id": "8024098596",
        "item_id": TABLET,
        "price": 989.7,
        "options": {"color": "gold", "storage": "128GB"},
    }
    rest = [item(one, HATS, 10.0) for one in ("1", "2", "3")]
    return {
        **order("delivered", tablet, *rest, order_id=TABLET_ORDER, owner=CHEN),
        "payment_history": [
            {
                "transaction_type": "payment",
                "amount": 1019.7,
                "payment_method_id": CHENS_GIFT,
            }
        ],
    }


def refund_to(method: str, id: str) -> ToolCall:
    arguments = {
        "order_id": TABLET_ORDER,
        "item_ids": [TABLET],
        "payment_method_id": method,
    }
    return ToolCall(name="return_delivered_order_items", arguments=arguments, id=id)


def test_the_papers_refund_is_redirected_to_the_gift_card() -> None:
    lookup = read(
        "find_user_id_by_name_zip", "1", first_name="Chen", last_name="Silva", zip="46281"
    )
    refused, accepted = refund_to(MASTERCARD, "4"), refund_to(CHENS_GIFT, "5")
    model = ScriptedModel(
        [
            Reply(calls=(lookup,)),
            Reply(calls=(look(chen(), "2")[0],)),
            Reply(calls=(look(tablets(), "3")[0],)),
            Reply(text="I'll refund $989.70 to your Mastercard ending 2732. Do you confirm?"),
            Reply(calls=(refused,)),
            Reply(text="It can only go to the gift card that paid for it. Is that fine?"),
            Reply(calls=(accepted,)),
            Reply(text="The return is under way."),
        ]
    )
    agent = LedgerAgent(gate=Gate(domain=RETAIL), model=model)
    agent.step(UserMessage(text="I'm Chen Silva, zip 46281. Return the dearer tablet, please."))
    agent.step(ToolReturn(call_id="1", content=CHEN))
    agent.step(ToolReturn(call_id="2", content=json.dumps(chen())))
    agent.step(ToolReturn(call_id="3", content=json.dumps(tablets())))

    said = agent.step(UserMessage(text="Yes, refund $989.70 to my Mastercard ending 2732."))
    [verdict] = agent.verdicts[-2].verdicts
    assert verdict.call == refused
    assert verdict.decision is Decision.REVISE
    [finding] = verdict.findings
    assert finding.predicate == "retail/refund-destination"
    facts = {fact.path: fact.value for fact in finding.evidence}
    assert facts[f"orders.{TABLET_ORDER}.payment_history"] == tablets()["payment_history"]
    assert facts[f"users.{CHEN}.payment_methods"] == chen()["payment_methods"]
    assert finding.reason == (
        f"a refund for order {TABLET_ORDER} can go to {CHENS_GIFT}, not to {MASTERCARD}"
    )
    assert model.prompts[5][2] == finding.reason
    assert said.calls == ()
    assert agent.generations == 6

    sent = agent.step(UserMessage(text="Fine, to the gift card on file then."))
    assert sent.calls == (accepted,)
    agent.step(ToolReturn(call_id="5", content=json.dumps(tablets())))
    assert agent.state.ledger.writes == (accepted,)
    assert agent.generations == 8
    assert stale_status(agent.state.ledger)


def stale_status(ledger: Ledger) -> bool:
    entry = ledger.get(Path(("orders", TABLET_ORDER)))
    return entry is not None and entry.stale_at(("status",)) is not None


# ── With the shared benchmark data ──────────────────────────────────────────────────────────────


def test_labelled_cases(data_dir: FilePath) -> None:
    result = judge_cases(read_cases(str(data_dir / "benchmarks/cases/retail.jsonl.gz")), RETAIL)
    assert result.decided.mismatches == []
    assert result.decided.cases > 400


def test_every_tool_of_the_benchmark_has_an_entry(data_dir: FilePath) -> None:
    tools = json.loads((data_dir / "benchmarks/tau2/retail/tools.json").read_text("utf-8"))
    effects = {"read": Effect.READ, "write": Effect.WRITE, "generic": Effect.NEUTRAL}
    for tool in tools:
        assert RETAIL.tool(tool["name"]) is not None
        assert RETAIL.effect(tool["name"]) is effects[tool["type"]]
        required = set(tool["schema"]["function"]["parameters"].get("required", ()))
        for route in RETAIL.routes(tool["name"]):
            assert set(route.parameters) == required


def test_every_policy_clause_is_listed(data_dir: FilePath) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/retail.json").read_text("utf-8"))
    listed = {clause.id: clause.checkable for clause in RETAIL.clauses}
    assert listed == {clause["id"]: clause["checkable"] for clause in policy}
    guarded = {rule.id: set(rule.guards) for rule in RETAIL.predicates}
    for clause in policy:
        if clause["checkable"] == "state":
            rules = next(c.predicates for c in RETAIL.clauses if c.id == clause["id"])
            assert set().union(*(guarded[rule] for rule in rules)) == set(clause["tools"])


def test_the_records_of_the_benchmark_have_the_declared_fields(data_dir: FilePath) -> None:
    tables = json.loads((data_dir / "benchmarks/tau2/retail/db.json").read_text("utf-8"))
    for name, shape in (("orders", Order), ("products", Product), ("users", User)):
        known_fields = shape.__required_keys__ | shape.__optional_keys__
        for record in tables[name].values():
            assert shape.__required_keys__ <= set(record) <= known_fields
