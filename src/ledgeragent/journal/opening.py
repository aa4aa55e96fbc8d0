"""Opening a journal by the name of its place: a file, or the address of a Postgres database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as File

from ledgeragent.journal.checkpoints import Checkpoints, is_address
from ledgeragent.journal.sqlite import SqliteStore
from ledgeragent.journal.stores import JsonlStore, Store

_DATABASES = {".sqlite", ".sqlite3", ".db"}


def open_store(place: File | str, *, writable: bool = False) -> Store:
    """The store for a place: Postgres for an address, SQLite for `.sqlite` and `.db`, else JSON Lines.

    Of a database, whoever writes has a chain of their own, and whoever reads is shown all of them.
    """
    if is_address(place):
        from ledgeragent.journal.database import JournalDatabase
        from ledgeragent.journal.postgres import MergedChains, PostgresStore

        base = JournalDatabase(str(place))
        return PostgresStore.of_writer(base) if writable else MergedChains.of_reader(base)
    file = File(place)
    kind = SqliteStore if file.suffix in _DATABASES else JsonlStore
    return kind(file, writable=writable)


def open_to_write(place: File | str, checkpoints: Checkpoints) -> tuple[Store, Checkpoints]:
    """The store, and its checkpoints with the heads that a database keeps itself."""
    store = open_store(place, writable=True)
    if checkpoints.signer is None or not is_address(place):
        return store, checkpoints
    from ledgeragent.journal.postgres import PostgresStore

    assert isinstance(store, PostgresStore)
    places = (store, *checkpoints.places)
    return store, replace(checkpoints, places=places, earlier=tuple(store.heads()))
