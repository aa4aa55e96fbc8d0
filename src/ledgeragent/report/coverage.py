"""Coverage of a policy as text, JSON or Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ledgeragent.offline.coverage import ClauseCover, Coverage, RuleCover
from ledgeragent.report.cells import markdown_cell
from ledgeragent.report.parts import dump, joined, listed, mark, table
from ledgeragent.types import Json


def coverage_text(coverage: Coverage) -> str:
    """The coverage for people."""
    return joined(
        [
            [_summary(coverage)],
            _rules_table(coverage),
            listed("Not checkable from state", map(_unchecked, coverage.unchecked)),
            listed("Only in part", map(_unchecked, _in_part(coverage))),
            listed("Checkable, but without a rule", map(_unchecked, coverage.open)),
            listed(
                "Rules of clauses that are not listed", (f"  {r.rule}" for r in coverage.unlisted)
            ),
            listed("Write tools without a rule", (f"  {name}" for name in coverage.unguarded)),
        ]
    )


def coverage_json(coverage: Coverage) -> str:
    """The coverage as one JSON object."""
    return dump(
        {
            "domain": coverage.domain,
            "versions": coverage.versions,
            "counts": _counts(coverage),
            "clauses": [_clause_json(cover) for cover in coverage.clauses],
            "not_checkable": [_why_json(cover) for cover in coverage.unchecked],
            "in_part": [_why_json(cover) for cover in _in_part(coverage)],
            "without_rule": [_why_json(cover) for cover in coverage.open],
            "rules_of_unlisted_clauses": [_rule_json(rule) for rule in coverage.unlisted],
            "writes_without_rules": coverage.unguarded,
        }
    )


def coverage_markdown(coverage: Coverage) -> str:
    """The coverage as a page of documentation."""
    head = ("clause", "what it says", "decided by", "rule", "verdict", "samples")
    enforced = [
        (f"`{c.clause.id}`", c.clause.summary, c.clause.checkable, *_rule_cells(rule))
        for c in coverage.enforced
        for rule in c.rules
    ]
    lines = [
        f"# Coverage: {coverage.domain}",
        _summary(coverage),
        "## Clauses with a rule",
        "Samples are counted as allowed + rejected; they are the rule's tests.",
        _markdown_table(head, enforced),
        "## Not checkable from state",
        _whys(coverage.unchecked, "why no rule decides it"),
        "## Only in part",
        _whys(_in_part(coverage), "what its rule leaves open"),
        "## Checkable, but without a rule",
        _whys(coverage.open, "why"),
        "## Write tools without a rule",
        ", ".join(f"`{name}`" for name in coverage.unguarded) or "None.",
    ]
    return "\n\n".join(lines) + "\n"


def _summary(coverage: Coverage) -> str:
    counts = _counts(coverage)
    rules = f"{counts['rules']} rules ({counts['enforced']} enforced)"
    version = f"version{'s' * (len(coverage.versions) > 1)} {', '.join(coverage.versions)}"
    return (
        f"{coverage.domain}, {version}: {counts['clauses']} clauses, {counts['with_rules']} with a "
        f"rule, {counts['not_checkable']} not checkable from state; {rules}, "
        f"{counts['samples']} samples"
    )


def _counts(coverage: Coverage) -> dict[str, int]:
    rules = {
        r.rule: r for r in (*coverage.unlisted, *(r for c in coverage.clauses for r in c.rules))
    }
    return {
        "clauses": len(coverage.clauses),
        "with_rules": len(coverage.enforced),
        "not_checkable": len(coverage.unchecked),
        "without_rule": len(coverage.open),
        "rules": len(rules),
        "enforced": sum(rule.enforcement == "enforce" for rule in rules.values()),
        "samples": sum(rule.allowed + rule.rejected for rule in rules.values()),
    }


def _in_part(coverage: Coverage) -> Iterable[ClauseCover]:
    """Clauses with a rule that say what it leaves open."""
    return [cover for cover in coverage.enforced if cover.clause.why]


def _rules_table(coverage: Coverage) -> list[str]:
    rows = [
        (
            cover.clause.id,
            cover.clause.checkable,
            rule.rule,
            _verdict(rule),
            rule.allowed,
            rule.rejected,
        )
        for cover in coverage.enforced
        for rule in cover.rules
    ]
    return table(("clause", "checkable", "rule", "verdict", "allowed", "rejected"), rows, 4)


def _verdict(rule: RuleCover) -> str:
    return f"{rule.decision}{mark(rule.enforcement)}"


def _unchecked(cover: ClauseCover) -> str:
    clause = cover.clause
    return f"  {clause.id} ({clause.checkable}): {clause.why or 'no reason is given'}"


def _clause_json(cover: ClauseCover) -> Json:
    clause = cover.clause
    return {
        "clause": clause.id,
        "section": clause.section,
        "summary": clause.summary,
        "checkable": clause.checkable,
        "why": clause.why,
        "rules": [_rule_json(rule) for rule in cover.rules],
    }


def _rule_json(rule: RuleCover) -> Json:
    return {
        "rule": rule.rule,
        "decision": rule.decision,
        "enforcement": rule.enforcement,
        "guards": rule.guards,
        "versions": rule.versions,
        "samples": {"allowed": rule.allowed, "rejected": rule.rejected},
    }


def _why_json(cover: ClauseCover) -> Json:
    clause = cover.clause
    return {
        "clause": clause.id,
        "summary": clause.summary,
        "checkable": clause.checkable,
        "why": clause.why,
    }


def _rule_cells(rule: RuleCover) -> tuple[str, str, str]:
    only = f" (only {', '.join(rule.versions)})" if rule.versions else ""
    return f"`{rule.rule}`{only}", _verdict(rule), f"{rule.allowed} + {rule.rejected}"


def _whys(covers: Iterable[ClauseCover], heading: str) -> str:
    rows = [
        (f"`{c.clause.id}`", c.clause.summary, c.clause.checkable, c.clause.why) for c in covers
    ]
    head = ("clause", "what it says", "decided by", heading)
    return _markdown_table(head, rows) if rows else "None."


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    return markdown_cell(" ".join(str(value).split()))
