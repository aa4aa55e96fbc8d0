"""Cancellations of the airline, from the policy's text alone."""

from __future__ import annotations

from tests.packs.airline.talk import BACK, CANCEL, NORA, OUT, booked, on, profile

from .airline_world import (
    BUSINESS,
    CANCEL_SECOND,
    HELLO,
    ME,
    OLA,
    OTHERS,
    SECOND,
    TODAY,
    TRIP,
    YESTERDAY,
    status,
    trip,
    user,
)
from .rows import Call, Rows, done, may

ROWS = Rows("airline", "cancellation")
add, policy = ROWS.add, ROWS.policy

policy("flight can be cancelled if ... the booking was made within the last 24 hrs")
for created, answer in (
    ("2024-05-14T14:59:59", "reject"),
    ("2024-05-14T15:00:01", "allow"),
    ("2024-05-14T20:00:01Z", "allow"),
    ("2024-05-14T19:59:59Z", "reject"),
    ("2024-05-14T20:00:01+00:00", "allow"),
    ("2024-05-14T21:00:00+02:00", "reject"),
    ("2024-05-15T00:30:00+02:00", "allow"),
    ("2024-05-14 16:00:00", "allow"),
    ("2024-05-15T10:00:00.123456", "allow"),
    ("2024-05-15", "allow"),
    ("2024-05-14", "ask"),
    ("20240514", "ask"),
    ("2024-05-13", "reject"),
    ("2024-05-16T00:00:00", "reject or ask"),
    ("yesterday", "reject or ask"),
    ("", "reject or ask"),
    (None, "reject or ask"),
    (1715780000, "reject or ask"),
):
    add(f"created_at {created!r}", HELLO, ME, trip(created_at=created), may(answer, CANCEL))

policy("flight can be cancelled if ... insurance / business / cancelled by the airline")
add("insured economy", HELLO, ME, trip(insurance="yes"), may("allow", CANCEL))
add("insurance in capitals", HELLO, ME, trip(insurance="NO"), may("reject or ask", CANCEL))
add("insurance is no answer", HELLO, ME, trip(insurance=""), may("reject or ask", CANCEL))
add("insurance a truth value", HELLO, ME, trip(insurance=False), may("reject or ask", CANCEL))
add("insurance is null", HELLO, ME, trip(insurance=None), may("reject or ask", CANCEL))
add("a cabin nobody knows", HELLO, ME, trip(cabin="first"), may("reject or ask", CANCEL))
add("two cabins in a list", HELLO, ME, trip(cabin=["business"]), may("reject or ask", CANCEL))
add("no basis at all", HELLO, ME, TRIP, may("reject", CANCEL))
add("business", HELLO, ME, BUSINESS, may("allow", CANCEL))
add("business, the profile after it", HELLO, BUSINESS, ME, may("allow", CANCEL))
for said, answer in (
    ("cancelled", "allow"),
    ('"cancelled"', "allow"),
    ('{"result": "cancelled"}', "allow"),
    ('{"result": "\\"cancelled\\""}', "allow"),
    ("cancelled\n", "allow"),
    ("CANCELLED", "allow or reject or ask"),
    ("The flight is cancelled.", "reject or ask"),
    ("not cancelled", "reject or ask"),
    ("delayed", "reject"),
    ("on time", "reject"),
    ("Error: flight not found", "reject or ask"),
    ("", "reject or ask"),
    ("null", "reject or ask"),
    ("[]", "reject or ask"),
):
    add(f"no basis but the status {said!r}", HELLO, ME, TRIP, status(said), may(answer, CANCEL))
add(
    "one of two flights cancelled by the airline",
    HELLO,
    ME,
    trip(OUT, BACK, flight_type="round_trip"),
    status("cancelled", BACK["date"], "NV102"),
    may("allow", CANCEL),
)
add(
    "cancelled on another day",
    HELLO,
    ME,
    TRIP,
    status("cancelled", "2024-05-21"),
    may("reject", CANCEL),
)
add(
    "cancelled, then read again as available",
    HELLO,
    ME,
    TRIP,
    status("cancelled"),
    status("available"),
    may("reject", CANCEL),
)
add(
    "cancelled, then the read fails",
    HELLO,
    ME,
    TRIP,
    status("cancelled"),
    status("Error: timeout"),
    may("allow or ask", CANCEL),
)

