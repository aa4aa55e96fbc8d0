"""The place of records inside what a tool returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ledgeragent.effects import structured, text
from ledgeragent.types import Arguments, Json


@dataclass(frozen=True, slots=True)
class Inside:
    """The record (with `each`: the records) of a return, `inside` these fields of it, one in the other."""

    inside: tuple[str, ...]
    each: bool

    def __call__(self, value: Json, arguments: Arguments) -> Iterable[Json]:
        for name in self.inside:
            if not isinstance(value, Mapping) or name not in value:
                raise ValueError(f"the return has no field {'.'.join(self.inside)!r}")
            value = value[name]
        if not self.each:
            return (value,)
        if isinstance(value, Mapping):
            return value.values()
        if isinstance(value, list):
            return _flat(value)
        raise ValueError("the return holds no list of records")


def _flat(items: list[Json]) -> Iterator[Json]:
    """The items of a list, in the place of a list inside it that one's items."""
    for item in items:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item


def json_or_text(answer: str) -> Json:
    """The value of an answer; the answer itself where it is none, out of its quotes already."""
    try:
        return structured(answer)
    except ValueError:
        return text(answer)
