"""The frame of a reply: where calls may stand, and nowhere else, however a client may read it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ledgeragent.gateway.dialects.base import Body
from ledgeragent.gateway.errors import BadReplyError

# fmt: off
_MEANT = frozenset((
    "choices", "message", "delta", "tool_calls", "function_call", "function", "custom", "output",
    "content", "content_block", "response", "item", "arguments", "name", "input", "type",
))
# fmt: on
"""Keys that lead to a call, or are part of one. Clients in some languages read them in any case."""

_FREE = ("input", "arguments", "parameters", "properties", "input_schema", "schema", "metadata")
"""What stands under these is the model's or the host's own, and has keys of any kind."""


def check_frame(value: Any, calls: Iterable[Any] = ()) -> None:
    """Raises BadReplyError for what a client may take for a call, though it is none that is judged.

    That is a key which may be read as another one, and an object with a call's name and arguments
    that is none of `calls`.
    """
    judged = {id(call) for call in calls}
    objects = [value]
    while objects:
        inner = objects.pop()
        if isinstance(inner, dict):
            if (
                "name" in inner
                and ("arguments" in inner or "input" in inner)
                and id(inner) not in judged
            ):
                raise BadReplyError("the upstream sent a call where none can be judged")
            for key in inner:
                if key not in _MEANT and key.lower() in _MEANT:
                    raise BadReplyError(
                        f"the upstream sent a key that may be read as {key.lower()!r}"
                    )
            objects += [
                v for k, v in inner.items() if k not in _FREE and isinstance(v, dict | list)
            ]
        elif isinstance(inner, list):
            objects += [item for item in inner if isinstance(item, dict | list)]


def check_empty(frame: Body, *names: str) -> None:
    """Raises BadReplyError where a frame that opens an answer holds what belongs into its parts."""
    for name in names:
        if frame.get(name):
            raise BadReplyError(f"the upstream sent {name} in the frame of its answer")


def check_functions(calls: Iterable[Any]) -> None:
    """Raises BadReplyError for a call that is of another kind as well."""
    for call in calls:
        if call.get("type", "function") != "function" or "custom" in call:
            raise BadReplyError("the upstream sent a call that is no plain function call")
