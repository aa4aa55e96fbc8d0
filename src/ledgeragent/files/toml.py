"""TOML as anybody may have written it: read in time that grows with its length."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_MOST_PARTS = 100
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_PARTS}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """The values of a TOML text; ValueError for one that is none, is nested too deeply, or has a long key.

    The standard library takes time in the square of the number of a key's parts.
    """
    if _LONG_KEY.search(text) is not None:
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
