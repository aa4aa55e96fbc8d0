"""The difference between two judgements, as text, JSON or JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ledgeragent.journal.verdicts import FindingRow
from ledgeragent.offline.answers import RecordedAnswer
from ledgeragent.offline.caselist import MOST_CASES, CaseList
from ledgeragent.offline.diff import (
    CHANGED_REASON,
    CHANGES,
    NEWLY_ALLOWED,
    NEWLY_ASKED,
    NEWLY_REJECTED,
    SHADOW,
    Change,
    Difference,
)
from ledgeragent.report.junit import JUnitCase, suite
from ledgeragent.report.parts import (
    SENTENCE,
    call_line,
    dump,
    joined,
    listed,
    mark,
    place_of,
    shorten,
)

_TITLES = {
    NEWLY_REJECTED: "newly rejected",
    NEWLY_ALLOWED: "newly allowed",
    NEWLY_ASKED: "newly asked for a read",
    CHANGED_REASON: "rejected or asked for another reason",
    SHADOW: "changed in shadow only",
}
_MOST_RUNS = 20


def difference_text(difference: Difference, before: str, after: str) -> str:
    """The changes for people."""
    return joined(
        [
            [_summary(difference, before, after)],
            *(
                _changes(title.capitalize(), difference.changes[kind])
                for kind, title in _TITLES.items()
            ),
            _some("Runs that are not in the baseline", difference.only_after),
            _some("Runs of the baseline that were not judged", difference.only_before),
        ]
    )


def difference_json(difference: Difference, before: str, after: str) -> str:
    """The changes as one JSON object."""
    return dump(
        {
            "before": before,
            "after": after,
            "changed": difference.changed,
            "runs": difference.runs,
            "calls": difference.calls,
            "skipped": difference.skipped.total(),
            "skipped_by_reason": dict(sorted(difference.skipped.items())),
            "problems": difference.problems,
            "counts": {kind: difference.changes[kind].number for kind in CHANGES},
            **{kind: difference.changes[kind].rows for kind in CHANGES},
            "cases_left_out": {
                kind: left_out
                for kind in CHANGES
                if (left_out := difference.changes[kind].left_out)
            },
            "runs_only_before": difference.only_before,
            "runs_only_after": difference.only_after,
        }
    )


def difference_junit(difference: Difference, before: str, after: str) -> str:
    """The changes for continuous integration: a predicate fails if it says something else."""
    failures: dict[str, list[str]] = {}
    in_shadow: dict[str, list[str]] = {}
    numbers = Counter[str]()
    for kind, rows in difference.changes.items():
        numbers.update(rows.totals if kind != SHADOW else ())
        for row in rows:
            for name in row["predicates"]:
                lists = in_shadow if kind == SHADOW else failures
                lists.setdefault(name, []).append(f"{_TITLES[kind]}:\n{_change(row)}")
    names = dict.fromkeys((*sorted(difference.predicates), *failures, *in_shadow))
    cases = [
        JUnitCase(
            name=shorten(name),
            failure=f"{numbers[name]} verdicts changed",
            failures=failures.get(name, []),
            output=in_shadow.get(name, []),
        )
        for name in names
    ]
    runs = [shorten(run, SENTENCE) for run in (*difference.only_after, *difference.only_before)]
    cases.append(JUnitCase(name="runs", failure="not judged on both sides", failures=runs))
    return suite(f"ledgeragent diff {after} against {before}", after, cases)


def _summary(difference: Difference, before: str, after: str) -> str:
    counts = ", ".join(
        f"{difference.changes[kind].number} {title}" for kind, title in _TITLES.items()
    )
    return f"{after} against {before}: {difference.runs} runs, {difference.calls} judged calls; {counts}"


def _changes(title: str, changes: CaseList[Change]) -> list[str]:
    """A heading with the number of changes, and those that are listed."""
    if not changes:
        return []
    more = changes.number - len(changes.rows)
    note = [f"  ... {more} more, of rules with {MOST_CASES:,} above"] if more else []
    return [f"{title} ({changes.number})", *map(_change, changes), *note]


def _change(row: Change) -> str:
    lines = [
        f"  {place_of(row)}",
        f"    {call_line(row['call'])}",
        *_answer("before:", row["before"]),
        *_answer("now:", row["after"]),
    ]
    return "\n".join(lines)


def _answer(when: str, answer: RecordedAnswer) -> Iterator[str]:
    yield f"    {when:<8}{answer['outcome']}"
    yield from map(_said, (*answer["findings"], *answer["shadow"]))


def _said(row: FindingRow) -> str:
    name = f"{shorten(row['predicate'])}{mark(row['enforcement'])}"
    return f"            {name}, {row['decision']}: {shorten(row['reason'], SENTENCE)}"


def _some(title: str, names: Sequence[str]) -> list[str]:
    lines = listed(title, (f"  {shorten(name, SENTENCE)}" for name in names))
    more = len(names) - _MOST_RUNS
    return [*lines[: _MOST_RUNS + 1], f"  ... and {more} more"] if more > 0 else lines
