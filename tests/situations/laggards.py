"""A write answered with the record from before, a receipt, or another record; then a second write.

None of them shows what became of the first, so the second may not rest on the state from before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ledgeragent.types import ToolCall
from tests.packs.airline import talk as air
from tests.packs.retail import talk as goods
from tests.packs.telecom.talk import bill, line

from . import airline_world as flights
from . import retail_world as mall
from . import telecom as phone
from .rows import Rows, Step, done, may

AIRLINE, RETAIL, TELECOM = (Rows(name, "laggards") for name in ("airline", "retail", "telecom"))
ALL = (AIRLINE, RETAIL, TELECOM)
CLOSED = "ask or reject"


def unshown(
    rows: Rows,
    note: str,
    before: Sequence[Step],
    first: ToolCall,
    answers: Sequence[Any],
    *then: ToolCall,
    accept: str = CLOSED,
) -> None:
    """Each answer that doesn't show the first write, then each other call."""
    for number, answer in enumerate(answers):
        for call in then:
            steps = (*before, done(first, answer), "And now?")
            rows.add(f"{note}, answer {number}, {call.name}", *steps, may(accept, call))


# airline
AIRLINE.policy("what was cancelled is not cancelled again; bags are added, not removed")
KNOWN = (flights.HELLO, flights.ME)
BUSINESS = air.booked(cabin="business")
OTHER = air.booked(**flights.SECOND, cabin="business")
unshown(
    AIRLINE,
    "cancelled",
    (*KNOWN, flights.BUSINESS),
    air.CANCEL,
    [BUSINESS, {**BUSINESS, "status": None}, {"reservation_id": "RV0001"}, OTHER, "ok", {}],
    air.CANCEL,
)
ROOMY = air.booked(cabin="business", total_baggages=1)
unshown(
    AIRLINE,
    "bags",
    (*KNOWN, flights.trip(cabin="business", total_baggages=1)),
    air.bags(2, 0),
    [ROOMY, {**ROOMY, "total_baggages": "1"}, {"total_baggages": 1}, "ok"],
    air.bags(1, 0),
)
unshown(
    AIRLINE,
    "one cabin down",
    (*KNOWN, flights.BUSINESS, flights.status("available")),
    air.change(air.SAME),
    [BUSINESS, {**BUSINESS, "created_at": "2024-05-14T23:00:00"}, "ok"],
    air.CANCEL,
)
unshown(
    AIRLINE,
    "another day, of which the answer shows nothing",
    (*KNOWN, flights.trip()),
    air.change(("NV101", "2024-05-21")),
    [air.booked(), air.booked(air.BACK)],
    air.CANCEL,
)
AIRLINE.add(
    "one cabin up, shown",
    *(*KNOWN, flights.TRIP, done(air.UPGRADE, BUSINESS), "Cancel it."),
    may("allow or ask", air.CANCEL),
)
AIRLINE.add(
    "more bags, told as text",
    *(*KNOWN, flights.trip(cabin="business")),
    done(air.bags("2", "0"), air.booked(cabin="business", total_baggages=2)),
    "One less.",
    may("reject", air.bags(1, 0)),
)
AIRLINE.add(
    "the other trip is untouched",
    *(*KNOWN, flights.BUSINESS, flights.trip(**flights.SECOND, cabin="business")),
    done(air.CANCEL, BUSINESS),
    "The other one.",
    may("allow", flights.CANCEL_SECOND),
)

# retail
RETAIL.policy("items are modified, returned or exchanged once; what is cancelled is not pending")
PENDING, DELIVERED = goods.order(), goods.order("delivered")
HERE, THERE = (*mall.KNOWN, mall.PENDING), (*mall.KNOWN, mall.DELIVERED)
SWAP = goods.modify([goods.SHOE], [goods.SHOE_BLACK])
BACK = goods.give_back([goods.HAT])
EXCHANGE = goods.exchange([goods.SHOE], [goods.SHOE_BLACK])
ELSE = goods.order("cancelled", order_id=goods.SECOND)
unshown(
    RETAIL,
    "cancelled",
    HERE,
    goods.cancel(),
    [PENDING, {**PENDING, "status": "processed"}, ELSE, {"order_id": goods.ORDER}, "ok"],
    *(goods.cancel(), goods.address(), goods.payment(goods.PAYPAL), SWAP),
)
unshown(
    RETAIL,
    "items changed",
    HERE,
    SWAP,
    [PENDING, {**PENDING, "status": "pending (item modified)"}, "ok"],
    *(goods.cancel(), goods.address(), SWAP),
)
unshown(
    RETAIL,
    "returned",
    THERE,
    BACK,
    [DELIVERED, {**DELIVERED, "return_items": [goods.HAT]}, {"status": "delivered"}, "ok"],
    *(BACK, EXCHANGE, goods.give_back([goods.SHOE])),
)
unshown(RETAIL, "exchanged", THERE, EXCHANGE, [DELIVERED, "ok"], BACK, EXCHANGE)
unshown(
    RETAIL,
    "paid otherwise",
    HERE,
    goods.payment(goods.PAYPAL),
    [PENDING, "ok"],
    goods.cancel(),
    accept="allow or ask",
)
RETAIL.add(
    "moved, shown as it was",
    *HERE,
    done(goods.address(), {**PENDING, "address": {**goods.NEW_ADDRESS, "city": "Bend"}}),
    "Cancel it.",
    may("allow or ask", goods.cancel()),
)
RETAIL.add(
    "moved, and delivered meanwhile",
    *HERE,
    done(goods.address(), DELIVERED),
    "Cancel it.",
    may(CLOSED, goods.cancel()),
)

# telecom
TELECOM.policy("only a suspended line is resumed; one bill awaits payment at a time")
ACTIVE = phone.details(line(status="Active"))
SUSPEND = phone.on("suspend_line", reason="travel")
unshown(
    TELECOM,
    "resumed",
    phone.SUSPENDED,
    phone.RESUME,
    [{"message": "Line resumed successfully", "line": line()}, "ok", {}],
    phone.RESUME,
)
unshown(
    TELECOM,
    "suspended",
    (*phone.KNOWN[:2], ACTIVE, phone.ALL_PAID),
    SUSPEND,
    [{"message": "Line suspended successfully", "line": line(status="Active")}, "ok"],
    phone.RESUME,
)
TWO = (*phone.KNOWN[:2], phone.bills(bill("B71", "Overdue"), bill("B72", "Overdue")))
unshown(
    TELECOM,
    "a request sent",
    TWO,
    phone.ask(),
    [bill("B71", "Overdue"), "ok", {"bill_id": "B71"}],
    *(phone.ask("B72"), phone.ask()),
)
