"""Where sessions live that a client names itself, or that it continues by the id of a reply."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, replace
from typing import Protocol

from ledgeragent.stores.errors import SessionChangedError
from ledgeragent.stores.memory import Memory
from ledgeragent.types import Json

IDLE_SECONDS = 30 * 24 * 3600.0
"""How long a session is kept on disk after it was last used."""

BUSY = "another request of this session was answered in the meantime; send this one again"

MOST_BYTES = 64 << 20
"""How much text of a kind memory keeps; records of small fields take eight times theirs, once read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSession:
    """A session at rest.

    `folded` are the marks of the latest messages in `memory`, `is_continued` tells that a reply
    has been continued, `item` is one that was sent and may be named, `version` counts the changes.
    """

    memory: Memory
    folded: tuple[str, ...] = ()
    is_continued: bool = False
    item: Json = None
    version: int = 0


class SessionStore(Protocol):
    """Keeps sessions by name. A change is made on the version that was read, or not at all."""

    async def open(self) -> None:
        """Makes the store ready."""
        ...

    async def load(self, name: str) -> SavedSession | None:
        """The session, or None if there is none."""
        ...

    async def save(self, name: str, saved: SavedSession) -> None:
        """Keeps it as the version after the one it carries; SessionChangedError if that was replaced."""
        ...

    async def close(self) -> None:
        """Releases what it holds."""
        ...


class _Kind:
    """Sessions of one kind, the least recently used first, and the bytes that they hold."""

    def __init__(self) -> None:
        self.sessions: OrderedDict[str, SavedSession] = OrderedDict()
        self.size = 0

    def put(self, name: str, saved: SavedSession) -> None:
        self.drop(name)
        self.sessions[name] = saved
        self.size += saved.memory.size

    def drop(self, name: str) -> None:
        saved = self.sessions.pop(name, None)
        self.size -= saved.memory.size if saved is not None else 0


class ProcessStore:
    """Sessions of one process, the least recently used of their kind dropped past its bounds.

    Those are `limit` sessions and `most` bytes; a session larger than that is not kept at all. The
    kind is what a name has before its colon: a crowd of replies drops no session.
    """

    def __init__(self, limit: int = 10_000, most: int = MOST_BYTES) -> None:
        self._limit = limit
        self._most = most
        self._kinds: defaultdict[str, _Kind] = defaultdict(_Kind)

    async def open(self) -> None:
        """Nothing to do."""

    async def load(self, name: str) -> SavedSession | None:
        """The session, or None if there is none."""
        return self._alike(name).sessions.get(name)

    async def save(self, name: str, saved: SavedSession) -> None:
        """Keeps it as the next version; SessionChangedError if another was kept since it was read."""
        kind = self._alike(name)
        latest = kind.sessions.get(name)
        if (latest.version if latest is not None else 0) != saved.version:
            raise SessionChangedError(BUSY)
        if saved.memory.size > self._most:
            kind.drop(name)
            return
        kind.put(name, replace(saved, version=saved.version + 1))
        while len(kind.sessions) > self._limit or kind.size > self._most:
            kind.drop(next(iter(kind.sessions)))

    def _alike(self, name: str) -> _Kind:
        return self._kinds[name.partition(":")[0]]

    async def close(self) -> None:
        """Nothing to do."""
