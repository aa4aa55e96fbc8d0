"""Neutral calls: which hand-overs a rule stops, told apart by how the run ended and what was right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.offline.judging import judge
from ledgeragent.offline.runtally import RunTally
from ledgeragent.offline.tally import ReplayResult
from ledgeragent.offline.traces import Trace, read_traces
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Enforcement
from tests.lending.domain import ADA, AUTH, GET_MEMBER, LEND, LIBRARY, MEMBER, Note, answer, call

CALL = call("call_librarian", note="help")
KNOWN = {"lend_book": replace(LEND, id="gold")}


@predicate("lending/untried", guards="call_librarian")
def untried(call: Note, ledger: View) -> Broken | None:
    """Nobody is handed over before they were looked up."""
    found = ledger.get(AUTH()) or any(ledger.glob(MEMBER))
    return None if found else violation("nobody was looked up")


GUARDED = replace(LIBRARY, predicates=(*LIBRARY.predicates, untried))
AUDITED = GUARDED.enforcing({"lending/untried": Enforcement.AUDIT})


def run(
    *before: Message, reward: float | None, gold: Sequence[str] | None, name: str = "r"
) -> Trace:
    messages = (
        UserMessage(text="hello"),
        *before,
        Reply(calls=(CALL,)),
        ToolReturn(call_id=CALL.id, content="done"),
    )
    calls = [KNOWN.get(tool, call(tool)) for tool in gold or ()]
    solution = tuple({"name": one.name, "arguments": one.arguments} for one in calls)
    return Trace(
        run=name,
        messages=messages,
        reward=reward,
        solution=solution if gold is not None else None,
    )


LOOKED_UP: tuple[Message, ...] = (Reply(calls=(GET_MEMBER,)), answer(GET_MEMBER, ADA))
RUNS = (
    run(reward=0, gold=["get_member", "lend_book"], name="gave up"),
    run(*LOOKED_UP, reward=0, gold=["lend_book"], name="gave up after a look"),
    run(reward=0, gold=["get_member"], name="nothing to do"),
    run(reward=0, gold=["call_librarian"], name="right, failed elsewhere"),
    run(reward=1, gold=["call_librarian"], name="right"),
    run(*LOOKED_UP, reward=1, gold=[], name="harmless"),
    run(reward=1, gold=None, name="nobody said"),
    run(reward=None, gold=["lend_book"], name="unscored"),
)


def counted(domain: Domain) -> ReplayResult:
    result = ReplayResult()
    for trace in RUNS:
        RunTally(result).count(trace, judge(trace, Gate(domain=domain)), domain)
    return result


def figures(result: ReplayResult) -> dict[str, int]:
    return {k: v for k, v in result.neutral.by_predicate["lending/untried"].items() if v}


def test_premature_correct_and_solved_runs_are_told_apart() -> None:
    assert figures(counted(GUARDED)) == {
        "premature": 2,
        "premature_stopped": 1,
        "correct": 2,
        "correct_stopped": 2,
        "solved": 3,
        "solved_stopped": 2,
    }


def test_a_run_that_made_every_write_of_the_solution_gave_up_nothing() -> None:
    other = replace(LEND, arguments={**LEND.arguments, "book_id": "B9"})
    for made, premature in ((LEND, 0), (other, 1)):
        lent = (*LOOKED_UP, Reply(calls=(made,)), answer(made, "lent"))
        trace = run(*lent, reward=0, gold=["get_member", "lend_book"])
        result = ReplayResult()
        RunTally(result).count(trace, judge(trace, Gate(domain=GUARDED)), GUARDED)
        assert figures(result) == ({"premature": 1} if premature else {})


def test_in_audit_the_figures_are_the_same_and_nothing_is_stopped() -> None:
    enforced, audited = counted(GUARDED), counted(AUDITED)
    assert figures(audited) == figures(enforced)
    assert enforced.neutral.outcomes["revise_violation"] == 6
    assert audited.neutral.outcomes["allow"] == audited.neutral.outcomes["judged"] == 8
    assert {row["enforcement"] for row in audited.neutral.stopped} == {"audit"}
    assert audited.by_predicate["lending/untried"]["allow"] == 8
    assert audited.by_predicate["lending/untried"]["shadow"] == 6


def test_a_neutral_call_is_no_write() -> None:
    result = counted(GUARDED)
    assert not result.writes and not result.rejected and not result.near_misses
    assert sum(c["runs_with_executed_write"] for c in result.by_reward.values()) == 0


def test_results_add_up() -> None:
    total = counted(GUARDED)
    total.add(counted(GUARDED))
    assert figures(total)["solved_stopped"] == 4
    assert total.neutral.outcomes["judged"] == 16
    assert total.neutral.tools == {"lending/untried": ("call_librarian",)}


def test_a_write_that_a_shadow_rule_would_stop_is_listed_apart() -> None:
    domain = LIBRARY.enforcing({"lending/days": Enforcement.AUDIT, "*": Enforcement.WARN})
    long = replace(LEND, arguments={**LEND.arguments, "days": 90})
    messages = (Reply(calls=(long,)), ToolReturn(call_id=long.id, content="done"))
    result = ReplayResult()
    trace = Trace(run="r", messages=messages, reward=1.0)
    RunTally(result).count(trace, judge(trace, Gate(domain=domain)), domain)
    assert not result.rejected and not result.asked_by_clause
    assert [(row["predicate"], row["enforcement"]) for row in result.shadow] == [
        ("lending/days", "audit")
    ]
    shadow: dict[str, Json] = {
        name: (counts["shadow"], counts["shadow_evidence"])
        for name, counts in result.by_predicate.items()
    }
    assert shadow == {
        "lending/days": (1, 0),
        "lending/available": (1, 1),
        "lending/fines": (1, 1),
    }


def gold_of(tmp_path: Path, record: Json) -> tuple[ToolCall, ...] | None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps(record))
    (trace,) = read_traces(str(file))
    assert isinstance(trace, Trace)
    return trace.gold


def test_the_reference_solution_is_read_from_every_form(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "hi"}]
    actions = [{"name": "lend_book", "arguments": {"days": 5}}, {"name": "x", "requestor": "user"}]
    older = [{"name": "lend_book", "kwargs": {"days": 5}}]
    lend = (call("lend_book", days=5),)
    lend = (replace(lend[0], id=""),)
    assert gold_of(tmp_path, {"messages": said, "gold_actions": actions}) == lend
    assert gold_of(tmp_path, {"traj": said, "info": {"task": {"actions": older}}}) == lend
    assert gold_of(tmp_path, {"messages": said, "gold_actions": []}) == ()
    assert gold_of(tmp_path, {"messages": said}) is None
    assert gold_of(tmp_path, {"messages": said, "gold_actions": "none"}) is None
    results = {
        "tasks": [{"id": "7", "evaluation_criteria": {"actions": actions}}],
        "simulations": [{"task_id": "7", "messages": said}],
    }
    assert gold_of(tmp_path, results) == lend
