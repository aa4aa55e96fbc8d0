"""The result of a replay: text for people, JSON as docs/formats.md describes it, JUnit XML for CI."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from ledgeragent.offline.caselist import Case, CaseList
from ledgeragent.offline.judging import ALLOW, BLOCK, REVISE_EVIDENCE, REVISE_VIOLATION
from ledgeragent.offline.neutral import CORRECT, PREMATURE, SOLVED, STOPPED
from ledgeragent.offline.rows import NearMiss, PredicateError, StoppedCall
from ledgeragent.offline.tally import ReplayResult
from ledgeragent.report.covered import coverage_json, covered_lines
from ledgeragent.report.junit import JUnitCase, suite
from ledgeragent.report.parts import (
    SENTENCE,
    call_line,
    dump,
    fact_lines,
    joined,
    listed,
    mark,
    place_of,
    shorten,
    table,
)
from ledgeragent.report.rewards import (
    REWARDS,
    request_lines,
    requests_table,
    rewards_table,
    solved_lines,
)
from ledgeragent.types import Json
from ledgeragent.verdict import Enforcement

_COLUMNS = ("judged", ALLOW, REVISE_VIOLATION, REVISE_EVIDENCE, BLOCK)
_HEADINGS = ("judged", "allow", "revise: violation", "revise: evidence", "block")
_MOST_SHADOW = 20
_OUTCOMES = (ALLOW, REVISE_VIOLATION, REVISE_EVIDENCE, BLOCK)
_WRITES = ("judged", *_OUTCOMES, "executed")
_PREDICATE = ("judged", *_OUTCOMES, "undecided", "errors", "shadow", "shadow_evidence")
_RUNS = (
    "runs",
    "runs_with_executed_write",
    "runs_with_rejected_executed_write",
    "runs_asked_for_a_read",
    "runs_asked_before_an_executed_write",
)


def replay_text(result: ReplayResult, domain: str) -> str:
    """The result of a replay, sections without content left out."""
    sections = [
        [_summary(result, domain)],
        covered_lines(result.unlisted, domain),
        _outcomes(result),
        rewards_table(result),
        requests_table(result),
        listed("Asked for a read in solved runs, by task", request_lines(result)),
        _cases("Executed writes that would be rejected", rejected_text, result.rejected),
        listed("Of these in solved runs, by task", solved_lines(result)),
        _first("Executed calls of tools that the pack does not list", result.unlisted.stopped),
        _first("Executed writes that a rule in shadow would reject", result.shadow),
        _neutral(result),
        _first("Other calls that a rule speaks against", result.neutral.stopped),
        _cases("Near misses: allowed, though never looked at", _near_miss, result.near_misses),
        _cases("Predicates that failed", _error, result.errors),
    ]
    return joined(sections)


def rejected_text(row: StoppedCall) -> str:
    """One executed write that would be rejected, with the reason and the facts read."""
    return _rejected_text(row, row["predicate"])


def stopped_text(row: StoppedCall) -> str:
    """The same, marked if the rule is not enforced."""
    return _rejected_text(row, f"{row['predicate']}{mark(row['enforcement'])}")


def _first(title: str, cases: CaseList[StoppedCall]) -> list[str]:
    """The first cases: there can be very many, and they stop nothing."""
    return _cases(title, stopped_text, cases, _MOST_SHADOW)


def _cases(
    title: str, text: Callable[[Case], str], cases: CaseList[Case], most: int | None = None
) -> list[str]:
    """A heading with the number of cases, and a text for each of those that are shown."""
    if not cases:
        return []
    texts = [text(case) for case in islice(cases, most)]
    more = cases.number - len(texts)
    everything = "--write PLACE" if cases.left_out else "--format json"
    note = [f"  ... {more} more, all with {everything}"] if more else []
    return [f"{title} ({cases.number})", *texts, *note]


def _rejected_text(row: StoppedCall, predicate: str) -> str:
    lines = [
        f"  {predicate}: {row['decision']}  ({place_of(row)})",
        f"    {call_line(row['call'])}",
        f"    {shorten(row['reason'], SENTENCE)}",
        *(f"    read {line}" for line in fact_lines(row["evidence"])),
    ]
    return "\n".join(lines)


def _summary(result: ReplayResult, domain: str) -> str:
    writes = result.writes
    head = f"{domain}: {result.runs} runs, {result.calls} calls, {writes['judged']} writes judged"
    skipped = ", ".join(f"{number} {why}" for why, number in sorted(result.skipped.items()))
    return f"{head}; skipped {result.skipped.total()} ({skipped})" if skipped else head


def _outcomes(result: ReplayResult) -> list[str]:
    """The writes by outcome, in total and for each predicate that stopped one."""
    shadow = any(counts["shadow"] for counts in result.by_predicate.values())
    columns = (*_COLUMNS, "shadow") if shadow else _COLUMNS
    headings = (*_HEADINGS, "in shadow") if shadow else _HEADINGS
    rows = [("all writes", *(result.writes[column] for column in columns))]
    silent = 0
    for name, counts in result.by_predicate.items():
        if counts["judged"] == counts[ALLOW] and not counts["shadow"]:
            silent += 1
        else:
            label = f"{name}{mark(result.levels[name])}"
            rows.append((label, *(counts[column] for column in columns)))
    lines = table(("predicate", *headings), rows)
    return [*lines, f"{silent} more predicates had nothing to say"] if silent else lines


def _neutral(result: ReplayResult) -> list[str]:
    """The runs that rules on calls that write nothing catch and disturb."""
    rows = [
        (
            f"{name}{mark(result.levels[name])}",
            *(_stopped_of(counts, group) for group in (PREMATURE, CORRECT, SOLVED)),
        )
        for name, counts in result.neutral.by_predicate.items()
    ]
    headings = ("runs that a rule stops, of those", "premature", "correct", "in solved runs")
    return table(headings, rows) if rows else []


def _stopped_of(counts: Mapping[str, int], group: str) -> str:
    return f"{counts.get(f'{group}_{STOPPED}', 0)} of {counts.get(group, 0)}"


def _near_miss(row: NearMiss) -> str:
    why = [f"{path} was never read" for path in row["unread"]]
    why += [f"{name} could not decide" for name in row["undecided"]]
    reasons = shorten("; ".join(why), SENTENCE)
    return f"  {call_line(row['call'])}  ({place_of(row)})\n    {reasons}"


def _error(row: PredicateError) -> str:
    name = f"{row['predicate']}{mark(row['enforcement'])}"
    error = shorten(row["error"], SENTENCE)
    return f"  {name}: {error}  ({place_of(row)})\n    {call_line(row['call'])}"


def replay_json(result: ReplayResult) -> str:
    """The result of a replay as one JSON object."""
    by_reward = {r: _counts(result.by_reward.get(r, {}), _RUNS) for r in REWARDS}
    return dump(
        {
            "runs": result.runs,
            "calls": result.calls,
            "skipped": result.skipped.total(),
            "skipped_by_reason": dict(sorted(result.skipped.items())),
            "problems": result.problems,
            "writes": _counts(result.writes, _WRITES),
            "by_predicate": {
                name: {
                    "clause": result.clauses[name],
                    "enforcement": result.levels[name],
                    **_counts(counts, _PREDICATE),
                }
                for name, counts in result.by_predicate.items()
            },
            "by_reward": by_reward,
            "asked_by_clause": {
                clause: {
                    "asked": _counts(counts, REWARDS),
                    "before_an_executed_write": _counts(
                        result.halted_by_clause.get(clause, {}), REWARDS
                    ),
                }
                for clause, counts in sorted(result.asked_by_clause.items())
            },
            "asked_reward_1": result.asked_reward_1(),
            "rejected_reward_1": result.rejected_solved(),
            "rejected_executed_writes": result.rejected.rows,
            "shadow_executed_writes": result.shadow.rows,
            "neutral_calls": _neutral_json(result),
            "rejected_neutral_calls": result.neutral.stopped.rows,
            "coverage": coverage_json(result.unlisted),
            "unknown_calls": _counts(result.unlisted.outcomes, _WRITES),
            "rejected_unknown_calls": result.unlisted.stopped.rows,
            "near_misses": result.near_misses.rows,
            "errors": result.errors.rows,
            "cases_left_out": _left_out(result),
        }
    )


def _left_out(result: ReplayResult) -> dict[str, dict[str, int]]:
    """How many cases are in none of the lists, by list and rule."""
    lists: dict[str, CaseList[Any]] = {
        "rejected_executed_writes": result.rejected,
        "shadow_executed_writes": result.shadow,
        "rejected_neutral_calls": result.neutral.stopped,
        "rejected_unknown_calls": result.unlisted.stopped,
        "near_misses": result.near_misses,
        "errors": result.errors,
    }
    return {name: cases.left_out for name, cases in lists.items() if cases.left_out}


def _neutral_json(result: ReplayResult) -> Json:
    """Guarded calls that write nothing, with what each rule catches and what it disturbs."""
    return {
        **_counts(result.neutral.outcomes, _WRITES),
        "by_predicate": {
            name: {
                "tools": result.neutral.tools[name],
                "enforcement": result.levels[name],
                PREMATURE: _stops(counts, PREMATURE, "caught"),
                CORRECT: _stops(counts, CORRECT, "disturbed"),
                SOLVED: _stops(counts, SOLVED, "disturbed"),
            }
            for name, counts in result.neutral.by_predicate.items()
        },
    }


def _stops(counts: Mapping[str, int], group: str, what: str) -> dict[str, int]:
    return {"runs": counts.get(group, 0), what: counts.get(f"{group}_{STOPPED}", 0)}


def _counts(counts: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    return {name: counts.get(name, 0) for name in names}


def replay_junit(result: ReplayResult, domain: str) -> str:
    """The result of a replay: a predicate fails if it rejects a write that really executed.

    What a predicate in shadow would have rejected is output of its case, no failure.
    """
    rejected: dict[str, list[str]] = {}
    for row in result.rejected:
        rejected.setdefault(row["predicate"], []).append(rejected_text(row))
    failed: dict[str, list[str]] = {}
    in_shadow: dict[str, list[str]] = {}
    for error in result.errors:
        lists = failed if error["enforcement"] == Enforcement.ENFORCE.value else in_shadow
        lists.setdefault(error["predicate"], []).append(
            f"{place_of(error)}: {shorten(error['error'], SENTENCE)}"
        )
    for shadow in (*result.shadow, *result.neutral.stopped):
        in_shadow.setdefault(shadow["predicate"], []).append(stopped_text(shadow))
    cases = [
        JUnitCase(
            name=name,
            error=f"failed on {result.errors.totals[name]} calls",
            errors=failed.get(name, []),
            failure=f"{result.rejected.totals[name]} executed writes would be rejected",
            failures=rejected.get(name, []),
            output=in_shadow.get(name, []),
        )
        for name in result.by_predicate
    ]
    return suite(f"ledgeragent replay {domain}", domain, cases)
