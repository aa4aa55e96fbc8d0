"""Coverage: each clause of a policy with the rules that enforce it, and the clauses that none can."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ledgeragent.compiler.samples import Sample
from ledgeragent.domain import Clause, Domain
from ledgeragent.effects import Write
from ledgeragent.predicates import Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCover:
    """One rule with the number of its samples. `versions` is empty where all versions have it."""

    rule: str
    decision: str
    enforcement: str
    guards: tuple[str, ...]
    versions: tuple[str, ...]
    allowed: int
    rejected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseCover:
    """One clause and the rules that enforce it, or part of it."""

    clause: Clause
    rules: tuple[RuleCover, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """A pack's clauses x rules x samples.

    `unlisted` are rules whose clause the pack does not list, `unguarded` write tools without a rule.
    """

    domain: str
    versions: tuple[str, ...]
    clauses: tuple[ClauseCover, ...]
    unlisted: tuple[RuleCover, ...]
    unguarded: tuple[str, ...]

    @property
    def enforced(self) -> tuple[ClauseCover, ...]:
        """Clauses with a rule, in the policy's order."""
        return tuple(cover for cover in self.clauses if cover.rules)

    @property
    def unchecked(self) -> tuple[ClauseCover, ...]:
        """Clauses without a rule that records cannot decide."""
        return tuple(c for c in self.clauses if not c.rules and c.clause.checkable != "state")

    @property
    def open(self) -> tuple[ClauseCover, ...]:
        """Clauses that records could decide, without a rule all the same."""
        return tuple(c for c in self.clauses if not c.rules and c.clause.checkable == "state")


def coverage(versions: Sequence[Domain], samples: Iterable[Sample]) -> Coverage:
    """The coverage of a pack, in all its versions together (the default one first)."""
    rules = {rule.id: rule for domain in reversed(versions) for rule in domain.predicates}
    clauses = {clause.id: clause for domain in versions for clause in domain.clauses}
    counts: Counter[tuple[str, str]] = Counter((sample.rule, sample.side) for sample in samples)
    covers = {name: _rule(rules[name], versions, counts) for name in _in_order(versions)}
    listed = {name: _rules_of(clause, rules) for name, clause in clauses.items()}
    return Coverage(
        domain=versions[0].name,
        versions=tuple(domain.version for domain in versions),
        clauses=tuple(
            ClauseCover(clause=clauses[name], rules=tuple(covers[rule] for rule in ids))
            for name, ids in listed.items()
        ),
        unlisted=tuple(
            cover for name, cover in covers.items() if not any(name in f for f in listed.values())
        ),
        unguarded=_unguarded(versions, rules.values()),
    )


def _in_order(versions: Iterable[Domain]) -> list[str]:
    return list(dict.fromkeys(rule.id for domain in versions for rule in domain.predicates))


def _rules_of(clause: Clause, rules: dict[str, Predicate]) -> list[str]:
    """The rules that a clause names, then those that name it."""
    named = (name for name in clause.predicates if name in rules)
    own = (rule.id for rule in rules.values() if rule.clause == clause.id)
    return list(dict.fromkeys((*named, *own)))


def _rule(
    rule: Predicate, versions: Sequence[Domain], counts: Counter[tuple[str, str]]
) -> RuleCover:
    having = [domain.version for domain in versions if rule in domain.predicates]
    return RuleCover(
        rule=rule.id,
        decision=rule.decision.name.lower(),
        enforcement=rule.enforcement.value,
        guards=rule.guards,
        versions=tuple(having) if len(having) < len(versions) else (),
        allowed=counts[rule.id, "allowed"],
        rejected=counts[rule.id, "rejected"],
    )


def _unguarded(versions: Iterable[Domain], rules: Iterable[Predicate]) -> tuple[str, ...]:
    guarded = {tool for rule in rules for tool in rule.guards}
    writes = dict.fromkeys(
        tool.tool for domain in versions for tool in domain.tools if isinstance(tool, Write)
    )
    return tuple(name for name in writes if name not in guarded)
