"""Texts that were parsed before: parsed once, and with the same result."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ledgeragent.absorb import absorb
from ledgeragent.effects import Read, ReturnRoute, Write
from ledgeragent.ledger import Ledger
from ledgeragent.offline.remembering import remembering
from ledgeragent.types import Json, ToolReturn, parse_json
from tests.lending.domain import BOOK, BOOK_IN, BOOK_OUT, GET_BOOK, LEND, LIBRARY, Lend


def counted(text: str) -> tuple[int, Ledger]:
    """How often a return that comes three times is parsed, and the ledger after it."""
    parsed: list[str] = []

    def parse(content: str) -> Json:
        parsed.append(content)
        return parse_json(content)

    tools = [replace(t, parse=parse) if isinstance(t, Read) else t for t in LIBRARY.tools]
    domain = remembering(replace(LIBRARY, tools=tools))
    ledger = Ledger()
    for _ in range(3):
        returned = ToolReturn(call_id=GET_BOOK.id, content=text)
        ledger = absorb(ledger, GET_BOOK, returned, domain).ledger
    return len(parsed), ledger


@pytest.mark.parametrize(("title", "times"), [("Ferns", 1), ("F" * 20_000, 3)])
def test_a_text_is_parsed_once_unless_it_is_very_long(title: str, times: int) -> None:
    book = {**BOOK_IN, "title": title}
    number, ledger = counted(json.dumps(book))
    assert number == times
    assert [entry.value for entry in ledger] == [book]


def test_what_cannot_be_parsed_is_no_record_the_second_time_either() -> None:
    number, ledger = counted("{")
    assert (number, [entry.typed for entry in ledger]) == (3, [False])


def test_what_a_write_answers_is_parsed_once_too() -> None:
    parsed: list[str] = []

    def parse(content: str) -> Json:
        parsed.append(content)
        return parse_json(content)

    answering = Write(
        tool="lend_book", arguments=Lend, returns=(ReturnRoute(to=BOOK, parse=parse),)
    )
    tools = [answering if t.tool == "lend_book" else t for t in LIBRARY.tools]
    domain, ledger = remembering(replace(LIBRARY, tools=tools)), Ledger()
    for _ in range(3):
        returned = ToolReturn(call_id=LEND.id, content=json.dumps(BOOK_OUT))
        ledger = absorb(ledger, LEND, returned, domain).ledger
    assert (len(parsed), [entry.value for entry in ledger]) == (1, [BOOK_OUT])
