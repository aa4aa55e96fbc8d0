"""Situations under the airline's older policy: bags of gold members, no tool for a flight's status."""

from __future__ import annotations

from tests.packs.airline.talk import (
    BEN,
    CANCEL,
    OUT,
    UPGRADE,
    bags,
    certificate,
    change,
    found,
    on,
    passengers,
)

from .airline_world import BUSINESS, HELLO, ME, OTHERS, TODAY, TRIP, YESTERDAY, trip, user
from .bookings import search
from .rows import Call, Rows, may

ROWS = Rows("airline", "older")
add, policy = ROWS.add, ROWS.policy
GOLD = user(membership="gold")

policy("a gold member has 3 free checked bags for each business passenger")
for total, paid, accept in (
    (3, 0, "allow"),
    (4, 0, "reject"),
    (4, 1, "allow"),
    (4, 2, "reject"),
    (3, 1, "reject"),
):
    add(
        f"gold, business, {paid} of {total} paid",
        HELLO,
        GOLD,
        BUSINESS,
        may(accept, bags(total, paid)),
    )
add(
    "silver, business, 3 free", HELLO, user(membership="silver"), BUSINESS, may("allow", bags(3, 0))
)
add("gold, economy, 3 free", HELLO, GOLD, TRIP, may("allow", bags(3, 0)))

policy("cancelled within 24 hours, by the airline, with insurance, in business")
add("business, to come", HELLO, ME, BUSINESS, may("allow", CANCEL))
add("economy, no basis", HELLO, ME, TRIP, may("reject", CANCEL))
add("economy, insured", HELLO, ME, trip(insurance="yes"), may("allow", CANCEL))
for created, accept in (
    ("2024-05-14T15:00:00", "allow"),
    ("2024-05-14T14:59:59", "reject"),
    ("2024-05-14", "ask"),
):
    add(f"booked {created}", HELLO, ME, trip(created_at=created), may(accept, CANCEL))
past = trip({**OUT, "date": YESTERDAY}, cabin="business")
add("business, flown yesterday for all that is known", HELLO, ME, past, may("reject", CANCEL))
today = trip({**OUT, "date": TODAY}, cabin="business")
add("business, today", HELLO, ME, today, may("ask or reject or allow", CANCEL))
add(
    "a stranger's",
    HELLO,
    ME,
    trip(**{**OTHERS, "reservation_id": "RV0001"}),
    may("reject or ask", CANCEL),
)

policy("cabin can change, also after a flight was flown; basic economy flights can't")
add("upgrade", HELLO, ME, TRIP, may("allow or ask", UPGRADE))
listed = search([found("NV201", "OAK", "BOI")])
basic = trip(cabin="basic_economy")
add(
    "basic economy, another day",
    HELLO,
    ME,
    basic,
    listed,
    may("reject", change(("NV201", "2024-05-21"))),
)
add("passengers exchanged", HELLO, ME, TRIP, may("allow", passengers(BEN)))
add("one more passenger", HELLO, ME, TRIP, may("reject", passengers(BEN, BEN)))
add("compensation, regular, uninsured", HELLO, ME, TRIP, may("reject or ask", certificate(100)))
add(
    "the status is asked of a tool that is not there",
    HELLO,
    ME,
    TRIP,
    Call("get_flight_status", on(OUT["date"]), "allow or ask or reject"),
)
