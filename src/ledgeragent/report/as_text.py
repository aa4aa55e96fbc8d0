"""Text for people: what was judged, what would have been stopped, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ledgeragent.cases import CasesResult, Mismatch, Score
from ledgeragent.judging import ALLOW, BLOCK, REVISE_EVIDENCE, REVISE_VIOLATION
from ledgeragent.paths import visible
from ledgeragent.report.parts import call_line, fact_lines, joined, listed, table
from ledgeragent.tally import NearMiss, PredicateError, RejectedWrite, Result, Run

_COLUMNS = ("judged", ALLOW, REVISE_VIOLATION, REVISE_EVIDENCE, BLOCK)
_HEADINGS = ("writes", "allow", "revise: violation", "revise: evidence", "block")
_REWARDS = ("1", "0", "unscored")


def replay_text(result: Result, domain: str) -> str:
    """The result of a replay, sections without content left out."""
    sections = [
        [_summary(result, domain)],
        _outcomes(result),
        _rewards(result),
        _asked(result),
        listed("Executed writes that would be rejected", map(rejected_text, result.rejected)),
        listed("Of these in solved runs, by task", _solved(result)),
        listed("Near misses: allowed, though never looked at", map(_near_miss, result.near_misses)),
        listed("Predicates that failed", map(_error, result.errors)),
    ]
    return joined(sections)


def cases_text(result: CasesResult) -> str:
    """The result of labelled cases: the score by kind, then every mismatch."""
    rows = [(kind, score) for kind, score in sorted(result.by_kind.items())]
    by_kind = table(
        ("kind", "cases", "correct"),
        [(kind, score.cases, score.correct) for kind, score in [*rows, ("all", result.decided)]],
    )
    sections = [by_kind, *_mismatches("Mismatches", result.decided)]
    if result.apart.cases:
        told = f"{result.apart.correct} of {result.apart.cases} as expected"
        sections.append([f"Apart, since what was said decides: {told}"])
        sections += _mismatches("Mismatches apart", result.apart)
    if result.skipped:
        sections.append([f"Skipped {result.skipped} cases of other domains"])
    return joined(sections)


def rejected_text(row: RejectedWrite) -> str:
    """One executed write that would be rejected, with the reason and the facts read."""
    lines = [
        f"  {row['predicate']}: {row['decision']}  ({_run(row)})",
        f"    {call_line(row['call'])}",
        f"    {visible(row['reason'])}",
        *(f"    read {line}" for line in fact_lines(row["evidence"])),
    ]
    return "\n".join(lines)


def _summary(result: Result, domain: str) -> str:
    writes = result.writes
    head = f"{domain}: {result.runs} runs, {result.calls} calls, {writes['judged']} writes judged"
    skipped = ", ".join(f"{number} {why}" for why, number in sorted(result.skipped.items()))
    return f"{head}; skipped {result.skipped.total()} ({skipped})" if skipped else head


def _outcomes(result: Result) -> list[str]:
    """The writes by outcome, in total and for each predicate that stopped one."""
    rows = [("all", *(result.writes[column] for column in _COLUMNS))]
    silent = 0
    for name, counts in result.by_predicate.items():
        if counts["judged"] == counts[ALLOW]:
            silent += 1
        else:
            rows.append((name, *(counts[column] for column in _COLUMNS)))
    lines = table(("predicate", *_HEADINGS), rows)
    return [*lines, f"{silent} more predicates had nothing to say"] if silent else lines


def _rewards(result: Result) -> list[str]:
    rows = [
        (
            reward,
            counts["runs"],
            counts["runs_with_executed_write"],
            _part(counts, "runs_with_rejected_executed_write"),
            _part(counts, "runs_asked_for_a_read"),
            _part(counts, "runs_asked_before_an_executed_write"),
        )
        for reward in _REWARDS
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


def _asked(result: Result) -> list[str]:
    """For each clause, the runs that it asked, and those of them whose write really executed."""
    rewards = [reward for reward in _REWARDS if reward in result.by_reward]
    rows = [
        (clause, *(_both(result, clause, reward) for reward in rewards))
        for clause in sorted(result.asked_by_clause)
    ]
    title = "asked for a read (executed writes)"
    return table((title, *(f"reward {reward}" for reward in rewards)), rows) if rows else []


def _both(result: Result, clause: str, reward: str) -> str:
    runs = result.by_reward[reward]["runs"]
    asked = result.asked_by_clause[clause][reward]
    halted = result.halted_by_clause.get(clause, Counter())[reward]
    return f"{100 * asked / runs:.1f}% ({100 * halted / runs:.1f}%)"


def _solved(result: Result) -> Iterator[str]:
    for row in result.rejected_solved():
        task = f"{row['benchmark']} task {row['task_id']}".strip()
        yield f"  {row['clause']}: {task}, {row['runs']} runs"


def _near_miss(row: NearMiss) -> str:
    why = [f"{path} was never read" for path in row["unread"]]
    why += [f"{name} could not decide" for name in row["undecided"]]
    return f"  {call_line(row['call'])}  ({_run(row)})\n    {'; '.join(why)}"


def _error(row: PredicateError) -> str:
    return f"  {row['predicate']}: {visible(row['error'])}  ({_run(row)})\n    {call_line(row['call'])}"


def _mismatches(title: str, score: Score) -> list[list[str]]:
    return [listed(title, map(_mismatch, score.mismatches))]


def _mismatch(row: Mismatch) -> str:
    label = row["expected"]
    expected = [str(label["decision"]), *([str(label["clause"])] if label.get("clause") else [])]
    if label.get("read"):
        expected.append(call_line(label["read"]))
    given = ", ".join(dict.fromkeys(row["predicates"])) or "no predicate"
    lines = [
        f"  {row['id']}: expected {' '.join(expected)}, got {row['decision']} ({given})",
        *([f"    {visible(row['reason'])}"] if row["reason"] else []),
        *(f"    asked for {call_line(read)}" for read in row["reads"]),
        *(f"    read {line}" for line in fact_lines(row["evidence"])),
    ]
    return "\n".join(lines)


def _run(run: Run | RejectedWrite | NearMiss | PredicateError) -> str:
    told = [f"run {run['run']}"]
    if run["task_id"] is not None:
        told.append(f"task {run['task_id']}")
    if run["reward"] is not None:
        told.append(f"reward {run['reward']:g}")
    return visible(", ".join(told))


def _part(counts: Mapping[str, int], name: str) -> str:
    return _share(counts.get(name, 0), counts["runs"])


def _share(number: int, whole: int) -> str:
    return f"{number} ({100 * number / whole:.1f}%)"
