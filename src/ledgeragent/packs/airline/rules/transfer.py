"""Handing the conversation over to a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.packs.airline.paths import USER
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Enforcement


@predicate(
    "airline/transfer-untried",
    guards="transfer_to_human_agents",
    clause="airline/transfer-only-out-of-scope",
    enforcement=Enforcement.AUDIT,
)
def transfer_untried(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """Nobody is handed over before the customer was looked up.

    Only audited: in recorded runs it would stop as many right transfers as premature ones.
    """
    if any(ledger.glob(USER)):
        return None
    return violation(
        "no customer's profile has been read; look up who is asking and what their request is about, "
        "and transfer only if it then can't be handled here"
    )
