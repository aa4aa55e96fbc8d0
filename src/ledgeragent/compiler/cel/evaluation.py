"""One evaluation by the library: its value, or what went wrong as an exception."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ledgeragent.compiler.cel.engine import STATUS, Absent, CelError, library
from ledgeragent.types import Json

ROUNDS_AT_ONCE = 9_999
"""How often the loops of one evaluation may run together: the library's, and not ours to change."""

_ABSENT = re.compile(r'UNKNOWN: No value with name "([^"]+)" found in Activation')


class TooOften(CelError):
    """The loops of an expression run too often."""


def evaluated(evaluate: Any, values: Mapping[str, Json]) -> Json:
    """The value that the library's `evaluate` gives for these values of the variables.

    Raises Absent where a variable it needs has none, TooOften past `ROUNDS_AT_ONCE`, and CelError
    where the expression fails.
    """
    try:
        result = evaluate(None, values)
    except RuntimeError as problem:  # as the library fails where it gives no error value
        raise _error(str(problem)) from None
    value = result.plain_value()
    if type(value) is str and result.type() == library().Type.ERROR:
        raise _error(value)
    return value


def _error(problem: str) -> CelError:
    if "Iteration budget exceeded" in problem:
        return TooOften(
            f"a loop that cannot be taken apart runs more than {ROUNDS_AT_ONCE:,} times"
        )
    absent = _ABSENT.fullmatch(problem)
    return Absent(absent[1]) if absent is not None else CelError(STATUS.sub("", problem))
