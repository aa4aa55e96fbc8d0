"""Strict JSON: values as every reader of JSON takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ledgeragent.types import Json

_DEEPEST = 100


def as_strict_json(value: Json, depth: int = _DEEPEST) -> Json:
    """The value, with text for what JSON cannot hold: Infinity, a key that is none, what is too deep."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth == 0:
        return "(nested too deep to be shown)"
    if isinstance(value, Mapping):
        return {str(key): as_strict_json(part, depth - 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_strict_json(part, depth - 1) for part in value]
    return str(value)
