"""How the clinic's tools print labels, names and lists, and how they shorten a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from ledgeragent.types import Json

T = TypeVar("T")


def label(name: str) -> str:
    """`pending_approval` as it is printed: Pending Approval."""
    return name.replace("_", " ").title()


def listed(items: Iterable[str]) -> str:
    """Items with commas, or the word None."""
    return ", ".join(items) or "None"


def dollars(amount: float) -> str:
    """An amount with its cents."""
    return f"${amount:.2f}"


def title(provider: Json) -> str:
    """The title of a provider; Dr. where the record has none."""
    text: str = provider["name"].get("title", "Dr.")
    return text


def full_name(person: Json) -> str:
    """First and last name."""
    return f"{person['name']['first_name']} {person['name']['last_name']}"


def has_status(record: Json, status: str | None) -> bool:
    """True if a record has this status, written in any case, or if none is asked for."""
    return not status or record["status"].lower() == status.lower()


def first_of(items: list[T], limit: Json) -> list[T]:
    """The first `limit` items; all of them where the limit is absent, zero or negative."""
    return items[:limit] if limit and limit > 0 else items
