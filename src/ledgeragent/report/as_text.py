"""Text for people: what was judged, what would have been stopped, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ledgeragent.offline.cases import CasesResult, Mismatch, Score
from ledgeragent.offline.judging import ALLOW, BLOCK, REVISE_EVIDENCE, REVISE_VIOLATION
from ledgeragent.offline.neutral import CORRECT, PREMATURE, SOLVED, STOPPED
from ledgeragent.offline.rows import NearMiss, PredicateError, RejectedWrite, StoppedCall
from ledgeragent.offline.tally import Result
from ledgeragent.report.parts import (
    SENTENCE,
    call_line,
    fact_lines,
    joined,
    listed,
    mark,
    place_of,
    shorten,
    table,
)
from ledgeragent.types import Json

_COLUMNS = ("judged", ALLOW, REVISE_VIOLATION, REVISE_EVIDENCE, BLOCK)
_HEADINGS = ("judged", "allow", "revise: violation", "revise: evidence", "block")
_MOST_SHADOW = 20
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
        _shadow("Executed writes that a rule in shadow would reject", result.shadow),
        _neutral(result),
        _shadow("Other calls that a rule speaks against", result.neutral.stopped),
        listed("Near misses: allowed, though never looked at", map(_near_miss, result.near_misses)),
        listed("Predicates that failed", map(_error, result.errors)),
    ]
    return joined(sections)


def cases_text(result: CasesResult) -> str:
    """The result of labelled cases: the score by kind and file, then every mismatch."""
    return joined(_cases(result))


def domains_text(results: Mapping[str, CasesResult]) -> str:
    """The results of several domains, each under its name."""
    return joined(s for name, result in results.items() for s in ([f"# {name}"], *_cases(result)))


def _cases(result: CasesResult) -> list[list[str]]:
    by_kind = [*sorted(result.by_kind.items()), ("all", result.decided)]
    sections = [_scores("kind", by_kind)]
    if len(result.by_file) > 1:
        sections.append(_scores("file", result.by_file.items()))
    sections.append(listed("Mismatches", map(_mismatch, result.decided.mismatches)))
    if result.apart.cases:
        told = f"{result.apart.correct} of {result.apart.cases} as expected"
        sections.append([f"Apart, since what was said decides: {told}"])
        sections.append(listed("Mismatches apart", map(_mismatch, result.apart.mismatches)))
    if result.skipped:
        sections.append([f"Skipped {result.skipped} cases of other domains"])
    return sections


def _scores(heading: str, scores: Iterable[tuple[str, Score]]) -> list[str]:
    rows = [(shorten(name), score.cases, score.correct) for name, score in scores]
    return table((heading, "cases", "correct"), rows)


def rejected_text(row: RejectedWrite) -> str:
    """One executed write that would be rejected, with the reason and the facts read."""
    return _rejected_text(row, row["predicate"])


def stopped_text(row: StoppedCall) -> str:
    """The same, marked if the rule is not enforced."""
    return _rejected_text(row, f"{row['predicate']}{mark(row['enforcement'])}")


def _shadow(title: str, rows: Sequence[StoppedCall]) -> list[str]:
    """The first rows: there can be very many, and they stop nothing."""
    lines = listed(title, map(stopped_text, rows))
    more = len(lines) - 1 - _MOST_SHADOW
    return (
        [*lines[: _MOST_SHADOW + 1], f"  ... {more} more, all with --format json"]
        if more > 0
        else lines
    )


def _rejected_text(row: RejectedWrite, predicate: str) -> str:
    lines = [
        f"  {predicate}: {row['decision']}  ({place_of(row)})",
        f"    {call_line(row['call'])}",
        f"    {shorten(row['reason'], SENTENCE)}",
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


def _neutral(result: Result) -> list[str]:
    """What rules on calls that write nothing catch and disturb, in runs."""
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
        task = shorten(f"{row['benchmark']} task {row['task_id']}".strip())
        yield f"  {row['clause']}: {task}, {row['runs']} runs"


def _near_miss(row: NearMiss) -> str:
    why = [f"{path} was never read" for path in row["unread"]]
    why += [f"{name} could not decide" for name in row["undecided"]]
    told = shorten("; ".join(why), SENTENCE)
    return f"  {call_line(row['call'])}  ({place_of(row)})\n    {told}"


def _error(row: PredicateError) -> str:
    name = f"{row['predicate']}{mark(row['enforcement'])}"
    error = shorten(row["error"], SENTENCE)
    return f"  {name}: {error}  ({place_of(row)})\n    {call_line(row['call'])}"


def _mismatch(row: Mismatch) -> str:
    given = ", ".join(dict.fromkeys(row["predicates"])) or "no predicate"
    lines = [
        f"  {shorten(row['id'])}: expected {shorten(_expected(row['expected']), SENTENCE)}, "
        f"got {row['decision']} ({given})",
        *([f"    {shorten(row['note'], SENTENCE)}"] if row["note"] else []),
        f"    {call_line(row['call'])}",
        *([f"    {shorten(row['reason'], SENTENCE)}"] if row["reason"] else []),
        *(f"    in shadow: {name}" for name in row["shadow"]),
        *(f"    asked for {call_line(read)}" for read in row["reads"]),
        *(f"    read {line}" for line in fact_lines(row["evidence"])),
    ]
    return "\n".join(lines)


def _expected(label: Mapping[str, Json]) -> str:
    if label.get("not_all_allowed"):
        return "not every call of the reply allowed"
    expected = [" or ".join(label.get("accept") or [label["decision"]])]
    if label.get("clause"):
        expected.append(str(label["clause"]))
    if label.get("rule_any"):
        expected.append(f"by {' or '.join(label['rule_any'])}")
    if label.get("read"):
        expected.append(call_line(label["read"]))
    return " ".join(expected)


def _part(counts: Mapping[str, int], name: str) -> str:
    return _share(counts.get(name, 0), counts["runs"])


def _share(number: int, whole: int) -> str:
    return f"{number} ({100 * number / whole:.1f}%)"
