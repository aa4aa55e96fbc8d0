"""Session storage of the gateway: any store, whose failures have a status in HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ledgeragent.gateway.errors import ConflictError, StoreError
from ledgeragent.stores.base import SavedSession, SessionStore
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError


class SessionStorage:
    """A `SessionStore` that raises errors of the gateway: ConflictError and StoreError."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    async def open(self) -> None:
        """Makes the store ready."""
        with _translated():
            await self._store.open()

    async def load(self, name: str) -> SavedSession | None:
        """The session, or None if there is none."""
        with _translated():
            return await self._store.load(name)

    async def save(self, name: str, saved: SavedSession) -> None:
        """Keeps it as the version after the one it carries."""
        with _translated():
            await self._store.save(name, saved)

    async def close(self) -> None:
        """Releases what it holds."""
        with _translated():
            await self._store.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except SessionChangedError as problem:
        raise ConflictError(str(problem)) from None
    except SessionStoreError as problem:
        raise StoreError(str(problem)) from None
