"""The airline as the situations have it: what was said, read and may be called."""

from __future__ import annotations

from typing import Any

from ledgeragent.types import ToolCall
from tests.packs.airline.talk import (
    BACK,
    CANCEL,
    NORA,
    OUT,
    booked,
    profile,
)

from .rows import Answered

OLA = "ola_brandt_2002"
TODAY, YESTERDAY = "2024-05-15", "2024-05-14"


def user(record: Any = None, **changes: Any) -> Answered:
    """The profile as read."""
    known = record or profile(**changes)
    return "get_user_details", {"user_id": known["user_id"]}, known


def trip(*segments: Any, **changes: Any) -> Answered:
    """A reservation as read."""
    known = booked(*segments, **changes)
    return "get_reservation_details", {"reservation_id": known["reservation_id"]}, known


def status(answer: Any, date: str = OUT["date"], number: str = "NV101") -> Answered:
    """A flight's status as read."""
    return "get_flight_status", {"flight_number": number, "date": date}, answer


HELLO = f"Hello, this is {NORA}"
ME = user()
SILVER = user(membership="silver")
TRIP = trip()
BUSINESS = trip(cabin="business")
OTHERS = {"reservation_id": "RV0002", "user_id": OLA}
SECOND = {"reservation_id": "RV0002", "flights": [BACK]}
CANCEL_SECOND = ToolCall(name=CANCEL.name, arguments={"reservation_id": "RV0002"})
