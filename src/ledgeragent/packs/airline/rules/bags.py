"""Checked bags: how many are free, and that none is taken off."""

from __future__ import annotations

from typing import Any, NamedTuple

from ledgeragent.packs.airline.paths import RESERVATION, USER
from ledgeragent.packs.airline.records import BookReservation, UpdateBaggages
from ledgeragent.packs.airline.rules.customer import BAGGAGES, BOOK, owner
from ledgeragent.predicates import Broken, Private, View, predicate, violation


class Load(NamedTuple):
    """Who travels how, as far as free bags depend on it."""

    cabin: str
    passengers: int


_ALL = Private("total_baggages", "the number of bags")
_PAID = Private("nonfree_baggages", "the number of paid bags")


@predicate("airline/bag-allowance", guards=(BOOK, BAGGAGES))
def bag_allowance(call: BookReservation | UpdateBaggages, ledger: View) -> Broken | None:
    """Paid bags are exactly those beyond what membership and cabin leave free for each passenger.

    Rejects: a free bag charged, or a bag beyond the allowance not charged.  The profile is read only
    where the membership makes a difference.
    """
    total, paid = call["total_baggages"], call["nonfree_baggages"]
    if total < 0:
        return violation("{bags} must be 0 or more, not {total}", bags=_ALL, total=total)
    if not 0 <= paid <= total:
        return violation(
            "{paid_bags} must be between 0 and {bags}, not {paid} of {total}",
            paid_bags=_PAID,
            bags=_ALL,
            paid=paid,
            total=total,
        )
    load = _load(call, ledger)
    owed = {
        membership: max(0, total - bags[load.cabin] * load.passengers)
        for membership, bags in ledger.parameters["free_bags"].items()
        if load.cabin in bags
    }
    if set(owed.values()) <= {paid}:
        return None
    membership = ledger[USER(owner(call, ledger))]["membership"]
    if owed.get(membership, paid) == paid:
        return None
    return violation(
        "{paid_bags} must be {owed}, not {paid}: of {total} bags, a {membership} member has "
        "{free} free per passenger in {cabin}, and {passengers} on this reservation",
        paid_bags=_PAID,
        total=total,
        owed=owed[membership],
        paid=paid,
        membership=membership,
        free=ledger.parameters["free_bags"][membership][load.cabin],
        passengers=_counted(load.passengers, "passenger"),
        cabin=load.cabin.replace("_", " "),
    )


def _counted(number: int, noun: str) -> str:
    return f"1 {noun} travels" if number == 1 else f"{number} {noun}s travel"


def _load(call: Any, ledger: View) -> Load:
    """Cabin and number of passengers: a booking names them, for an update the record does."""
    if "reservation_id" not in call:
        return Load(call["cabin"], len(call["passengers"]))
    booked = ledger[RESERVATION(call["reservation_id"])]
    return Load(booked["cabin"], len(booked["passengers"]))


@predicate("airline/bags-no-removal", guards=BAGGAGES)
def bags_no_removal(call: UpdateBaggages, ledger: View) -> Broken | None:
    """Checked bags can be added, not taken off."""
    booked = ledger[RESERVATION(call["reservation_id"])]["total_baggages"]
    if call["total_baggages"] >= booked:
        return None
    return violation(
        "{bags} must be at least {booked}, as reservation {id} has now, not {asked}: checked "
        "bags can be added, not taken off",
        bags=_ALL,
        id=call["reservation_id"],
        booked=booked,
        asked=call["total_baggages"],
    )
