"""The result of labelled cases: text for people, JSON as the reference of formats describes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
from ledgeragent.types import Json


def cases_text(result: CasesResult) -> str:
    """The result of labelled cases: the score by kind and file, then every mismatch."""
    return joined(_sections(result))


def domains_text(results: Mapping[str, CasesResult]) -> str:
    """The results of several domains, each under its name."""
    return joined(
        s for name, result in results.items() for s in ([f"# {name}"], *_sections(result))
    )


def _sections(result: CasesResult) -> list[list[str]]:
    by_kind = [*sorted(result.by_kind.items()), ("all", result.decided)]
    sections = [_scores("kind", by_kind)]
    if len(result.by_file) > 1:
        sections.append(_scores("file", result.by_file.items()))
    sections.append(listed("Mismatches", map(_mismatch, result.decided.mismatches)))
    if result.apart.cases:
        score = f"{result.apart.correct} of {result.apart.cases} as expected"
        sections.append([f"Apart, since what was said decides: {score}"])
        sections.append(listed("Mismatches apart", map(_mismatch, result.apart.mismatches)))
    if result.skipped:
        sections.append([f"Skipped {result.skipped} cases of other domains"])
    return sections


def _scores(heading: str, scores: Iterable[tuple[str, Score]]) -> list[str]:
    rows = [(shorten(name), score.cases, score.correct) for name, score in scores]
    return table((heading, "cases", "correct"), rows)


def cases_json(result: CasesResult) -> str:
    """The result of labelled cases as one JSON object."""
    return dump(_as_json(result))


def domains_json(results: Mapping[str, CasesResult]) -> str:
    """The results of several domains as one JSON object."""
    return dump({"domains": {name: _as_json(result) for name, result in results.items()}})


def _as_json(result: CasesResult) -> Json:
    return {
        **_score(result.decided),
        "by_kind": {kind: _score(score) for kind, score in sorted(result.by_kind.items())},
        "by_file": {file: _score(score) for file, score in result.by_file.items()},
        "mismatches": result.decided.mismatches,
        "apart": {**_score(result.apart), "mismatches": result.apart.mismatches},
        "skipped": result.skipped,
    }


def _mismatch(row: Mismatch) -> str:
    names = ", ".join(dict.fromkeys(row["predicates"])) or "no predicate"
    lines = [
        f"  {shorten(row['id'])}: expected {shorten(_expected(row['expected']), SENTENCE)}, "
        f"got {row['decision']} ({names})",
        *([f"    {shorten(row['note'], SENTENCE)}"] if row["note"] else []),
        f"    {call_line(row['call'])}",
        *([f"    {shorten(row['reason'], SENTENCE)}"] if row["reason"] else []),
        *(f"    in shadow: {name}" for name in row["shadow"]),
        *(f"    asked for {call_line(call)}" for call in row["reads"]),
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


def _score(score: Score) -> dict[str, int]:
    return {"cases": score.cases, "correct": score.correct}
