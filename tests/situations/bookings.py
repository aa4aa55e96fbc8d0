"""Bookings of the airline, from the policy's text alone."""

from __future__ import annotations

from typing import Any

from tests.packs.airline.talk import ANA, BEN, NORA, booked, booking, found, profile

from .airline_world import HELLO, ME, OLA, SILVER, status, user
from .rows import Answered, Call, Rows, done, may

ROWS = Rows("airline", "booking")
add, policy = ROWS.add, ROWS.policy


def search(answer: Any, date: str = "2024-05-21", way: str = "OAK-BOI") -> Answered:
    """A direct search as read."""
    origin, destination = way.split("-")
    route = {"origin": origin, "destination": destination, "date": date}
    return "search_direct_flight", route, answer


def pay(*methods: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"payment_id": name, "amount": amount} for name, amount in methods]


LISTED = search([found("NV201", "OAK", "BOI"), found("NV101", "OAK", "BOI")])
KNOWN = (HELLO, ME, LISTED)
GIFTS = [f"gift_card_{n}" for n in range(4)]
WALLET = ("credit_card_11", "credit_card_12", "certificate_31", "certificate_32", *GIFTS)
WEALTHY = user(profile(NORA, *WALLET))
FLIGHT = {"flight_number": "NV201", "date": "2024-05-21"}

policy("each reservation can use at most one certificate, one credit card, three gift cards")
for used, answer in (
    ([("credit_card_11", 100)], "allow"),
    ([("certificate_31", 60), ("credit_card_11", 40)], "allow"),
    ([("certificate_31", 50), ("certificate_32", 50)], "reject"),
    ([("credit_card_11", 50), ("credit_card_12", 50)], "reject"),
    ([(gift, 25) for gift in GIFTS], "reject"),
    ([(GIFTS[0], 40), (GIFTS[1], 40), (GIFTS[2], 20)], "allow"),
    ([("certificate_31", 20), ("credit_card_11", 20), (GIFTS[1], 60)], "allow"),
    ([(GIFTS[0], 50), (GIFTS[0], 50)], "reject"),
    ([("credit_card_11", 0), ("certificate_31", 100)], "reject"),
    ([("credit_card_11", 150), (GIFTS[0], -50)], "reject"),
    ([("credit_card_11", "100")], "allow"),
    ([("credit_card_11", 100.0)], "allow"),
    ([("credit_card_11", 99)], "reject"),
    ([("credit_card_11", 101)], "reject"),
    ([("credit_card_11", None)], "reject"),
    ([("credit_card_11", "1e2")], "allow or reject"),
    ([("credit_card_11", "a hundred")], "reject"),
    ([("credit_card_99", 100)], "reject"),
    ([("Credit_Card_11", 100)], "reject"),
    ([("credit_card_11 ", 100)], "reject"),
    ([("", 100)], "reject"),
    ([], "reject"),
):
    add(
        f"paid with {used}",
        HELLO,
        WEALTHY,
        LISTED,
        may(answer, booking(payment_methods=pay(*used))),
    )
for form, answer in (
    (None, "reject"),
    ("credit_card_11", "reject"),
    ({"payment_id": "credit_card_11", "amount": 100}, "reject"),
    ('[{"payment_id": "credit_card_11", "amount": 100}]', "allow"),
    ([{"id": "credit_card_11", "amount": 100}], "reject"),
    ([None], "reject"),
):
    add(f"payment_methods {form!r}", *KNOWN, may(answer, booking(payment_methods=form)))

policy("at most five passengers; first name, last name and date of birth of each")
for people, answer in (
    ([ANA] * 5, "allow"),
    ([ANA, BEN] * 3, "reject"),
    ([], "reject"),
    ([{**ANA, "dob": ""}], "reject"),
    ([{**ANA, "dob": None}], "reject"),
    ([{**ANA, "dob": "1990-13-40"}], "reject"),
    ([{**ANA, "dob": "19900203"}], "reject"),
    ([{**ANA, "dob": "1990-W05-3"}], "reject"),
    ([{**ANA, "first_name": 1}], "reject"),
    ([{**ANA, "first_name": True}], "reject"),
    ([{**ANA, "last_name": ["Lind"]}], "reject"),
    ([{**ANA, "last_name": "."}], "reject"),
    ([{**ANA, "last_name": "\u200b"}], "reject"),
    ([{**ANA, "last_name": "O"}], "allow"),
    ([{**ANA, "first_name": "王"}], "allow"),
    ([{**ANA, "last_name": "  "}], "reject"),
    ([{"first_name": "Ana", "dob": "1991-02-03"}], "reject"),
    (["Ana Reyes"], "reject"),
    ([None], "reject"),
    ("Ana Reyes", "reject"),
    (None, "reject"),
):
    count = len(people) if isinstance(people, list) else 1
    add(
        f"passengers {people!r}",
        *KNOWN,
        may(answer, booking(100 * count, passengers=people, nonfree_baggages=0)),
    )

