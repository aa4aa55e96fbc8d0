"""The journal as a gateway writes it: off the event loop, and what cannot be recorded is not answered."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from ledgeragent.absorb import Absorption
from ledgeragent.domain import Domain
from ledgeragent.gate import Filtered
from ledgeragent.gateway.errors import StoreError
from ledgeragent.journal import Journal
from ledgeragent.journal.checkpoints import NO_CHECKPOINTS, Checkpoints
from ledgeragent.journal.stores import Store
from ledgeragent.types import Json, Reply, ToolCall, ToolReturn, UserMessage

_MOST_WAITING = 2_000
"""Conversations whose records may wait for a file that another process holds."""


class GatewayJournal(Journal):
    """A journal whose failures are the request's; StoreError for what could not be written.

    A database may be held by another process for seconds. So its records are written by a thread of
    their own, in order, and `written` waits for them: a client hears of nothing before.
    """

    def __init__(
        self,
        store: Store,
        domain: Domain,
        *,
        redact: Sequence[str] = (),
        checkpoints: Checkpoints = NO_CHECKPOINTS,
    ) -> None:
        super().__init__(store, domain, redact=redact, checkpoints=checkpoints)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal") if store.waits else None
        self._waiting: OrderedDict[str, list[Future[None]]] = OrderedDict()
        self._unwritten: set[str] = set()

    def heard(self, session: str, message: UserMessage) -> None:
        """A message of the user."""
        self._later(session, lambda: Journal.heard(self, session, message))

    def proposed(self, session: str, reply: Reply) -> None:
        """A reply as the model generated it."""
        self._later(session, lambda: Journal.proposed(self, session, reply))

    def judged(self, session: str, filtered: Filtered, *, shadow: bool = False) -> None:
        """The verdicts on a reply. `shadow` marks verdicts that changed nothing."""
        self._later(session, lambda: Journal.judged(self, session, filtered, shadow=shadow))

    def observed(
        self, session: str, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> None:
        """The answer of a read, and where it was stored."""
        self._later(session, lambda: Journal.observed(self, session, call, returned, absorption))

    def executed(
        self, session: str, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> None:
        """A call other than a read that ran, and what it answered."""
        self._later(session, lambda: Journal.executed(self, session, call, returned, absorption))

    async def written(self, session: str) -> None:
        """Returns once all that was told of a session is with the operating system."""
        try:
            for record in self._waiting.pop(session, ()):
                await asyncio.wrap_future(record)
        except StoreError:
            if len(self._unwritten) >= _MOST_WAITING:
                self._unwritten.clear()
            self._unwritten.add(session)
            raise

    async def is_written(self, session: str) -> bool:
        """Whether nothing that was told of a session failed to be written since this was last asked."""
        with suppress(StoreError):
            await self.written(session)
        is_written = session not in self._unwritten
        self._unwritten.discard(session)
        return is_written

    def close(self) -> None:
        """Waits for what is still to be written, takes the last head and releases the store."""
        if self._thread is not None:
            self._thread.shutdown()
        super().close()

    def _later(self, session: str, work: Callable[[], None]) -> None:
        if self._thread is None:
            work()
            return
        while len(self._waiting) >= _MOST_WAITING:
            # A request that was never answered waits for nothing any more.
            abandoned, records = next(iter(self._waiting.items()))
            if not all(record.done() for record in records):
                raise StoreError("the journal cannot be written: too many requests wait for it")
            del self._waiting[abandoned]
        self._waiting.setdefault(session, []).append(self._thread.submit(work))
        self._waiting.move_to_end(session)

    def _write(self, event: str, session: str, data: Mapping[str, Json]) -> None:
        try:
            super()._write(event, session, data)
        except (OSError, sqlite3.Error) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            raise StoreError(f"the journal cannot be written: {reason}") from None
