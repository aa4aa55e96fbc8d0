"""The journal: nothing is lost, nothing can be changed unseen, secrets stay out."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import pytest

from ledgeragent import (
    Domain,
    PathTemplate,
    Read,
    Reply,
    Session,
    ToolCall,
    ToolReturn,
    UserMessage,
    Write,
    predicate,
    violation,
)
from ledgeragent.errors import DataError, UsageError
from ledgeragent.journal import REDACTED, Journal, SqliteStore, open_store, verify
from ledgeragent.journal.transcripts import exported
from tests.journal.reading import chain_of, records_of


class Account(TypedDict):
    account_id: str
    owner: str
    status: str


class CloseArguments(TypedDict):
    account_id: str


ACCOUNT = PathTemplate("accounts.{account_id}", Account)


@predicate("bank/account-open", guards="close_account")
def account_open(call: CloseArguments, ledger: object) -> object:
    """Only an open account is closed."""
    status = ledger[ACCOUNT(call["account_id"])]["status"]  # type: ignore[index]
    return None if status == "open" else violation("the account is {status}", status=status)


BANK = Domain(
    name="bank",
    version="1",
    digest="abc",
    tools=(
        Read(tool="get_account", to=ACCOUNT, parameters=("account_id",)),
        Write(tool="close_account", arguments=CloseArguments),
    ),
    predicates=(account_open,),
)

CONTENT = json.dumps({"account_id": "A1", "owner": "Ines Okafor", "status": "frozen"})
READ = ToolCall(name="get_account", arguments={"account_id": "A1"}, id="c1")
CLOSE = ToolCall(name="close_account", arguments={"account_id": "A1"}, id="c2")


def play(journal: Journal, session_id: str = "s1") -> None:
    """One conversation: a read, then a write that is rejected."""
    session = Session(BANK)
    journal.heard(session_id, UserMessage(text="close my account A1"))
    session.heard()
    for reply in (Reply(calls=(READ,)), Reply(calls=(CLOSE,))):
        journal.proposed(session_id, reply)
        filtered = session.filter(reply)
        journal.judged(session_id, filtered)
        for call in filtered.execute:
            returned = ToolReturn(call_id=call.id, content=CONTENT)
            journal.observed(session_id, call, returned, session.observe(returned))


@pytest.fixture(params=["journal.jsonl", "journal.sqlite"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def written(file: Path, **options: object) -> Path:
    journal = Journal(open_store(file, writable=True), BANK, **options)  # type: ignore[arg-type]
    play(journal)
    journal.close()
    return file


def test_every_event_is_kept_in_order_and_stamped(file: Path) -> None:
    records = records_of(written(file))
    assert [r["event"] for r in records] == [
        "heard",
        "proposed",
        "judged",
        "observed",
        "proposed",
        "judged",
    ]
    assert all(r["pack"] == {"name": "bank", "version": "1", "digest": "abc"} for r in records)
    [rejection] = records[-1]["verdicts"]
    assert rejection["decision"] == "REVISE"
    [fact] = rejection["findings"][0]["evidence"]
    assert fact["path"] == "accounts.A1.status" and fact["value"] == "frozen"
    assert chain_of(file).intact


def test_a_second_run_continues_the_chain(file: Path) -> None:
    written(file)
    written(file)
    chain = chain_of(file)
    assert chain.intact and chain.records == 12


@pytest.mark.parametrize("tamper", ["change", "remove", "swap", "garbage"])
def test_tampering_is_found(tmp_path: Path, tamper: str) -> None:
    file = written(tmp_path / "j.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    if tamper == "change":
        lines[5] = lines[5].replace("REVISE", "ALLOW")
    elif tamper == "remove":
        del lines[2]
    elif tamper == "swap":
        lines[1], lines[2] = lines[2], lines[1]
    else:
        lines[3] = "{not json}\n"
    file.write_text("".join(lines))
    chain = chain_of(file)
    assert not chain.intact
    with pytest.raises(UsageError, match="cannot be continued"):
        Journal(open_store(file, writable=True), BANK)


@pytest.mark.parametrize("keep", [1, 10, 200])
def test_a_torn_last_record_is_reported_and_all_earlier_ones_are_intact(
    tmp_path: Path, keep: int
) -> None:
    file = written(tmp_path / "j.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]) + lines[-1][:keep])
    chain = chain_of(file)
    assert (chain.intact, chain.records, chain.torn) == (True, 5, keep)
    Journal(open_store(file, writable=True), BANK).close()
    chain = chain_of(file)
    assert (chain.intact, chain.records, chain.torn) == (True, 6, 0)
    assert records_of(file)[-1]["event"] == "recovered"
    [saved] = tmp_path.glob("j.jsonl.torn-*")
    assert saved.read_bytes() == lines[-1][:keep]


def test_killed_while_writing_every_announced_record_is_there(tmp_path: Path) -> None:
    file, announced = tmp_path / "j.jsonl", tmp_path / "announced"
    program = (
        "import sys; from pathlib import Path\n"
        "from ledgeragent import UserMessage\n"
        "from ledgeragent.journal import Journal, open_store\n"
        "from tests.journal.test_journal import BANK\n"
        f"journal = Journal(open_store({str(file)!r}, writable=True), BANK)\n"
        f"out = open({str(announced)!r}, 'ab', buffering=0)\n"
        "n = 0\n"
        "while True:\n"
        "    n += 1\n"
        "    journal.heard('s', UserMessage(text=f'{n}'))\n"
        "    out.write(f'{n}\\n'.encode())\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[2])
    while not announced.exists() or announced.stat().st_size < 200:
        time.sleep(0.02)
    child.kill()
    child.wait()
    last = int(announced.read_text().split()[-1])
    assert chain_of(file).intact
    texts = [r["text"] for r in records_of(file)]
    assert texts[:last] == [str(n) for n in range(1, last + 1)]


def test_a_second_writer_is_refused_and_readers_are_not(file: Path) -> None:
    journal = Journal.open(file, BANK)
    journal.heard("s", UserMessage(text="first"))
    with pytest.raises(UsageError, match="another process"):
        Journal.open(file, BANK)
    reader = open_store(file)
    assert verify(reader).records == 1
    reader.close()
    journal.heard("s", UserMessage(text="second"))
    journal.close()
    Journal.open(file, BANK).close()


@pytest.mark.parametrize("name", ["missing.jsonl", "missing.sqlite"])
def test_a_missing_journal_is_a_clear_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=name):
        open_store(tmp_path / name)


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path: Path) -> None:
    file = tmp_path / "j.sqlite"
    file.write_text("not a database" * 100)
    with pytest.raises(DataError, match="not a journal"):
        SqliteStore(file, writable=True)


def test_redacted_values_are_nowhere_in_the_file(tmp_path: Path) -> None:
    file = written(tmp_path / "j.jsonl", redact=["accounts.*.owner", "accounts.*.status", "text"])
    text = file.read_text()
    assert "Okafor" not in text and "frozen" not in text and "close my account" not in text
    observed = next(r for r in records_of(file) if r["event"] == "observed")
    assert observed["content"] == {"account_id": "A1", "owner": REDACTED, "status": REDACTED}


@pytest.mark.parametrize("redact", [(), ("params.code",)])
def test_verdicts_tell_the_parameters_that_their_rules_had(
    tmp_path: Path, redact: tuple[str, ...]
) -> None:
    file, domain = (
        tmp_path / "j.jsonl",
        replace(BANK, parameters={"most": 40, "code": "open sesame"}),
    )
    with Journal.open(file, domain, redact=redact) as journal:
        assert journal.keeps(domain) and not journal.keeps(BANK)
        play(journal, "first")
        play(journal.under(BANK), "second")
        play(journal.under(replace(domain, parameters={"most": 50}), redact=redact), "third")
    told = {r["session"]: r.get("parameters") for r in records_of(file) if r["event"] == "judged"}
    code = REDACTED if redact else "open sesame"
    assert told == {"first": {"most": 40, "code": code}, "second": None, "third": {"most": 50}}
    assert bool(redact) != ("sesame" in file.read_text())
    whole = {one["id"]: one.get("parameters") for one in exported(records_of(file))}
    assert whole == told


def test_threads_may_share_a_journal(file: Path) -> None:
    with Journal.open(file, BANK) as journal, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: play(journal, f"s{n}"), range(24)))
    chain = chain_of(file)
    assert chain.intact and chain.records == 24 * 6


def test_what_does_not_fit_on_the_disk_leaves_no_half_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "j.jsonl"
    journal = Journal.open(file, BANK)
    journal.heard("s", UserMessage(text="before"))
    whole, room = os.write, [30]

    def write(handle: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "no space left")
        return whole(handle, data[: room.pop()])

    with monkeypatch.context() as full:
        full.setattr(os, "write", write)
        with pytest.raises(OSError, match="no space left"):
            journal.heard("s", UserMessage(text="lost"))
    journal.heard("s", UserMessage(text="after"))
    journal.close()
    assert chain_of(file).intact
    assert [r["text"] for r in records_of(file)] == ["before", "after"]


def test_a_session_tells_its_journal(file: Path) -> None:
    with Journal.open(file, BANK) as journal:
        session = Session(BANK, journal=journal)
        session.heard("close my account A1")
        for reply in (Reply(calls=(READ,)), Reply(calls=(CLOSE,))):
            for call in session.filter(reply).execute:
                session.observe(ToolReturn(call_id=call.id, content=CONTENT))
    records = records_of(file)
    events = ["heard", "proposed", "judged", "observed", "proposed", "judged"]
    assert [r["event"] for r in records] == events
    assert {r["session"] for r in records} == {session.name}
