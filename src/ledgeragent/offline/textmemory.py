"""Text memory: what was worked out of texts, by what decides it, a few megabytes of them at most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_MOST_KEPT = 4096
_MOST_CHARACTERS = 4_000_000


class TextMemory(Generic[K, V]):
    """The latest results; it begins anew where there are many, or their texts are large together.

    `get` gives a result, None where there is none.
    """

    get: Callable[[K], V | None]

    def __init__(self) -> None:
        self._results: dict[K, V] = {}
        self._characters = 0
        self.get = self._results.get

    def put(self, key: K, result: V, size: int) -> None:
        """Keeps the result of a text of this size."""
        self._characters += size
        if len(self._results) >= _MOST_KEPT or self._characters > _MOST_CHARACTERS:
            self._results.clear()
            self._characters = size
        self._results[key] = result
