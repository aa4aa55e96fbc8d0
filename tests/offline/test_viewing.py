"""What `view` reads: recorded runs, and journals with the verdicts that they recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgeragent import Reply, Session, ToolCall, ToolReturn, UserMessage, load_domain
from ledgeragent.errors import DataError, UsageError
from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.journal import Journal, open_store
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.viewing import Recording, RunView, conversations, viewed


def _journal(file: Path, *, redact: tuple[str, ...] = ()) -> None:
    """One session: a write is refused, a read it asked for is made, the write is refused again."""
    domain = load_domain("shop")
    store = open_store(file, writable=True)
    journal, session = Journal(store, domain, redact=redact), Session(domain)
    journal.heard("s1", UserMessage(text="cancel G-1"))
    session.heard("cancel G-1")
    for name in ("cancel_order", "get_order", "cancel_order"):
        call = ToolCall(name=name, arguments={"order_id": "G-1"}, id=name)
        reply = Reply(calls=(call,))
        journal.proposed("s1", reply)
        filtered = session.filter(reply)
        journal.judged("s1", filtered)
        if filtered.execute:
            returned = ToolReturn(call_id=name, content='{"order_id": "G-1", "status": "open"}')
            journal.observed("s1", call, returned, session.observe(returned))
    journal.close()


def _only(file: Path) -> RunView:
    (conversation,) = conversations(str(file))
    assert isinstance(conversation, Recording)
    return viewed(conversation, None)


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.sqlite"])
def test_a_journal_is_shown_with_the_verdicts_it_recorded(tmp_path: Path, name: str) -> None:
    _journal(tmp_path / name)
    shown = _only(tmp_path / name)
    answer = shown.steps[1].calls[0].answer
    assert shown.domain.name == "shop" and not shown.conversation.redacted
    assert answer is not None and (answer.outcome, answer.executed) == ("evidence", False)
    assert shown.steps[2].text == NOT_EXECUTED and shown.steps[3].calls[0].answer is None
    assert shown.steps[4].stored == ("orders.G-1",)


def test_a_reply_whose_verdict_was_never_written_has_none(tmp_path: Path) -> None:
    _journal(tmp_path / "whole.jsonl")
    lines = (tmp_path / "whole.jsonl").read_text().splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if json.loads(line)["event"] == "judged")
    (tmp_path / "runs.jsonl").write_text("".join([*lines[:first], *lines[first + 1 :]]))
    shown = _only(tmp_path / "runs.jsonl")
    answers = [call.answer for step in shown.steps for call in step.calls]
    assert [answer is None for answer in answers] == [True, True, False]


def test_a_redacted_journal_says_so(tmp_path: Path) -> None:
    _journal(tmp_path / "runs.jsonl", redact=("text",))
    assert _only(tmp_path / "runs.jsonl").conversation.redacted


def test_redacted_arguments_do_not_hide_the_verdicts(tmp_path: Path) -> None:
    _journal(tmp_path / "runs.jsonl", redact=("args",))
    answer = _only(tmp_path / "runs.jsonl").steps[1].calls[0].answer
    assert answer is not None and answer.outcome == "evidence"
    assert answer.findings[0].reads == ("find_customer([redacted])",)


def test_a_run_that_names_no_domain_needs_one(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"messages": [{"role": "user", "content": "hello"}]}))
    with pytest.raises(UsageError, match="--domain"):
        _only(file)
    (conversation,) = conversations(str(file))
    assert isinstance(conversation, Recording)
    assert viewed(conversation, Binding(name="retail")).domain.name == "retail"


def test_a_broken_run_is_told_not_raised(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text('{"messages": [{"role": "nobody"}]}\n')
    (problem,) = conversations(str(file))
    assert isinstance(problem, DataError)


def test_a_database_that_is_no_journal_is_told(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    file.write_text("no database")
    with pytest.raises(DataError):
        list(conversations(str(file)))