policy("only available flights can be booked; prices are listed")
for listing, answer in (
    ([found("NV101", "OAK", "BOI")], "reject"),
    ([], "reject or ask"),
    ("Error: no such airport", "ask"),
    ("no flights", "ask"),
    ({"result": [found("NV201", "OAK", "BOI")]}, "allow"),
    ([{**found("NV201", "OAK", "BOI"), "status": "delayed"}], "reject"),
    ([{**found("NV201", "OAK", "BOI"), "status": "on time"}], "reject"),
    ([{**found("NV201", "OAK", "BOI"), "status": "flying"}], "reject"),
    ([{**found("NV201", "OAK", "BOI"), "status": "Available"}], "allow or ask"),
    ([{**found("NV201", "OAK", "BOI"), "prices": {"economy": 110}}], "reject"),
    ([{**found("NV201", "OAK", "BOI"), "prices": {"business": 400}}], "reject or ask"),
    ([{**found("NV201", "OAK", "BOI"), "prices": {"economy": "cheap"}}], "reject or ask"),
):
    add(
        f"the search answers {str(listing)[:60]}",
        HELLO,
        ME,
        search(listing),
        may(answer, booking()),
    )
add("never searched", HELLO, ME, may("ask", booking()))
add("searched on another day", HELLO, ME, search(LISTED[2], "2024-05-22"), may("ask", booking()))
add(
    "searched back",
    HELLO,
    ME,
    search([found("NV202", "BOI", "OAK")], way="BOI-OAK"),
    may("ask", booking()),
)
add(
    "listed, then delayed",
    *KNOWN,
    status("delayed", "2024-05-21", "NV201"),
    may("reject", booking()),
)
add(
    "listed, then not any more",
    *KNOWN,
    search([found("NV101", "OAK", "BOI")]),
    may("reject", booking()),
)
add("named twice", *KNOWN, may("reject", booking(200, flights=[FLIGHT, FLIGHT])))
add("no flight", *KNOWN, may("reject", booking(flights=[])))
add(
    "flights as JSON text",
    *KNOWN,
    may("allow", booking(flights='[{"flight_number": "NV201", "date": "2024-05-21"}]')),
)
add(
    "a number in small letters",
    *KNOWN,
    may("reject or ask", booking(flights=[{**FLIGHT, "flight_number": "nv201"}])),
)
for name, value, answer in (
    ("cabin", "first", "reject"),
    ("cabin", "Economy", "reject"),
    ("cabin", "business", "reject"),
    ("insurance", "yes", "reject"),
    ("insurance", "maybe", "reject"),
    ("insurance", True, "reject"),
    ("total_baggages", 1, "allow"),
    ("total_baggages", 2, "reject"),
    ("total_baggages", -1, "reject"),
    ("total_baggages", 1.5, "reject"),
    ("total_baggages", "1", "allow"),
    ("total_baggages", 10**12, "reject"),
    ("nonfree_baggages", 1, "reject"),
    ("nonfree_baggages", -1, "reject"),
    ("flight_type", "multi_city", "reject"),
    ("user_id", OLA, "reject or ask"),
    ("user_id", NORA.upper(), "reject or ask"),
    ("user_id", f" {NORA}", "reject or ask"),
    ("user_id", None, "reject or ask"),
):
    add(f"{name} {value!r}", *KNOWN, may(answer, booking(**{name: value})))
add("insured and paid for", *KNOWN, may("allow", booking(130, insurance="yes")))
add(
    "2 bags, one of them paid for",
    *KNOWN,
    may("allow", booking(150, total_baggages=2, nonfree_baggages=1)),
)
add("silver: 2 bags free", HELLO, SILVER, LISTED, may("allow", booking(total_baggages=2)))
add("the profile unread", HELLO, LISTED, may("ask", booking()))

policy("the payment methods must be in the profile; a certificate is used up")
CERTIFICATE = booking(payment_methods=pay(("certificate_31", 100)))
TWICE = "The same again"
add("a used certificate", *KNOWN, done(CERTIFICATE, booked()), may("reject or ask", CERTIFICATE))
add(
    "a used certificate, read again",
    *KNOWN,
    done(CERTIFICATE, booked()),
    user(profile(NORA, "credit_card_11")),
    may("reject", CERTIFICATE),
)
add(
    "a booking that failed",
    *KNOWN,
    done(CERTIFICATE, "Error: not enough seats"),
    may("allow", CERTIFICATE),
)
add(
    "a booking whose result was lost",
    *KNOWN,
    done(CERTIFICATE, "Error: 504 Gateway Timeout"),
    may("ask or reject", CERTIFICATE),
)
add("the same card again", *KNOWN, done(booking(), booked()), TWICE, may("allow or ask", booking()))
add(
    "two bookings on one certificate",
    *KNOWN,
    may("allow", CERTIFICATE),
    may(
        "allow or reject or ask",
        booking(payment_methods=pay(("certificate_31", 100)), total_baggages=1),
    ),
    not_all=True,
)
add(
    "a search and a booking in one reply",
    HELLO,
    ME,
    Call("search_direct_flight", LISTED[1], "allow"),
    may("ask", booking()),
)
