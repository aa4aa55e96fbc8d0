"""Mutations: a file that is right, changed in one to three places so that it may not be."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeAlias

from ledgeragent.types import Json

Mutation: TypeAlias = Callable[[bytes, Random], bytes]

ODD: tuple[Json, ...] = (
    None,
    True,
    "",
    0,
    -1,
    10**400,
    1e308,
    float("inf"),
    float("nan"),
    [],
    {},
    [[]],
    [None],
    {"": None},
    "\ud800",
    "\x1b[31mred\x1b[0m",
    "=1+1|x\n<b>&\x00\u202e",
    "x" * 5_000,
    [1, "a", None, {"b": []}],
    {"name": 7, "arguments": [], "content": {}},
)
_TOKENS = (
    b"null",
    b"1e400",
    b"-1e400",
    b"NaN",
    b"Infinity",
    b'"\\ud800"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b'"',
    b"\\",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\n",
    b"\r",
    b"\xed\xa0\x80",
    b"&a",
    b"*a",
    b"<<: ",
    b"!!python/object ",
    b"9" * 5_000,
    b"[" * 3_000,
    b"- " * 500,
)


def mutated(seed: bytes, random: Random) -> bytes:
    """The seed with some things changed; the same ones for the same state of `random`."""
    content = seed
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        content = random.choice(MUTATIONS)(content, random)
    return content


def _flip(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) or 1)
    return content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _remove(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] + content[at + random.randrange(1, 40) :]


def _repeat(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] + content[at : at + random.randrange(1, 400)] * 2 + content[at:]


def _insert(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] + random.choice(_TOKENS) + content[at:]


def _swap_lines(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return content
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def _change_value(content: bytes, random: Random) -> bytes:
    """Another value somewhere in a JSON document, or in one of its lines."""
    lines = content.splitlines() or [b""]
    at = random.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _insert(content, random)
    value = copy.deepcopy(value)
    places = [*_places(value)]
    if not places:
        return _insert(content, random)
    holder, key = random.choice(places)
    match random.randrange(4):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[str(random.choice(ODD))] = holder.pop(key)
        case _:
            holder[key] = random.choice(ODD)
    infinite = random.choice(("Infinity", "1e400"))
    lines[at] = json.dumps(value).replace("Infinity", infinite).encode()
    return b"\n".join(lines) + b"\n"


def _places(value: Json) -> Iterator[tuple[Any, Any]]:
    if not isinstance(value, dict | list):
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(inner):
        yield value, key
        if isinstance(part, dict | list):
            yield from _places(part)


MUTATIONS: tuple[Mutation, ...] = (
    *[_change_value] * 8,
    _flip,
    _cut,
    _remove,
    _repeat,
    _insert,
    _swap_lines,
)
