"""Replies in odd orders, lost and odd answers, hostile text: one table for every shipped pack.

What may be answered follows from the policies' text, and from what must hold of any policy: a reply
does nothing that no order of its calls allows, what may have happened is unknown until it is read, and
a word that nobody declared is evidence of nothing.
"""

from __future__ import annotations

from typing import Any

from ledgeragent.types import ToolCall
from tests.packs.airline import talk as air
from tests.packs.retail import talk as goods
from tests.packs.telecom.talk import bill, line
from tests.packs.telehealth.talk import details as appointment
from tests.packs.telehealth.talk import moving

from . import airline_world as flights
from . import clinic_world as clinic
from . import retail_world as mall
from . import shop as garden
from . import telecom as phone
from .bookings import LISTED
from .rows import NEVER, Call, Rows, Step, done, may

LOST = ("Error: 503 Service Unavailable", "Error: read timed out", "connection reset by peer", "")
HOSTILE = ("\u0000", "\u0000,eve", "\u200b", "\u202e", "\n", "\ud83d", "<br>", "'--", "*", "{}")
"""Ends of an id that is another one then, or none."""

AIRLINE, RETAIL, TELECOM = (Rows(name, "disorder") for name in ("airline", "retail", "telecom"))
TELEHEALTH, SHOP = (Rows(name, "disorder") for name in ("telehealth", "shop"))
ALL = (AIRLINE, RETAIL, TELECOM, TELEHEALTH, SHOP)

Known = tuple[Step, ...]


def hostile(rows: Rows, known: Known, call: ToolCall, *names: str) -> None:
    """The call with each of its names spoilt."""
    for name in names:
        for end in HOSTILE:
            wrong = f"{call.arguments[name]}{end}"
            rows.add(f"{name} {wrong!r}", *known, may("reject or ask", call, **{name: wrong}))
    twice = ", ".join(f'"{name}": "x"' for name in (*names, *names))
    rows.add("each name twice", *known, Call(call.name, f"{{{twice}}}", "reject"))


def lost(rows: Rows, known: Known, first: ToolCall, then: ToolCall) -> None:
    """A write whose answer says nothing, then one that it may have made wrong."""
    for answer in (*LOST, NEVER):
        heard = "nothing" if answer is NEVER else repr(answer)
        note = f"{first.name}, {heard} heard, then {then.name}"
        rows.add(note, *known, done(first, answer), may("ask or reject", then))


def beside(rows: Rows, known: Known, first: ToolCall, other: ToolCall, then: ToolCall) -> None:
    """Two writes of one reply, the first never heard of again; then one that it may have made wrong."""
    for reply in ([done(first, NEVER), done(other)], [done(other), done(first, NEVER)]):
        note = f"{first.name} lost beside {other.name}, then {then.name}"
        rows.add(note, *known, reply, "Is it done?", may("ask or reject", then))


def pair(
    rows: Rows, note: str, known: Known, first: ToolCall, second: ToolCall, accept: str
) -> None:
    """Two calls in one reply: the first is right by itself."""
    rows.add(note, *known, may("allow", first), may(accept, second))


# airline
CABIN = (flights.HELLO, flights.ME, flights.BUSINESS)
PLAIN = (flights.HELLO, flights.ME, flights.TRIP)
DELAYED = (flights.HELLO, flights.SILVER, flights.BUSINESS, flights.status("delayed"))
NEXT = air.change(("NV101", "2024-05-21"))
BASIC = (flights.HELLO, flights.ME, flights.trip(cabin="basic_economy"))
pair(AIRLINE, "cancelled and compensated", DELAYED, air.CANCEL, air.certificate(50), "ask")
pair(AIRLINE, "bags, then cancelled", CABIN, air.bags(1, 0), air.CANCEL, "ask")
pair(AIRLINE, "cancelled, then bags", CABIN, air.CANCEL, air.bags(1, 0), "ask or reject")
pair(AIRLINE, "an upgrade as the reason to cancel", PLAIN, air.UPGRADE, air.CANCEL, "reject or ask")
pair(AIRLINE, "an upgrade as the way to move", BASIC, air.UPGRADE, NEXT, "reject or ask")
two = (*CABIN, flights.trip(**flights.SECOND, cabin="business"))
pair(AIRLINE, "one trip each", two, air.CANCEL, flights.CANCEL_SECOND, "allow")
pair(
    AIRLINE,
    "passengers here, cancelled there",
    two,
    air.passengers(air.BEN),
    flights.CANCEL_SECOND,
    "allow",
)
lost(AIRLINE, CABIN, air.CANCEL, air.CANCEL)
lost(AIRLINE, PLAIN, air.UPGRADE, air.bags(2, 1))
lost(AIRLINE, (*BASIC, LISTED), air.UPGRADE, NEXT)
AIRLINE.add(
    "lost, read again as it was",
    *CABIN,
    done(air.CANCEL, LOST[0]),
    flights.BUSINESS,
    may("allow", air.CANCEL),
)
AIRLINE.add(
    "lost, read again as cancelled",
    *CABIN,
    done(air.CANCEL, LOST[0]),
    flights.trip(cabin="business", status="cancelled"),
    may("reject", air.CANCEL),
)
for cabin in (
    "Business",
    "business ",
    "business\u0000",
    "business;economy",
    ["business"],
    {"is": "business"},
):
    AIRLINE.add(
        f"cabin {cabin!r}",
        flights.HELLO,
        flights.ME,
        flights.trip(cabin=cabin),
        may("reject or ask", air.CANCEL),
    )
