"""The airline domain of tau-bench, tau2-bench and tau-trait: bookings, changes and cancellations."""

from __future__ import annotations

from dataclasses import replace

from ledgeragent.domain import Domain
from ledgeragent.packs.airline.paths import (
    NEUTRALS,
    NEUTRALS_OF_TAU,
    READS,
    READS_OF_TAU,
    WRITES,
    WRITES_OF_TAU,
)
from ledgeragent.packs.airline.rules import RULES
from ledgeragent.packs.clauses import read_clauses

FREE_BAGS = {
    "regular": {"basic_economy": 0, "economy": 1, "business": 2},
    "silver": {"basic_economy": 1, "economy": 2, "business": 3},
    "gold": {"basic_economy": 2, "economy": 3, "business": 4},
}
"""Free checked bags of each passenger, by membership of who books and by cabin."""

PARAMETERS = {
    "now": "2024-05-15T15:00:00-05:00",
    "cancel_within_hours": 24,
    "free_bags": FREE_BAGS,
    "statuses_are_read": True,
}
"""Givens of the rules: the clock of the benchmarks, the figures of the policy, and that a
tool tells the status of a flight."""

TAU2 = Domain(
    name="airline",
    version="tau2",
    tools=(*READS, *WRITES, *NEUTRALS),
    predicates=RULES,
    clauses=read_clauses(__name__),
    parameters=PARAMETERS,
    listens=True,
)
"""The airline of tau2-bench."""

_BUSINESS_OF_TAU = {"gold": {**FREE_BAGS["gold"], "business": 3}}

TAU = replace(
    TAU2,
    version="tau",
    tools=(*READS_OF_TAU, *WRITES_OF_TAU, *NEUTRALS_OF_TAU),
    predicates=tuple(rule for rule in RULES if not rule.versions or "tau" in rule.versions),
    clauses=tuple(c for c in TAU2.clauses if c.id != "airline/cabin-change-flown"),
    parameters={
        **PARAMETERS,
        "free_bags": {**FREE_BAGS, **_BUSINESS_OF_TAU},
        "statuses_are_read": False,
    },
)
"""The airline of tau-bench, with its older rules.

A gold member has 3 free bags in business, a cabin may change after a flight was flown, and no tool
tells the status of a flight. So whether a flight of today has taken off can't be decided here
(`UNDECIDED`), a trip with a flight of a past day is left to a human agent, and a flight that the
airline cancelled is no basis that could be shown.
"""

TAU_TRAIT = replace(TAU, version="tau_trait")
"""The airline of tau-trait: the policy and the tools of tau-bench."""

VERSIONS: dict[str, Domain] = {"tau2": TAU2, "tau": TAU, "tau_trait": TAU_TRAIT}
