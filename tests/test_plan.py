"""A reply is a plan: judged in order, safe in any order, and never an assertion about what is to come."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledgeragent.effects import ReturnRoute
from ledgeragent.gate import Filtered, Gate
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.plan import WAIT, spoken_calls
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision, Enforcement, Kind, Verdict
from tests.lending.domain import (
    ADA,
    BOOK,
    BOTH_READ,
    LEND,
    LIBRARY,
    MEMBER,
    Lend,
    answer,
    call,
)

M1, B1 = MEMBER("M1"), BOOK("B1")
AGAIN = replace(LEND, id="again", arguments={**LEND.arguments, "days": 7})
SHELVE = call("shelve_book", book_id="B1")
MOVE = call("move_member", member_id="M1", city="Gouda")
OTHER_BOOK = call("lend_book", "other", member_id="M1", book_id="B2", days=7)


def judged(*calls: ToolCall, gate: Gate | None = None, ledger: Ledger = BOTH_READ) -> Filtered:
    return (gate or Gate(domain=LIBRARY)).filter(Reply(calls=calls), ledger)


def second(filtered: Filtered) -> Verdict:
    return filtered.verdicts[1]


def test_what_an_allowed_call_touches_is_unknown_to_the_calls_after_it() -> None:
    verdict = second(judged(LEND, AGAIN))
    assert verdict.decision is Decision.REVISE
    assert verdict.waits_for == (LEND,) and not verdict.violations
    assert "wait for the result of lend_book(" in verdict.feedback
    assert 'call get_book(book_id="B1")' in verdict.feedback


def test_one_call_object_twice_is_a_call_and_its_repetition() -> None:
    assert [v.allowed for v in judged(MOVE, MOVE).verdicts] == [True, False]
    assert [v.allowed for v in judged(SHELVE, MOVE, SHELVE).verdicts] == [True, True, False]


def test_a_rule_sees_what_is_about_to_change_as_unknown_and_the_rest_as_observed() -> None:
    seen: list[object] = []

    @predicate("lending/looks", guards=("lend_book",))
    def looks(call: Lend, ledger: View) -> Broken | None:
        marked = ledger.entry(B1), *(each for path, each in ledger.glob(BOOK) if path == B1)
        seen.append((ledger[M1]["name"], ledger.turn, [doubt.call for doubt in ledger.unconfirmed]))
        seen.append(marked[0].stale[0].by if marked[0] and marked[0].stale else None)
        return None if marked[1]["status"] else violation("no status")

    lost = call("return_book", book_id="B9")
    ledger = BOTH_READ.doubted(lost, [], running=False).heard()
    gate = Gate(domain=replace(LIBRARY, predicates=(looks,)))
    verdict = second(judged(LEND, AGAIN, gate=gate, ledger=ledger))
    assert seen == [
        (ADA["name"], 1, [lost]),
        None,
        (ADA["name"], 1, [lost, LEND]),
        LEND,
    ]
    assert verdict.missing and ledger.get(B1) == BOTH_READ.get(B1)


def test_a_rejected_call_is_not_expected_to_happen() -> None:
    long = replace(LEND, id="long", arguments={**LEND.arguments, "days": 99})
    assert [v.allowed for v in judged(long, LEND).verdicts] == [False, True]


def test_a_later_call_waits_where_it_touches_what_an_earlier_one_rests_on() -> None:
    verdict = second(judged(LEND, SHELVE))
    assert [f.predicate for f in verdict.findings] == [WAIT]
    assert verdict.waits_for == (LEND,)


def test_a_host_that_runs_calls_as_listed_needs_no_wait_for_what_was_read_before() -> None:
    listed = Gate(domain=LIBRARY, order="listed")
    assert [v.allowed for v in judged(LEND, SHELVE, gate=listed).verdicts] == [True, True]
    assert [v.allowed for v in judged(SHELVE, LEND, gate=listed).verdicts] == [True, False]


def test_the_papers_reading_judges_each_call_as_if_alone() -> None:
    snapshot = Gate(domain=LIBRARY, order="snapshot")
    assert [v.allowed for v in judged(LEND, AGAIN, gate=snapshot).verdicts] == [True, True]


def test_the_same_call_twice_waits_even_where_nothing_is_known_to_change() -> None:
    silent = replace(
        LIBRARY,
        tools=[replace(t, touches=()) if t.tool == "move_member" else t for t in LIBRARY.tools],
    )  # type: ignore[call-arg]
    filtered = judged(MOVE, replace(MOVE, id="2"), gate=Gate(domain=silent))
    assert [v.allowed for v in filtered.verdicts] == [True, False]


def test_one_and_the_same_call_object_twice_is_two_calls() -> None:
    assert [v.allowed for v in judged(MOVE, MOVE).verdicts] == [True, False]


def test_calls_that_have_nothing_in_common_go_together() -> None:
    assert [v.allowed for v in judged(SHELVE, MOVE).verdicts] == [True, True]


@predicate("lending/once", guards="lend_book")
def once(arguments: Lend, ledger: View) -> Broken | None:
    """A book is lent to a member once in a conversation."""
    books = [w.arguments["book_id"] for w in ledger.writes if w.name == "lend_book"]
    return violation("it was lent before") if arguments["book_id"] in books else None


@predicate("lending/moved", guards="lend_book")
def moved(arguments: Lend, ledger: View) -> Broken | None:
    """Books go to members that have moved in this conversation."""
    if any(write.name == "move_member" for write in ledger.writes):
        return None
    return violation("the member has to move first")


@predicate("lending/local", guards="lend_book")
def local(arguments: Lend, ledger: View) -> Broken | None:
    """Books go to members who live here."""
    member = ledger[MEMBER(arguments["member_id"])]
    if member["address"]["city"] == ADA["address"]["city"]:
        return None
    return violation("the member lives elsewhere")


def only(rule: object, **options: object) -> Gate:
    return Gate(domain=replace(LIBRARY, predicates=(rule,)), **options)  # type: ignore[arg-type]


def test_a_violation_that_rests_on_a_call_before_it_is_none() -> None:
    gate = only(once)
    verdict = second(judged(LEND, AGAIN, gate=gate))
    assert verdict.decision is Decision.REVISE and verdict.waits_for == (LEND,)
    assert [f.kind for f in verdict.findings] == [Kind.EVIDENCE]


def test_a_violation_by_what_has_executed_stays_one() -> None:
    ledger = BOTH_READ.wrote(LEND, ())
    verdict = second(judged(MOVE, AGAIN, gate=only(once), ledger=ledger))
    assert [f.reason for f in verdict.violations] == ["it was lent before"]


@pytest.mark.parametrize("order", ["any", "listed"])
def test_no_allowance_rests_on_a_call_before_it_whose_tool_may_refuse(order: str) -> None:
    verdict = second(judged(MOVE, LEND, gate=only(moved, order=order)))
    assert not verdict.allowed and not verdict.violations
    assert verdict.waits_for == (MOVE,)


@predicate("lending/lonely", guards="move_member", enforcement=Enforcement.AUDIT)
def lonely(arguments: object, ledger: View) -> Broken | None:
    """Nothing else is done in a conversation in which a member moves."""
    return violation("more was done") if len(ledger.writes) > 0 else None


def test_what_a_rule_that_is_not_enforced_says_holds_no_other_call_back() -> None:
    gate = only(lonely)
    assert [v.allowed for v in judged(MOVE, SHELVE, gate=gate).verdicts] == [True, True]
    strict = only(replace(lonely, enforcement=Enforcement.ENFORCE))
    assert [v.allowed for v in judged(MOVE, SHELVE, gate=strict).verdicts] == [True, False]


def test_calls_in_flight_count_like_calls_of_the_reply() -> None:
    gate = Gate(domain=LIBRARY)
    state, _ = State(ledger=BOTH_READ).filter(Reply(calls=(LEND,)), gate, "tool_result")
    after, filtered = state.filter(Reply(calls=(AGAIN,)), gate, "tool_result", running=(LEND,))
    assert filtered.verdicts[0].waits_for == (LEND,)
    assert after.pending == (LEND,) and after.ledger == BOTH_READ


def test_a_call_waits_where_it_touches_what_a_call_in_flight_rests_on() -> None:
    gate = only(local)
    state, first = State(ledger=BOTH_READ).filter(Reply(calls=(LEND,)), gate, "tool_result")
    _, filtered = state.filter(Reply(calls=(MOVE,)), gate, "tool_result", running=first.execute)
    [verdict] = filtered.verdicts
    assert [f.predicate for f in verdict.findings] == [WAIT]
    assert verdict.waits_for == (LEND,)


def replied(state: State, *calls: ToolCall) -> State:
    return state.observe(Reply(calls=calls), LIBRARY)


STARTED = State(ledger=BOTH_READ)


def test_a_write_that_is_never_answered_may_have_happened() -> None:
    lost = replied(replied(STARTED, LEND), AGAIN)
    assert [doubt.call for doubt in lost.ledger.unconfirmed] == [LEND]
    assert lost.ledger.writes == ()
    verdict = Gate(domain=LIBRARY).judge(AGAIN, lost.ledger)
    assert "lend_book, whose result never came" in verdict.feedback
    verdict = only(once).judge(AGAIN, lost.ledger)
    assert verdict.decision is Decision.REVISE and not verdict.violations
    assert "it is not known whether lend_book(" in verdict.feedback


@predicate("lending/shelved", guards="lend_book")
def shelved(arguments: Lend, ledger: View) -> Broken | None:
    """A book that was taken off its shelf, and not put back, cannot be lent."""
    moves = [write.name for write in ledger.writes if write.name in ("shelve_book", "move_member")]
    return violation("it is off its shelf") if moves[-1:] == ["move_member"] else None


@pytest.mark.parametrize("lost", [(MOVE,), (MOVE, SHELVE), (SHELVE, MOVE), (SHELVE, MOVE, SHELVE)])
def test_of_several_lost_writes_any_may_have_been_done(lost: tuple[ToolCall, ...]) -> None:
    ledger = BOTH_READ
    for number, write in enumerate(lost):
        ledger = ledger.doubted(replace(write, id=f"lost-{number}"), (), running=False)
    verdict = only(shelved).judge(LEND, ledger)
    assert verdict.decision is Decision.REVISE and not verdict.violations
    assert only(shelved).judge(LEND, BOTH_READ).allowed


@pytest.mark.parametrize(
    "content",
    [
        "Error: connection lost",
        "Error: request timed out after 30 s",
        "Error: 503 Service Unavailable",
        "HTTP 504: gateway did not answer",
        "Error: Remote end closed: server disconnected",
    ],
)
def test_a_failure_of_the_transport_tells_nothing_of_the_write(content: str) -> None:
    after = replied(STARTED, LEND).observe(ToolReturn(call_id=LEND.id, content=content), LIBRARY)
    assert [doubt.call for doubt in after.ledger.unconfirmed] == [LEND]
    assert after.ledger.get(BOOK("B1")).stale_at(("status",)) is not None  # type: ignore[union-attr]


def test_a_refusal_of_the_tool_means_that_nothing_changed() -> None:
    after = replied(STARTED, LEND).observe(answer(LEND, "no such book", error=True), LIBRARY)
    assert after.ledger == BOTH_READ


@pytest.mark.parametrize("error", [False, True])
def test_a_result_that_comes_late_settles_what_was_in_doubt(error: bool) -> None:
    lost = replied(replied(STARTED, LEND), MOVE)
    settled = lost.observe(answer(LEND, "said no" if error else "lent", error=error), LIBRARY)
    assert settled.ledger.unconfirmed == ()
    assert settled.ledger.writes == (() if error else (LEND,))
    assert settled.pending == (MOVE,)


def test_a_lost_return_leaves_the_write_in_doubt() -> None:
    after = replied(STARTED, LEND).observe(
        ToolReturn(call_id=LEND.id, content=None, lost=True), LIBRARY
    )
    assert [doubt.running for doubt in after.ledger.unconfirmed] == [False]


def test_a_user_message_leaves_calls_open() -> None:
    waiting = replied(STARTED, LEND).observe(UserMessage(text="hurry"), LIBRARY)
    assert waiting.pending == (LEND,) and waiting.ledger.unconfirmed == ()


GET_BOOK = call("get_book", book_id="B1")
READ_BESIDE = Reply(calls=(LEND, GET_BOOK))
FRESH = answer(GET_BOOK, {"book_id": "B1", "title": "Ferns", "status": "in"})


def test_a_read_beside_a_write_may_be_older_than_it_looks() -> None:
    state, _ = STARTED.filter(READ_BESIDE, Gate(domain=LIBRARY), "tool_result")
    for returned in (answer(LEND, "lent"), FRESH):
        state = state.observe(returned, LIBRARY)
    entry = state.ledger.get(BOOK("B1"))
    assert entry is not None and entry.stale_at(("status",)) is not None
    assert entry.stale_at(("title",)) is None


def test_what_writes_at_once_answer_may_be_older_than_what_the_others_changed() -> None:
    whole = ReturnRoute(to=MEMBER)
    tools = [
        replace(tool, returns=(whole,)) if tool.tool in ("move_member", "lend_book") else tool
        for tool in LIBRARY.tools
    ]
    domain = replace(LIBRARY, tools=tools, predicates=())
    calls = (MOVE, OTHER_BOOK)
    state, filtered = STARTED.filter(Reply(calls=calls), Gate(domain=domain), "tool_result")
    assert filtered.execute == calls
    state = state.observe(answer(MOVE, {**ADA, "loans": []}), domain)
    state = state.observe(answer(OTHER_BOOK, ADA), domain)
    entry = state.ledger.get(MEMBER("M1"))
    assert entry is not None and entry.stale_at(("address", "city")) is not None
    assert entry.stale_at(("loans",)) is None and entry.stale_at(("fines",)) is None


def test_a_read_after_a_write_is_as_new_as_it_looks_where_calls_run_as_listed() -> None:
    state, _ = STARTED.filter(READ_BESIDE, Gate(domain=LIBRARY, order="listed"), "tool_result")
    for returned in (answer(LEND, "lent"), FRESH):
        state = state.observe(returned, LIBRARY)
    entry = state.ledger.get(BOOK("B1"))
    assert entry is not None and entry.stale == ()


def test_other_records_keep_what_is_known_of_them() -> None:
    expected = BOTH_READ.doubted(LEND, [Touch(BOOK("B1"), ("status",))], running=True)
    member = expected.get(MEMBER("M1"))
    assert member is not None and member.stale == ()


def test_calls_are_named_in_words_that_end_no_line() -> None:
    odd = ToolCall(name="lend\n")
    assert spoken_calls((SHELVE, odd)) == 'shelve_book(book_id="B1") and lend\\u000a()'
    assert spoken_calls((SHELVE,)) == 'shelve_book(book_id="B1")'


def test_the_same_tool_called_for_something_else_is_no_repetition() -> None:
    other = call("move_member", "2", member_id="M2", city="Gouda")
    assert [v.allowed for v in judged(MOVE, other).verdicts] == [True, True]
    assert [v.allowed for v in judged(MOVE, SHELVE).verdicts] == [True, True]


def test_what_changes_nothing_may_be_done_twice() -> None:
    note = call("call_librarian", note="Ferns")
    rule = predicate("lending/noted", guards="call_librarian")(lambda arguments, ledger: None)
    assert [v.allowed for v in judged(note, note, gate=only(rule)).verdicts] == [True, True]


def test_whoever_judges_calls_one_by_one_has_them_counted() -> None:
    plan = Gate(domain=LIBRARY).plan(BOTH_READ)
    assert plan.judge(LEND).allowed
    assert plan.judge(SHELVE).waits_for == (LEND,)


@predicate("lending/unmoved", guards="lend_book")
def unmoved(arguments: Lend, ledger: View) -> Broken | None:
    """Nothing is lent to members that move in this conversation."""
    if all(write.name != "move_member" for write in ledger.writes):
        return None
    return violation("the member has moved")


def test_a_call_waits_for_one_that_rests_on_its_not_being_done() -> None:
    gate = only(unmoved)
    assert second(judged(LEND, MOVE, gate=gate)).waits_for == (LEND,)
    running = gate.filter(Reply(calls=(MOVE,)), BOTH_READ, running=(LEND,))
    assert running.verdicts[0].waits_for == (LEND,)
    assert running.execute == ()
    assert gate.filter(Reply(calls=(SHELVE,)), BOTH_READ, running=(LEND,)).execute == ()
    assert gate.filter(Reply(calls=(OTHER_BOOK,)), BOTH_READ.wrote(MOVE, [])).execute == ()
