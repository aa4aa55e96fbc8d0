"""The ledger in a prompt has a size, and what it leaves out is told to model, client and operator."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.gateway.ledgertail import ledger_tail
from ledgeragent.ledger import Entry, Ledger
from ledgeragent.paths import PathTemplate
from ledgeragent.render import render
from ledgeragent.types import ToolCall
from tests.gateway.conftest import Client
from tests.gateway.world import KNOWN, READ, SAY, WRITE, run, world

BOOK = PathTemplate("books.{id}", dict)
LIST = ToolCall(name="list_books", arguments={}, id="c")


def ledger_of(*turns: int, size: int = 50) -> Ledger:
    """One record a turn that is given, of about so many bytes."""
    entries = [
        Entry(path=BOOK(f"B{n}"), value={"text": "x" * size}, source=LIST, turn=turn)
        for n, turn in enumerate(turns)
    ]
    return Ledger().put_all(entries) if entries else Ledger()


def test_what_fits_is_shown_as_ever() -> None:
    ledger = ledger_of(1, 1, 2)
    assert ledger_tail(ledger, 10_000) == (render(ledger), 0)
    assert ledger_tail(Ledger(), 0) == (render(Ledger()), 0)


def test_the_oldest_give_way_and_the_model_is_told() -> None:
    text, left_out = ledger_tail(ledger_of(3, 1, 2, 1), 160)
    assert left_out == 2
    assert "books.B0 = " in text and "books.B2 = " in text
    assert "books.B1 = " not in text and "books.B3 = " not in text
    assert "(2 records under books, read earlier by list_books, left out for length" in text
    assert text.startswith("<ledger>\n") and text.endswith("\n</ledger>")


def test_ten_thousand_records_take_no_more_than_their_share() -> None:
    text, left_out = ledger_tail(ledger_of(*range(10_000), size=1_500), 64 << 10)
    assert len(text) < (64 << 10) + 1_000
    assert 9_900 < left_out < 10_000


@given(st.lists(st.integers(0, 5), max_size=20), st.integers(0, 2_000), st.integers(0, 300))
def test_every_record_is_shown_or_counted(turns: list[int], most: int, size: int) -> None:
    text, left_out = ledger_tail(ledger_of(*turns, size=size), most)
    assert text.count("books.B") + left_out == len(turns)
    shown = [line for line in text.splitlines() if line.startswith("books.")]
    assert sum(len(line) + 1 for line in shown) <= most


def test_the_client_and_the_operator_are_told(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    headers = {"x-ledgeragent-session": "mine"}

    async def scenario() -> None:
        async with world(WRITE, SAY, max_ledger=40, max_revisions=0) as w:
            await client.release(w, headers, READ)
            got = await client.ask(w, *KNOWN, headers=headers)
            assert got.headers["x-ledgeragent-left-out"] == "2"
            assert got.verdicts == "lend_book=ALLOW", "verdicts rest on all records"
            assert "left out for length" in client.wire.told(w.upstream.asked[-1])
            assert "ledgeragent_shortened_ledgers_total 1" in await w.gateway.metrics_text()

    run(scenario())
    assert "leaves out 2 records by now" in caplog.text
