"""The shop's rules on subscription boxes."""

from __future__ import annotations

from ledgeragent.demo.shop.pack.calendar import days_between
from ledgeragent.demo.shop.pack.paths import BOX
from ledgeragent.demo.shop.pack.records import EndBox, PauseBox
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Decision

BOXES = ("pause_box", "end_box")


@predicate("shop/box-notice", guards=BOXES, decision=Decision.BLOCK)
def box_notice(call: EndBox, ledger: View) -> Broken | None:
    """A box is left alone in the days before it is sent."""
    box = ledger[BOX(call["box_id"])]
    next_on = box["next_box_on"]
    if next_on is None:
        return violation("box {box} has ended already", box=call["box_id"])
    if days_between(ledger.parameters["today"], next_on) > ledger.parameters["notice_days"]:
        return None
    return violation(
        "the next box of {box} is sent on {sent} and made up in the {days} days before, so it is too"
        " late to stop it",
        box=call["box_id"],
        sent=next_on,
        days=ledger.parameters["notice_days"],
    )


@predicate("shop/box-pause", guards="pause_box")
def box_pause(call: PauseBox, ledger: View) -> Broken | None:
    """An active box is paused, and not for too long."""
    longest = ledger.parameters["longest_pause"]
    if not 1 <= call["months"] <= longest:
        return violation(
            "a pause of {months} months is not possible: from 1 to {longest} months are",
            months=call["months"],
            longest=longest,
        )
    status = ledger[BOX(call["box_id"])]["status"]
    if status == "active":
        return None
    return violation(
        "box {box} is {status}, and only an active box can be paused",
        box=call["box_id"],
        status=status,
    )


BOX_RULES = (box_notice, box_pause)
