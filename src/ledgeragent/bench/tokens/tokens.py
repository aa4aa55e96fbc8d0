"""Counting tokens: exactly with `toktok-rs` (the extra `tokens`), else by an estimate that says so."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

from ledgeragent.render import estimated_tokens

ENCODING = "o200k_base"
_REMEMBERED = 1 << 17


class Counter(NamedTuple):
    """How tokens are counted: `name` belongs beside every figure."""

    name: str
    count: Callable[[str], int]


def counter() -> Counter:
    """The exact counter where its library is installed, else four characters a token."""
    try:
        batch = import_module("toktok").batch_count
    except ImportError:
        return Counter(
            "estimate: 4 characters a token (toktok-rs is not installed)", estimated_tokens
        )

    @lru_cache(maxsize=_REMEMBERED)
    def count(text: str) -> int:
        return int(batch([text.encode("utf-8", "replace").decode()], ENCODING, 1)[0])

    return Counter(ENCODING, count)
