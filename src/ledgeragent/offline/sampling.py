"""The samples of a pack, judged: each in a version of the policy that has its rule, and that it names."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.samples import Sample, SampleOutcome, run
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError
from ledgeragent.offline.binding import Binding, samples
from ledgeragent.predicates import Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesResult:
    """The outcomes of the samples of these rules; `elsewhere` is how many speak of other versions."""

    domain: str
    rules: tuple[Predicate, ...]
    outcomes: tuple[SampleOutcome, ...]
    elsewhere: int = 0

    @property
    def failures(self) -> tuple[SampleOutcome, ...]:
        """The samples that are judged otherwise than they say."""
        return tuple(outcome for outcome in self.outcomes if not outcome.passed)


def judge_samples(binding: Binding) -> SamplesResult:
    """Judges the samples of the version's rules; without a version, those of all rules.

    Raises DataError where there is no sample, or one of a rule or version that the pack lacks.
    """
    domains = serving_domains(binding)
    cases = samples(binding.name)
    available = binding.versions()
    rules = {rule.id for domain in available.values() for rule in domain.predicates}
    for sample in cases:
        _is_known(sample, rules, available)
    chosen = [(sample, serving(sample, domains)) for sample in cases]
    outcomes = tuple(run(sample, domain) for sample, domain in chosen if domain is not None)
    if not outcomes:
        raise DataError("this pack has no samples; judge labelled --cases", file=binding.name)
    return SamplesResult(
        domain=binding.domain().name,
        rules=tuple({rule.id: rule for domain in domains for rule in domain.predicates}.values()),
        outcomes=outcomes,
        elsewhere=len(cases) - len(outcomes),
    )


def serving_domains(binding: Binding) -> list[Domain]:
    """Every version of the pack in order, only the given one if one was given."""
    names = [binding.version] if binding.version is not None else [*binding.versions()]
    return [replace(binding, version=version).domain() for version in names]


def serving(sample: Sample, domains: Iterable[Domain]) -> Domain | None:
    """The first of these versions that has the sample's rule and that the sample speaks of."""
    for domain in domains:
        if sample.speaks_of(domain.version) and any(r.id == sample.rule for r in domain.predicates):
            return domain
    return None


def _is_known(sample: Sample, rules: Collection[str], available: Collection[str]) -> None:
    wrong = [("rule", sample.rule, rules)] if sample.rule not in rules else []
    wrong += [("version", name, available) for name in sample.versions if name not in available]
    for what, name, names in wrong:
        problem = f"a sample of {name}, and there is no such {what}{suggestion(name, names)}"
        raise DataError(problem, file=sample.place.file, line=sample.place.line)
