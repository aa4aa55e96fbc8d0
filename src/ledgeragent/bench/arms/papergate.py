"""The gate of the arm `ledgeragent-paper`: as many predicates as the paper has, of the families it names.

The paper counts 28 (10 for airline, 12 for retail, 6 for telecom, none for telehealth), describes their
families, and names two of them. Which of our rules stand for the others is our choice, made by what its
text and its running examples describe; of telecom's it describes none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ledgeragent.domain import Domain
from ledgeragent.errors import UsageError
from ledgeragent.gate import Gate
from ledgeragent.verdict import Decision

LOOP = "gate/repeated-call"
"""Loop prevention, a predicate in the paper and part of the gate here."""

_OWNERSHIP, _STATE = "ownership", "entity state"
_GROUNDING, _PAYMENT, _REPEATS = "argument grounding", "payment consistency", "loop prevention"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperPredicate:
    """One of the 28: the rule of ours, its family, and the paper's own name where it gives one."""

    rule: str
    family: str
    named: str = ""


def _of(family: str, *rules: str) -> tuple[PaperPredicate, ...]:
    return tuple(PaperPredicate(rule=rule, family=family) for rule in rules)


_LOOP = _of(_REPEATS, LOOP)

PREDICATES: Mapping[str, tuple[PaperPredicate, ...]] = {
    "airline": (
        *_of(_OWNERSHIP, "airline/acting-user"),
        *_of(_GROUNDING, "airline/reservation-observed", "airline/flight-available"),
        PaperPredicate(rule="airline/cancel-basis", family=_STATE, named="cancel_requires_basis"),
        *_of(_STATE, "airline/cancel-flown", "airline/basic-economy-flights"),
        *_of(_STATE, "airline/passenger-count"),
        *_of(_PAYMENT, "airline/payment-in-profile", "airline/change-payment-type"),
        *_LOOP,
    ),
    "retail": (
        *_of(_OWNERSHIP, "retail/authenticated", "retail/one-user"),
        *_of(_GROUNDING, "retail/order-observed", "retail/items-in-order"),
        *_of(_GROUNDING, "retail/item-same-product"),
        *_of(_STATE, "retail/return-delivered", "retail/exchange-delivered"),
        *_of(_STATE, "retail/modify-pending", "retail/cancel-pending"),
        *_of(_PAYMENT, "retail/payment-in-profile"),
        PaperPredicate(
            rule="retail/refund-destination",
            family=_PAYMENT,
            named="retail_refund_payment_in_order_history",
        ),
        *_LOOP,
    ),
    "telecom": (
        *_of(_OWNERSHIP, "telecom/line-belongs", "telecom/bill-belongs"),
        *_of(_STATE, "telecom/bill-overdue", "telecom/single-awaiting"),
        *_of(_STATE, "telecom/resume-suspended-only"),
        *_LOOP,
    ),
    "telehealth": (),
}
"""The predicates by domain, in the paper's numbers."""


def paper_gate(domain: Domain) -> Gate | None:
    """The gate over these predicates alone, None where the paper has none.

    UsageError for a domain that is not the paper's.
    """
    if domain.name not in PREDICATES:
        raise UsageError(f"the paper has no predicates for {domain.name}; it has no such domain")
    ids = {predicate.rule for predicate in PREDICATES[domain.name]}
    if not ids:
        return None
    rules = tuple(rule for rule in domain.predicates if rule.id in ids)
    return Gate(
        domain=replace(domain.literal(), predicates=rules),
        stale="value",
        order="snapshot",
        undecided=Decision.ALLOW,
    )
