"""The runs of a replay by their reward: tables of what was rejected, and of what was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ledgeragent.offline.tally import ReplayResult
from ledgeragent.report.parts import shorten, table

REWARDS = ("1", "0", "unscored")


def rewards_table(result: ReplayResult) -> list[str]:
    """The runs by reward; those asked before an executed write are a part of those that wrote."""
    rows = [
        (
            reward,
            counts["runs"],
            counts["runs_with_executed_write"],
            _part(counts, "runs_with_rejected_executed_write", "runs"),
            _part(counts, "runs_asked_for_a_read", "runs"),
            _part(counts, "runs_asked_before_an_executed_write", "runs_with_executed_write"),
        )
        for reward in REWARDS
        if (counts := result.by_reward.get(reward))
    ]
    headings = (
        "reward",
        "runs",
        "executed a write",
        "a rejected one",
        "asked for a read",
        "before an executed write",
    )
    return table(headings, rows) if rows else []


def requests_table(result: ReplayResult) -> list[str]:
    """For each clause, the runs that it asked (of all), and before an executed write (of those)."""
    rewards = [reward for reward in REWARDS if reward in result.by_reward]
    rows = [
        (clause, *(_both(result, clause, reward) for reward in rewards))
        for clause in sorted(result.asked_by_clause)
    ]
    title = "asked for a read (executed writes)"
    return table((title, *(f"reward {reward}" for reward in rewards)), rows) if rows else []


def _both(result: ReplayResult, clause: str, reward: str) -> str:
    counts = result.by_reward[reward]
    requests = result.asked_by_clause[clause][reward]
    halted = result.halted_by_clause.get(clause, Counter())[reward]
    return f"{_percent(requests, counts['runs'])} ({_percent(halted, counts['runs_with_executed_write'])})"


def solved_lines(result: ReplayResult) -> Iterator[str]:
    """The solved runs with an executed write that would be rejected, by clause and task."""
    for row in result.rejected_solved():
        task = shorten(f"{row['benchmark']} task {row['task_id']}".strip())
        yield f"  {row['clause']}: {task}, {row['runs']} runs"


def request_lines(result: ReplayResult) -> Iterator[str]:
    """The solved runs that were asked for a read, by clause and task."""
    for row in result.asked_reward_1():
        task = shorten(f"{row['benchmark']} task {row['task_id']}".strip())
        halted = row["before_an_executed_write"]
        yield f"  {row['clause']}: {task}, {row['runs']} runs ({halted} before an executed write)"


def _part(counts: Mapping[str, int], name: str, whole: str) -> str:
    return _share(counts.get(name, 0), counts.get(whole, 0))


def _percent(number: int, whole: int) -> str:
    return f"{100 * number / whole if whole else 0:.1f}%"


def _share(number: int, whole: int) -> str:
    return f"{number} ({_percent(number, whole)})"