for owner in (f"{air.NORA}\u0000", f"{air.NORA} ", air.NORA.upper(), [air.NORA], None, True):
    AIRLINE.add(
        f"owner {owner!r}",
        flights.HELLO,
        flights.ME,
        flights.trip(cabin="business", user_id=owner),
        may("reject or ask", air.CANCEL),
    )
for total in (float("inf"), float("nan"), "1e999", "-0", "0x2", "2;", [2], 10**40):
    AIRLINE.add(f"{total!r} bags", *PLAIN, may("reject", air.bags(2, 1), total_baggages=total))
hostile(AIRLINE, CABIN, air.CANCEL, "reservation_id")

# retail
OPEN = (*mall.KNOWN, *mall.two_orders())
HERE = (*mall.KNOWN, mall.PENDING)
CAME = (*mall.KNOWN, mall.DELIVERED)
BACK, SWAP_BACK = goods.give_back([goods.HAT]), goods.exchange([goods.SHOE], [goods.SHOE_BLACK])
pair(RETAIL, "items, then where to", HERE, mall.SWAP, goods.address(), "ask or reject")
pair(RETAIL, "where to, then items", HERE, goods.address(), mall.SWAP, "allow or ask")
pair(RETAIL, "items, then cancelled", HERE, mall.SWAP, goods.cancel(), "ask or reject")
pair(RETAIL, "returned and exchanged", CAME, BACK, SWAP_BACK, "ask or reject")
pair(RETAIL, "exchanged and returned", CAME, SWAP_BACK, BACK, "ask or reject")
pair(RETAIL, "one order each", OPEN, goods.cancel(), goods.cancel(goods.SECOND), "allow or ask")
pair(RETAIL, "profile and order", HERE, goods.profile(), goods.address(), "allow")
lost(RETAIL, HERE, goods.cancel(), goods.address())
lost(RETAIL, HERE, mall.SWAP, goods.cancel())
lost(RETAIL, CAME, BACK, SWAP_BACK)
RETAIL.add(
    "lost, read again as it was",
    *HERE,
    done(goods.cancel(), LOST[1]),
    mall.PENDING,
    may("allow", goods.cancel()),
)
RETAIL.add(
    "lost, read again as cancelled",
    *HERE,
    done(goods.cancel(), LOST[1]),
    mall.read(goods.order("cancelled")),
    may("reject", goods.address()),
)
beside(RETAIL, OPEN, goods.cancel(), goods.address(goods.SECOND), goods.address())
RETAIL.add(
    "the answer of a write is another order",
    *HERE,
    done(goods.address(), goods.order(order_id=goods.SECOND)),
    may("allow or ask", goods.cancel()),
)
for word in (
    "pending\u0000",
    "pending\u200b",
    "PENDING",
    "pending, delivered",
    "not pending",
    {"pending": True},
):
    RETAIL.add(
        f"status {word!r}",
        mall.HELLO,
        mall.find(),
        mall.read(goods.order(word)),
        may("reject or ask", goods.cancel()),
    )
for found in (
    f"{goods.ME}\u0000",
    f"{goods.ME}\n{goods.FRIEND}",
    True,
    7,
    [goods.ME, goods.ME],
    {"id": goods.ME},
    "<none>",
):
    RETAIL.add(
        f"found {found!r}",
        mall.HELLO,
        mall.find(found),
        mall.PENDING,
        may("ask or reject", goods.cancel()),
    )
hostile(RETAIL, HERE, goods.cancel(), "order_id", "reason")

