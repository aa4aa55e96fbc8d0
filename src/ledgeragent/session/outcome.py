"""The outcome of a tool's function: its answer as JSON, or its failure in words."""

from __future__ import annotations

import dataclasses
import json

from ledgeragent.types import Json

_TRANSPORT_FAILURES = frozenset(
    {
        "ConnectionError",
        "TimeoutError",
        "Timeout",
        "TransportError",
        "ClientConnectionError",
        "BrokenResourceError",
        "ClosedResourceError",
        "EndOfStream",
        "IncompleteRead",
    }
)
"""Names of exceptions, built in or of HTTP clients, that tell of a way there or back that broke."""


def plain(value: object) -> Json:
    """A tool's answer as JSON: text stays text, models and dataclasses become objects."""
    if isinstance(value, str):
        return value
    try:
        return json.loads(json.dumps(value, default=_simpler))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _simpler(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)


def failure(error: BaseException) -> str:
    """The failure of a tool that raised, as the model is told of it."""
    name = type(error).__name__
    return f"Error: {name}: {error}" if str(error) else f"Error: {name}"


def broke_on_the_way(error: BaseException | None) -> bool:
    """True for an exception after which nobody knows whether the tool did its work.

    Who was refused a connection has sent nothing.
    """
    for _ in range(10):
        if error is None or isinstance(error, ConnectionRefusedError):
            return False
        if any(kind.__name__ in _TRANSPORT_FAILURES for kind in type(error).__mro__):
            return True
        error = error.__cause__
    return False
