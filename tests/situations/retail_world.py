"""The shop of tau-bench as the situations have it: what was read and may be called."""

from __future__ import annotations

from typing import Any

from tests.packs.retail.talk import (
    ME,
    SECOND,
    SHOE,
    SHOE_BLACK,
    look,
    modify,
    order,
    shoes,
    user,
)

from .rows import Answered

HELLO = "Hello, my mail is ada@example.com"


def find(answer: Any = ME, email: str = "ada@example.com") -> Answered:
    return "find_user_id_by_email", {"email": email}, answer


def named(answer: Any = ME) -> Answered:
    return (
        "find_user_id_by_name_zip",
        {"first_name": "Ada", "last_name": "Lund", "zip": "97301"},
        answer,
    )


def read(record: Any, answer: Any = None) -> Answered:
    """A record as read, perhaps with another answer."""
    call, known = look(record)
    return call.name, dict(call.arguments), known if answer is None else answer


def two_orders(first: str = "pending", second: str = "pending", **more: Any) -> tuple[Any, ...]:
    return read(order(first, **more)), read(order(second, order_id=SECOND, **more))


PENDING, DELIVERED = read(order()), read(order("delivered"))
PROFILE, PRODUCT = read(user()), read(shoes())
KNOWN = (HELLO, find(), PROFILE, PRODUCT)
SWAP = modify([SHOE], [SHOE_BLACK])
