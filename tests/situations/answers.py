"""One right write in each pack, and the record it rests on in every form in which an answer may come."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ledgeragent.types import ToolCall
from tests.packs.airline import talk as air
from tests.packs.retail import talk as goods
from tests.packs.telehealth.talk import details as appointment

from . import airline_world as flights
from . import clinic_world as clinic
from . import retail_world as mall
from . import shop as garden
from . import telecom as phone
from .rows import Answered, Late, Parts, Rows, Step, may

AIRLINE, RETAIL, TELECOM = (Rows(name, "answers") for name in ("airline", "retail", "telecom"))
TELEHEALTH, SHOP = (Rows(name, "answers") for name in ("telehealth", "shop"))
ALL = (AIRLINE, RETAIL, TELECOM, TELEHEALTH, SHOP)

FORMS: tuple[tuple[str, Callable[[Any, str], Any], str], ...] = (
    ("as the tool gives it", lambda answer, text: answer, "allow"),
    ("in content parts", lambda answer, text: Parts(text), "allow"),
    ("as a result", lambda answer, text: {"result": answer}, "allow"),
    ("as text within text", lambda answer, text: json.dumps(text), "allow or ask"),
    ("after the user went on", lambda answer, text: Late(answer), "allow"),
    ("in a list", lambda answer, text: [answer], "allow or ask"),
    ("in a list of two", lambda answer, text: [answer, answer], "allow or ask"),
    ("behind an error", lambda answer, text: f"Error: 500 {text}", "ask"),
    ("as an error that holds it", lambda answer, text: {"error": answer}, "ask"),
    ("cut off", lambda answer, text: text[: len(text) // 5], "ask"),
    ("told in a sentence", lambda answer, text: "It can be done.", "ask"),
    ("as nothing", lambda answer, text: "null", "ask"),
    ("as an empty object", lambda answer, text: {}, "ask"),
)


def each_form(rows: Rows, before: tuple[Step, ...], read: Answered, *then: Step | ToolCall) -> None:
    """The record that `read` tells in each form, then the call that rests on it."""
    name, arguments, answer = read
    text = answer if isinstance(answer, str) else json.dumps(answer)
    for note, form, accept in FORMS:
        if form(answer, text) == [answer] and isinstance(answer, str):
            continue
        steps = [step if not isinstance(step, ToolCall) else may(accept, step) for step in then]
        rows.add(f"{name} {note}", *before, (name, arguments, form(answer, text)), "Go on.", *steps)


def twice(
    rows: Rows, before: tuple[Step, ...], right: Answered, wrong: Answered, call: ToolCall
) -> None:
    """The same record read with two contents: the latest counts, and an error is no content."""
    name, arguments, _ = right
    failed: Answered = (name, arguments, "Error: 503 Service Unavailable")
    for note, reads, accept in (
        ("right, then wrong", (right, wrong), "reject"),
        ("wrong, then right", (wrong, right), "allow"),
        ("right, then an error", (right, failed), "allow or ask"),
        ("wrong, then an error", (wrong, failed), "reject or ask"),
        ("wrong, right and wrong", (wrong, right, wrong), "reject"),
    ):
        rows.add(f"{name} {note}", *before, *reads, "Go on.", may(accept, call))


def _today() -> Iterator[Step]:
    yield flights.HELLO
    yield flights.ME
    yield flights.trip({**air.OUT, "date": flights.TODAY}, cabin="business")


each_form(AIRLINE, (flights.HELLO, flights.ME), flights.BUSINESS, air.CANCEL)
each_form(RETAIL, (mall.HELLO, mall.find(), mall.PROFILE), mall.PENDING, goods.cancel())
each_form(RETAIL, (*mall.KNOWN[:3], mall.PENDING), mall.PRODUCT, mall.SWAP)
each_form(TELECOM, (phone.HELLO, phone.ME, phone.ALL_PAID), phone.LINE, phone.RESUME)
each_form(
    TELEHEALTH, (clinic.HELLO, clinic.ME), clinic.shown(appointment("APPT900")), clinic.CANCEL
)
each_form(TELEHEALTH, (clinic.HELLO, clinic.ME), clinic.DOCTOR, clinic.BOOK)
each_form(SHOP, garden.ME, garden.OPEN, garden.CANCEL)

sky = tuple(_today())
twice(
    AIRLINE,
    sky,
    flights.status("on time", flights.TODAY),
    flights.status("flying", flights.TODAY),
    air.CANCEL,
)
shop = (mall.HELLO, mall.find())
twice(RETAIL, shop, mall.PENDING, mall.read(goods.order("processed")), goods.cancel())
overdue = phone.bills(phone.OVERDUE, phone.PAID)
twice(TELECOM, (phone.HELLO, phone.ME, phone.LINE), phone.ALL_PAID, overdue, phone.RESUME)
closed = appointment("APPT900").replace("Status: Scheduled", "Status: Completed")
twice(TELEHEALTH, (clinic.HELLO, clinic.ME), clinic.shown(), clinic.shown(closed), clinic.CANCEL)
twice(SHOP, garden.ME, garden.OPEN, garden.read(garden.order(status="packed")), garden.CANCEL)
