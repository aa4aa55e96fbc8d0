"""The calls of a reply that have no return yet, found by their id however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from ledgeragent.persistent import PersistentMap
from ledgeragent.types import ToolCall

_FEW = 8
_NONE_ANSWERED: PersistentMap[str, int] = PersistentMap({})


def answer_first(calls: Sequence[ToolCall], id: str) -> tuple[ToolCall | None, Sequence[ToolCall]]:
    """The first call of that id, None if there is none, and the calls that are left."""
    # Not by `isinstance`, which asks the abstract class and costs more than all the rest.
    if type(calls) is not OpenCalls and len(calls) > _FEW:
        calls = OpenCalls(calls)
    if type(calls) is OpenCalls:
        call = calls.first(id)
        return (None, calls) if call is None else (call, calls.without_first(id))
    for place, call in enumerate(calls):  # most replies have one
        if call.id == id:
            return call, (*calls[:place], *calls[place + 1 :]) if len(calls) > 1 else ()
    return None, calls


class OpenCalls(Sequence[ToolCall]):
    """Immutable sequence of calls, in order, that loses the first of an id when that is answered.

    Ids repeat in real runs. It is equal to the tuple of the calls that are left.
    """

    __slots__ = ("_answered", "_by_id", "_length", "_sent")

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        by_id: dict[str, list[ToolCall]] = {}
        for call in calls:
            by_id.setdefault(call.id, []).append(call)
        self._sent = calls
        self._by_id = by_id
        self._answered = _NONE_ANSWERED
        self._length = len(calls)

    def first(self, id: str) -> ToolCall | None:
        """The first open call of that id, None if there is none."""
        calls = self._by_id.get(id, ())
        place = self._answered.get(id) or 0
        return calls[place] if place < len(calls) else None

    def without_first(self, id: str) -> OpenCalls:
        """These calls without the first open one of that id."""
        rest = OpenCalls.__new__(OpenCalls)
        rest._sent = self._sent
        rest._by_id = self._by_id
        rest._answered = self._answered.put(id, (self._answered.get(id) or 0) + 1)
        rest._length = self._length - 1
        return rest

    def __iter__(self) -> Iterator[ToolCall]:
        to_skip = self._answered.plain()
        for call in self._sent:
            if to_skip.get(call.id):
                to_skip[call.id] -= 1
            else:
                yield call

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> ToolCall: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ToolCall, ...]: ...
    def __getitem__(self, index: int | slice) -> ToolCall | tuple[ToolCall, ...]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OpenCalls):
            other = tuple(other)
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))
