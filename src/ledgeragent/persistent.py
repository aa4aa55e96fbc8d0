"""A mapping whose updates return a new one and cost the same however large it has grown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
        value = self._delta.get(key)
        return value if value is not None else self._base.get(key)

    def put(self, key: K, value: V) -> PersistentMap[K, V]:
        """This map with one value set."""
        delta = {**self._delta, key: value}
        if len(delta) > _DELTA_LIMIT:
            return PersistentMap({**self._base, **delta}, {})
        return PersistentMap(self._base, delta)

    def values(self) -> Iterable[V]:
        """The values, in order of first insertion."""
        return self.plain().values() if self._base else self._delta.values()

    def plain(self) -> dict[K, V]:
        """All of it as a dict of its own, in order of first insertion."""
        return {**self._base, **self._delta}

    def __eq__(self, other: object) -> bool:
        return self.plain() == other.plain() if isinstance(other, PersistentMap) else NotImplemented

    __hash__ = None  # type: ignore[assignment]
