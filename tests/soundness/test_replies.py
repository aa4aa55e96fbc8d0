"""Replies of several calls: whatever order they run in, and whatever becomes of them.

`LEDGERAGENT_SOUNDNESS_REPLIES=100000` plays that many per domain; without it a few hundred.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest

from ledgeragent import Domain, ToolCall, Write

from .conversation import Conversation
from .play import played, replayed
from .possible import Possible
from .replies_run import ReplyTally, run_replies
from .steps import Arrive, Case, Fate, Look, Send, Turn
from .world import call
from .worlds import WORLDS, domain_of

REPLIES = int(os.environ.get("LEDGERAGENT_SOUNDNESS_REPLIES", "200"))

every_domain = pytest.mark.parametrize("name", sorted(WORLDS))


def told(tally: ReplyTally) -> str:
    return "\n\n".join(tally.examples.values())


@every_domain
def test_no_order_of_what_is_allowed_breaks_a_clause(name: str) -> None:
    tally = run_replies(name, REPLIES)
    assert tally.replies >= REPLIES
    assert not tally.disagreements, told(tally)
    assert tally.together > REPLIES / 20, "too few replies with several calls allowed"
    assert tally.stuck < REPLIES / 20, "too many calls that nothing can decide"


def test_every_fate_and_every_order_of_execution_is_played() -> None:
    domain = domain_of("telehealth")
    talks = [played("telehealth", f"fates/{number}", domain) for number in range(100)]
    fates = {fate for talk in talks for fate in talk.fates}
    assert fates == {fate.value for fate in Fate}
    assert {talk.case.order for talk in talks} == {"any", "listed"}
    assert any(talk.case.tools for talk in talks)
    steps = [step for talk in talks for step in talk.case.steps]
    assert {type(step) for step in steps} == {Turn, Look, Send, Arrive}
    assert {len(step.calls) for step in steps if isinstance(step, Send)} >= {1, 2, 3, 4}


@every_domain
def test_a_conversation_plays_again_as_it_went(name: str) -> None:
    talk = played(name, f"{name}/again", domain_of(name))
    again = replayed(talk.case, domain_of(name))
    assert (again.case, again.verdicts, again.fates) == (talk.case, talk.verdicts, talk.fates)


def without_touches(domain: Domain) -> Domain:
    tools = [
        replace(t, touches=(), returns=()) if isinstance(t, Write) else t for t in domain.tools
    ]
    return replace(domain, tools=tools)


@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "telehealth"])
def test_writes_that_leave_no_mark_are_noticed(name: str) -> None:
    tally = run_replies(name, 150, domain=without_touches(domain_of(name)), shrink=False)
    assert any("breaks" in kind for kind in tally.disagreements), tally.disagreements


def test_calls_that_nobody_expects_to_happen_are_noticed_and_cut_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ledgeragent.plan.Plan._let_through", lambda *_: None)
    tally = run_replies("telecom", 300)
    kinds = [kind for kind in tally.disagreements if "another order" in kind]
    assert kinds
    lines = tally.examples[kinds[0]].splitlines()
    assert sum(line.strip().startswith("reply") for line in lines) == 1
    assert len(lines) < 12


def test_a_lost_write_leaves_two_worlds_and_a_read_tells_which() -> None:
    talk, bill = overdue_bill()
    request = call("send_payment_request", customer_id="C101", bill_id=bill)
    named = ToolCall(name=request.name, arguments=request.arguments, id="c1")
    talk.look(Look(call("get_customer_by_id", customer_id="C101")))
    talk.ask([named])
    talk.execute(Send((named,), (Fate.LOST_DONE,), 0), [named])
    assert [status(world, bill) for world in talk.worlds] == ["Awaiting Payment", "Overdue"]
    talk.look(Look(call("get_details_by_id", id=bill)))
    assert [status(world, bill) for world in talk.worlds] == ["Awaiting Payment"]


def overdue_bill() -> tuple[Conversation, str]:
    """A conversation about a customer with an overdue bill, and that bill."""
    for number in range(100):
        case = Case("telecom", f"bill/{number}", "any", None)
        talk = Conversation(case, domain_of("telecom"))
        bills = talk.real.world.db["customers"]["C101"]["bill_ids"]
        due = [key for key in bills if talk.real.world.db["bills"][key]["status"] == "Overdue"]
        request = call("send_payment_request", customer_id="C101", bill_id=(due or [""])[0])
        if due and not talk.real.judge(request).broken:
            return talk, due[0]
    raise AssertionError("no world has an overdue bill")


def status(possible: Possible, bill: str) -> str:
    return str(possible.world.db["bills"][bill]["status"])


def test_an_odd_word_is_known_to_nobody() -> None:
    talk, bill = overdue_bill()
    odd = next(n for n in range(99) if Random(n).choice(range(8)) == 0)
    talk.look(Look(call("get_details_by_id", id=bill), odd))
    assert ("bills", bill, "status") not in talk.known
    talk.look(Look(call("get_details_by_id", id=bill)))
    assert ("bills", bill, "status") in talk.known


# Conversations of long runs in which gate and judge did not agree once.
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("airline", "airline/91/132"),
        ("airline", "airline/95/6107"),
        ("telehealth", "telehealth/95/6150"),
        ("telehealth", "telehealth/95/8333"),
        ("telehealth", "telehealth/412/1755"),
        ("telehealth", "telehealth/95/13964"),
        ("telehealth", "telehealth/95/8666"),
    ],
)
def test_a_conversation_that_was_once_disputed_is_not(name: str, seed: str) -> None:
    assert not played(name, seed, domain_of(name)).problems
