"""Logprobs: what a reply says of the likelihood of its words: most of its values, and no call."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import Any

from ledgeragent.types import Json

_DEEPEST = 6


def _value() -> bytes:
    """A pattern for an object or a list, brackets in strings left aside; it never goes back."""
    flat = rb'[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"'
    pattern = rb"[\[{](?:" + flat + rb")*+[\]}]"
    for _ in range(_DEEPEST - 1):
        pattern = rb"[\[{](?:" + flat + rb"|" + pattern + rb")*+[\]}]"
    return pattern


_KEY = re.compile(rb'(?<!\\)"logprobs"\s*:\s*(?=[\[{])')
_VALUE = re.compile(_value(), re.DOTALL)


class Cut:
    """A JSON text without the values of its members `logprobs`: `text` has a mark in their place."""

    def __init__(self, raw: bytes) -> None:
        self._mark = secrets.token_hex(16)
        self._count = 0
        self.text = b"".join(self._parts(raw))

    def _parts(self, raw: bytes) -> Iterator[bytes]:
        """What is left of the text; all of it behind a value that has no end."""
        start = 0
        while (key := _KEY.search(raw, start)) and (value := _VALUE.match(raw, key.end())):
            yield raw[start : key.end()]
            yield b'"%b"' % self._mark.encode("ascii")
            self._count += 1
            start = value.end()
        yield raw[start:]

    def mend(self, value: Json) -> bool:
        """Puts null for the marks in a reply or an event of a stream; False if one stood elsewhere.

        What stands in the arguments of a call is judged, so that nothing is left out there.
        """
        for holder in _holders(value):
            if holder.get("logprobs") == self._mark:
                holder["logprobs"] = [] if holder.get("type") in _LISTS else None
                self._count -= 1
        return self._count == 0


_LISTS = ("output_text", "response.output_text.done", "response.output_text.delta")
"""What has a list there, in which null would be no list."""


def _holders(value: Json) -> Iterator[dict[str, Any]]:
    """The objects in which a reply may speak of its words: choices, and parts of a text."""
    if not isinstance(value, dict):
        return
    yield from _objects(value.get("choices"))
    yield from _parts(value)
    yield from _parts(value.get("response"))
    if value.get("type") in _LISTS:
        yield value
    yield from _texts([value.get("part")])
    yield from _texts(_content(value.get("item")))


def _parts(response: Json) -> Iterator[dict[str, Any]]:
    for item in _objects(response.get("output") if isinstance(response, dict) else None):
        yield from _texts(_content(item))


def _content(item: Json) -> Json:
    return item.get("content") if isinstance(item, dict) else None


def _texts(parts: Json) -> Iterator[dict[str, Any]]:
    return (part for part in _objects(parts) if part.get("type") == "output_text")


def _objects(values: Json) -> Iterator[dict[str, Any]]:
    return (
        (one for one in values if isinstance(one, dict)) if isinstance(values, list) else iter(())
    )
