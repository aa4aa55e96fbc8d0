"""The telecom domain of tau2-bench: bills, suspended lines, data refuels and roaming.

Control is dual: the customer acts on the same world from their phone, and can pay a bill that
awaits payment. So the status of such a bill is unknown after each turn of theirs (`paths.payable`).

Nobody logs in here, so no path says who the customer is: every write names the customer it is for,
and the rules hold the call to the record of that customer. A record that was read, of whoever, is
not the person who speaks.

Not covered: the other environment that tau-trait calls telecom (its tools and records differ), and
the solo setting of tau2-bench, in which the agent also holds the customer's phone.
"""

from __future__ import annotations

from ledgeragent.domain import Domain
from ledgeragent.packs.clauses import read_clauses
from ledgeragent.packs.telecom.paths import NEUTRALS, READS, WRITES, payable
from ledgeragent.packs.telecom.rules import RULES

TAU2 = Domain(
    name="telecom",
    version="tau2",
    tools=(*READS, *WRITES, *NEUTRALS),
    predicates=RULES,
    clauses=read_clauses(__name__),
    parameters={"today": "2025-02-25", "refuel_max_gb": 2.0},
    shared=payable,
    listens=True,
)
"""The phone company of tau2-bench, on the day its data is about."""

VERSIONS: dict[str, Domain] = {"tau2": TAU2}
