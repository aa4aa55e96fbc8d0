"""The shop's pack: what its tools return, where that lives in the ledger, and its rules."""

from __future__ import annotations

from ledgeragent.demo.shop.pack import paths, rules
from ledgeragent.domain import Domain
from ledgeragent.packs.clauses import read_clauses

PARAMETERS = {
    "today": "2026-05-20",
    "plant_countries": ["NL", "BE", "LU", "DE"],
    "claim_days": {"plant": 14, "seed": 60, "tool": 60, "pot": 60},
    "notice_days": 7,
    "longest_pause": 3,
}

VERSIONS = {
    "1": Domain(
        name="shop",
        version="1",
        tools=(*paths.READS, *paths.WRITES, *paths.NEUTRALS),
        predicates=rules.PREDICATES,
        clauses=read_clauses(__name__),
        parameters=PARAMETERS,
    )
}
"""Versions of the pack, the default first."""
