"""Counting a judged run: what is a request for a read, and what is a rejection."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledgeragent.domain import EVERY_RULE
from ledgeragent.gate import Gate
from ledgeragent.offline.judging import judge
from ledgeragent.offline.runtally import RunTally
from ledgeragent.offline.tally import ReplayResult
from ledgeragent.offline.traces import Trace
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Enforcement
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, LIBRARY, answer

TOO_LONG = replace(LEND, arguments={**LEND.arguments, "days": 90})
READ: tuple[Message, ...] = (
    Reply(calls=(GET_BOOK, GET_MEMBER)),
    answer(GET_BOOK, BOOK_IN),
    answer(GET_MEMBER, ADA),
)


def counted(*messages: Message) -> ReplayResult:
    result = ReplayResult()
    trace = Trace(run="r", messages=messages, reward=1.0)
    RunTally(result).count(trace, judge(trace, Gate(domain=LIBRARY)), LIBRARY)
    return result


@pytest.mark.parametrize(
    ("before", "lend", "outcome", "asked"),
    [
        ((), LEND, "revise_evidence", True),
        ((), TOO_LONG, "revise_violation", False),
        (READ, LEND, "allow", False),
        (READ, TOO_LONG, "revise_violation", False),
    ],
)
@pytest.mark.parametrize("executed", [True, False])
def test_a_run_is_asked_for_a_read_where_that_is_the_answer_to_one_of_its_calls(
    before: tuple[Message, ...], lend: ToolCall, outcome: str, asked: bool, executed: bool
) -> None:
    content = "done" if executed else "Error: no"
    reply = Reply(calls=(lend,))
    result = counted(*before, reply, ToolReturn(call_id=LEND.id, content=content))
    counts = result.by_reward["1"]
    assert result.writes[outcome] == 1
    assert counts["runs_asked_for_a_read"] == asked
    assert counts["runs_asked_before_an_executed_write"] == (asked and executed)
    assert bool(result.asked_by_clause) == asked
    assert bool(result.halted_by_clause) == (asked and executed)


def test_solved_runs_that_were_asked_are_listed_by_clause_and_task() -> None:
    result = ReplayResult()
    for task, reward, content in (
        ("7", 1.0, "done"),
        ("7", 1.0, "Error: no"),
        ("8", 1.0, "Error: no"),
        ("9", 0.0, "done"),
        ("10", None, "done"),
    ):
        asked = (Reply(calls=(LEND,)), ToolReturn(call_id=LEND.id, content=content))
        trace = Trace(run="r", messages=asked, reward=reward, benchmark="lending", task_id=task)
        other = ReplayResult()
        RunTally(other).count(trace, judge(trace, Gate(domain=LIBRARY)), LIBRARY)
        result.add(other)
    rows = {
        (row["benchmark"], row["task_id"], row["runs"], row["before_an_executed_write"])
        for row in result.asked_reward_1()
    }
    assert rows == {("lending", "7", 2, 1), ("lending", "8", 1, 0)}
    assert {row["clause"] for row in result.asked_reward_1()} == set(result.asked_by_clause)


def test_runs_of_several_domains_by_turns_count_as_each_would_alone() -> None:
    audited = LIBRARY.enforcing({EVERY_RULE: Enforcement.AUDIT})
    runs: tuple[tuple[Message, ...], ...] = (
        (*READ, Reply(calls=(LEND,))),
        (Reply(calls=(TOO_LONG,)),),
    )
    together, alone = ReplayResult(), ReplayResult()
    tally = RunTally(together)
    for messages in runs:
        for domain in (LIBRARY, audited, LIBRARY):
            trace = Trace(run="r", messages=messages, reward=1.0)
            calls, one = judge(trace, Gate(domain=domain)), ReplayResult()
            tally.count(trace, calls, domain)
            RunTally(one).count(trace, calls, domain)
            alone.add(one)
    assert together.by_predicate["lending/days"]["judged"] == 6
    assert replace(together, levels={}) == replace(alone, levels={})
