"""Shared sessions: a conversation that connections take part in, one after another or at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol
from uuid import uuid4

import anyio

from ledgeragent.session.conversation import Conversation
from ledgeragent.session.resting import state_of, take_up
from ledgeragent.session.ticket import Ticket
from ledgeragent.stores.base import SavedSession, SessionStore
from ledgeragent.stores.memory import Memory
from ledgeragent.types import canonical


class Member(Protocol):
    """A connection that takes part in a session."""

    def wake(self, session: SharedSession) -> None:
        """Hears that another one has moved the session."""
        ...


class SharedSession:
    """One conversation, at rest under `key` in a store; without a key it ends with its connection.

    `tasks` are the calls that the server goes on with by itself, by their ids.
    """

    def __init__(
        self, conversation: Conversation, key: str = "", store: SessionStore | None = None
    ) -> None:
        self.conversation = conversation
        self.key = key
        self.tasks: dict[str, Ticket] = {}
        self.members: set[Member] = set()
        self._store = store
        self._version = 0
        self._at_rest = state_of(conversation)
        self._size = 0
        self._lock = anyio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A turn: nobody else moves the conversation, and it goes on from where it was kept last.

        Raises SessionStoreError.
        """
        async with self._lock:
            await self._refresh()
            yield

    async def _refresh(self) -> None:
        saved = await self._store.load(self.key) if self._store is not None else None
        if saved is not None and saved.version != self._version:
            take_up(self.conversation, saved.memory.state, saved.memory.session)
            self._version, self._size = saved.version, saved.memory.size
            self._at_rest = state_of(self.conversation)

    async def keep(self) -> None:
        """Keeps what this turn has changed, before anything is done about it.

        Raises SessionChangedError if another process was faster, SessionStoreError.
        """
        state = state_of(self.conversation)
        if self._store is None or state is self._at_rest:
            return
        memory = Memory(session=self.conversation.name, state=state, size=self._weight())
        await self._store.save(self.key, SavedSession(memory=memory, version=self._version))
        self._version += 1
        self._at_rest = state

    def _weight(self) -> int:
        """About how many bytes are kept: each record that was read counts whenever it is read."""
        state = state_of(self.conversation)
        if state.last is not None and state.last is not self._at_rest.last:
            entries = (state.ledger.get(path) for path in state.last.stored)
            self._size += sum(len(canonical(entry.value)) for entry in entries if entry is not None)
        return self._size

    def give_up_tasks(self) -> None:
        """Once nobody is here: a call that the server goes on with may have done its work, or not."""
        for ticket in self.tasks.values() if not self.members else ():
            self.conversation.interrupted(ticket)

    def announce(self, origin: Member) -> None:
        """Wakes the calls that wait in other connections for what has just changed."""
        for member in tuple(self.members - {origin}):
            member.wake(self)


def fresh_prefix() -> str:
    """What ids of one connection begin with, so that no two connections share one."""
    return f"{uuid4().hex[:8]}:"
