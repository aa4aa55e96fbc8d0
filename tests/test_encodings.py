"""Databases whose texts are of another encoding: what is kept in them is read as it was written."""

from __future__ import annotations

import pytest

from ledgeragent.journal import open_store, read
from ledgeragent.stores.choose import open_session_store
from ledgeragent.stores.errors import SessionStoreError
from ledgeragent.types import UserMessage
from tests.gateway.wires import CHAT
from tests.gateway.world import HELLO, READ, SAY, WRITE, run, world
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, answer
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
def test_a_session_that_another_gateway_goes_on_with(
    postgres: PostgresServer, encoding: str
) -> None:
    address = postgres.fresh_database(encoding)
    mine = {"x-ledgeragent-session": "ada"}
    ada = answer(GET_MEMBER, {**ADA, "name": "Müller ß"})

    async def scenario() -> None:
        async with world(SAY, store=open_session_store(address)) as w:
            await w.release(CHAT, mine)
            await w.ask(CHAT, (HELLO, READ, ada, answer(GET_BOOK, BOOK_IN)), headers=mine)
        async with world(WRITE, store=open_session_store(address)) as w:
            got = await w.ask(CHAT, (UserMessage(text="Yes, please."),), headers=mine)
            assert got.verdicts == "lend_book=ALLOW"
            assert "Müller ß" in CHAT.told(w.upstream.asked[0])

    run(scenario())


def test_whoever_starts_a_gateway_is_told_where_nobody_answered() -> None:
    async def scenario() -> None:
        store = open_session_store(f"postgresql://u:{PASSWORD}@127.0.0.1:1/d")
        with pytest.raises(SessionStoreError, match=r"://\*\*\*@127\.0\.0\.1:1/d: .* be reached"):
            await store.open()

    run(scenario())
