"""Changes of flights, cabin, bags and passengers, from the policy's text alone."""

from __future__ import annotations

from tests.packs.airline.talk import (
    ANA,
    BACK,
    BEN,
    OUT,
    UPGRADE,
    bags,
    booked,
    change,
    found,
    on,
    passengers,
)

from .airline_world import HELLO, ME, TODAY, TRIP, YESTERDAY, status, trip
from .bookings import LISTED, search
from .rows import Rows, done, may

ROWS = Rows("airline", "change")
add, policy = ROWS.add, ROWS.policy

policy("basic economy flights cannot be modified; origin, destination and trip type stay")
BASIC = trip(cabin="basic_economy")
NEXT = change(("NV101", "2024-05-21"))
MOVED = booked(flights=[on("2024-05-21")])
ROUND = trip(OUT, BACK, flight_type="round_trip")
SAME = ("NV101", "2024-05-20")
RETURN = ("NV102", "2024-05-25")
CHICAGO = search([found("NV301", "OAK", "ORD")], way="OAK-ORD")
add("another day", HELLO, ME, TRIP, LISTED, may("allow", NEXT))
add("another day, unsearched", HELLO, ME, TRIP, may("ask", NEXT))
add("basic economy, another day", HELLO, ME, BASIC, LISTED, may("reject", NEXT))
add(
    "basic economy, another day and cabin",
    HELLO,
    ME,
    BASIC,
    LISTED,
    may("reject", NEXT, cabin="business"),
)
add("basic economy, another cabin", HELLO, ME, BASIC, may("allow", UPGRADE))
add("another destination", HELLO, ME, TRIP, CHICAGO, may("reject", change(("NV301", "2024-05-21"))))
add("the way back dropped", HELLO, ME, ROUND, may("reject", change(SAME)))
add(
    "the way back moved",
    HELLO,
    ME,
    ROUND,
    search([found("NV102", "BOI", "OAK")], "2024-05-26", "BOI-OAK"),
    may("allow", change(SAME, ("NV102", "2024-05-26"))),
)
add(
    "a way back added",
    HELLO,
    ME,
    TRIP,
    search([found("NV102", "BOI", "OAK")], "2024-05-25", "BOI-OAK"),
    may("reject", change(SAME, RETURN)),
)
add("both ways in the wrong order", HELLO, ME, ROUND, may("reject", change(RETURN, SAME)))
add("no flights", HELLO, ME, TRIP, may("reject", change()))
add("flights is null", HELLO, ME, TRIP, may("reject", NEXT, flights=None))
add(
    "a date with a time",
    HELLO,
    ME,
    TRIP,
    LISTED,
    may("reject or ask", change(("NV101", "2024-05-21T08:00"))),
)
add(
    "upgraded and read again, then moved",
    HELLO,
    ME,
    BASIC,
    done(UPGRADE, "done"),
    TRIP,
    LISTED,
    may("allow", NEXT),
)
add(
    "upgraded, not read again, then moved",
    HELLO,
    ME,
    BASIC,
    done(UPGRADE, "done"),
    LISTED,
    may("ask", NEXT),
)
add(
    "upgrade refused, then moved",
    HELLO,
    ME,
    BASIC,
    done(UPGRADE, "Error: no seats"),
    LISTED,
    may("reject", NEXT),
)
add(
    "upgrade and move in one reply",
    HELLO,
    ME,
    BASIC,
    LISTED,
    may("allow", change(SAME)),
    may("reject or ask", NEXT),
)

policy("the cabin cannot be changed if any flight has already been flown")
for said, answer in (
    ("landed", "reject"),
    ("flying", "reject"),
    ("on time", "allow"),
    ('{"result": "flying"}', "reject"),
    ("Error: unknown flight", "ask or reject"),
    ("boarding", "ask or reject"),
):
    flown = trip(on(YESTERDAY), BACK, flight_type="round_trip")
    add(
        f"yesterday's leg {said!r}",
        HELLO,
        ME,
        flown,
        status(said, YESTERDAY),
        may(answer, change(("NV101", YESTERDAY), RETURN, cabin="business")),
    )
