"""Decoding: JSON text of recorded data as a value, by the fast decoder of the extra `fast` where it is.

Which of them decodes is not to be seen: what they would read differently, or refuse in other words, is
left to the standard library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ledgeragent.types import Json

try:
    import msgspec
except ImportError:
    _fast: Any = None
    _decode_fast: Any = None
else:
    _fast = msgspec
    # Called so, it begins as deep as the library's scanner, where Python counts how deep a text is.
    _decode_fast = partial(msgspec.json.decode)

_DIGITS = bytes.maketrans(b"123456789E", b"000000000e")
_HUGE = (b"0e000", b"0" * 200)
"""What may be too large to be told from Infinity."""
# NaN and Infinity are no JSON, but Python writes them: as text no rule mistakes them for a number.
_decode = json.JSONDecoder(parse_constant=str).decode
# So it stays where a number is too large to be told from Infinity; the library alone is faster.
_decode_huge = json.JSONDecoder(
    parse_constant=str,
    parse_float=lambda digits: n if math.isfinite(n := float(digits)) else digits,
).decode


def decode(text: bytes) -> Json:
    """The value of a JSON text in UTF-8; of two equal keys the last counts, NaN and Infinity are text.

    Raises what `bytes.decode` and the `json` library do: ValueError, or RecursionError.
    """
    if _fast is not None:
        try:
            return behind_calls(_decode_fast, text)
        except (_fast.MsgspecError, UnicodeDecodeError):
            pass  # the library reads it, or says what is wrong
    return decode_slowly(text)


def decode_slowly(text: bytes) -> Json:
    """The same by the standard library alone."""
    digits = text.translate(_DIGITS, b"+")
    huge = any(mark in digits for mark in _HUGE)
    return (_decode_huge if huge else _decode)(text.decode())


def behind_calls(decode_fast: Callable[[bytes], Json], text: bytes, calls: int = 2) -> Json:
    """What a fast decoder makes of a text, behind as many calls as the library makes of its own.

    Python counts them all, and so both give up at the same depth.
    """
    return behind_calls(decode_fast, text, calls - 1) if calls else decode_fast(text)
