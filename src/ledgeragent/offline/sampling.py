"""The samples of a pack, judged: each rule's in a version of the policy that has the rule."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from ledgeragent.domain import Domain
from ledgeragent.errors import DataError
from ledgeragent.offline.binding import Binding, samples, versions
from ledgeragent.packs.finding import suggestion
from ledgeragent.packs.samples import Outcome, Sample, run
from ledgeragent.predicates import Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesResult:
    """What became of the samples of these rules."""

    domain: str
    rules: tuple[Predicate, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The samples that are judged otherwise than they say."""
        return tuple(outcome for outcome in self.outcomes if not outcome.passed)


def judge_samples(binding: Binding) -> SamplesResult:
    """Judges the samples of the version's rules; without a version, those of all rules.

    Raises DataError where there is no sample, or one of a rule that no version has.
    """
    serving = serving_domains(binding)
    known = {rule.id for domain in versions(binding.name).values() for rule in domain.predicates}
    taken = [sample for sample in samples(binding.name) if _is_known(sample, known)]
    outcomes = tuple(run(s, serving[s.rule]) for s in taken if s.rule in serving)
    if not outcomes:
        raise DataError("this pack has no samples; judge labelled --cases", file=binding.name)
    rules = {rule.id: rule for domain in serving.values() for rule in domain.predicates}
    return SamplesResult(
        domain=binding.domain().name, rules=tuple(rules.values()), outcomes=outcomes
    )


def serving_domains(binding: Binding) -> dict[str, Domain]:
    """For each rule the first version that has it, only the given one if one was given."""
    wanted = [binding.version] if binding.version is not None else [*versions(binding.name)]
    serving: dict[str, Domain] = {}
    for version in wanted:
        domain = replace(binding, version=version).domain()
        for rule in domain.predicates:
            serving.setdefault(rule.id, domain)
    return serving


def _is_known(sample: Sample, rules: Collection[str]) -> bool:
    if sample.rule in rules:
        return True
    problem = (
        f"a sample of {sample.rule}, and there is no such rule{suggestion(sample.rule, rules)}"
    )
    raise DataError(problem, file=sample.place.file, line=sample.place.line)
