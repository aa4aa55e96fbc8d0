"""Marks of a write of a YAML pack: the fields that it makes stale, of the records its arguments name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from ledgeragent.compiler.shapes import ListOf, Object, Shape
from ledgeragent.compiler.source.keys import Key, Segment
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments, Json, parse_json


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks `fields` of the records that the arguments, as the write `accepts` them, name.

    A list argument names one record per item. Raises ValueError for a value that can name none, so
    that the core takes everything to be changed.
    """

    template: PathTemplate[Any]
    keys: tuple[Segment, ...]
    fields: tuple[tuple[str, ...], ...]
    accepts: Shape

    def __call__(self, arguments: Arguments, ledger: Ledger) -> Iterator[Touch]:
        """The marks for a call with these arguments; none where an optional key is not given."""
        for keys in product(*(self._names(key, arguments) for key in self.keys)):
            yield from (Touch(self.template(*keys), prefix) for prefix in self.fields)

    def _names(self, key: Segment, arguments: Arguments) -> list[str]:
        if isinstance(key, str):
            return [key]
        return list(dict.fromkeys(_named(key, key.fields, arguments, self.accepts)))


def _named(key: Key, fields: tuple[str, ...], value: Json, shape: Shape | None) -> Iterator[str]:
    """The text of every key at these fields of a value, past lists."""
    if value is None:
        return
    if isinstance(shape, ListOf) and isinstance(value, str):
        value = _listed(value)
    if isinstance(value, list | tuple):
        item = shape.item if isinstance(shape, ListOf) else None
        for child in value:
            yield from _named(key, fields, child, item)
    elif fields:
        if not isinstance(value, Mapping):
            raise ValueError(f"{key} names no record: there is no {fields[0]} in {value!r}")
        member = shape.fields.get(fields[0]) if isinstance(shape, Object) else None
        inner = member.shape if member is not None else None
        yield from _named(key, fields[1:], value.get(fields[0]), inner)
    else:
        yield _text(key, value)


def _listed(text: str) -> Json:
    """The list that a text holds, as lenient tools take it; the text alone if it is none."""
    try:
        items = parse_json(text)
    except ValueError:
        return [text]
    return items if isinstance(items, list) else [text]


def _text(key: Key, value: Json) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{key} names no record: it is {value!r}")
    return str(value)
