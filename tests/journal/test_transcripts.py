"""Transcripts: what a journal tells, as the messages that were judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgeragent.gate import Gate
from ledgeragent.journal import Journal
from ledgeragent.journal.recorder import Recorder
from ledgeragent.journal.transcripts import exported
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall, UserMessage
from tests.journal.reading import records_of
from tests.journal.test_journal import CONTENT, written
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, LIBRARY, answer, call


@pytest.mark.parametrize("name", ["j.jsonl", "j.sqlite"])
def test_the_export_is_the_conversation_as_it_happened(tmp_path: Path, name: str) -> None:
    [conversation] = exported(records_of(written(tmp_path / name)))
    assert conversation["id"] == "s1"
    messages = conversation["messages"]
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant", "tool"]
    assert messages[2]["content"] == CONTENT
    assert messages[4]["error"], "no tool ever heard of a rejected call, and none will answer it"


class Told:
    """A conversation whose calls arrive singly, as a proxy sees them."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.journal = Journal.open(file, LIBRARY)
        self.recorder = Recorder(LIBRARY, self.journal)
        self.state = State()

    def asks(self, *calls: ToolCall, text: str = "", shadow: bool = False) -> None:
        reply = Reply(text=text, calls=calls)
        before = self.state.pending
        self.state, filtered = self.state.filter(reply, Gate(domain=LIBRARY), "drop")
        self.recorder.judged("s", reply, filtered, shadow=shadow)
        pending = calls if shadow else filtered.execute
        self.state = State(ledger=self.state.ledger, pending=(*before, *pending))

    def gets(self, to: ToolCall, content: Any) -> None:
        before, message = self.state, answer(to, content)
        self.state = before.observe(message, LIBRARY)
        self.recorder.note("s", message, before, self.state)

    def shape(self) -> list[Any]:
        """The exported conversation: names of calls in each message, names that were answered."""
        self.journal.close()
        [conversation] = exported(records_of(self.file))
        shown: list[Any] = []
        for message in conversation["messages"]:
            calls = [c["function"]["name"] for c in message.get("tool_calls", ())]
            shown.append(calls or message.get("tool_call_id") or message["content"])
        return shown


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path / "j.jsonl")


def test_calls_that_were_open_at_once_stand_in_one_message(told: Told) -> None:
    told.asks(GET_MEMBER)
    told.asks(GET_BOOK)
    told.gets(GET_BOOK, BOOK_IN)
    told.gets(GET_MEMBER, ADA)
    told.asks(LEND)
    told.gets(LEND, "lent")
    both = ["get_member", "get_book"]
    assert told.shape() == [both, "get_book", "get_member", ["lend_book"], "lend_book"]


def test_an_answer_stands_behind_its_call_however_late_it_came(told: Told) -> None:
    told.asks(GET_MEMBER)
    told.asks(GET_BOOK)
    told.gets(GET_MEMBER, ADA)
    told.asks(LEND)
    told.gets(GET_BOOK, BOOK_IN)
    both = ["get_member", "get_book"]
    assert told.shape() == [both, "get_member", "get_book", ["lend_book"], "lend_book"]


def test_a_rejected_call_is_open_for_nobody(told: Told) -> None:
    told.asks(LEND)
    told.asks(GET_BOOK)
    told.gets(GET_BOOK, BOOK_IN)
    assert told.shape() == [["lend_book"], "lend_book", ["get_book"], "get_book"]


def test_a_call_that_waited_and_was_judged_again_is_answered_by_its_tool(told: Told) -> None:
    told.asks(GET_MEMBER, GET_BOOK, LEND)
    told.gets(GET_MEMBER, ADA)
    told.gets(GET_BOOK, BOOK_IN)
    gate, before = Gate(domain=LIBRARY), told.state
    told.state, filtered = before.filter(Reply(calls=(LEND,)), gate, "drop")
    told.recorder.judged_again("s", filtered)
    told.gets(LEND, "lent")
    calls = ["get_member", "get_book", "lend_book"]
    assert told.shape() == [calls, *calls]


def test_a_rejected_call_that_ran_in_shadow_mode_has_its_answer(told: Told) -> None:
    told.asks(LEND, shadow=True)
    told.asks(GET_BOOK, shadow=True)
    told.gets(LEND, "lent")
    told.gets(GET_BOOK, BOOK_IN)
    assert told.shape() == [["lend_book", "get_book"], "lend_book", "get_book"]


def test_what_was_said_stands_by_itself(told: Told) -> None:
    told.recorder.note("s", UserMessage(text="Hi"), told.state, told.state)
    told.asks(call("get_book", book_id="B1"), text="Let me look.")
    told.asks(text="There it is.")
    assert told.shape() == ["Hi", ["get_book"], "There it is."]
