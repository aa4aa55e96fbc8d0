"""Lists among the arguments: one thing twice, nothing, other things, text and numbers in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.packs.airline import talk as air
from tests.packs.retail import talk as goods

from . import airline_world as flights
from . import retail_world as mall
from .bookings import search
from .rows import Rows, Step, may

AIRLINE, RETAIL = Rows("airline", "lists"), Rows("retail", "lists")
ALL = (AIRLINE, RETAIL)
OPEN = "allow or reject"
WRONG = "reject or ask"

# airline
ANA, BEN = air.ANA, air.BEN
PAIR = (flights.HELLO, flights.ME, flights.trip(passengers=[ANA, BEN]))
AIRLINE.policy("the number of passengers stays; each has a first name, a last name, a birth date")
for note, people, accept in (
    ("both, in the other order", [BEN, ANA], "allow"),
    ("the same one twice", [ANA, ANA], OPEN),
    ("one left out", [ANA], "reject"),
    ("a third", [ANA, BEN, {**ANA, "first_name": "Cy"}], "reject"),
    ("nobody", [], "reject"),
    ("none at all", None, "reject"),
    ("one as text", [ANA, "Ben Okafor"], "reject"),
    ("one as a list", [ANA, [BEN]], "reject"),
    ("without a birth date", [ANA, {"first_name": "Ben", "last_name": "Okafor"}], "reject"),
    ("an empty birth date", [ANA, {**BEN, "dob": ""}], "reject"),
    ("a blank first name", [ANA, {**BEN, "first_name": "  "}], "reject"),
    ("no last name but null", [ANA, {**BEN, "last_name": None}], "reject"),
    ("a number for a name", [ANA, {**BEN, "last_name": 7}], "reject"),
    ("an object", {"0": ANA, "1": BEN}, "reject"),
    ("as JSON text", '[{"first_name":"Ana","last_name":"Reyes","dob":"1991-02-03"}]', "reject"),
    ("one with a word more", [ANA, {**BEN, "seat": "2A"}], "allow or reject"),
):
    call = may(accept, air.passengers(), passengers=people)
    AIRLINE.add(f"passengers: {note}", *PAIR, call)

LISTED = search(
    [
        air.found("NV201", "OAK", "BOI"),
        {**air.found("NV202", "OAK", "BOI"), "status": "delayed"},
        air.found("NV203", "OAK", "SEA"),
    ]
)
SHOPPING = (flights.HELLO, flights.ME, LISTED)
LEG = {"flight_number": "NV201", "date": "2024-05-21"}
AIRLINE.policy("only available flights are booked, from where to where was asked")
for note, legs, accept in (
    ("one", [LEG], "allow"),
    ("none", [], "reject"),
    ("one twice", [LEG, LEG], "reject or ask"),
    ("a delayed one", [{**LEG, "flight_number": "NV202"}], "reject"),
    ("to elsewhere", [{**LEG, "flight_number": "NV203"}], "allow or reject"),
    ("of another day", [{**LEG, "date": "2024-05-22"}], "ask"),
    ("of no day", [{"flight_number": "NV201"}], "reject"),
    ("of a day that is none", [{**LEG, "date": "2024-05-32"}], WRONG),
    ("as text", ["NV201"], "reject"),
    ("in a list more", [[LEG]], "reject"),
    ("in lower case", [{**LEG, "flight_number": "nv201"}], WRONG),
    ("with a blank", [{**LEG, "flight_number": "NV201 "}], WRONG),
    ("with its price", [{**LEG, "price": 1}], "allow or reject"),
):
    AIRLINE.add(f"legs: {note}", *SHOPPING, may(accept, air.booking(flights=legs)))

CARD, GIFT, VOUCHER = "credit_card_11", "gift_card_21", "certificate_31"
AIRLINE.policy(
    "one certificate, one credit card, three gift cards of the profile, together the total"
)


def paid(*parts: Any) -> list[Any]:
    """Payments as the call has them."""
    return [{"payment_id": name, "amount": amount} for name, amount in parts]


for note, methods, accept in (
    ("a card", paid((CARD, 100)), "allow"),
    ("two that make it up", paid((CARD, 60), (GIFT, 40)), "allow"),
    ("three that make it up", paid((VOUCHER, 20), (CARD, 40), (GIFT, 40)), "allow"),
    ("a card twice", paid((CARD, 50), (CARD, 50)), OPEN),
    ("a certificate twice", paid((VOUCHER, 50), (VOUCHER, 50)), "reject"),
    ("a gift card twice, beyond what it holds", paid((GIFT, 400), (GIFT, 300)), "reject"),
    ("too little", paid((CARD, 99)), "reject"),
    ("too much, and some back", paid((CARD, 150), (GIFT, -50)), "reject"),
    ("nothing of one", paid((CARD, 100), (GIFT, 0)), "allow or reject"),
    ("none", [], "reject"),
    ("a stranger's", paid(("credit_card_99", 100)), "reject"),
    ("amount as text", paid((CARD, "100")), "allow"),
    ("amount with its sign", paid((CARD, "$100")), "reject"),
    ("amount a truth", paid((CARD, True)), "reject"),
    ("no amount", [{"payment_id": CARD}], "reject"),
    ("no card", [{"amount": 100}], "reject"),
    ("a name alone", [CARD], "reject"),
):
    AIRLINE.add(f"payments: {note}", *SHOPPING, may(accept, air.booking(payment_methods=methods)))

# retail
SHOE, BLACK, GONE, HAT = goods.SHOE, goods.SHOE_BLACK, goods.SHOE_GONE, goods.HAT
HERE: Sequence[Step] = (*mall.KNOWN, mall.PENDING)
CAME: Sequence[Step] = (*mall.KNOWN, mall.DELIVERED)
TWINS = mall.read(goods.order("delivered", goods.item(SHOE), goods.item(SHOE)))
RETAIL.policy("the items named are in the order, not more often than ordered")
for note, items, accept in (
    ("one", [HAT], "allow"),
    ("both", [SHOE, HAT], "allow"),
    ("one twice", [HAT, HAT], "reject"),
    ("another's", ["9999"], "reject"),
    ("one and another's", [HAT, "9999"], "reject"),
    ("none", [], "reject"),
    ("as text", HAT, "reject"),
    ("as JSON text", f'["{HAT}"]', "allow"),
    ("as a number", [int(HAT)], "allow or reject"),
    ("with a blank", [f"{HAT} "], "reject"),
    ("in a list more", [[HAT]], "reject"),
    ("with nothing", [HAT, None], "reject"),
    ("the product's id", [goods.HATS], "reject"),
):
    RETAIL.add(f"returned: {note}", *CAME, may(accept, goods.give_back(items)))
for note, items, accept in (
    ("one of two alike", [SHOE], "allow"),
    ("two alike", [SHOE, SHOE], "allow"),
    ("three of two", [SHOE, SHOE, SHOE], "reject"),
):
    RETAIL.add(f"returned: {note}", *mall.KNOWN, TWINS, may(accept, goods.give_back(items)))

RETAIL.policy("each old item has a new one of its product, available and another option")
for note, old, new, accept in (
    ("one", [SHOE], [BLACK], "allow"),
    ("none available", [SHOE], [GONE], "reject"),
    ("one too few", [SHOE, HAT], [BLACK], "reject"),
    ("one too many", [SHOE], [BLACK, BLACK], "reject"),
    ("crossed", [SHOE, HAT], [HAT, BLACK], WRONG),
    ("itself", [SHOE], [SHOE], "reject"),
    ("neither", [], [], "reject"),
    ("nothing for one", [SHOE], [None], "reject"),
    ("one twice", [SHOE, SHOE], [BLACK, BLACK], "reject"),
    ("as JSON text", f'["{SHOE}"]', f'["{BLACK}"]', "allow"),
    ("no such item", [SHOE], ["9998"], WRONG),
):
    RETAIL.add(f"modified: {note}", *HERE, may(accept, goods.modify(old, new)))
    RETAIL.add(f"exchanged: {note}", *CAME, may(accept, goods.exchange(old, new)))
RETAIL.add(
    "exchanged: two alike for two",
    *mall.KNOWN,
    TWINS,
    may("allow", goods.exchange([SHOE, SHOE], [BLACK, BLACK])),
)
RETAIL.add(
    "returned and exchanged in one reply, of two alike one each",
    *mall.KNOWN,
    TWINS,
    may("allow", goods.give_back([SHOE])),
    may("ask or reject", goods.exchange([SHOE], [BLACK])),
)
