"""Session storage of the gateway: any store, whose failures have a status in HTTP."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType

from ledgeragent.gateway.errors import ConflictError, StoreError
from ledgeragent.stores.base import ProcessStore, SavedSession, SessionStore
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError


class SessionStorage:
    """A `SessionStore` that raises errors of the gateway: ConflictError and StoreError."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        # What this process holds itself nobody waits for, and no clock has to run.
        self._limit = nullcontext if isinstance(store, ProcessStore) else asyncio.timeout

    def within(self, seconds: float) -> AbstractAsyncContextManager[object]:
        """A context: TimeoutError for a store that keeps one waiting for longer."""
        return self._limit(seconds)

    async def open(self) -> None:
        """Makes the store ready."""
        with _TRANSLATION:
            await self._store.open()

    async def load(self, name: str) -> SavedSession | None:
        """The session, or None if there is none."""
        with _TRANSLATION:
            return await self._store.load(name)

    async def save(self, name: str, saved: SavedSession) -> None:
        """Keeps it as the version after the one it carries."""
        with _TRANSLATION:
            await self._store.save(name, saved)

    async def close(self) -> None:
        """Releases what it holds."""
        with _TRANSLATION:
            await self._store.close()


class _Translation:
    """A context: what a store raises is an error of the gateway."""

    def __enter__(self) -> None:
        """Nothing to begin with."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if problem is None:
            return
        if isinstance(problem, SessionChangedError):
            raise ConflictError(str(problem)) from None
        if isinstance(problem, SessionStoreError):
            raise StoreError(str(problem)) from None


_TRANSLATION = _Translation()
