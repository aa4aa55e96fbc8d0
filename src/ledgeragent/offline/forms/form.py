"""A form: what a kind of recorded conversation looks like, how it is told, how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ledgeragent.offline.forms.scribe import Scribe
from ledgeragent.types import Json

Writing: TypeAlias = Callable[[Scribe], None]
"""Writes the messages of one conversation down; raises ValueError where they cannot be read."""


class Dialogue(NamedTuple):
    """One conversation in a record: what is said of the run, as a trajectory's fields, and the rest."""

    record: Mapping[str, Json]
    write: Writing


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form of recorded conversations.

    `unfit` says why a value is none of it, None where it is. `dialogues` are the conversations in a value
    that fits. `streams` if the lines of a JSON Lines file may be the elements of one such list. `part` is
    for a list of which `dialogues` read some elements only: True for one that is theirs. Others stand for
    themselves.
    """

    name: str
    title: str
    looks: str
    unfit: Callable[[Json], str | None]
    dialogues: Callable[[Json], Iterable[Dialogue]]
    streams: bool = False
    part: Callable[[Json], bool] = lambda element: True

    def __post_init__(self) -> None:
        object.__setattr__(self, "unfit", _careful(self.unfit))


def _careful(unfit: Callable[[Json], str | None]) -> Callable[[Json], str | None]:
    """The look at a value, which is none of a form where its fields are of kinds that nobody expects."""

    def careful(value: Json) -> str | None:
        try:
            return unfit(value)
        except (TypeError, AttributeError, KeyError, ValueError, IndexError):
            return "its fields hold what they cannot"

    return careful


def one(write: Callable[[Json, Scribe], None], *keys: str) -> Callable[[Json], Iterable[Dialogue]]:
    """The one conversation of a list of messages, or of an object with them under one of `keys`."""

    def dialogues(value: Json) -> Iterable[Dialogue]:
        items = listed(value, *keys)
        record = value if isinstance(value, dict) else {}
        yield Dialogue(record, lambda scribe: write(items, scribe))

    return dialogues


def listed(value: Json, *keys: str) -> list[Json] | None:
    """The list that a value is, or that it has under the first of these keys; None for neither.

    A key may be a path: `values.messages`.
    """
    if isinstance(value, list):
        return value
    for key in keys:
        # A path is seldom, and to split it takes longer than all the rest.
        inner = inside(value, *key.split(".")) if "." in key else inside(value, key)
        if isinstance(inner, list):
            return inner
    return None


def inside(value: Json, *names: str) -> Json:
    """The value inside objects under these names, None where it is absent."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def marked(
    mark: Callable[[Mapping[str, Json]], bool], lacking: str, *keys: str
) -> Callable[[Json], str | None]:
    """The reason that a value is no list of objects of which one has the mark of a form."""

    def unfit(value: Json) -> str | None:
        items = listed(value, *keys)
        if items is None:
            return f"no list under {' or '.join(map(repr, keys))}" if keys else "no list"
        return None if any(mark(i) for i in items if isinstance(i, dict)) else lacking

    return unfit


def parts_of(message: Mapping[str, Json], key: str = "content") -> list[Mapping[str, Json]]:
    """The objects in a message's list of parts; [] where it has none."""
    parts = message.get(key)
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a form does not fit."""

    form: str
    why: str = field(default="")
