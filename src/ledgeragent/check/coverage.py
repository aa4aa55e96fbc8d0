"""Gaps of a pack: writes and clauses without a rule, rules without samples or evidence."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from ledgeragent.compiler.outline import EVERY, Outline, ReadPart, RulePart
from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.samples import SIDES, Sample
from ledgeragent.compiler.shapes import mismatches
from ledgeragent.compiler.source.keys import near
from ledgeragent.errors import PathError
from ledgeragent.paths import Path
from ledgeragent.types import Json

_UNGUARDED = "write-without-rule"


def check_coverage(outline: Outline) -> None:
    """Adds what is missing, and samples that do not fit the pack."""
    if not outline.broken_rules:
        _writes(outline)
        _parameters(outline)
    _marks(outline)
    _clauses(outline)
    samples = outline.samples_by_rule()
    for rule in outline.rules:
        _samples_of(rule, samples.get(rule.id, ()), outline)
        _evidence(rule, outline)
    guards = {rule.id: rule.guards for rule in reversed(outline.rules)}
    for sample in outline.samples:
        _fits(sample, guards.get(sample.rule, (sample.call.name,)), outline)


def _writes(outline: Outline) -> None:
    guarded = {tool for rule in outline.rules for tool in rule.guards}
    misspelt = guarded - outline.tools
    for part in outline.writes:
        if part.tool in guarded or part.unguarded or _meant(part.tool, misspelt):
            continue
        text = (
            f"no rule guards the write {part.tool}; add one, or say why none is needed (unguarded)"
        )
        outline.findings.add(_UNGUARDED, part.place, text)


def _parameters(outline: Outline) -> None:
    """Parameters that no rule reads, once every write has its rules: before that one may be to come."""
    if not outline.rules or EVERY in outline.parameters_read:
        return
    if any(f.code == _UNGUARDED for f in outline.findings):
        return
    for name, place in outline.parameters.items():
        if name not in outline.parameters_read:
            outline.findings.add("unused", place, f"no rule reads the parameter {name}")


def _marks(outline: Outline) -> None:
    guarded = {tool for rule in outline.rules for tool in rule.guards}
    for part in outline.writes:
        if part.tool in guarded and not part.marks:
            text = f"{part.tool} touches no record, so what was read before it would count after it"
            text += "; name what it changes, or say why that is nothing (untouched: ...)"
            outline.findings.add("touches-nothing", part.place, text)


def _clauses(outline: Outline) -> None:
    listed = {part.clause.id for part in outline.clauses}
    unknown = {rule.clause for rule in outline.rules} - listed
    for rule in outline.rules if listed else ():
        if rule.clause and rule.clause not in listed:
            text = f"the clause {rule.clause} is not listed{suggestion(rule.clause, listed)}"
            outline.findings.add("unknown-clause", rule.clause_at or rule.place, text, rule.id)
    for part in outline.clauses if not outline.broken_rules else ():
        clause = part.clause
        if not clause.predicates and not clause.why and not _meant(clause.id, unknown):
            text = f"{clause.id} has neither a rule nor a `why` that says why it cannot have one"
            outline.findings.add("clause-without-rule", part.place, text)


def _meant(name: str, misspelt: Iterable[str]) -> bool:
    """True if one of these unknown names is a slip for this one, so that it is not found twice."""
    return any(get_close_matches(wrong, [name], cutoff=0.8) for wrong in misspelt)


def _samples_of(rule: RulePart, samples: Iterable[Sample], outline: Outline) -> None:
    sides = {sample.side for sample in samples}
    missing = [s for s in SIDES if s not in sides and (rule.id, s) not in outline.broken_samples]
    if missing:
        text = f"{rule.id} has no {' and no '.join(missing)} sample; a rule needs one of each"
        outline.findings.add("missing-samples", rule.place, text, rule.id)


def _evidence(rule: RulePart, outline: Outline) -> None:
    """For Python rules: what they read and no route stores. The loader has found it in the others."""
    for need in rule.needs if rule.test is None and rule.sound else ():
        if need.to is None:
            text = f"no read tool of this pack supplies {need.path!r}, so it could never be had"
            outline.findings.add("no-evidence", need.place, text, rule.id)


def _fits(sample: Sample, tools: tuple[str, ...], outline: Outline) -> None:
    if tools and sample.call.name not in tools and outline.judged.issuperset(tools):
        text = f"the sample calls {sample.call.name}, which {sample.rule} does not guard"
        text += suggestion(sample.call.name, tools)
        outline.findings.add("unknown-tool", sample.place, text, sample.rule)
    _listed(sample, outline)
    for text, record in sample.ledger.items():
        problem = _unfit(text, record, outline)
        if problem is not None:
            outline.findings.add(problem[0], sample.place, problem[1], sample.rule)


def _listed(sample: Sample, outline: Outline) -> None:
    """Arguments outside their lists, for which the gate refuses the call whatever the rule says."""
    for part in (*outline.writes, *outline.neutrals):
        if part.tool != sample.call.name or part.arguments is None:
            continue
        for where, problem in mismatches(dict(sample.call.arguments), part.arguments):
            if problem.startswith("should be one of"):
                text = f"the sample's argument {where} {problem}"
                outline.findings.add("impossible-value", sample.place, text, sample.rule)


def _unfit(text: str, record: Json, outline: Outline) -> tuple[str, str] | None:
    """(code, what is wrong) with one record of a sample."""
    if outline.broken_reads:
        return None
    try:
        path = Path.parse(text)
    except PathError as error:
        return "unknown-path", f"in the sample: {error}"
    part = _stored_at(path, outline)
    if part is None and any(family.match(path) is not None for family in outline.elsewhere):
        return None
    if part is None:
        families = {part.to.text for part in outline.reads}
        return "unknown-path", f"no read stores the sample's {text!r}{near(text, families)}"
    for where, problem in mismatches(record, part.shape):
        code = "unknown-field" if problem.startswith("is no field") else "type-error"
        return code, f"the sample's {text}{f'.{where}' if where else ''} {problem}"
    return _misplaced(text, path, record, part)


def _misplaced(text: str, path: Path[Json], record: Json, part: ReadPart) -> tuple[str, str] | None:
    """A record whose own key is not the one in its path: no read would store it there."""
    for key, own in (part.to.match(path) or {}).items():
        inside = record.get(key) if isinstance(record, dict) else None
        if isinstance(inside, str | int) and not isinstance(inside, bool) and str(inside) != own:
            problem = f"is kept by its {key}, which is {inside!r} and not {own!r}"
            return "unknown-path", f"the sample's {text} {problem}"
    return None


def _stored_at(path: Path[Json], outline: Outline) -> ReadPart | None:
    return next((part for part in outline.reads if part.to.match(path) is not None), None)
