"""JSON text of what is written: strict, whatever a recorded value or a tool of one's own has in it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ledgeragent.types import Json


def json_text(value: Json, **layout: Any) -> str:
    """The value as JSON. What no JSON can hold (Infinity, an object of a class) stands in it as text."""
    try:
        return json.dumps(value, default=str, allow_nan=False, **layout)
    except ValueError:
        return json.dumps(_finite(value), default=str, allow_nan=False, **layout)


def _finite(value: Json) -> Json:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {_finite(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value