# telecom
LATE: Known = (phone.HELLO, phone.ME, phone.bills(phone.OVERDUE, bill("B72", "Overdue")))
pair(TELECOM, "two bills at once", LATE, phone.ask(), phone.ask("B72"), "reject or ask")
pair(TELECOM, "the same bill twice", LATE, phone.ask(), phone.ask(), "reject or ask")
lost(TELECOM, LATE, phone.ask(), phone.ask("B72"))
lost(TELECOM, (*phone.KNOWN, phone.LINE), phone.REFUEL, phone.on("refuel_data", gb_amount=2))
for amount in ("1 GB", "NaN", float("inf"), -1, 0, True, [1], {"gb": 1}, None, "2.01"):
    TELECOM.add(
        f"{amount!r} GB", *phone.KNOWN, phone.LINE, may("reject", phone.REFUEL, gb_amount=amount)
    )
for word in ("Suspended\u0000", "un-Suspended", "Suspended?", ["Suspended"], None):
    odd = phone.details(line(status=word))
    TELECOM.add(
        f"line {word!r}",
        phone.HELLO,
        phone.ME,
        odd,
        phone.ALL_PAID,
        may("reject or ask", phone.RESUME),
    )
hostile(TELECOM, (phone.HELLO, phone.ME, phone.LINE), phone.ROAM, "customer_id", "line_id")

# telehealth
SEEN: Known = (*clinic.KNOWN, clinic.SHOWN)
pair(TELEHEALTH, "cancelled and moved", SEEN, clinic.CANCEL, clinic.MOVE, "ask or reject")
pair(TELEHEALTH, "moved and cancelled", SEEN, clinic.MOVE, clinic.CANCEL, "ask or reject")
pair(
    TELEHEALTH,
    "moved twice",
    SEEN,
    clinic.MOVE,
    moving("APPT900", "2025-11-07", "10:00"),
    "ask or reject",
)
lost(TELEHEALTH, SEEN, clinic.CANCEL, clinic.MOVE)
lost(TELEHEALTH, SEEN, clinic.CANCEL, clinic.CANCEL)
for word in ("scheduled\u0000", "SCHEDULED?", "not scheduled", "on hold", ""):
    text = appointment("APPT900").replace("Status: Scheduled", f"Status: {word}")
    assert word in text and text != appointment("APPT900")
    TELEHEALTH.add(
        f"status {word!r}", *clinic.KNOWN, clinic.shown(text), may("reject or ask", clinic.CANCEL)
    )
hostile(TELEHEALTH, SEEN, clinic.CANCEL, "appointment_id")

# shop
ORDER: Known = (*garden.ME, garden.OPEN)
GIFT: Known = (*ORDER, garden.read(garden.voucher()), garden.read(garden.product()))
CLAIMED = garden.CLAIM
pair(SHOP, "cancelled, then moved", ORDER, garden.CANCEL, garden.MOVE, "ask or reject")
pair(SHOP, "moved, then cancelled", ORDER, garden.MOVE, garden.CANCEL, "allow or ask")
pair(SHOP, "a voucher, then cancelled", GIFT, garden.VOUCHER, garden.CANCEL, "allow or ask")
pair(SHOP, "fewer rakes, then a voucher", GIFT, garden.QUANTITY, garden.VOUCHER, "ask or reject")
boxes: Known = (*garden.ME, garden.read(garden.box()), garden.read(garden.box(box_id="B-2")))
SHOP.add(
    "one box each", *boxes, may("allow", garden.PAUSE), may("allow", garden.PAUSE, box_id="B-2")
)
thrice = [
    may(word, garden.REFUND, quantity=1, amount=4.5)
    for word in ("allow", "ask or reject", "ask or reject")
]
SHOP.add("one refund three times, for two plants", *CLAIMED, *thrice)
lost(SHOP, CLAIMED, garden.REFUND, garden.REFUND)
lost(SHOP, GIFT, garden.VOUCHER, garden.VOUCHER)
lost(SHOP, ORDER, garden.CANCEL, garden.MOVE)
beside(SHOP, boxes, garden.END, garden.call("pause_box", box_id="B-2", months=1), garden.PAUSE)
refunded: dict[str, Any] = {"thyme": {"quantity": 2, "refunded": 2, "replaced": 0}}
SHOP.add(
    "refund lost, read again as refunded",
    *CLAIMED,
    done(garden.REFUND, LOST[0]),
    garden.read(garden.parcel(items=refunded)),
    may("reject", garden.REFUND),
)
for status in ("open\u0000", "open\u200b", "re-open", ["open"], {"open": 1}, True):
    SHOP.add(
        f"status {status!r}",
        *garden.ME,
        garden.read(garden.order(status=status)),
        may("ask or reject", garden.CANCEL),
    )
hostile(SHOP, ORDER, garden.CANCEL, "order_id")
hostile(SHOP, GIFT, garden.VOUCHER, "order_id", "code")
