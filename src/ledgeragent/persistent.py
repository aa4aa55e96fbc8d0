"""Collections whose updates return a new one and cost the same however large they have grown.

A small private end is copied at each update. Once it is full it becomes a layer over older ones; a
layer that is less than `_LAYER_RATIO` times as long as the next is merged with it. So n updates copy
O(n log n) items in all, and there are never more than O(log n) layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, ValuesView
from itertools import chain
from typing import TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

_END_LIMIT = 32
_LAYER_RATIO = 8


class PersistentMap(Mapping[K, V]):
    """Immutable mapping: a small private `delta` over large shared `layers`, the oldest first."""

    __slots__ = ("_delta", "_layers", "get")

    get: Callable[[K], V | None]  # type: ignore[assignment]
    """The value, or None where there is none; None is no value."""

    def __init__(self, delta: Mapping[K, V], layers: tuple[Mapping[K, V], ...] = ()) -> None:
        self._delta = delta
        self._layers = layers
        # Most maps are small: all of one is in the delta, and its own `get` does.
        self.get = self._find if layers else delta.get

    def _find(self, key: K) -> V | None:
        value = self._delta.get(key)
        if value is not None:
            return value
        for layer in reversed(self._layers):
            value = layer.get(key)
            if value is not None:
                return value
        return None

    def put(self, key: K, value: V) -> PersistentMap[K, V]:
        """This map with one value set."""
        delta = {**self._delta, key: value}
        if len(delta) > _END_LIMIT:
            return self._layered(delta)
        return PersistentMap(delta, self._layers)

    def put_all(self, items: Mapping[K, V]) -> PersistentMap[K, V]:
        """This map with these values set: many at once cost less than one by one."""
        delta = {**self._delta, **items}
        if len(delta) > _END_LIMIT:
            return self._layered(delta)
        return PersistentMap(delta, self._layers)

    def _layered(self, delta: Mapping[K, V]) -> PersistentMap[K, V]:
        layers = self._layers
        while layers and len(layers[-1]) < _LAYER_RATIO * len(delta):
            layers, delta = layers[:-1], {**layers[-1], **delta}
        return PersistentMap({}, (*layers, delta))

    def values(self) -> ValuesView[V]:
        """The values, in order of first insertion."""
        return self.plain().values() if self._layers else self._delta.values()

    def __getitem__(self, key: K) -> V:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[K]:
        return iter(self.plain() if self._layers else self._delta)

    def __len__(self) -> int:
        return len(self.plain() if self._layers else self._delta)

    def __bool__(self) -> bool:
        return bool(self._delta or self._layers)

    def plain(self) -> dict[K, V]:
        """All of it as a dict of its own, in order of first insertion."""
        merged: dict[K, V] = {}
        for layer in (*self._layers, self._delta):
            merged.update(layer)
        return merged

    def __eq__(self, other: object) -> bool:
        return self.plain() == dict(other) if isinstance(other, Mapping) else NotImplemented

    def __repr__(self) -> str:
        return repr(self.plain())

    def __hash__(self) -> int:
        return hash(frozenset(self.plain().items()))


class PersistentList(Sequence[T]):
    """Immutable sequence that grows at its end; equal to the tuple, or list of its kind, it stands for."""

    __slots__ = ("_end", "_layers")

    def __init__(self, end: tuple[T, ...] = (), layers: tuple[tuple[T, ...], ...] = ()) -> None:
        self._end = end
        self._layers = layers

    def append(self, item: T) -> PersistentList[T]:
        """This list with one more item."""
        end = (*self._end, item)
        if len(end) <= _END_LIMIT:
            return PersistentList(end, self._layers)
        layers = self._layers
        while layers and len(layers[-1]) < _LAYER_RATIO * len(end):
            layers, end = layers[:-1], layers[-1] + end
        return PersistentList((), (*layers, end))

    def plain(self) -> tuple[T, ...]:
        """All of it as a tuple."""
        return tuple(self) if self._layers else self._end

    def __iter__(self) -> Iterator[T]:
        return chain(*self._layers, self._end) if self._layers else iter(self._end)

    def __len__(self) -> int:
        return len(self._end) + sum(map(len, self._layers))

    def __bool__(self) -> bool:
        return bool(self._end or self._layers)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if index == -1 and self:  # what came last is what most look for
            return (self._end or self._layers[-1])[-1]
        return self.plain()[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PersistentList):
            return self.plain() == other.plain()
        return self.plain() == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.plain())

    def __repr__(self) -> str:
        return repr(self.plain())
