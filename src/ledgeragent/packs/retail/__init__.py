"""The retail domain of tau-bench, tau2-bench and tau-trait: a shop's orders, returns and exchanges."""

from __future__ import annotations

from dataclasses import replace

from ledgeragent.domain import Domain
from ledgeragent.packs.clauses import read_clauses
from ledgeragent.packs.retail.paths import NEUTRALS, NEUTRALS_OF_TAU, READS, WRITES
from ledgeragent.packs.retail.rules import RULES

TAU2 = Domain(
    name="retail",
    version="tau2",
    tools=(*READS, *WRITES, *NEUTRALS),
    predicates=RULES,
    clauses=read_clauses(__name__),
)
"""The shop of tau2-bench."""

TAU = replace(
    TAU2,
    version="tau",
    tools=(
        *(route for route in READS if route.tool != "get_item_details"),
        *WRITES,
        *NEUTRALS_OF_TAU,
    ),
)
"""The shop of tau-bench and tau-trait: the same clauses, no look at a single item, a tool to think."""

VERSIONS: dict[str, Domain] = {
    "tau2": TAU2,
    "tau": TAU,
    "tau_trait": replace(TAU, version="tau_trait"),
}
