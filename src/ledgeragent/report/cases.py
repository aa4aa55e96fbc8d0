"""The result of labelled cases: text for people, JSON as docs/formats.md describes it."""

from __future__ import annotations

from ledgeragent.offline.cases import CasesResult, Mismatch, Score
from ledgeragent.report.parts import (
    SENTENCE,
    call_line,
    dump,
    fact_lines,
    joined,
    listed,
    shorten,
    table,
)


def cases_text(result: CasesResult) -> str:
    """The result of labelled cases: the score by kind, then every mismatch."""
    rows = [(shorten(kind), score) for kind, score in sorted(result.by_kind.items())]
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


def cases_json(result: CasesResult) -> str:
    """The result of labelled cases as one JSON object."""
    return dump(
        {
            **_score(result.decided),
            "by_kind": {kind: _score(score) for kind, score in sorted(result.by_kind.items())},
            "mismatches": result.decided.mismatches,
            "apart": {**_score(result.apart), "mismatches": result.apart.mismatches},
            "skipped": result.skipped,
        }
    )


def _mismatches(title: str, score: Score) -> list[list[str]]:
    return [listed(title, map(_mismatch, score.mismatches))]


def _mismatch(row: Mismatch) -> str:
    label = row["expected"]
    expected = [str(label["decision"]), *([str(label["clause"])] if label.get("clause") else [])]
    if label.get("read"):
        expected.append(call_line(label["read"]))
    given = ", ".join(dict.fromkeys(row["predicates"])) or "no predicate"
    lines = [
        f"  {shorten(row['id'])}: expected {shorten(' '.join(expected), SENTENCE)}, "
        f"got {row['decision']} ({given})",
        *([f"    {shorten(row['reason'], SENTENCE)}"] if row["reason"] else []),
        *(f"    in shadow: {name}" for name in row["shadow"]),
        *(f"    asked for {call_line(read)}" for read in row["reads"]),
        *(f"    read {line}" for line in fact_lines(row["evidence"])),
    ]
    return "\n".join(lines)


def _score(score: Score) -> dict[str, int]:
    return {"cases": score.cases, "correct": score.correct}
