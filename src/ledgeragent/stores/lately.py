"""Sessions that were kept or loaded lately, as values: what stands in the store need not be read again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

from ledgeragent.stores.rows import SessionRows

_MOST_BYTES = 64 << 20
_MOST = 10_000


class Stamp(NamedTuple):
    """What tells one state of a session from any other, also from one of a session of that name that was
    dropped in between: its version, and whose attempt it was to keep it.
    """

    version: int
    attempt: str


class LatelyKept:
    """Rows of sessions by name, the least recently used dropped past a sum of text."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._size = 0
        self._sessions: OrderedDict[str, tuple[Stamp, SessionRows]] = OrderedDict()

    def of(self, name: str, stamp: Stamp) -> SessionRows | None:
        """The rows of a session as it was kept with this stamp, if that is known."""
        session = self._sessions.get(name)
        if session is None or session[0] != stamp:
            return None
        self._sessions.move_to_end(name)
        return session[1]

    def before(self, name: str, version: int) -> tuple[Stamp, SessionRows] | None:
        """What was known last of a session, if it was of this version."""
        session = self._sessions.get(name)
        return session if session is not None and session[0].version == version else None

    def put(self, name: str, stamp: Stamp, rows: SessionRows) -> SessionRows:
        """Notes what stands in the store: the same rows, with the version that they have there."""
        self.drop(name)
        memory = rows.saved.memory
        memory = memory._replace(state=memory.state._replace(last=None))
        rows = replace(rows, saved=replace(rows.saved, memory=memory, version=stamp.version))
        self._sessions[name] = stamp, rows
        self._size += memory.size
        while self._size > self._most_bytes or len(self._sessions) > _MOST:
            self.drop(next(iter(self._sessions)))
        return rows

    def drop(self, name: str) -> None:
        """Knows nothing of a session any more."""
        _, rows = self._sessions.pop(name, (None, None))
        if rows is not None:
            self._size -= rows.saved.memory.size
