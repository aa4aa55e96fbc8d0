"""Where the ledger block stands: behind the history, in a form that the upstream takes."""

from __future__ import annotations

from typing import Any

AUTO = "auto"
"""The first form that the upstream takes."""

LAST = "last"
"""Inside the last message, whatever that is: for templates of which roles have to take turns."""

ROLES = ("system", "developer", "user")
"""A message of this role."""

PLACES = (AUTO, *ROLES, LAST)


def forms_of(place: str, automatic: tuple[str, ...]) -> tuple[str, ...]:
    """The forms to try, in this order."""
    return automatic if place == AUTO else (place,)


def joined(content: Any, text: str, kind: str = "text") -> Any:
    """The content of a message, a text or a list of parts, with one more paragraph."""
    if isinstance(content, list):
        return [*content, {"type": kind, "text": text}]
    return f"{content}\n\n{text}" if content else text
