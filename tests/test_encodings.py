"""Databases whose texts are of another encoding: what is kept in them is read as it was written."""

from __future__ import annotations

import asyncio

import pytest

from ledgeragent.journal import open_store, read
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.choose import open_session_store
from ledgeragent.stores.errors import SessionStoreError
from ledgeragent.stores.memory import Memory
from tests.postgres import PASSWORD, PostgresServer

pytest.importorskip("psycopg")
pytest.importorskip("cryptography")

from tests.journal.test_journal import play
from tests.journal.test_postgres import opened, said, verified

ENCODINGS = ("SQL_ASCII", "LATIN1", "UTF8")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_journal(
    postgres: PostgresServer, encoding: str, capsys: pytest.CaptureFixture[str]
) -> None:
    database = postgres.fresh_database(encoding)
    with opened(database) as journal:
        play(journal)
        said(journal, "Müller wants ß.", "s2")
    assert verified(database, capsys)[0] == 0
    store = open_store(database)
    assert "Müller wants ß." in str(list(read(store)))
    store.close()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_session(postgres: PostgresServer, encoding: str) -> None:
    async def scenario() -> None:
        address = postgres.fresh_database(encoding)
        first, second = (open_session_store(address) for _ in range(2))
        await first.open()
        await second.open()
        await first.save("ü", SavedSession(memory=Memory(session="ü"), folded=("ß",)))
        kept = await second.load("ü")
        assert kept is not None
        assert (kept.memory.session, kept.folded) == ("ü", ("ß",))
        await first.close()
        await second.close()

    asyncio.run(scenario())


def test_whoever_starts_a_gateway_is_told_where_nobody_answered() -> None:
    async def scenario() -> None:
        store = open_session_store(f"postgresql://u:{PASSWORD}@127.0.0.1:1/d")
        with pytest.raises(SessionStoreError, match=r"://\*\*\*@127\.0\.0\.1:1/d: .* be reached"):
            await store.open()

    asyncio.run(scenario())
