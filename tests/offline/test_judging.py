"""Judging a recorded run: which calls, on which ledger, and whether they really executed."""

from __future__ import annotations

from dataclasses import replace

from ledgeragent.domain import Domain
from ledgeragent.effects import Neutral, Tool, Write
from ledgeragent.gate import Gate
from ledgeragent.offline.judging import (
    ALLOW,
    BLOCK,
    REVISE_EVIDENCE,
    REVISE_VIOLATION,
    JudgedCall,
    judge,
)
from ledgeragent.offline.traces import Trace
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.lending.domain import (
    ADA,
    BOOK_IN,
    GET_BOOK,
    GET_MEMBER,
    LEND,
    LIBRARY,
    Lend,
    Note,
    answer,
    call,
)

READS = (
    UserMessage(text="Lend me Ferns"),
    Reply(calls=(GET_MEMBER, GET_BOOK)),
    answer(GET_MEMBER, ADA),
    answer(GET_BOOK, BOOK_IN),
)
LONG = call("lend_book", member_id="M1", book_id="B1", days=99)


def judged(
    *messages: Message, domain: Domain = LIBRARY, nonstandard: frozenset[str] = frozenset()
) -> list[JudgedCall]:
    """The judged calls of a run of these messages."""
    trace = Trace(run="r", messages=messages, nonstandard=nonstandard)
    return judge(trace, Gate(domain=domain))


def failed(to: ToolCall) -> ToolReturn:
    return ToolReturn(call_id=to.id, content="Error: not today")


def test_only_writes_are_judged_and_numbered() -> None:
    found = judged(*READS, Reply(calls=(LEND,)), answer(LEND, "lent"), Reply(calls=(LONG,)))
    assert [(one.call, one.number, one.message) for one in found] == [(LEND, 1, 4), (LONG, 2, 6)]


def test_each_outcome_has_its_word() -> None:
    owes = (Reply(calls=(GET_MEMBER,)), answer(GET_MEMBER, {**ADA, "fines": 1.0}))
    assert judged(*READS, Reply(calls=(LEND,)))[0].outcome == ALLOW
    assert judged(*READS, Reply(calls=(LONG,)))[0].outcome == REVISE_VIOLATION
    assert judged(Reply(calls=(LONG,)))[0].outcome == REVISE_VIOLATION
    assert judged(Reply(calls=(LEND,)))[0].outcome == REVISE_EVIDENCE
    assert judged(*READS, *owes, Reply(calls=(LEND,)))[0].outcome == BLOCK


def test_what_executed_is_told_by_what_came_back() -> None:
    assert judged(Reply(calls=(LEND,)), answer(LEND, "lent"))[0].executed
    assert not judged(Reply(calls=(LEND,)), failed(LEND))[0].executed
    assert not judged(Reply(calls=(LEND,)))[0].executed
    assert judged(Reply(calls=(LEND,)), Reply(text="Well"), answer(LEND, "came late"))[0].executed


def test_what_really_happened_is_followed_whatever_the_verdict() -> None:
    found = judged(
        *READS, Reply(calls=(LONG,)), answer(LONG, "lent"), Reply(calls=(LEND,)), answer(LEND, "x")
    )
    assert [one.outcome for one in found] == [REVISE_VIOLATION, REVISE_EVIDENCE]
    assert found[1].ledger.writes == (LONG,)


def test_a_later_call_of_a_reply_waits_for_what_an_earlier_one_changes() -> None:
    other = call("lend_book", "other", member_id="M1", book_id="B1", days=14)
    found = judged(
        *READS, Reply(calls=(LEND, other)), answer(LEND, "lent"), answer(other, "lent too")
    )
    assert [(one.outcome, one.executed) for one in found] == [
        (ALLOW, True),
        (REVISE_EVIDENCE, True),
    ]
    assert found[1].verdict.waits_for == (LEND,)


def test_of_calls_with_one_id_the_one_that_failed_did_not_execute() -> None:
    first, second = (
        call("lend_book", "c", member_id="M1", book_id=b, days=1) for b in ("B1", "B2")
    )
    found = judged(Reply(calls=(first, second)), failed(first), answer(second, "lent"))
    assert [one.executed for one in found] == [False, True]


def test_a_failure_in_ordinary_words_is_none_where_the_pack_knows_them() -> None:
    def sorry(tool: Tool) -> Tool:
        wordy = Write(tool="lend_book", arguments=Lend, failed=lambda text: "sorry" in text)
        return wordy if tool.tool == "lend_book" else tool

    domain = replace(LIBRARY, tools=tuple(map(sorry, LIBRARY.tools)))
    returned = ToolReturn(call_id=LEND.id, content="sorry, no")
    assert not judged(Reply(calls=(LEND,)), returned, domain=domain)[0].executed
    assert judged(Reply(calls=(LEND,)), returned)[0].executed


def test_an_unknown_tool_is_judged_unless_the_run_says_that_it_had_it() -> None:
    burn = call("burn_book", book_id="B1")
    run = (Reply(calls=(burn,)), answer(burn, "burnt"))
    assert [one.executed for one in judged(*run)] == [True]
    assert judged(*run, nonstandard=frozenset({"burn_book"})) == []


def test_a_neutral_tool_is_judged_where_a_rule_guards_it() -> None:
    @predicate("lending/shouting", guards="call_librarian")
    def shouting(given: Note, ledger: View) -> Broken | None:
        """Notes are not shouted."""
        return violation("don't shout") if given["note"].isupper() else None

    assert any(isinstance(tool, Neutral) for tool in LIBRARY.tools)
    domain = replace(LIBRARY, predicates=(*LIBRARY.predicates, shouting))
    loud = call("call_librarian", note="HELP")
    run = (Reply(calls=(GET_BOOK, loud)), answer(GET_BOOK, BOOK_IN), answer(loud, "coming"))
    assert judged(*run) == []
    (one,) = judged(*run, domain=domain)
    assert (one.call, one.outcome, one.executed) == (loud, REVISE_VIOLATION, True)
    (other,) = judged(Reply(calls=(loud,)), failed(loud), domain=domain)
    assert not other.executed


def test_arguments_that_are_no_object_are_judged_too() -> None:
    cut = ToolCall.parse(name="lend_book", arguments='{"member_id":', id="c")
    (one,) = judged(Reply(calls=(cut,)), answer(cut, "lent"))
    assert (one.outcome, one.executed) == (REVISE_VIOLATION, True)
