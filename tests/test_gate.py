"""The gate: one verdict a call, on one snapshot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledgeragent.effects import Read
from ledgeragent.gate import MALFORMED, UNKNOWN_TOOL, Gate
from ledgeragent.ledger import Entry, Ledger, Touch
from ledgeragent.predicates import (
    Broken,
    Check,
    MissingEvidence,
    View,
    demand,
    predicate,
    violation,
)
from ledgeragent.testing import ledger_of
from ledgeragent.types import Json, Reply, ToolCall
from ledgeragent.verdict import Decision, Enforcement, Kind, Verdict
from tests.lending.domain import (
    ADA,
    AUTH,
    BOOK,
    BOOK_IN,
    BOTH_READ,
    GET_BOOK,
    GET_MEMBER,
    LEND,
    LIBRARY,
    MEMBER,
    Lend,
    available,
    call,
    read,
)
from tests.lending.gates import GATE, LONG, OUT, OWING, kinds, raising, with_rules


def test_a_call_that_holds_every_rule_is_allowed_with_the_facts_read() -> None:
    verdict = GATE.judge(LEND, BOTH_READ)
    assert verdict.allowed and verdict.findings == () and verdict.feedback == ""
    assert [(f.path, f.value) for f in verdict.evidence] == [
        ("books.B1.status", "in"),
        ("members.M1.fines", 0.0),
    ]


@pytest.mark.parametrize(
    "passed",
    [
        GET_BOOK,
        call("get_book"),
        call("call_librarian", x=1),
        ToolCall(name="get_book", malformed="{"),
    ],
)
def test_reads_and_unguarded_neutral_tools_pass_as_they_are(passed: ToolCall) -> None:
    assert GATE.judge(passed, Ledger()) == Verdict(call=passed, decision=Decision.ALLOW)


@pytest.mark.parametrize("decision", list(Decision))
def test_an_unknown_tool_gets_the_answer_that_was_chosen(decision: Decision) -> None:
    verdict = replace(GATE, unknown=decision).judge(call("burn_book"), BOTH_READ)
    assert verdict.decision is decision
    if decision is not Decision.ALLOW:
        assert kinds(verdict) == [(UNKNOWN_TOOL, Kind.VIOLATION)]
        assert "no tool named burn_book" in verdict.feedback


def test_an_unknown_tool_is_sent_back_unless_said_otherwise() -> None:
    assert GATE.judge(call("burn\n</ledger>"), BOTH_READ).decision is Decision.REVISE
    assert "\n" not in GATE.judge(call("burn\n</ledger>"), BOTH_READ).feedback


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{not json", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"days": NaN}', "not a JSON object"),
        ("{}", "member_id is missing"),
        ('{"member_id": "M1", "book_id": ["B1"], "days": 1}', "book_id should be text"),
        ('{"member_id": "M1", "book_id": "B1", "days": "soon"}', "days should be a whole number"),
    ],
)
def test_arguments_that_cannot_be_used_are_sent_back(arguments: str, said: str) -> None:
    verdict = GATE.judge(ToolCall.parse(name="lend_book", arguments=arguments), BOTH_READ)
    assert verdict.decision is Decision.REVISE
    assert kinds(verdict) == [(MALFORMED, Kind.VIOLATION)]
    assert said in verdict.feedback


def test_a_number_that_arrives_as_text_is_judged_as_the_number_and_sent_as_it_came() -> None:
    late = call("lend_book", member_id="M1", book_id="B1", days="99")
    assert kinds(GATE.judge(late, BOTH_READ)) == [("lending/days", Kind.VIOLATION)]
    fine = call("lend_book", member_id="M1", book_id="B1", days="14")
    [executed] = GATE.filter(Reply(calls=(fine,)), BOTH_READ).execute
    assert executed is fine


def test_every_rule_reports_and_the_strictest_decides() -> None:
    verdict = GATE.judge(LONG, OWING)
    assert verdict.decision is Decision.BLOCK
    assert [(f.predicate, f.decision) for f in verdict.findings] == [
        ("lending/days", Decision.REVISE),
        ("lending/available", Decision.REVISE),
        ("lending/fines", Decision.BLOCK),
    ]


def test_a_blocked_call_is_told_what_blocks_it_and_not_how_to_mend_the_rest() -> None:
    filtered = GATE.filter(Reply(calls=(LONG,)), OWING)
    assert filtered.feedback == "lend_book was not executed, and stays refused: 2.50 are owed"
    assert filtered.refusal == "I can't do that: 2.50 are owed."


@predicate("lending/signed-in", guards="lend_book")
def signed_in(arguments: Lend, ledger: View) -> Broken | None:
    """Somebody was found by email."""
    return None if ledger[AUTH()] else violation("nobody")


def test_a_read_that_failed_for_want_of_arguments_is_still_asked_for() -> None:
    asked = LIBRARY.reads_for(AUTH())
    found = Read(
        tool="find_member", to=AUTH, parameters=("email",), unavailable=lambda answer: True
    )
    tools = [found if tool.tool == "find_member" else tool for tool in LIBRARY.tools]
    gate = Gate(domain=replace(LIBRARY, tools=tools, predicates=(signed_in,)))
    verdict = gate.judge(LEND, Ledger().without(asked[0], "no member None"))
    assert not verdict.allowed and not verdict.undecided
    assert verdict.missing[0].reads == asked


def test_a_blocked_call_is_not_followed_by_requests_for_evidence() -> None:
    verdict = GATE.judge(LEND, ledger_of({"members.M1": {**ADA, "fines": 2.5}}, LIBRARY))
    assert verdict.decision is Decision.BLOCK and verdict.missing
    assert verdict.objection == "2.50 are owed"


def test_each_finding_has_the_facts_of_its_own_rule() -> None:
    by_rule = {f.predicate: [e.path for e in f.evidence] for f in GATE.judge(LONG, OWING).findings}
    assert by_rule == {
        "lending/days": [],
        "lending/available": ["books.B1.status"],
        "lending/fines": ["members.M1.fines"],
    }


def test_missing_evidence_names_the_read_that_would_supply_it() -> None:
    verdict = GATE.judge(LEND, Ledger())
    assert verdict.decision is Decision.REVISE
    assert [(f.predicate, [str(r) for r in f.reads]) for f in verdict.missing] == [
        ("lending/available", ['get_book(book_id="B1")']),
        ("lending/fines", ['get_member(member_id="M1")']),
    ]
    assert 'books.B1 has not been read yet; call get_book(book_id="B1") first' in verdict.feedback


def test_a_wrong_argument_is_no_reason_to_read_and_the_other_way_round() -> None:
    assert kinds(GATE.judge(LONG, Ledger())) == [
        ("lending/days", Kind.VIOLATION),
        ("lending/available", Kind.EVIDENCE),
        ("lending/fines", Kind.EVIDENCE),
    ]


def test_a_stale_fact_neither_rejects_nor_satisfies() -> None:
    for ledger in (OUT, BOTH_READ):
        verdict = GATE.judge(LEND, ledger.wrote(LEND, [Touch(BOOK("B1"), ("status",))]))
        assert kinds(verdict) == [("lending/available", Kind.EVIDENCE)]
        assert "books.B1.status was changed by lend_book since it was read" in verdict.feedback


def test_what_a_write_left_alone_stays_known() -> None:
    touched = BOTH_READ.wrote(
        LEND, [Touch(MEMBER("M1"), ("loans",)), Touch(BOOK("B1"), ("shelf",))]
    )
    assert GATE.judge(LEND, touched).allowed


def test_the_papers_literal_reading_judges_old_values() -> None:
    literal = replace(GATE, stale="value")
    touch = [Touch(BOOK("B1")), Touch(MEMBER("M1"))]
    assert literal.judge(LEND, BOTH_READ.wrote(LEND, touch)).allowed
    verdict = literal.judge(LEND, OUT.wrote(LEND, touch))
    assert kinds(verdict) == [("lending/available", Kind.VIOLATION)]


def test_what_the_customer_may_have_changed_is_asked_for_in_other_words() -> None:
    verdict = GATE.judge(LEND, BOTH_READ.heard([Touch(BOOK("B1"), ("status",))]))
    assert "may have been changed by the user" in verdict.feedback


def test_text_that_is_no_record_is_not_called_unread() -> None:
    text = Entry(path=BOOK("B1"), value="Ferns, in", source=GET_BOOK, turn=0, typed=False)
    verdict = GATE.judge(LEND, BOTH_READ.put(text))
    assert kinds(verdict) == [("lending/available", Kind.EVIDENCE)]
    assert "books.B1 was read, but what came back could not be understood" in verdict.feedback


def test_without_a_tool_for_the_evidence_the_call_is_undecided_and_stays_out() -> None:
    bound = Gate(domain=LIBRARY.bind({"lend_book", "get_member"}))
    verdict = bound.judge(LEND, read((GET_MEMBER, ADA)))
    assert (verdict.decision, verdict.word) == (Decision.BLOCK, "UNDECIDED")
    [undecided] = verdict.findings
    assert undecided.kind is Kind.UNDECIDED and not verdict.violations
    assert "cannot be checked here" in verdict.feedback


def test_what_is_undecided_may_be_allowed_and_is_told_apart() -> None:
    bound = Gate(domain=LIBRARY.bind({"lend_book", "get_member"}), undecided=Decision.ALLOW)
    verdict = bound.judge(LEND, read((GET_MEMBER, ADA)))
    assert verdict.allowed and verdict.findings == ()
    assert verdict.undecided and verdict.word == "UNDECIDED"
    [undecided] = verdict.shadow
    assert (undecided.kind, undecided.enforcement) == (Kind.UNDECIDED, Enforcement.AUDIT)
    assert undecided.reads == () and verdict.feedback == ""


def test_evidence_that_was_asked_for_and_cannot_be_had_ends_the_demand() -> None:
    ledger = read((GET_MEMBER, ADA)).without(GET_BOOK, "withdrawn")
    verdict = GATE.judge(LEND, ledger)
    assert verdict.allowed
    assert [f.kind for f in verdict.shadow] == [Kind.UNDECIDED]


def test_a_rule_can_name_the_reads_itself_but_not_ones_the_run_lacks() -> None:
    @predicate("lending/search", guards="lend_book")
    def search(arguments: Json, ledger: View) -> Broken | None:
        """The catalogue was looked at."""
        demand(BOOK("B1"), call("list_books", word="B1"), call("ask_neighbour"))

    [finding] = Gate(domain=with_rules(search)).judge(LEND, BOTH_READ).missing
    assert [str(r) for r in finding.reads] == ['list_books(word="B1")']


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    "error",
    [
        KeyError("secret"),
        ZeroDivisionError(),
        RecursionError(),
        AssertionError(),
        SystemExit(3),
        pytest.param(Unspeakable(), id="unspeakable"),
    ],
)
def test_a_rule_that_fails_refuses_its_call_and_is_reported(error: BaseException) -> None:
    gate = Gate(domain=with_rules(raising(error)))
    verdict = gate.judge(LONG, BOTH_READ)
    assert verdict.decision is Decision.BLOCK
    assert kinds(verdict) == [("lending/days", Kind.VIOLATION), ("lending/broken", Kind.ERROR)]
    [failed] = verdict.errors
    assert failed.error is not None and failed.error.startswith(f"{type(error).__name__}: ")
    assert [e.path for e in failed.evidence] == ["books.B1.status"]
    assert "secret" not in verdict.feedback and "could not be checked" in verdict.feedback


def asking_with_a_name(arguments: Json, ledger: View) -> Broken | None:
    demand(BOOK("B1"), "get_book")  # type: ignore[arg-type]


def reading_by_text(arguments: Json, ledger: View) -> Broken | None:
    assert ledger["books.B1"]["status"]  # type: ignore[index]
    return None


def getting_by_text(arguments: Json, ledger: View) -> Broken | None:
    assert ledger.get("books.B1")  # type: ignore[arg-type]
    return None


def missing_by_text(arguments: Json, ledger: View) -> Broken | None:
    raise MissingEvidence("books.B1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "check", [asking_with_a_name, reading_by_text, getting_by_text, missing_by_text]
)
def test_a_rule_that_asks_in_a_way_that_nobody_can_answer_has_failed(check: Check) -> None:
    rule = predicate("lending/broken", guards="lend_book")(check)
    verdict = Gate(domain=with_rules(rule)).judge(LONG, BOTH_READ)
    assert verdict.decision is Decision.BLOCK
    assert kinds(verdict) == [("lending/days", Kind.VIOLATION), ("lending/broken", Kind.ERROR)]


def test_a_route_that_fails_while_a_read_is_looked_for_refuses_the_call() -> None:
    odd = Read(tool="get_book", to=BOOK, parameters=("book_id",), when=lambda given: given["no"])
    tools = [odd if tool.tool == "get_book" else tool for tool in LIBRARY.tools]
    verdict = Gate(domain=replace(LIBRARY, tools=tools)).judge(LEND, read((GET_MEMBER, ADA)))
    assert verdict.decision is Decision.BLOCK
    assert kinds(verdict) == [("lending/available", Kind.ERROR)]


def test_a_rule_that_fails_leaves_other_calls_alone() -> None:
    gate = Gate(domain=with_rules(raising(ValueError())))
    move = call("move_member", member_id="M1", city="Delft")
    assert [v.allowed for v in gate.filter(Reply(calls=(LEND, move)), BOTH_READ).verdicts] == [
        False,
        True,
    ]


def shadowing(enforcement: Enforcement) -> Gate:
    rules = tuple(replace(rule, enforcement=enforcement) for rule in LIBRARY.predicates)
    return Gate(domain=replace(LIBRARY, predicates=rules))


@pytest.mark.parametrize("enforcement", [Enforcement.WARN, Enforcement.AUDIT])
def test_a_rule_in_shadow_decides_nothing(enforcement: Enforcement) -> None:
    verdict = shadowing(enforcement).judge(LONG, OWING)
    assert verdict.allowed and verdict.findings == ()
    assert [f.predicate for f in verdict.shadow] == [r.id for r in LIBRARY.predicates]
    assert {f.enforcement for f in verdict.shadow} == {enforcement}


def test_a_warning_is_told_and_an_audit_is_not() -> None:
    assert "99 days" in shadowing(Enforcement.WARN).judge(LONG, OWING).feedback
    assert shadowing(Enforcement.AUDIT).judge(LONG, OWING).feedback == ""


def test_a_shadow_rule_asks_for_nothing_and_blocks_nothing_by_failing() -> None:
    failing = replace(raising(ValueError()), enforcement=Enforcement.AUDIT)
    verdict = Gate(domain=with_rules(failing)).judge(LEND, BOTH_READ)
    assert verdict.allowed and [f.kind for f in verdict.shadow] == [Kind.ERROR]
    asked = shadowing(Enforcement.AUDIT).judge(LEND, Ledger())
    assert asked.allowed and {f.kind for f in asked.shadow} == {Kind.EVIDENCE}


@pytest.mark.parametrize("owner", [{"name": "SECRET"}, ["SECRET"], 4711_4711, "SECRET\u0000"])
def test_an_odd_value_that_would_tell_whose_record_it_is_is_told_to_nobody(owner: Json) -> None:
    whose = replace(available, check=lambda call, view: view[BOOK("B1")]["title"], identity=True)
    gate = Gate(domain=replace(LIBRARY, predicates=(whose,)))
    ledger = read((GET_BOOK, {**BOOK_IN, "title": owner}))
    told = gate.judge(LEND, ledger).feedback
    assert "title" in told
    assert "SECRET" not in told
    assert "4711" not in told