add(
    "the same cabin, one leg flown",
    HELLO,
    ME,
    trip(on(YESTERDAY), BACK, flight_type="round_trip"),
    status("landed", YESTERDAY),
    search([found("NV102", "BOI", "OAK")], "2024-05-26", "BOI-OAK"),
    may("allow", change(("NV101", YESTERDAY), ("NV102", "2024-05-26"))),
)
add(
    "a leg of today, unread",
    HELLO,
    ME,
    trip(on(TODAY)),
    may("ask", change(("NV101", TODAY), cabin="business")),
)

policy("a change is paid with a gift card or a credit card of the profile")
for name, answer in (
    ("gift_card_21", "allow"),
    ("certificate_31", "reject"),
    ("credit_card_12", "reject"),
    ("", "reject"),
    (None, "reject"),
    ("credit card", "reject"),
    (["credit_card_11"], "reject"),
):
    add(f"paid with {name!r}", HELLO, ME, TRIP, LISTED, may(answer, NEXT, payment_id=name))

policy("the user can add but not remove checked bags; each extra bag is 50 dollars")
BAGGED = trip(total_baggages=2, nonfree_baggages=1)
for total, paid, answer in (
    (2, 1, "allow"),
    (3, 2, "allow"),
    (3, 1, "reject"),
    (1, 0, "reject"),
    (0, 0, "reject"),
    (-1, 0, "reject"),
    (3, 4, "reject"),
    ("3", "2", "allow"),
    (3.0, 2.0, "allow"),
    (2.5, 1, "reject"),
    (None, 1, "reject"),
    (True, 0, "reject"),
    ([3], 2, "reject"),
):
    add(f"{total!r} bags, {paid!r} paid", HELLO, ME, BAGGED, may(answer, bags(total, paid)))
add(
    "upgraded: the answer is the reservation",
    HELLO,
    ME,
    TRIP,
    done(UPGRADE, booked(cabin="business")),
    may("allow", bags(2, 0)),
)
add(
    "upgraded: the answer is no reservation",
    HELLO,
    ME,
    TRIP,
    done(UPGRADE, "Updated"),
    may("ask", bags(2, 0)),
)
add(
    "upgraded: the answer holds little",
    HELLO,
    ME,
    TRIP,
    done(UPGRADE, {"reservation_id": "RV0001"}),
    may("ask or allow", bags(2, 0)),
)
add(
    "upgraded: the answer is of another trip",
    HELLO,
    ME,
    TRIP,
    done(UPGRADE, booked(cabin="business", reservation_id="RV0002")),
    may("ask", bags(2, 0)),
)
add(
    "upgraded: the answer is in a wrapping",
    HELLO,
    ME,
    TRIP,
    done(UPGRADE, {"result": booked(cabin="business")}),
    may("allow or ask", bags(2, 0)),
)
add(
    "upgrade and the bags of economy",
    HELLO,
    ME,
    TRIP,
    may("allow", UPGRADE),
    may("ask or reject", bags(2, 1)),
)
add(
    "bags and passengers",
    HELLO,
    ME,
    TRIP,
    may("allow", bags(1, 0)),
    may("allow or ask", passengers(BEN)),
)
add(
    "passengers and bags",
    HELLO,
    ME,
    TRIP,
    may("allow", passengers(BEN)),
    may("allow or ask", bags(1, 0)),
)
add(
    "the same bags twice",
    HELLO,
    ME,
    TRIP,
    may("allow", bags(2, 1)),
    may("allow or reject or ask", bags(2, 1)),
    not_all=True,
)
add(
    "four writes on one trip",
    HELLO,
    ME,
    TRIP,
    LISTED,
    may("allow", passengers(BEN)),
    may("allow or ask", bags(1, 0)),
    may("allow or ask", NEXT),
    may("ask or reject", bags(0, 0)),
)

policy("the user can modify passengers but not their number")
for people, answer in (
    ([BEN], "allow"),
    ([ANA, BEN], "reject"),
    ([], "reject"),
    ([{**BEN, "dob": None}], "reject"),
    (["Ben"], "reject"),
    (BEN, "reject"),
    (None, "reject"),
):
    add(f"passengers {people!r}", HELLO, ME, TRIP, may(answer, passengers(), passengers=people))
