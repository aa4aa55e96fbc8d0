"""Replies of three and four calls in each order: those apart go on, whatever stands beside them.

A call that is wrong, of a stranger, unreadable or of no known tool takes nothing from the right ones;
two that touch the same are let through together in no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from tests.packs.airline import talk as air
from tests.packs.retail import talk as goods
from tests.packs.telehealth.talk import cancelling, details, moving

from . import airline_world as flights
from . import clinic_world as clinic
from . import retail_world as mall
from . import shop as garden
from . import telecom as phone
from .bookings import LISTED
from .rows import Call, Rows, Step, may

AIRLINE, RETAIL, TELECOM = (Rows(name, "threefold") for name in ("airline", "retail", "telecom"))
TELEHEALTH, SHOP = (Rows(name, "threefold") for name in ("telehealth", "shop"))
ALL = (AIRLINE, RETAIL, TELECOM, TELEHEALTH, SHOP)

UNKNOWN = Call("refund_everything", {"id": 1}, "reject or ask")


def each_order(rows: Rows, before: Sequence[Step], *calls: Call, not_all: bool = False) -> None:
    """The calls in every order as one reply."""
    for order in permutations(calls):
        note = ", ".join(call.name for call in order)
        rows.add(note, *before, "Please do all of it.", *order, not_all=not_all)


def unreadable(call: Call) -> Call:
    """The call with arguments that are no JSON."""
    return Call(call.name, "{not json", "reject or ask")


# airline
SECOND = flights.trip(**flights.SECOND, cabin="business")
THEIRS = flights.trip(reservation_id="RV0003", user_id=flights.OLA, cabin="business")
SKY = (flights.HELLO, flights.ME, flights.TRIP, SECOND, THEIRS, LISTED)
OWN = may("allow", flights.CANCEL_SECOND)
EITHER = "allow or ask"
each_order(AIRLINE, SKY, OWN, may("allow", air.bags(2, 1)), may("reject", air.CANCEL))
each_order(AIRLINE, SKY, OWN, may("reject", air.CANCEL, reservation_id="RV0003"), UNKNOWN)
each_order(AIRLINE, SKY, OWN, unreadable(OWN), may("allow", air.passengers(air.BEN)))
each_order(
    AIRLINE,
    SKY,
    may(EITHER, air.bags(2, 1)),
    may(EITHER, air.change(air.NEW)),
    OWN,
)
each_order(
    AIRLINE,
    SKY,
    may(EITHER, flights.CANCEL_SECOND),
    may(EITHER, flights.CANCEL_SECOND),
    may("allow", air.bags(2, 1)),
    not_all=True,
)

# retail
STRANGE = mall.read(goods.order(order_id="#W30", owner=goods.FRIEND))
STALL = (*mall.KNOWN, *mall.two_orders("pending", "delivered"), STRANGE)
GIVE_BACK = may("allow", goods.give_back([goods.HAT], order_id=goods.SECOND))
each_order(RETAIL, STALL, may("allow", goods.cancel()), GIVE_BACK, may("allow", goods.profile()))
each_order(RETAIL, STALL, may("allow", mall.SWAP), GIVE_BACK, may("reject", goods.cancel("#W30")))
each_order(RETAIL, STALL, GIVE_BACK, may("reject or ask", goods.cancel(goods.SECOND)), UNKNOWN)
each_order(
    RETAIL,
    STALL,
    may(EITHER, mall.SWAP),
    may(EITHER, goods.cancel()),
    GIVE_BACK,
    not_all=True,
)

# telecom
LINES: tuple[Step, ...] = (phone.HELLO, phone.ME, phone.LINE, phone.ALL_PAID)
FOREIGN = may("reject", phone.ROAM, line_id="L99")
each_order(TELECOM, LINES, may("allow", phone.RESUME), may("allow", phone.ROAM), FOREIGN)
each_order(TELECOM, LINES, may("allow", phone.ROAM), may("allow", phone.REFUEL), UNKNOWN)
each_order(
    TELECOM,
    LINES,
    may(EITHER, phone.RESUME),
    may(EITHER, phone.RESUME),
    may("allow", phone.ROAM),
    not_all=True,
)

# telehealth
ROOM = (*clinic.KNOWN, clinic.SHOWN, clinic.shown(details("APPT901"), "APPT901"))
LATER = moving("APPT901", "2025-11-07", "09:00")
each_order(TELEHEALTH, ROOM, may("allow", clinic.CANCEL), may("allow", LATER), UNKNOWN)
each_order(
    TELEHEALTH,
    ROOM,
    may("allow", clinic.CANCEL),
    may("allow", cancelling("APPT901")),
    may("ask", cancelling("APPT902")),
)
each_order(
    TELEHEALTH,
    ROOM,
    may(EITHER, clinic.MOVE),
    may(EITHER, LATER),
    unreadable(may("allow", clinic.CANCEL)),
    not_all=True,
)

# shop
BOXES = (*garden.ME, garden.OPEN, garden.read(garden.box()), garden.read(garden.product()))
each_order(
    SHOP,
    BOXES,
    may("allow", garden.QUANTITY),
    may("allow", garden.PAUSE),
    may("ask", garden.PAUSE, box_id="B-2"),
)
each_order(
    SHOP,
    BOXES,
    may(EITHER, garden.PAUSE),
    may(EITHER, garden.END),
    may("allow", garden.CANCEL),
    not_all=True,
)
