"""What a write answers with, as far as it can be taken for the record that the write has left.

A host may answer with a receipt, which tells nothing of the fields that it leaves out, or with the
record from before the write, read from a copy that lags behind. What was to change stays unknown
then, until it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ledgeragent.arguments import reader
from ledgeragent.effects import ReturnRoute
from ledgeragent.paths import PathTemplate
from ledgeragent.shape import shape_of
from ledgeragent.types import Arguments, Json

R = TypeVar("R")

Likeness = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
"""`(record, arguments) -> bool`: does the record show what was asked for?"""


def _anything(record: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    return True


def left_by(
    to: PathTemplate[R], arguments: type[Any], shows: Likeness = _anything, *, omit: str = ""
) -> ReturnRoute[R]:
    """The route of the whole record that a write answers with, without `omit`.

    One that doesn't show what was asked for is no observation, nor is one that lacks fields.
    """
    required, reading = shape_of(to.record).required, reader(arguments)

    def records(value: Json, request: Arguments) -> Iterable[Json]:
        if not isinstance(value, Mapping) or not required <= value.keys():
            raise ValueError(f"the answer is no whole record for {to.text}")
        if not shows(value, reading(request, "", [])):
            raise ValueError("the answer doesn't show what the call asked for")
        return (value,)

    return ReturnRoute(to=to, records=records, omit=frozenset([omit] if omit else ()))


def same_fields(*names: str) -> Likeness:
    """True of a record that has these arguments as its fields."""
    return lambda record, request: all(record[name] == request[name] for name in names)
