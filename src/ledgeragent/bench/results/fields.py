"""Fields of a result file: each is of its kind, or ValueError says which is not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ledgeragent.types import Json


def object_of(value: Json, name: str) -> Mapping[str, Json]:
    """The object of a field; an empty one where there is none."""
    if value is None or value == "" or value == []:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"`{name}` is no object")
    return value


def list_of(value: Json, name: str) -> Sequence[Json]:
    """The list of a field; an empty one where there is none."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ValueError(f"`{name}` is no list")
    return value


def objects_of(value: Json, name: str) -> Sequence[Mapping[str, Json]]:
    """The objects in the list of a field."""
    for number, part in enumerate(list_of(value, name)):
        if not isinstance(part, Mapping):
            raise ValueError(f"`{name}[{number}]` is no object")
    return list_of(value, name)


def text_of(value: Json, name: str) -> str:
    """The text of a field, which must be there."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"`{name}` is no text")
    return value


def number_of(value: Json, name: str) -> float:
    """The number of a field; 0 where there is none. Infinity is none: nothing can be averaged with it."""
    if value is None or value == "":
        return 0.0
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or abs(number) > 1e15:
        raise ValueError(f"`{name}` is no number that can be reckoned with")
    return number


def count_of(value: Json, name: str) -> int:
    """The whole number of a field; 0 where there is none."""
    return int(number_of(value, name))
