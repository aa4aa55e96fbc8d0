"""What became of a write decides the next one: done, refused, unheard of, told late, read again.

A refusal changes nothing, so what was right before still is, and what was wrong still is. Of a write
that nobody heard of, nothing may be asserted either way.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.packs.airline import talk as air
from tests.packs.retail import talk as goods
from tests.packs.telecom.talk import bill, line
from tests.packs.telehealth.talk import booking, cancelling, details, moving, rescheduled, scheduled

from . import airline_world as flights
from . import clinic_world as clinic
from . import retail_world as mall
from . import shop as garden
from . import telecom as phone
from .after import CLOSED, REFUSED, UNKNOWN, After, mixed, outcomes
from .rows import NEVER, Answered, Rows, Step, done, may

AIRLINE, RETAIL, TELECOM = (Rows(name, "outcomes") for name in ("airline", "retail", "telecom"))
TELEHEALTH, SHOP = (Rows(name, "outcomes") for name in ("telehealth", "shop"))
ALL = (AIRLINE, RETAIL, TELECOM, TELEHEALTH, SHOP)

# airline: a delay is compensated after the reservation was changed or cancelled
AIRLINE.policy("a delay is compensated after the reservation was changed or cancelled")
LATE_FLIGHT = (flights.HELLO, flights.SILVER, flights.BUSINESS, flights.status("delayed"))
GONE = flights.trip(cabin="business", status="cancelled")
outcomes(
    AIRLINE,
    "cancelled for a delay",
    LATE_FLIGHT,
    air.CANCEL,
    air.certificate(50),
    After(
        "allow",
        "reject",
        unknown=CLOSED,
        seen=([GONE], "allow"),
        unseen=([flights.BUSINESS], CLOSED),
    ),
)
AIRLINE.policy("basic economy can't be changed; business can be cancelled")
BASIC = (flights.HELLO, flights.ME, flights.trip(cabin="basic_economy"))
NEXT = air.change(("NV101", "2024-05-21"))
PLAIN = (flights.HELLO, flights.ME, flights.TRIP)
outcomes(
    AIRLINE,
    "upgraded, then cancelled",
    PLAIN,
    air.UPGRADE,
    air.CANCEL,
    After("ask", "reject", unseen=([flights.TRIP], "reject"), seen=([flights.BUSINESS], "allow")),
)
outcomes(
    AIRLINE,
    "upgraded, then moved",
    BASIC,
    air.UPGRADE,
    NEXT,
    After("ask", "reject", unseen=([BASIC[-1]], "reject")),
)
AIRLINE.policy("checked bags can be added, not removed; the allowance counts every passenger")
outcomes(
    AIRLINE,
    "more bags, then fewer",
    PLAIN,
    air.bags(3, 2),
    air.bags(2, 1),
    After(
        CLOSED,
        "allow",
        answer=air.booked(total_baggages=3, nonfree_baggages=2),
        seen=([flights.trip(total_baggages=3, nonfree_baggages=2)], "reject"),
        unseen=([flights.TRIP], "allow"),
    ),
)
AIRLINE.policy("what is cancelled is not cancelled again; two trips are two matters")
TWO = (*PLAIN[:2], flights.BUSINESS, flights.trip(**flights.SECOND, cabin="business"))
mixed(
    AIRLINE,
    "one of two cancelled",
    TWO,
    [done(air.CANCEL, REFUSED), done(flights.CANCEL_SECOND)],
    ("allow", air.CANCEL),
    (CLOSED, flights.CANCEL_SECOND),
)
mixed(
    AIRLINE,
    "one of two unheard of",
    TWO,
    [done(air.CANCEL, NEVER), done(flights.CANCEL_SECOND, REFUSED)],
    (UNKNOWN, air.CANCEL),
    ("allow", flights.CANCEL_SECOND),
    ("allow or ask", air.bags(1, 0)),
)
AIRLINE.policy("a certificate is used once; gift cards pay what they hold")
BOUGHT = air.booking(payment_methods=[{"payment_id": "certificate_31", "amount": 100}])
SEARCHED: Answered = (
    "search_direct_flight",
    {"origin": "OAK", "destination": "BOI", "date": "2024-05-21"},
    [air.found("NV201", "OAK", "BOI")],
)
SHOPPING = (flights.HELLO, flights.ME, SEARCHED)
USED = flights.user(air.profile(air.NORA, "credit_card_11", "gift_card_21"))
outcomes(
    AIRLINE,
    "booked with a certificate, again",
    SHOPPING,
    BOUGHT,
    BOUGHT,
    After(CLOSED, "allow", unknown=CLOSED, seen=([USED], "reject"), unseen=([flights.ME], "allow")),
)

# retail
RETAIL.policy("an order is cancelled or modified while it is pending, its items once")
HERE = (*mall.KNOWN, mall.PENDING)
CHANGED = goods.order(
    "pending (item modified)",
    goods.item(goods.SHOE_BLACK, price=65.0),
    goods.item(goods.HAT, goods.HATS, 20.0),
)
MODIFIED = mall.read(CHANGED)
outcomes(
    RETAIL,
    "items changed, then cancelled",
    HERE,
    mall.SWAP,
    goods.cancel(),
    After(CLOSED, "allow", CHANGED, seen=([MODIFIED], "reject"), unseen=([mall.PENDING], "allow")),
)
outcomes(
    RETAIL,
    "cancelled, then moved",
    HERE,
    goods.cancel(),
    goods.address(),
    After(
        CLOSED,
        "allow",
        goods.order("cancelled"),
        seen=([mall.read(goods.order("cancelled"))], "reject"),
        unseen=([mall.PENDING], "allow"),
    ),
)
RETAIL.policy("a gift card that is to pay covers the whole")
HATS = goods.item(goods.HAT, goods.HATS, 30.0)
CHEAP = (
    mall.HELLO,
    mall.find(),
    mall.PROFILE,
    mall.read(goods.order("pending", HATS)),
    mall.read(goods.order("pending", HATS, order_id=goods.SECOND)),
)
EMPTY, FULL = mall.read(goods.user(balance=10.0)), mall.read(goods.user(balance=40.0))
outcomes(
    RETAIL,
    "a card of 40 pays 30, then 30 more",
    CHEAP,
    goods.payment(goods.GIFT),
    goods.payment(goods.GIFT, goods.SECOND),
    After(CLOSED, "allow", seen=([EMPTY], "reject"), unseen=([FULL], "allow")),
)
RETAIL.add(
    "a card of 40 pays 30 twice in one reply",
    *CHEAP,
    may("allow", goods.payment(goods.GIFT)),
    may(CLOSED, goods.payment(goods.GIFT, goods.SECOND)),
)
RETAIL.policy("a delivered order is returned or exchanged, once")
CAME = (*mall.KNOWN, mall.DELIVERED)
BACK, TRADE = goods.give_back([goods.HAT]), goods.exchange([goods.SHOE], [goods.SHOE_BLACK])
ASKED_FOR = mall.read(goods.order("return requested"))
outcomes(
    RETAIL,
    "returned, then exchanged",
    CAME,
    BACK,
    TRADE,
    After(
        CLOSED,
        "allow",
        goods.order("return requested"),
        seen=([ASKED_FOR], "reject"),
        unseen=([mall.DELIVERED], "allow"),
    ),
)
mixed(
    RETAIL,
    "one order cancelled, the other's address refused",
    (*mall.KNOWN, *mall.two_orders()),
    [done(goods.cancel(), goods.order("cancelled")), done(goods.address(goods.SECOND), REFUSED)],
    (CLOSED, goods.address()),
    ("allow", goods.address(goods.SECOND)),
    ("allow", goods.cancel(goods.SECOND)),
)

# telecom
TELECOM.policy("one bill awaits payment at a time; only an overdue one is asked for")
DUE = phone.bills(phone.OVERDUE, bill("B72", "Overdue"))
DEBTOR: Sequence[Step] = (phone.HELLO, phone.ME, DUE)
WAITING = phone.bills(bill("B71", "Awaiting Payment"), bill("B72", "Overdue"))
outcomes(
    TELECOM,
    "one bill, then the other",
    DEBTOR,
    phone.ask(),
    phone.ask("B72"),
    After(
        CLOSED, "allow", {"message": "sent"}, seen=([WAITING], "reject"), unseen=([DUE], "allow")
    ),
)
TELECOM.policy("at most 2 GB are refuelled")
SURFING = (*phone.KNOWN, phone.details(line(status="Active")))
BIG = phone.on("refuel_data", gb_amount=1.5)


def usage(refuelled: float) -> Answered:
    """The usage of the line as read."""
    known = {"line_id": "L71", "data_used_gb": 1, "data_limit_gb": 5}
    asked = {"customer_id": "C7", "line_id": "L71"}
    return "get_data_usage", asked, {**known, "data_refueling_gb": refuelled}


outcomes(
    TELECOM,
    "1 GB, then 1.5 more",
    SURFING,
    phone.REFUEL,
    BIG,
    After(
        "reject",
        "allow",
        {"message": "refuelled"},
        seen=([usage(1.0)], CLOSED),
        unseen=([usage(0.0)], "allow"),
    ),
)
outcomes(
    TELECOM,
    "1 GB, then 1 more",
    SURFING,
    phone.REFUEL,
    phone.REFUEL,
    After("allow", "allow", {"message": "refuelled"}, unknown="allow or ask"),
)
TELECOM.policy("a suspension is lifted once")
outcomes(
    TELECOM,
    "resumed, again",
    phone.SUSPENDED,
    phone.RESUME,
    phone.RESUME,
    After(
        CLOSED,
        "allow",
        {"message": "resumed"},
        seen=([phone.details(line(status="Active")), phone.ALL_PAID], "reject"),
        unseen=([phone.LINE, phone.ALL_PAID], "allow"),
    ),
)

# telehealth
TELEHEALTH.policy("a slot is not taken by another open appointment")
SEEN: Sequence[Step] = (*clinic.KNOWN, clinic.SHOWN)
FREED = booking(time="09:00")
MOVED = rescheduled("2025-11-07", "09:00")
ELSEWHERE = clinic.shown(details().replace("2025-11-05\n", "2025-11-07\n"))
outcomes(
    TELEHEALTH,
    "moved away, then booked there",
    SEEN,
    clinic.MOVE,
    FREED,
    After(
        "allow",
        "reject",
        MOVED,
        seen=([ELSEWHERE], "allow"),
        unseen=([clinic.SHOWN], "reject"),
    ),
)
outcomes(
    TELEHEALTH,
    "cancelled, then booked there",
    SEEN,
    clinic.CANCEL,
    FREED,
    After("allow or ask", "reject", clinic.GONE, unseen=([clinic.SHOWN], "reject")),
)
outcomes(
    TELEHEALTH,
    "booked, then moved there",
    SEEN,
    clinic.BOOK,
    moving("APPT900", "2025-11-05", "10:00"),
    After(CLOSED, "allow", scheduled(), unknown=CLOSED),
)
outcomes(
    TELEHEALTH,
    "cancelled, then moved",
    SEEN,
    clinic.CANCEL,
    clinic.MOVE,
    After(CLOSED, "allow", clinic.GONE, unseen=([clinic.SHOWN], "allow")),
)
AT_TEN = clinic.shown(details("APPT901").replace("Time: 09:00", "Time: 10:00"), "APPT901")
mixed(
    TELEHEALTH,
    "one of two cancelled",
    (*SEEN, AT_TEN),
    [done(clinic.CANCEL, REFUSED), done(cancelling("APPT901"), clinic.GONE)],
    ("reject", FREED),
    ("allow or ask", clinic.BOOK),
    ("allow", clinic.CANCEL),
    (CLOSED, cancelling("APPT901")),
)

# shop
SHOP.policy("each item is claimed once; a voucher pays what it holds and is due")
HALF = garden.call("refund_item", **{**garden.REFUND.arguments, "quantity": 1, "amount": 4.5})
PAID_BACK = garden.read(
    garden.parcel(items={"thyme": {"quantity": 2, "refunded": 2, "replaced": 0}})
)
UNPAID = garden.read(garden.parcel())
STOCKED = (*garden.CLAIM, garden.read(garden.product(sku="thyme", kind="plant")))
outcomes(
    SHOP,
    "refunded, then sent again",
    STOCKED,
    garden.REFUND,
    garden.RESEND,
    After(
        CLOSED,
        "allow",
        unknown=CLOSED,
        seen=([PAID_BACK], "reject"),
        unseen=([UNPAID], "allow or ask"),
    ),
)
ORDER = (*garden.ME, garden.OPEN)
SHUT = garden.read(garden.order(status="cancelled"))
outcomes(
    SHOP,
    "cancelled, then moved",
    ORDER,
    garden.CANCEL,
    garden.MOVE,
    After(CLOSED, "allow", seen=([SHUT], "reject"), unseen=([garden.OPEN], "allow")),
)
BOX = (*garden.ME, garden.read(garden.box()))
RESTING = garden.read(garden.box(status="paused"))
outcomes(
    SHOP,
    "paused, again",
    BOX,
    garden.PAUSE,
    garden.PAUSE,
    After(CLOSED, "allow", seen=([RESTING], "reject"), unseen=([BOX[-1]], "allow")),
)
