"""Coverage of a policy as text, JSON or Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ledgeragent.offline.coverage import ClauseCover, Coverage, RuleCover
from ledgeragent.report.parts import dump, joined, listed, mark, table
from ledgeragent.types import Json


def coverage_text(found: Coverage) -> str:
    """The coverage for people."""
    return joined(
        [
            [_summary(found)],
            _rules_table(found),
            listed("Not checkable from state", map(_unchecked, found.unchecked)),
            listed("Only in part", map(_unchecked, _in_part(found))),
            listed("Checkable, but without a rule", map(_unchecked, found.open)),
            listed("Rules of clauses that are not listed", (f"  {r.rule}" for r in found.unlisted)),
            listed("Write tools without a rule", (f"  {name}" for name in found.unguarded)),
        ]
    )


def coverage_json(found: Coverage) -> str:
    """The coverage as one JSON object."""
    return dump(
        {
            "domain": found.domain,
            "versions": found.versions,
            "counts": _counts(found),
            "clauses": [_clause_json(cover) for cover in found.clauses],
            "not_checkable": [_why_json(cover) for cover in found.unchecked],
            "in_part": [_why_json(cover) for cover in _in_part(found)],
            "without_rule": [_why_json(cover) for cover in found.open],
            "rules_of_unlisted_clauses": [_rule_json(rule) for rule in found.unlisted],
            "writes_without_rules": found.unguarded,
        }
    )


def coverage_markdown(found: Coverage) -> str:
    """The coverage as a page of documentation."""
    head = ("clause", "what it says", "decided by", "rule", "verdict", "samples")
    enforced = [
        (f"`{c.clause.id}`", c.clause.summary, c.clause.checkable, *_rule_cells(rule))
        for c in found.enforced
        for rule in c.rules
    ]
    lines = [
        f"# Coverage: {found.domain}",
        _summary(found),
        "## Clauses with a rule",
        "Samples are counted as allowed + rejected; they are the rule's tests.",
        _markdown_table(head, enforced),
        "## Not checkable from state",
        _whys(found.unchecked, "why no rule decides it"),
        "## Only in part",
        _whys(_in_part(found), "what its rule leaves open"),
        "## Checkable, but without a rule",
        _whys(found.open, "why"),
        "## Write tools without a rule",
        ", ".join(f"`{name}`" for name in found.unguarded) or "None.",
    ]
    return "\n\n".join(lines) + "\n"


def _summary(found: Coverage) -> str:
    counts = _counts(found)
    rules = f"{counts['rules']} rules ({counts['enforced']} enforced)"
    version = f"version{'s' * (len(found.versions) > 1)} {', '.join(found.versions)}"
    return (
        f"{found.domain}, {version}: {counts['clauses']} clauses, {counts['with_rules']} with a "
        f"rule, {counts['not_checkable']} not checkable from state; {rules}, "
        f"{counts['samples']} samples"
    )


def _counts(found: Coverage) -> dict[str, int]:
    rules = {r.rule: r for r in (*found.unlisted, *(r for c in found.clauses for r in c.rules))}
    return {
        "clauses": len(found.clauses),
        "with_rules": len(found.enforced),
        "not_checkable": len(found.unchecked),
        "without_rule": len(found.open),
        "rules": len(rules),
        "enforced": sum(rule.enforcement == "enforce" for rule in rules.values()),
        "samples": sum(rule.allowed + rule.rejected for rule in rules.values()),
    }


def _in_part(found: Coverage) -> Iterable[ClauseCover]:
    """Clauses with a rule that say what it leaves open."""
    return [cover for cover in found.enforced if cover.clause.why]


def _rules_table(found: Coverage) -> list[str]:
    rows = [
        (
            cover.clause.id,
            cover.clause.checkable,
            rule.rule,
            _verdict(rule),
            rule.allowed,
            rule.rejected,
        )
        for cover in found.enforced
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
    return str(value).replace("|", "\\|").replace("\n", " ")