policy("If any portion of the flight has already been flown, the agent cannot help")
for said, answer in (
    ("landed", "reject"),
    ("flying", "reject"),
    ('{"result": "landed"}', "reject"),
    ("on time", "allow"),
    ("delayed", "allow"),
    ("cancelled", "allow"),
    ("Unavailable", "reject or ask"),
    ("Landed", "reject or ask"),
    ("The flight has landed", "reject or ask"),
    ("Error: 503 Service Unavailable", "reject or ask"),
):
    leg = trip(on(TODAY), cabin="business")
    add(f"a leg of today is {said!r}", HELLO, ME, leg, status(said, TODAY), may(answer, CANCEL))
add("a leg of today, unread", HELLO, ME, trip(on(TODAY), insurance="yes"), may("ask", CANCEL))
add("a leg of yesterday, unread", HELLO, ME, trip(on(YESTERDAY)), may("ask", CANCEL))
add(
    "yesterday's leg cancelled, tomorrow's to come",
    HELLO,
    ME,
    trip(on(YESTERDAY), BACK, flight_type="round_trip"),
    status("cancelled", YESTERDAY),
    may("allow", CANCEL),
)
add(
    "the way back has landed, the way out is unread",
    HELLO,
    ME,
    trip(on("2024-05-10"), {**BACK, "date": YESTERDAY}, insurance="yes"),
    status("landed", YESTERDAY, "NV102"),
    may("reject", CANCEL),
)

policy("the agent must first obtain the user id and reservation id")
add("nothing was read", HELLO, ME, may("ask", CANCEL))
add("the read failed", HELLO, ME, (*TRIP[:2], "Error: reservation not found"), may("ask", CANCEL))
add(
    "an answer in a wrapping", HELLO, ME, (*TRIP[:2], {"result": BUSINESS[2]}), may("allow", CANCEL)
)
lacking = {k: v for k, v in booked().items() if k != "insurance"}
add("an answer without insurance", HELLO, ME, (*TRIP[:2], lacking), may("reject or ask", CANCEL))
add("an answer about another trip", HELLO, ME, (*TRIP[:2], booked(**SECOND)), may("ask", CANCEL))
for name in ("rv0001", " RV0001", "RV0001 ", "#RV0001", "RV0001\n"):
    add(f"id {name!r}", HELLO, ME, BUSINESS, may("reject or ask", CANCEL, reservation_id=name))
for bad in (None, 1, ["RV0001"], {"id": "RV0001"}, ""):
    add(f"id {bad!r}", HELLO, ME, BUSINESS, may("reject or ask", CANCEL, reservation_id=bad))
add("an argument too many", HELLO, ME, BUSINESS, may("allow or reject or ask", CANCEL, force=True))
add("read and write in one reply", HELLO, ME, Call(*TRIP[:2], "allow"), may("ask", CANCEL))
add(
    "a stranger's trip, own profile read",
    HELLO,
    ME,
    trip(**OTHERS, cabin="business"),
    may("reject", CANCEL_SECOND),
)
add(
    "a stranger's trip, both profiles read",
    HELLO,
    ME,
    user(profile(OLA)),
    trip(**OTHERS, cabin="business"),
    may("reject", CANCEL_SECOND),
)
add(
    "the user corrects a mistyped id",
    f"I am {OLA}",
    user(profile(OLA)),
    f"Sorry, I mistyped: {NORA}",
    ME,
    BUSINESS,
    may("allow", CANCEL),
)
add(
    "a friend's id after a write for oneself",
    HELLO,
    ME,
    BUSINESS,
    done(CANCEL, booked(cabin="business", status="cancelled")),
    f"Now my friend {OLA}",
    user(profile(OLA)),
    trip(**OTHERS, cabin="business"),
    may("reject", CANCEL_SECOND),
)
add(
    "an id in capitals",
    f"I am {NORA.upper()}",
    ME,
    BUSINESS,
    may("allow", CANCEL),
)
