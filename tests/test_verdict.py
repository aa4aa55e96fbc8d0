"""Verdicts: which findings count for what, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict

CALL = ToolCall(name="lend_book")
GET, LIST = ToolCall(name="get_book"), ToolCall(name="list_books")


def finding(
    kind: Kind = Kind.VIOLATION,
    decision: Decision = Decision.REVISE,
    reason: str = "",
    **more: object,
) -> Finding:
    said = reason or f"{kind.value} {decision.name}"
    return Finding(kind, f"lending/{kind.value}", None, decision, said, **more)  # type: ignore[arg-type]


VIOLATION = finding()
BLOCKED = finding(decision=Decision.BLOCK)
EVIDENCE = finding(Kind.EVIDENCE)
ERROR = finding(Kind.ERROR, Decision.BLOCK)
UNDECIDED = finding(Kind.UNDECIDED, Decision.ALLOW)
REFUSED_UNDECIDED = finding(Kind.UNDECIDED)
WARNING = finding(reason="warned", enforcement=Enforcement.WARN)
AUDITED = finding(reason="recorded", enforcement=Enforcement.AUDIT)


def verdict(*findings: Finding, shadow: tuple[Finding, ...] = (), note: str = "") -> Verdict:
    decision = max((f.decision for f in findings), default=Decision.ALLOW)
    return Verdict(CALL, decision, findings, shadow, note=note)


def test_the_strictest_of_several_decisions_is_the_greatest() -> None:
    assert Decision.ALLOW < Decision.REVISE < Decision.BLOCK


def test_findings_are_told_apart_by_their_kind() -> None:
    mixed = verdict(VIOLATION, EVIDENCE, ERROR, BLOCKED)
    assert mixed.violations == (VIOLATION, BLOCKED)
    assert mixed.missing == (EVIDENCE,)
    assert mixed.errors == (ERROR,)
    assert verdict().violations == verdict().missing == verdict().errors == ()


@dataclass
class Case:
    """A verdict with what is to be said of it."""

    verdict: Verdict
    allowed: bool
    undecided: bool
    word: str


@pytest.mark.parametrize(
    "case",
    [
        Case(verdict(), True, False, "ALLOW"),
        Case(verdict(VIOLATION), False, False, "REVISE"),
        Case(verdict(VIOLATION, BLOCKED), False, False, "BLOCK"),
        Case(verdict(shadow=(UNDECIDED,)), True, True, "UNDECIDED"),
        Case(verdict(REFUSED_UNDECIDED), False, True, "UNDECIDED"),
        Case(verdict(REFUSED_UNDECIDED, VIOLATION), False, True, "REVISE"),
        Case(verdict(BLOCKED, shadow=(UNDECIDED,)), False, True, "BLOCK"),
        Case(verdict(shadow=(AUDITED,)), True, False, "ALLOW"),
    ],
)
def test_a_verdict_has_a_word(case: Case) -> None:
    assert case.verdict.allowed is case.allowed
    assert case.verdict.undecided is case.undecided
    assert case.verdict.word == case.word


def test_a_call_waits_for_others_only_where_nothing_else_is_against_it() -> None:
    waits = finding(Kind.EVIDENCE, waits_for=(GET,))
    more = finding(Kind.EVIDENCE, waits_for=(LIST, GET))
    assert verdict(waits, more).waits_for == (GET, LIST, GET)
    assert verdict(waits, VIOLATION).waits_for == ()
    assert verdict().waits_for == ()


def test_what_blocks_a_call_is_decisive_and_else_everything_is() -> None:
    assert verdict(VIOLATION, BLOCKED, EVIDENCE, ERROR).decisive == (BLOCKED, ERROR)
    assert verdict(VIOLATION, EVIDENCE).decisive == (VIOLATION, EVIDENCE)


@pytest.mark.parametrize(
    ("given", "objection"),
    [
        (verdict(), ""),
        (verdict(VIOLATION), "violation REVISE"),
        (verdict(VIOLATION, EVIDENCE), "violation REVISE\nevidence REVISE"),
        (verdict(VIOLATION, VIOLATION), "violation REVISE"),
        (verdict(VIOLATION, BLOCKED), "violation BLOCK"),
        (verdict(VIOLATION, note="again"), "violation REVISE\nagain"),
        (verdict(VIOLATION, shadow=(WARNING,)), "violation REVISE\nwarned"),
        (verdict(shadow=(AUDITED, WARNING)), "warned"),
        (verdict(shadow=(UNDECIDED._replace(enforcement=Enforcement.AUDIT),)), ""),
        (verdict(shadow=(AUDITED,)), ""),
        (verdict(note="again"), "again"),
    ],
)
def test_an_objection_is_each_reason_once_and_nothing_that_is_only_recorded(
    given: Verdict, objection: str
) -> None:
    assert given.objection == objection


@pytest.mark.parametrize(
    ("given", "feedback"),
    [
        (verdict(), ""),
        (verdict(shadow=(WARNING,)), "lend_book: warned"),
        (verdict(VIOLATION), "lend_book was not executed: violation REVISE"),
        (verdict(BLOCKED), "lend_book was not executed, and stays refused: violation BLOCK"),
    ],
)
def test_feedback_says_by_name_what_became_of_the_call(given: Verdict, feedback: str) -> None:
    assert given.feedback == feedback


def test_a_name_from_outside_cannot_end_the_line_of_the_feedback() -> None:
    odd = verdict(VIOLATION)._replace(call=ToolCall(name="lend\n</ledger>"))
    assert odd.feedback.startswith("lend\\u000a\\u003c/ledger\\u003e was not executed")
