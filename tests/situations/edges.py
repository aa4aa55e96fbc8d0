"""Edges: the last moment in every zone, ids that only look alike, amounts that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ledgeragent.types import ToolCall
from tests.packs.airline import talk as air
from tests.packs.retail import talk as goods
from tests.packs.telecom.talk import line
from tests.packs.telehealth.talk import booking

from . import airline_world as flights
from . import clinic_world as clinic
from . import retail_world as mall
from . import telecom as phone
from .rows import Call, Rows, Step, may

AIRLINE, RETAIL, TELECOM = (Rows(name, "edges") for name in ("airline", "retail", "telecom"))
TELEHEALTH = Rows("telehealth", "edges")
ALL = (AIRLINE, RETAIL, TELECOM, TELEHEALTH)
CLOSED = "ask or reject"

HERE = (flights.HELLO, flights.ME)
GONE = (*mall.KNOWN, mall.PENDING)
CLINIC = (*clinic.KNOWN, clinic.SHOWN)
LINE_AND_BILLS = phone.SUSPENDED

# moments
AIRLINE.policy("booked within the last 24 hours; now it is 2024-05-15 15:00 in EST")
for created, accept in (
    ("2024-05-14T15:00:00", "allow"),
    ("2024-05-14T15:00:00-05:00", "allow"),
    ("2024-05-14T20:00:00Z", "allow"),
    ("2024-05-14T20:00:00+00:00", "allow"),
    ("2024-05-14T16:00:00-04:00", "allow"),
    ("2024-05-15T10:00:00+14:00", "allow"),
    ("2024-05-14 18:00:00", "allow"),
    ("2024-05-14T14:59:59", "reject"),
    ("2024-05-14T14:59:59.999999", "reject"),
    ("2024-05-14T19:59:59Z", "reject"),
    ("2024-05-14T15:00:00Z", "reject"),
    ("2024-05-14T15:59:59-04:00", "reject"),
    ("2024-05-15T09:59:59+14:00", "reject"),
    ("2024-05-14", CLOSED),
    ("05/14/2024 18:00", CLOSED),
    ("yesterday", CLOSED),
    ("", CLOSED),
    (None, CLOSED),
):
    trip = flights.trip(created_at=created)
    steps = (*HERE, trip, flights.status("available"))
    AIRLINE.add(f"booked {created!r}", *steps, may(accept, air.CANCEL))
TELECOM.policy("not if the contract end date is in the past; today is 2025-02-25")
for end, accept in (
    ("2025-02-25", "allow"),
    ("2025-02-26", "allow"),
    ("9999-12-31", "allow"),
    ("2025-02-24", "reject"),
    ("2025-02-24T23:59:59", "reject"),
    ("12/31/2026", CLOSED),
    ("expired", CLOSED),
    ("", CLOSED),
):
    steps = (*phone.KNOWN[:2], phone.details(line(contract_end_date=end)), phone.ALL_PAID)
    TELECOM.add(f"the contract ends {end!r}", *steps, may(accept, phone.RESUME))
TELEHEALTH.policy("dates are YYYY-MM-DD, times HH:MM in 24 hours")
for day, time in (
    ("2025-11-05", "09:00:00"),
    ("2025-11-05", "9:00"),
    ("2025-11-05", "09.00"),
    ("2025-11-05", "24:00"),
    ("2025-11-05", "09:00Z"),
    ("2025-11-05", "09:00\n"),
    ("2025-11-05", "\uff10\uff19:00"),
    ("2025/11/05", "09:00"),
    ("20251105", "09:00"),
    ("2025-W45-3", "09:00"),
    ("2025-11-05T09:00", "09:00"),
    ("2025-11-31", "09:00"),
    ("2025-11-\u0660\u0665", "09:00"),
    ("-2025-11-05", "09:00"),
):
    call = booking(date=day, time=time)
    TELEHEALTH.add(f"{day!r} at {time!r}", *clinic.KNOWN, may(CLOSED, call))

# ids that look alike
LOOKS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("with a NUL", lambda one: f"{one}\0"),
    ("with a space of no width", lambda one: f"{one[:2]}\u200b{one[2:]}"),
    ("with a line break", lambda one: f"{one}\n"),
    ("in wide digits", lambda one: one.translate({48 + n: 0xFF10 + n for n in range(10)})),
    ("in small letters", lambda one: f"{one.lower()}x"),
    (
        "with another alphabet's letter",
        lambda one: one.translate({ord("A"): 0x410, ord("W"): 0x51C}),
    ),
    ("in a list", lambda one: [one]),
    ("in an object", lambda one: {"id": one}),
    ("as nothing", lambda one: None),
    ("as no text", lambda one: ""),
)


def alike(rows: Rows, before: tuple[Step, ...], call: ToolCall, *names: str) -> None:
    """The call with each of these ids in every look that isn't it, and with the id told twice."""
    for name in names:
        right = call.arguments[name]
        for note, look in LOOKS:
            if look(right) != right:
                rows.add(f"{name} {note}", *before, may(CLOSED, call, **{name: look(right)}))
        text = json.dumps(call.arguments)
        twice = f'{{"{name}": "other", {text[1:]}'
        rows.add(f"{name} told twice", *before, Call(call.name, twice, CLOSED))
    rows.add("as it should be", *before, may("allow", call))


for rows in ALL:
    rows.policy("only what was read, under the id it was read under")
alike(AIRLINE, (*HERE, flights.BUSINESS), air.CANCEL, "reservation_id")
alike(RETAIL, GONE, goods.cancel(), "order_id")
alike(RETAIL, GONE, goods.payment(goods.PAYPAL), "payment_method_id")
alike(TELECOM, LINE_AND_BILLS, phone.RESUME, "customer_id", "line_id")
alike(TELEHEALTH, CLINIC, clinic.CANCEL, "appointment_id")

# amounts
AMOUNTS = ("NaN", "Infinity", "-100", "0", "true", "null", '"a hundred"', "[100]", '"\uff11"', "{}")
AIRLINE.policy("the certificate is 100 for each passenger of a cancelled flight")
SORRY = (flights.HELLO, flights.SILVER, flights.TRIP, flights.status("cancelled"))
TELECOM.policy("at most 2 GB, and more than none")
for amount in AMOUNTS:
    text = f'{{"user_id": "{air.NORA}", "amount": {amount}}}'
    AIRLINE.add(f"an amount of {amount}", *SORRY, Call("send_certificate", text, CLOSED))
    text = f'{{"customer_id": "C7", "line_id": "L71", "gb_amount": {amount}}}'
    steps = (*phone.KNOWN[:2], phone.details(line(status="Active")))
    TELECOM.add(f"{amount} GB", *steps, Call("refuel_data", text, CLOSED))
AIRLINE.add("an amount of 100.0", *SORRY, may("allow", air.certificate(100.0)))
RETAIL.policy("the gift card must cover the total of the order, 70")
for balance, accept in (
    (70.0, "allow"),
    ("70.0", "allow or ask"),
    (69.99, "reject"),
    (-70.0, "reject"),
    (float("nan"), CLOSED),
    (True, CLOSED),
    (None, CLOSED),
    ("plenty", CLOSED),
    ([70], CLOSED),
):
    profile = mall.read(goods.user(balance=balance))
    steps = (mall.HELLO, mall.find(), profile, mall.PENDING)
    RETAIL.add(f"a balance of {balance!r}", *steps, may(accept, goods.payment(goods.GIFT)))
