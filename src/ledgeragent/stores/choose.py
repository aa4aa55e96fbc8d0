"""Which store the option of the command line names."""

from __future__ import annotations

from ledgeragent.stores.base import MOST_BYTES, ProcessStore, SessionStore


def open_session_store(place: str, limit: int = 10_000, most: int = MOST_BYTES) -> SessionStore:
    """The store for `memory`, the address of a Postgres database, or else a SQLite file.

    `limit` is how many sessions, and how many replies, are kept in memory, `most` how many bytes of
    either.
    """
    if place == "memory":
        return ProcessStore(limit, most)
    if place.startswith(("postgres://", "postgresql://")):
        from ledgeragent.stores.postgres import PostgresSessions

        return PostgresSessions(place)
    from ledgeragent.stores.sqlite import SqliteSessions

    return SqliteSessions(place)
