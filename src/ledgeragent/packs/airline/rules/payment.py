"""Which payment methods may pay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.packs.airline.paths import RESERVATION, USER
from ledgeragent.packs.airline.records import BookReservation, UpdateFlights
from ledgeragent.packs.airline.rules.customer import BAGGAGES, BOOK, FLIGHTS, owner
from ledgeragent.packs.wording import as_given, exact
from ledgeragent.predicates import Broken, Private, View, predicate, violation

AT_MOST = {"certificate": 1, "credit_card": 1, "gift_card": 3}
"""How many methods of each kind may pay for one reservation."""
_NOTHING = Private("payment_methods is empty", "no payment is named")


def kind(payment_id: str, user_id: str, ledger: View) -> str:
    """The source of a payment method: as the profile says, else as its id says."""
    profile = ledger.get(USER(user_id))
    methods = profile["payment_methods"] if profile is not None else {}
    return methods[payment_id]["source"] if payment_id in methods else payment_id.rpartition("_")[0]


@predicate("airline/payment-in-profile", guards=(BOOK, BAGGAGES, FLIGHTS))
def payment_in_profile(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """Every method used is stored in the profile of whose reservation it is.

    A card that paid for the reservation before needs no look at the profile; a certificate that was
    used since the profile was read is unknown, not gone.
    """
    if "payment_methods" in call:
        used = [payment["payment_id"] for payment in call["payment_methods"]]
    else:
        used = [call["payment_id"]]
    profile = USER(owner(call, ledger))
    if ledger.get(profile) is None and _paid_before(call, ledger):
        return None
    methods = ledger[profile]["payment_methods"]
    unknown = [payment_id for payment_id in used if payment_id not in methods]
    if not unknown:
        for payment_id in used:
            _ = methods[payment_id]["source"]
        return None
    return violation(
        "{unknown} is not a payment method of this customer; stored are {stored}",
        unknown=Private(
            f"payment_id {' and '.join(map(as_given, dict.fromkeys(unknown)))}", instead="that"
        ),
        stored=list(methods),
    )


def _paid_before(call: Mapping[str, Any], ledger: View) -> bool:
    """True if a change is to be paid with a card of the reservation's own, known payments."""
    if "reservation_id" not in call:
        return False
    path = RESERVATION(call["reservation_id"])
    entry = ledger.entry(path)
    if entry is None or entry.stale_at(("payment_history",)):
        return False
    paid = {payment["payment_id"] for payment in ledger[path]["payment_history"]}
    return call["payment_id"] in paid and not call["payment_id"].startswith("certificate")


@predicate("airline/payment-mix", guards=BOOK)
def payment_mix(call: BookReservation, ledger: View) -> Broken | None:
    """At most one certificate, one credit card and three gift cards pay for a reservation.

    Rejects: nothing that pays, a method named twice, and an amount that pays nothing or takes
    money out.
    """
    used = [payment["payment_id"] for payment in call["payment_methods"]]
    if not used:
        return violation("{argument}; name what pays for the booking", argument=_NOTHING)
    twice = [payment_id for payment_id in dict.fromkeys(used) if used.count(payment_id) > 1]
    if twice:
        return violation(
            "{twice} more than once; name each method once, with its whole amount",
            twice=Private(f"payment_methods names {' and '.join(twice)}", "a method is named"),
        )
    for payment in call["payment_methods"]:
        if payment["amount"] <= 0:
            return violation(
                "the amount of {method} must be more than 0, not {amount}; leave out a method that "
                "pays nothing",
                method=Private(f"{payment['payment_id']} in payment_methods", "each method"),
                amount=exact(payment["amount"]),
            )
    kinds = [kind(payment_id, call["user_id"], ledger) for payment_id in used]
    for name, most in AT_MOST.items():
        if kinds.count(name) > most:
            return violation(
                "{named}; a reservation is paid with at most one "
                "certificate, one credit card and three gift cards",
                named=_too_many(f"{kinds.count(name)} {name.replace('_', ' ')}s"),
            )
    return None


def _too_many(methods: str) -> Private:
    return Private(f"payment_methods names {methods}", f"{methods} are named")


@predicate("airline/change-payment-type", guards=FLIGHTS)
def change_payment_type(call: UpdateFlights, ledger: View) -> Broken | None:
    """A change of flights is paid or refunded with a gift card or a credit card."""
    chosen = kind(call["payment_id"], owner(call, ledger), ledger)
    if chosen != "certificate":
        return None
    return violation(
        "{method} must be one gift card or one credit card of the profile{rest}: a change of flights "
        "is not settled with a travel certificate",
        method=Private("payment_id", "what pays or takes the refund"),
        rest=Private(f", not {call['payment_id']}", ""),
    )
