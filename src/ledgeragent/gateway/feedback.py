"""Feedback: what is known of a conversation beside its history, kept for when that is all that is left.

A history that is folded again gives the ledger, but not which calls were removed from it, nor how often.
That goes into the session store under the history's digest, so that it outlives the process.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from ledgeragent.gateway.errors import ConflictError, StoreError
from ledgeragent.gateway.memory import Digest, shared
from ledgeragent.gateway.storage import SessionStorage
from ledgeragent.state import State
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.memory import NOT_REFUSED, Memory

HistoryKey: TypeAlias = Callable[[Digest], str]
"""Where what goes with a history is kept, for whoever asks."""


_PATIENCE = 0.5
"""Seconds that a request waits for a store that is busy, or does without."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Keeps it. A store that fails or is slow costs the feedback alone: no verdict rests on it."""

    store: SessionStorage
    key: HistoryKey

    async def keep(self, history: Digest, memory: Memory) -> None:
        """Keeps what there is to tell after this history, which ends in a reply."""
        extract = _extract(memory)
        with suppress(StoreError, ConflictError, TimeoutError):
            async with self.store.within(_PATIENCE):
                await self._put(history, extract)

    async def _put(self, history: Digest, extract: Memory) -> None:
        place = self.key(history)
        earlier = await self.store.load(place)
        if earlier is not None:
            extract = shared(extract, earlier.memory)
        version = earlier.version if earlier is not None else 0
        await self.store.save(place, SavedSession(memory=extract, version=version))

    async def restored(self, history: Digest, memory: Memory) -> Memory:
        """The memory of a history that was folded again, with what was kept after its last reply."""
        saved = None
        with suppress(StoreError, TimeoutError):
            async with self.store.within(_PATIENCE):
                saved = await self.store.load(self.key(history))
        if saved is None:
            return memory
        extract = saved.memory
        return memory._replace(
            state=memory.state._replace(rejections=extract.state.rejections),
            unsent=extract.unsent,
            warnings=extract.warnings,
            refusals=extract.refusals,
        )


def tells(memory: Memory) -> bool:
    """True if there is more to it than what follows from its history."""
    _, state, unsent, warnings, refusals, _, _ = memory
    is_refused = refusals is not NOT_REFUSED and refusals != NOT_REFUSED
    return bool(unsent or warnings or is_refused or state.rejections.counts)


def _extract(memory: Memory) -> Memory:
    rejections = memory.state.rejections
    size = sum(len(unsent.call.intent[1]) for unsent in memory.unsent)
    size += sum(len(arguments) for _, arguments in rejections.counts)
    return memory._replace(state=State(rejections=rejections), upstream="", size=size)
