"""Findings in words: why a call was not done, and what to do about it."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.entry import Entry, Evidence, Stale
from ledgeragent.findings import (
    UNKNOWN_ARGUMENT,
    against,
    failure_of,
    finding_of,
    request_for,
    running_write,
    spelled,
    unknown_arguments,
    unusable,
    wait_for,
)
from ledgeragent.ledger import Ledger, Unconfirmed
from ledgeragent.missing import MissingEvidence
from ledgeragent.predicates import Broken, predicate
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind
from ledgeragent.view import View
from tests.lending.domain import BOOK, GET_BOOK, LEND, call

B1 = BOOK("B1")
MOVE = call("move_member", member_id="M1", city="Leiden")
FACTS = [Evidence(B1, ("status",), "out", GET_BOOK, 1)]
RULE = predicate(
    "lending/out", guards="lend_book", clause="lending/c", enforcement=Enforcement.WARN
)(lambda call, view: None)


def view(*doubts: Unconfirmed, typed: bool | None = None) -> View:
    """A view with these writes in doubt, and with a book where `typed` says how it was read."""
    ledger = Ledger()
    if typed is not None:
        ledger = ledger.put(Entry(path=B1, value={}, source=GET_BOOK, turn=0, typed=typed))
    seen = View(ledger, {})
    seen.unconfirmed = doubts
    return seen


def missing(*fields: str, by: ToolCall | None = None, **more: Any) -> MissingEvidence:
    stale = Stale(fields, by) if by is not None else None
    return MissingEvidence(B1, fields=fields, **{"stale": stale, **more})


def running(*calls: ToolCall) -> tuple[Unconfirmed, ...]:
    return tuple(Unconfirmed(each, running=True) for each in calls)


def lost(*calls: ToolCall) -> tuple[Unconfirmed, ...]:
    return tuple(Unconfirmed(each, running=False) for each in calls)


def test_a_finding_has_what_its_rule_says_of_itself() -> None:
    finding = finding_of(RULE, FACTS, Kind.VIOLATION, Decision.BLOCK, "no")
    assert finding == Finding(
        kind=Kind.VIOLATION,
        predicate="lending/out",
        clause="lending/c",
        decision=Decision.BLOCK,
        reason="no",
        evidence=FACTS,
        enforcement=Enforcement.WARN,
    )


def test_a_broken_rule_tells_the_user_what_the_user_may_hear() -> None:
    finding = against(RULE, FACTS, Kind.VIOLATION, Decision.REVISE, Broken("2.50", "something"))
    assert (finding.reason, finding.public) == ("2.50", "something")


def test_a_rule_that_fails_blocks_and_tells_the_operator_only_what_happened() -> None:
    finding = failure_of(RULE, ZeroDivisionError("by zero"), FACTS)
    assert (finding.kind, finding.decision) == (Kind.ERROR, Decision.BLOCK)
    assert finding.error == "ZeroDivisionError: by zero"
    assert finding.reason == (
        "this action could not be checked against the policy, so it was not done"
    )
    assert finding.evidence == FACTS and finding.predicate == "lending/out"


def test_an_error_that_has_no_text_is_told_too() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert failure_of(RULE, Mute(), []).error == "Mute: it has no text"


def test_an_answer_that_rests_on_running_writes_waits_for_these() -> None:
    finding = wait_for(RULE, (*running(LEND), *lost(MOVE)), FACTS)
    assert (finding.kind, finding.decision) == (Kind.EVIDENCE, Decision.REVISE)
    assert finding.waits_for == (LEND,) and finding.evidence == FACTS
    assert finding.reason.startswith("wait for the result of lend_book(")
    assert finding.reason.endswith("), then send this again")
    assert "move_member" not in finding.reason


def test_an_answer_that_rests_on_lost_writes_says_which() -> None:
    finding = wait_for(RULE, lost(MOVE), FACTS)
    assert finding.waits_for == ()
    assert finding.reason == (
        'it is not known whether move_member(member_id="M1", city="Leiden") was done, '
        "since its result never came; read what it changes, or tell the user where nothing shows it"
    )


def test_a_call_that_no_rule_can_judge_has_a_finding_of_the_gate() -> None:
    assert unusable("gate/x", Decision.BLOCK, "no") == Finding(
        Kind.VIOLATION, "gate/x", None, Decision.BLOCK, "no"
    )


def test_only_a_running_write_that_changed_the_evidence_has_to_come_first() -> None:
    stale = missing("status", by=LEND)
    assert running_write(stale, view(*running(LEND, MOVE))) == (LEND,)
    assert running_write(stale, view(*running(MOVE))) == ()
    assert running_write(stale, view(*lost(LEND))) == ()
    assert running_write(missing("status"), view(*running(LEND))) == ()


@pytest.mark.parametrize(
    ("evidence", "seen", "state"),
    [
        (missing(), view(), "books.B1 has not been read yet"),
        (missing("a.b"), view(), 'books.B1."a.b" has not been read yet'),
        (
            missing(),
            view(typed=False),
            "books.B1 was read, but what came back could not be understood",
        ),
        (
            missing("status", objection="its answer has no `status`"),
            view(typed=True),
            "books.B1.status was read, but its answer has no `status`",
        ),
        (
            missing("status", stale=Stale(("status",), None)),
            view(typed=True),
            "books.B1.status may have been changed by the user since it was read",
        ),
        (
            missing("status", by=LEND),
            view(*lost(LEND), typed=True),
            "books.B1.status may have been changed by lend_book, whose result never came, "
            "since it was read",
        ),
        (
            missing("status", by=LEND),
            view(*lost(MOVE), typed=True),
            "books.B1.status was changed by lend_book since it was read",
        ),
    ],
)
def test_a_request_says_why_the_fact_is_not_known_and_which_read_supplies_it(
    evidence: MissingEvidence, seen: View, state: str
) -> None:
    request = request_for(evidence, seen, ["get_book()", "scan_book()"], ())
    again = "; if it answers the same again, tell the user that this cannot be decided here"
    told = again if "was read, but" in state else ""
    assert request == f"{state}; call get_book() or scan_book() first{told}"


def test_a_request_that_no_tool_can_meet_says_so() -> None:
    assert request_for(missing("status"), view(), [], ()) == (
        "books.B1.status is needed to decide this, and no tool here can supply it"
    )


def test_a_request_waits_for_the_write_that_may_change_the_fact() -> None:
    first = "books.B1.status may be changed by another call; wait for the result of move_member("
    evidence, seen = missing("status", by=MOVE), view(*running(MOVE))
    alone = request_for(evidence, seen, [], (MOVE,))
    assert alone.startswith(first) and alone.endswith(") and send this again")
    reading = request_for(evidence, seen, ["get_book()"], (MOVE,))
    assert reading.startswith(first)
    assert reading.endswith("), then call get_book() and send this again")


def test_a_request_has_the_user_asked_for_what_no_record_tells() -> None:
    request = request_for(missing(), view(), ["find_member(email=?)"], ())
    assert request.endswith("; call find_member(email=?) first; ask the user for what stands as ?")


def test_a_value_of_somebody_unknown_is_not_told() -> None:
    odd = missing("status", objection="status should be text, not 'secret'")
    told = request_for(odd, view(typed=True), ["get_book()"], ())
    hidden = request_for(odd, view(typed=True), ["get_book()"], (), nameless=True)
    assert "was read, but status should be text, not 'secret'; call" in told
    assert "was read, but status should be text; call" in hidden


def test_a_request_stays_on_one_line() -> None:
    request = request_for(missing(objection="a\nb"), view(typed=True), ["get\n()"], ())
    assert "a\\u000ab; call get\\u000a() first" in request


def test_an_argument_that_the_tool_does_not_take_is_refused_by_name() -> None:
    odd = ToolCall(name="lend_book", arguments={"days": 1, "zeal": 2, "a b": 3})
    finding = unknown_arguments(frozenset({"days", "book_id"}), odd)
    assert (finding.predicate, finding.decision) == (UNKNOWN_ARGUMENT, Decision.REVISE)
    assert finding.reason == 'it takes no argument "a b" or zeal; it takes book_id, days'


def test_a_tool_without_arguments_takes_none() -> None:
    finding = unknown_arguments(frozenset(), ToolCall(name="x", arguments={"a": 1}))
    assert finding.reason == "it takes no argument a; it takes nothing"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ((), 'get_book(book_id="B1")'),
        (("email",), 'get_book(book_id="B1", email=?)'),
        (("email", "name"), 'get_book(book_id="B1", email=?, name=?)'),
    ],
)
def test_a_read_is_spelled_with_what_the_user_has_to_be_asked_for(
    asked: tuple[str, ...], text: str
) -> None:
    assert spelled(GET_BOOK, asked) == text
