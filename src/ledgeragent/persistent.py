"""A mapping whose updates return a new one and cost the same however large it has grown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_DELTA_LIMIT = 32


class PersistentMap(Generic[K, V]):
    """Immutable mapping: a large shared `base` under a small private `delta`.

    An update copies only the delta; past `_DELTA_LIMIT` new keys the two are merged, so that the
    cost of a merge is spread over the updates before it.
    """

    __slots__ = ("_base", "_delta", "get")

    get: Callable[[K], V | None]
    """The value, or None where there is none."""

    def __init__(self, base: Mapping[K, V], delta: Mapping[K, V]) -> None:
        self._base = base
        self._delta = delta
        # Most maps are small: all of one is in the delta, and its own `get` does.
        self.get = self._find if self._base else self._delta.get

    def _find(self, key: K) -> V | None:
        found = self._delta.get(key)
        return found if found is not None else self._base.get(key)

    def put(self, key: K, value: V) -> PersistentMap[K, V]:
        """This map with one value set."""
        delta = {**self._delta, key: value}
        if len(delta) > _DELTA_LIMIT:
            return PersistentMap({**self._base, **delta}, {})
        return PersistentMap(self._base, delta)

    def __iter__(self) -> Iterator[K]:
        yield from self._base
        yield from (key for key in self._delta if key not in self._base)

    def values(self) -> Iterator[V]:
        """Every value once, the latest for its key."""
        for key, value in self._base.items():
            yield self._delta.get(key, value)
        for key, value in self._delta.items():
            if key not in self._base:
                yield value

    def __len__(self) -> int:
        return len(self._base) + sum(key not in self._base for key in self._delta)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PersistentMap):
            return NotImplemented
        return {**self._base, **self._delta} == {**other._base, **other._delta}

    __hash__ = None  # type: ignore[assignment]
