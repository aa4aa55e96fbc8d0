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
"""Keys that lead to a call, or are part of one. Clients in some languages read them in any case,
some of them with letters that are another one's other case (a long s, the sign of Kelvin)."""

_ASKING = frozenset(("arguments", "input", "args", "action_input", "tool_input"))
"""What the arguments of a call are called, by whichever provider or framework."""

_LONGEST = 500
"""Characters in the keys of an object that is remembered."""

_MOST_KINDS = 1024
_KINDS: dict[tuple[str, ...], tuple[bool, str]] = {}
"""The kinds of objects that were looked at, by their keys as they stand."""

_FREE = frozenset(
    ("input", "arguments", "parameters", "properties", "input_schema", "schema", "metadata")
)
"""What stands under these is the model's or the host's own, and has keys of any kind."""


def check_frame(value: Any, calls: Iterable[Any] = ()) -> None:
    """Raises BadReplyError for what a client may take for a call, though it is none that is judged.

    That is a key which may be read as another one, and an object with a call's name and arguments
    that is none of `calls`.
    """
    judged_ids = set(map(id, calls))
    objects = [value]
    while objects:
        inner = objects.pop()
        if isinstance(inner, dict):
            keys = tuple(inner)
            is_call, hidden = _KINDS.get(keys) or _kind_of(keys)
            if is_call and id(inner) not in judged_ids:
                raise BadReplyError("the upstream sent a call where none can be judged")
            if hidden:
                raise BadReplyError(f"the upstream sent a key that may be read as {hidden!r}")
            for key, part in inner.items():
                # Of JSON, these alone can have an object in them.
                kind = type(part)
                if (kind is dict or kind is list) and key not in _FREE:
                    objects.append(part)
        elif isinstance(inner, list):
            objects += inner


def _kind_of(keys: tuple[str, ...]) -> tuple[bool, str]:
    """Whether an object with these keys is a call, and which key one of them may be read as."""
    kind = _looked_at(frozenset(keys))
    # Replies have few kinds of objects, but an upstream may send keys of any length.
    if len("".join(keys)) < _LONGEST:
        if len(_KINDS) >= _MOST_KINDS:
            _KINDS.clear()
        _KINDS[keys] = kind
    return kind


def _looked_at(keys: frozenset[str]) -> tuple[bool, str]:
    # A tool that a format describes has parameters too, and says of which type it is.
    asks = not keys.isdisjoint(_ASKING) or ("parameters" in keys and "type" not in keys)
    odd = (key.casefold() for key in keys - _MEANT if key.casefold() in _MEANT)
    return "name" in keys and asks, next(odd, "")


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
