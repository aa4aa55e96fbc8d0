"""The telehealth domain of tau-trait: a clinic's appointments, records and prescriptions."""

from __future__ import annotations

from ledgeragent.domain import Domain
from ledgeragent.packs.clauses import read_clauses
from ledgeragent.packs.telehealth.reads import READS
from ledgeragent.packs.telehealth.rules import RULES
from ledgeragent.packs.telehealth.writes import NEUTRALS, WRITES

TAU_TRAIT = Domain(
    name="telehealth",
    version="tau_trait",
    tools=(*READS, *WRITES, *NEUTRALS),
    predicates=RULES,
    clauses=read_clauses(__name__),
)
"""The clinic of tau-trait, whose tools answer in formatted text."""

VERSIONS: dict[str, Domain] = {"tau_trait": TAU_TRAIT}
