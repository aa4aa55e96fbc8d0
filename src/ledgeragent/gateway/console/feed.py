"""The feed: the latest records of a journal, kept within bounds, and told to whoever watches."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from ledgeragent.domain import Domain
from ledgeragent.gateway.console.tally import RuleTally
from ledgeragent.types import Json

MOST_BYTES = 32 << 20
"""Text of records that is kept of all conversations; those that were longest silent go first."""

LONGEST_SESSION = 2 << 20
"""Text of records that is kept of one; what comes after is counted, and not kept."""

_MOST_SESSIONS = 500
_MOST_VERDICTS = 200
_MOST_WAITING = 256


@dataclass(slots=True)
class KeptSession:
    """One conversation: its records as they stand in the journal, and what a list tells of it."""

    began: str
    latest: str = ""
    lines: list[str] = field(default_factory=list)
    size: int = 0
    records: int = 0
    calls: int = 0
    rejected: int = 0
    is_cut: bool = False

    def add(self, line: str) -> int:
        """Keeps a record; how many bytes that adds."""
        self.records += 1
        self.is_cut = self.is_cut or self.size + len(line) > LONGEST_SESSION
        if self.is_cut:
            return 0
        self.lines.append(line)
        self.size += len(line)
        return len(line)

    def data(self, name: str) -> Json:
        """The conversation as the page lists it."""
        return {
            "session": name,
            "began": self.began,
            "latest": self.latest,
            "records": self.records,
            "calls": self.calls,
            "rejected": self.rejected,
            "cut": self.is_cut,
        }


class Watcher:
    """One page that watches. What it is too slow to take is left out, and it is told to look anew."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Json] = asyncio.Queue(_MOST_WAITING)
        self._has_lost = False

    def tell(self, event: Json) -> None:
        """Hands an event on, from whichever thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, event)

    def _put(self, event: Json) -> None:
        if self._events.full():
            self._has_lost = True
        else:
            self._events.put_nowait(event)

    async def next(self, seconds: float) -> Json:
        """The next event; None if there is none for so long."""
        if self._has_lost and self._events.empty():
            self._has_lost = False
            return {"type": "lost"}
        try:
            async with asyncio.timeout(seconds):
                return await self._events.get()
        except TimeoutError:
            return None


class ConsoleFeed:
    """What the console shows of one domain. Threads may tell it of records at once.

    It holds only what a journal's record holds, so what is redacted there is redacted here.
    """

    def __init__(self, domain: Domain) -> None:
        self._lock = threading.Lock()
        self._tally = RuleTally(domain)
        self._sessions: OrderedDict[str, KeptSession] = OrderedDict()
        self._size = 0
        self._verdicts: deque[Json] = deque(maxlen=_MOST_VERDICTS)
        self._watchers: set[Watcher] = set()

    def hear(self, record: Mapping[str, Json], line: str) -> None:
        """Takes a record in, and tells who watches."""
        if not record["session"]:
            return
        with self._lock:
            session = self._kept(record, line)
            verdicts = list(self._tally.count(record)) if record["event"] == "judged" else []
            self._verdicts.extendleft(verdicts)
            session.calls += len(verdicts)
            session.rejected += sum(case["decision"] != "ALLOW" for case in verdicts)
            row = session.data(record["session"])
            watchers = list(self._watchers)
        for watcher in watchers:
            watcher.tell({"type": "record", "session": row, "verdicts": verdicts})

    def _kept(self, record: Mapping[str, Json], line: str) -> KeptSession:
        name = record["session"]
        session = self._sessions.setdefault(name, KeptSession(record["time"]))
        self._sessions.move_to_end(name)
        session.latest = record["time"]
        self._size += session.add(line)
        while len(self._sessions) > _MOST_SESSIONS or self._size > MOST_BYTES:
            _, oldest = self._sessions.popitem(last=False)
            self._size -= oldest.size
        return session

    def state(self) -> Json:
        """All that the page shows at once: rules, conversations, the latest verdicts."""
        with self._lock:
            return {
                "rules": self._tally.rows(),
                "sessions": [s.data(name) for name, s in reversed(self._sessions.items())],
                "verdicts": list(self._verdicts),
            }

    def rules(self) -> list[Json]:
        """Every rule's counts."""
        with self._lock:
            return self._tally.rows()

    def lines(self, session: str) -> list[str] | None:
        """The records that are kept of a conversation; None if it is not known, or not any more."""
        with self._lock:
            here = self._sessions.get(session)
            return list(here.lines) if here is not None else None

    @property
    def watchers(self) -> int:
        """How many watch."""
        return len(self._watchers)

    def watch(self) -> Watcher:
        """Another one that watches, until it is told to leave."""
        watcher = Watcher()
        with self._lock:
            self._watchers.add(watcher)
        return watcher

    def leave(self, watcher: Watcher) -> None:
        """One that watched does so no more."""
        with self._lock:
            self._watchers.discard(watcher)
