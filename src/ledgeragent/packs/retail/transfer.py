"""Handing the conversation over to a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.packs.retail.orders import customer
from ledgeragent.packs.retail.paths import ORDER, USER
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Enforcement


@predicate(
    "retail/transfer-untried",
    guards="transfer_to_human_agents",
    clause="retail/transfer-only-out-of-scope",
    enforcement=Enforcement.AUDIT,
)
def transfer_untried(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """Nobody is handed over before the customer, or an order, was looked up.

    Only audited: whether a transfer is premature is in the conversation, and this also stops right ones.
    """
    if customer(ledger) is not None or any(ledger.glob(USER)) or any(ledger.glob(ORDER)):
        return None
    return violation(
        "neither the customer nor an order has been looked up; find out who is asking and what their "
        "request is about, and transfer only if it then can't be handled here"
    )
