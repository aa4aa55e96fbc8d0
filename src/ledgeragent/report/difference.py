"""What changed between two judgements, as text, JSON or JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ledgeragent.offline.answers import FindingRow, RecordedAnswer
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


def difference_text(found: Difference, before: str, after: str) -> str:
    """What changed, for people."""
    return joined(
        [
            [_summary(found, before, after)],
            *(
                listed(title.capitalize(), map(_change, found.changes[kind]))
                for kind, title in _TITLES.items()
            ),
            _some("Runs that are not in the baseline", found.only_after),
            _some("Runs of the baseline that were not judged", found.only_before),
        ]
    )


def difference_json(found: Difference, before: str, after: str) -> str:
    """What changed, as one JSON object."""
    return dump(
        {
            "before": before,
            "after": after,
            "changed": found.changed,
            "runs": found.runs,
            "calls": found.calls,
            "skipped": found.skipped.total(),
            "skipped_by_reason": dict(sorted(found.skipped.items())),
            "problems": found.problems,
            "counts": {kind: len(found.changes[kind]) for kind in CHANGES},
            **found.changes,
            "runs_only_before": found.only_before,
            "runs_only_after": found.only_after,
        }
    )


def difference_junit(found: Difference, before: str, after: str) -> str:
    """What changed, for continuous integration: a predicate fails if it says something else."""
    failures: dict[str, list[str]] = {}
    told: dict[str, list[str]] = {}
    for kind, rows in found.changes.items():
        for row in rows:
            for name in row["predicates"]:
                lists = told if kind == SHADOW else failures
                lists.setdefault(name, []).append(f"{_TITLES[kind]}:\n{_change(row)}")
    names = dict.fromkeys((*sorted(found.predicates), *failures, *told))
    cases = [
        JUnitCase(
            name=shorten(name),
            failure=f"{len(failures.get(name, []))} verdicts changed",
            failures=failures.get(name, []),
            told=told.get(name, []),
        )
        for name in names
    ]
    runs = [shorten(run, SENTENCE) for run in (*found.only_after, *found.only_before)]
    cases.append(JUnitCase(name="runs", failure="not judged on both sides", failures=runs))
    return suite(f"ledgeragent diff {after} against {before}", after, cases)


def _summary(found: Difference, before: str, after: str) -> str:
    counts = ", ".join(f"{len(found.changes[kind])} {title}" for kind, title in _TITLES.items())
    return f"{after} against {before}: {found.runs} runs, {found.calls} judged calls; {counts}"


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


def _said(said: FindingRow) -> str:
    name = f"{shorten(said['predicate'])}{mark(said['enforcement'])}"
    return f"            {name}, {said['decision']}: {shorten(said['reason'], SENTENCE)}"


def _some(title: str, names: Sequence[str]) -> list[str]:
    lines = listed(title, (f"  {shorten(name, SENTENCE)}" for name in names))
    more = len(names) - _MOST_RUNS
    return [*lines[: _MOST_RUNS + 1], f"  ... and {more} more"] if more > 0 else lines
