"""Explanations: what a rule decides and reads, and what the gate and each rule said of a recorded call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from inspect import cleandoc

from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.samples import Sample, SampleOutcome, run
from ledgeragent.compiler.shapes import ANY, MapOf, Object, Shape, shape_of
from ledgeragent.domain import Clause, Domain
from ledgeragent.effects import Effect, Read
from ledgeragent.errors import UsageError
from ledgeragent.gate import MALFORMED, Gate
from ledgeragent.ledger import Evidence, Ledger
from ledgeragent.offline.binding import Binding, samples
from ledgeragent.offline.gatechecks import CHECKS, GateCheck
from ledgeragent.offline.judging import JudgedCall, gate_of_records, judge
from ledgeragent.offline.sampling import serving, serving_domains
from ledgeragent.offline.traces import Trace
from ledgeragent.offline.wording import WrittenPart, written_parts
from ledgeragent.predicates import Predicate
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Finding

SATISFIED = "satisfied"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRun:
    """The judgement of one rule, alone, about a call, and every fact it read for that.

    `rule` is a check of the gate where the gate itself has answered.
    """

    rule: Predicate | GateCheck
    finding: Finding | None
    evidence: tuple[Evidence, ...]

    @property
    def outcome(self) -> str:
        """`satisfied`, or the kind of its finding."""
        return SATISFIED if self.finding is None else self.finding.kind.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A family of records that a rule reads: which fields, and the tools that supply it.

    A field "" is the whole value; without any, the rule only asked for the record. Keys that are
    data, such as the ids of payment methods, are written `*`.
    """

    family: str
    fields: tuple[str, ...]
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRun:
    """One sample of a rule: whether the pack judges it as it says, and what the rule itself says."""

    outcome: SampleOutcome
    alone: RuleRun


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleExplained:
    """Everything there is to know of a rule. `versions` are those of the pack that have it."""

    domain: Domain
    rule: Predicate
    versions: tuple[str, ...]
    clause: Clause | None
    about: str
    guards: tuple[tuple[str, Effect], ...]
    readings: tuple[Reading, ...]
    samples: tuple[SampleRun, ...]
    written: tuple[WrittenPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExplained:
    """One judged call of a recorded run, and what decided it.

    `runs` are the gate's own checks, if they answered, and each of the rules that ran. `judged` are
    all judged calls of the run up to this one, which is the last.
    """

    trace: Trace
    domain: Domain
    judged: tuple[JudgedCall, ...]
    runs: tuple[RuleRun, ...]

    @property
    def this(self) -> JudgedCall:
        """The call that is explained."""
        return self.judged[-1]


def explain_rule(id: str, binding: Binding) -> RuleExplained:
    """Everything known of one rule of a pack; raises UsageError if there is no such rule."""
    domains = serving_domains(binding)
    having = [domain for domain in domains if _rule_of(id, domain) is not None]
    if not having:
        ids = [*CHECKS, *(rule.id for domain in domains for rule in domain.predicates)]
        raise UsageError(f"{binding.name} has no rule {id}{suggestion(id, ids)}")
    domain = having[0]
    rule = _rule_of(id, domain)
    assert rule is not None
    runs = tuple(
        _run(sample, where)
        for sample in samples(binding.name)
        if sample.rule == id and (where := serving(sample, having)) is not None
    )
    return RuleExplained(
        domain=domain,
        rule=rule,
        versions=tuple(
            version
            for version, policy in binding.versions().items()
            if any(other.id == id for other in policy.predicates)
        ),
        clause=next((clause for clause in domain.clauses if clause.id == rule.clause), None),
        about=cleandoc(rule.check.__doc__ or ""),
        guards=tuple((tool, domain.effect(tool)) for tool in rule.guards),
        readings=tuple(_readings((sample.alone for sample in runs), domain)),
        samples=runs,
        written=tuple(written_parts(rule)),
    )


def _rule_of(id: str, domain: Domain) -> Predicate | None:
    return next((rule for rule in domain.predicates if rule.id == id), None)


def _run(sample: Sample, domain: Domain) -> SampleRun:
    rule = _rule_of(sample.rule, domain)
    assert rule is not None
    setting = sample.setting(domain)
    alone = judge_alone(rule, setting, sample.call, sample.state(setting))
    return SampleRun(outcome=run(sample, domain), alone=alone)


def explain_call(trace: Trace, domain: Domain, number: int) -> CallExplained:
    """The judged call of this number in a run; raises UsageError if the run has no such call."""
    judged_calls = judge(trace, gate_of_records(domain))
    if not 1 <= number <= len(judged_calls):
        calls = f"{len(judged_calls)} judged calls" if len(judged_calls) != 1 else "one judged call"
        raise UsageError(f"the run has no judged call {number}: it has {calls}")
    this = judged_calls[number - 1]
    guard = domain.guard(this.call.name)
    unreadable = any(finding.predicate == MALFORMED for finding in this.verdict.findings)
    rules = guard.predicates if guard is not None and not unreadable else ()
    return CallExplained(
        trace=trace,
        domain=domain,
        judged=tuple(judged_calls[:number]),
        runs=(
            *_own(this),
            *(judge_alone(rule, domain, this.call, this.ledger) for rule in rules),
        ),
    )


def _own(one: JudgedCall) -> Iterator[RuleRun]:
    """The gate's own findings against the call."""
    for finding in one.verdict.findings:
        if finding.predicate in CHECKS:
            yield RuleRun(rule=CHECKS[finding.predicate], finding=finding, evidence=())


def judge_alone(rule: Predicate, domain: Domain, call: ToolCall, ledger: Ledger) -> RuleRun:
    """The run of a rule on a call, as if the domain had no other."""
    verdict = Gate(domain=replace(domain, predicates=(rule,))).judge(call, ledger)
    findings = (f for f in (*verdict.findings, *verdict.shadow) if f.predicate == rule.id)
    return RuleRun(rule=rule, finding=next(findings, None), evidence=tuple(verdict.evidence))


def _readings(runs: Iterable[RuleRun], domain: Domain) -> Iterator[Reading]:
    """The readings of these runs, and what they asked for, by family."""
    fields: dict[str, set[str]] = {}
    for one in runs:
        for fact in one.evidence:
            for route in _routes(domain):
                if route.to.match(fact.record) is not None:
                    names = fields.setdefault(route.to.text, set())
                    names.add(_general(fact.fields, shape_of(route.to.record)))
        for call in one.finding.reads if one.finding is not None else ():
            for route in domain.routes(call.name):
                if route.when(call.arguments):
                    fields.setdefault(route.to.text, set())
    for family, read_fields in fields.items():
        tools = dict.fromkeys(r.tool for r in _routes(domain) if r.to.text == family)
        yield Reading(family=family, fields=tuple(sorted(read_fields)), tools=tuple(tools))


def _routes(domain: Domain) -> Iterator[Read[object]]:
    return (tool for tool in domain.tools if isinstance(tool, Read))


def _general(fields: Iterable[str], shape: Shape) -> str:
    """The fields with `*` for each that the record's type does not name."""
    names: list[str] = []
    for name in fields:
        match shape:
            case Object(_, members) if name in members:
                names.append(name)
                shape = members[name].shape
            case MapOf(item):
                names.append("*")
                shape = item
            case _:
                names.append(name)
                shape = ANY
    return ".".join(names)
