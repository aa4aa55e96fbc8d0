"""Rules that can never fire, or never be satisfied.

Shown in this order: by the rule's own samples (one that it rejects, one that it lets pass); by trying
every combination of values where the fields it reads have finitely many; by random values of the
declared types, drawn with the constants of the expression among them. Only the second is a proof, so
what the third finds is said to be sampled, and is an error only where a sample contradicts the rule too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ledgeragent.check.worlds import Worlds
from ledgeragent.compiler.cel.engine import CelError
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.outline import Outline, RulePart
from ledgeragent.compiler.samples import Sample
from ledgeragent.dispatching import is_door
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError
from ledgeragent.gate import Gate
from ledgeragent.verdict import Kind

TRIALS = 600


def check_liveness(outline: Outline) -> None:
    """Adds rules that always, or never, reject."""
    domain = outline.domain or outline.trial
    if domain is None:
        return
    named = Counter(rule.id for rule in outline.rules)
    faulty = {f.rule for f in outline.findings if f.code != "missing-samples"} | outline.suspects
    samples = outline.samples_by_rule()
    predicates = {predicate.id: predicate for predicate in domain.predicates}
    for rule in outline.rules:
        predicate = predicates.get(rule.id)
        if all(is_door(tool, domain) for tool in rule.guards):
            continue  # no call under their names is ever allowed, by design
        if predicate and rule.sound and named[rule.id] == 1 and rule.id not in faulty:
            alone = replace(domain, predicates=(predicate,))
            _Trial(rule, samples.get(rule.id, ()), alone, outline).check()


@dataclass(slots=True)
class _Trial:
    """The trial of one rule, in a domain that has no other."""

    rule: RulePart
    samples: Sequence[Sample]
    domain: Domain
    outline: Outline
    fires: bool = False
    passes: bool = False
    breaks: bool = False
    cases: int = 0

    def check(self) -> None:
        """Adds what nothing has shown the rule to do."""
        for sample in self.samples:
            self._judge(sample)
        self._reach()
        self.fires |= self.rule.demands
        test = self.rule.test
        if test is not None and not (self.fires and self.passes):
            self._try(test)
        if not self.fires:
            self._find("never-fires", "rejects nothing", "rejected")
        if not self.passes and (test is not None or not self.rule.demands):
            self._find("never-satisfied", "rejects everything", "allowed")

    def _reach(self) -> None:
        """Finds a rule whose rejected samples all lack a record, so that none shows what it forbids."""
        rejected = [sample for sample in self.samples if sample.side == "rejected"]
        if rejected and self.fires and not self.breaks and self.rule.test is not None:
            text = (
                f"no rejected sample of {self.rule.id} reaches its violation: each lacks a record"
            )
            self.outline.findings.add("unproven", rejected[0].place, text, self.rule.id)

    def _judge(self, sample: Sample) -> None:
        try:
            domain = sample.setting(self.domain)
        except DataError as problem:
            text = f"in the sample: {problem.problem}"
            self.outline.findings.add("type-error", sample.place, text, sample.rule)
            return
        verdict = Gate(domain=domain).judge(sample.call, sample.state(domain))
        own = [f for f in (*verdict.findings, *verdict.shadow) if f.predicate == sample.rule]
        if all(finding.kind not in (Kind.ERROR, Kind.UNDECIDED) for finding in own):
            self.fires |= bool(own)
            self.breaks |= any(finding.kind is Kind.VIOLATION for finding in own)
            self.passes |= not own

    def _try(self, test: Program) -> None:
        worlds = Worlds([test], self.domain.parameters)
        count = 0
        for values in worlds.every() if worlds.finite else worlds.some(TRIALS):
            if self.fires and self.passes:
                return
            count += 1
            try:
                answer = test(values)
            except CelError:
                continue
            self.fires |= answer is False
            self.passes |= answer is True
        self.cases = 0 if worlds.finite else count

    def _find(self, code: str, what: str, side: str) -> None:
        test, rule = self.rule.test, self.rule
        sampled = any(sample.side == side for sample in self.samples)
        if test is None:
            if sampled:
                text = f"no {side} sample of {rule.id} is {side} by it"
                self.outline.findings.add("unproven", rule.place, text, rule.id)
            return
        proven = self.cases == 0
        how = "every combination of values was tried"
        if not proven:
            how = f"none of {self.cases} random cases of the declared types"
            how += f", and no {side} sample, shows otherwise" if sampled else " shows otherwise"
        place = test.source.place(test.tree.at)
        kind = code if proven or sampled else "unproven"
        self.outline.findings.add(kind, place, f"{rule.id} {what} ({how})", rule.id)
