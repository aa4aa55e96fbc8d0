"""Naming: by which of its arguments a call names a record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ledgeragent.types import Arguments, Json


def way_to(
    keys: Sequence[str], names: Sequence[str], arguments: Arguments
) -> tuple[str, ...] | None:
    """The argument for each key of a record, None where one of them stands in no argument.

    `names` are what the keys are called: of several arguments with the value that one is preferred.
    """
    places = [*scalars(arguments)]
    way = []
    for key, name in zip(keys, names, strict=True):
        holders = [place for place, value in places if value == key]
        if not holders:
            return None
        way.append(min(holders, key=lambda place: (place.rpartition(".")[2] != name, len(place))))
    return tuple(way)


def scalars(value: Json, place: str = "") -> Iterator[tuple[str, str]]:
    """Every text and number, with its place: lists are passed over."""
    if isinstance(value, list):
        for item in value:
            yield from scalars(item, place)
    elif isinstance(value, dict):
        for name, child in value.items():
            own = json.dumps(name) if "." in name else name
            yield from scalars(child, f"{place}.{own}" if place else own)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield place, str(value)
