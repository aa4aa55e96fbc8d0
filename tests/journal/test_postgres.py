"""A journal in Postgres: a chain for each writer, none broken by a crash, all proven at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import main
from ledgeragent.errors import UsageError
from ledgeragent.journal import Event, Journal, open_store, read
from ledgeragent.journal.checkpoints import CheckpointPlan
from ledgeragent.journal.signing import make_keys
from ledgeragent.types import UserMessage
from tests.journal.test_journal import BANK, play
from tests.postgres import PASSWORD, PostgresServer

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("cryptography")

from ledgeragent.journal.database import (  # noqa: E402
    ConnectionLostError,
    DatabaseError,
    JournalDatabase,
)
from ledgeragent.journal.postgres import PostgresStore  # noqa: E402


def opened(database: str, **plan: Any) -> Journal:
    redact = plan.pop("redact", ())
    checkpoints = CheckpointPlan(**plan).checkpoints(database)
    return Journal.open(database, BANK, redact=redact, checkpoints=checkpoints)


def chain_of(journal: Journal) -> str:
    store = journal._chain.store
    assert isinstance(store, PostgresStore)
    return store.chain


def said(journal: Journal, text: str, session: str = "s1") -> None:
    journal.heard(session, UserMessage(text=text))


def records(database: str) -> list[Event]:
    store = open_store(database)
    try:
        return list(read(store))
    finally:
        store.close()


def run(database: str, statement: str) -> list[Any]:
    with psycopg.connect(database, autocommit=True) as base:
        cursor = base.execute(statement)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def key(tmp_path: Path) -> str:
    make_keys(tmp_path / "key")
    return str(tmp_path / "key")


@pytest.fixture(autouse=True)
def no_password(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    """Whatever happens, the address is shown without its password."""
    yield
    shown = "".join(capsys.readouterr()) + caplog.text
    assert PASSWORD not in shown


def verified(database: str, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    code = main(["journal", "verify", database, *options])
    printed = capsys.readouterr().out
    assert PASSWORD not in printed
    return code, printed


def test_writers_at_once_have_chains_of_their_own(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    journals = [opened(database) for _ in range(3)]
    names = {chain_of(journal) for journal in journals}
    assert len(names) == 3
    threads = [threading.Thread(target=play, args=(j, f"s{n}")) for n, j in enumerate(journals)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for journal in journals:
        journal.close()
    code, printed = verified(database, capsys)
    assert code == 0
    assert printed.count("6 records intact") == 3
    assert {record["session"] for record in records(database)} == {"s0", "s1", "s2"}


def test_who_comes_next_takes_up_a_chain_that_nobody_writes(
    database: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(database, key=key) as first, opened(database, key=key) as second:
        play(first)
        play(second)
        names = {chain_of(first), chain_of(second)}
    with opened(database, key=key) as third:
        play(third)
        assert chain_of(third) in names
    code, printed = verified(database, capsys, "--key", f"{key}.pub")
    assert (code, printed.count("intact")) == (0, 2)


def test_a_writer_that_was_killed_leaves_a_chain_that_is_gone_on_with(
    database: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = opened(database, key=key)
    play(killed)
    killed._chain.store.close()  # no head was taken
    code, printed = verified(database, capsys, "--key", f"{key}.pub")
    assert code == 1
    assert "there is no signed head" in printed
    with opened(database, key=key):
        pass
    code, printed = verified(database, capsys, "--key", f"{key}.pub")
    assert code == 0
    assert "record 7 tells that 6 before it were not covered" in printed


def test_the_database_restarts_and_nothing_is_lost(
    postgres: PostgresServer, capsys: pytest.CaptureFixture[str]
) -> None:
    database = postgres.fresh_database()
    journal = opened(database)
    said(journal, "before")
    postgres.stop()
    with pytest.raises(OSError, match="the journal's database failed"):
        said(journal, "while it is away")
    postgres.start()
    said(journal, "after")
    journal.close()
    assert [r["text"] for r in records(database)] == ["before", "after"]
    assert verified(database, capsys)[0] == 0


def test_the_last_head_is_taken_though_the_database_restarted_before(
    postgres: PostgresServer, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    database = postgres.fresh_database()
    journal = opened(database, key=key)
    said(journal, "before")
    postgres.stop()
    postgres.start()
    journal.close()
    assert verified(database, capsys, "--key", f"{key}.pub")[0] == 0


def test_a_record_whose_answer_was_lost_is_written_once(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The connection breaks after the database has the record, and before it says so."""
    journal = opened(database)
    said(journal, "one")
    genuine = JournalDatabase.run

    def broken_off(self: JournalDatabase, statement: Any, *values: object) -> Any:
        cursor = genuine(self, statement, *values)
        if "INSERT INTO ledgeragent_journal" in statement and "two" in str(values):
            monkeypatch.undo()
            self.close()
            raise ConnectionLostError("gone")
        return cursor

    monkeypatch.setattr(JournalDatabase, "run", broken_off)
    said(journal, "two")
    said(journal, "three")
    journal.close()
    assert [r["text"] for r in records(database)] == ["one", "two", "three"]
    assert verified(database, capsys)[0] == 0


def test_a_record_that_was_refused_and_yet_is_there_begins_a_new_chain(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who was told that it failed may tell it again; the chain that holds it is gone on with by nobody."""
    journal = opened(database)
    said(journal, "one")
    chain, genuine = chain_of(journal), JournalDatabase.run

    def broken_off(self: JournalDatabase, statement: Any, *values: object) -> Any:
        if "INSERT INTO ledgeragent_journal" in statement:
            genuine(self, statement, *values)
            self.close()
            raise ConnectionLostError("gone")
        return genuine(self, statement, *values)

    def away(self: JournalDatabase) -> None:
        raise DatabaseError("away")

    with monkeypatch.context() as patch:
        patch.setattr(JournalDatabase, "run", broken_off)
        patch.setattr(JournalDatabase, "connect", away)
        with pytest.raises(OSError, match="away"):
            said(journal, "two")
    said(journal, "two")
    journal.close()
    assert chain_of(journal) != chain
    events = [(r["event"], r.get("text")) for r in records(database)]
    assert events == [("heard", "one"), ("heard", "two"), ("continued", None), ("heard", "two")]
    code, printed = verified(database, capsys)
    assert (code, printed.count("2 records intact")) == (0, 2)


def test_another_writer_has_taken_the_chain_meanwhile(
    postgres: PostgresServer, capsys: pytest.CaptureFixture[str]
) -> None:
    database = postgres.fresh_database()
    journal = opened(database)
    said(journal, "one")
    postgres.stop()
    postgres.start()
    other = opened(database)
    assert chain_of(other) == chain_of(journal)
    said(other, "two")
    said(journal, "three")
    assert chain_of(other) != chain_of(journal)
    other.close()
    journal.close()
    assert verified(database, capsys)[0] == 0
    assert sorted(r["text"] for r in records(database) if "text" in r) == [
        "one",
        "three",
        "two",
    ]


def test_a_chain_is_left_after_so_many_records(
    database: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(database, key=key, rotate=10) as journal:
        for number in range(25):
            said(journal, f"{number}")
    texts = [r["text"] for r in records(database) if r["event"] == "heard"]
    assert texts == [f"{number}" for number in range(25)]
    code, printed = verified(database, capsys, "--key", f"{key}.pub")
    assert (code, printed.count("intact")) == (0, 3)
    with opened(database, key=key) as journal:
        [(ended,)] = run(database, "SELECT count(*) FROM ledgeragent_chains WHERE ended")
        assert ended == 2


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE ledgeragent_journal SET record = replace(record, '2', '8') WHERE seq = 3",
         "does not follow"),
        ("DELETE FROM ledgeragent_journal WHERE seq = 3", "does not follow"),
        ("DELETE FROM ledgeragent_journal WHERE seq = 11", "the last are gone"),
        ("DELETE FROM ledgeragent_journal WHERE chain = (SELECT min(chain) FROM ledgeragent_chains)",
         "the last are gone"),
        ("INSERT INTO ledgeragent_journal SELECT chain, 0, record FROM ledgeragent_journal WHERE seq = 2",
         "does not follow"),
        ("INSERT INTO ledgeragent_journal SELECT chain, -9223372036854775808, record "
         "FROM ledgeragent_journal WHERE seq = 2", "does not follow"),
    ],
)  # fmt: skip
def test_what_somebody_changes_in_the_database_is_found(
    database: str, key: str, capsys: pytest.CaptureFixture[str], statement: str, problem: str
) -> None:
    with opened(database, key=key, rotate=10) as journal:
        for number in range(15):
            said(journal, f"{number}")
    with psycopg.connect(database, autocommit=True) as base:
        if not statement.startswith("INSERT"):
            with pytest.raises(psycopg.Error, match="append-only"):
                base.execute(statement)
        base.execute("SET ledgeragent.erasing = 'on'")
        base.execute(statement)
    code, printed = verified(database, capsys, "--key", f"{key}.pub")
    assert code == 1
    assert problem in printed


def test_a_chain_that_is_gone_with_its_heads_is_missed(
    database: str, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the chain that goes on from it, and by a head that was kept elsewhere."""
    kept = tmp_path / "kept"
    with opened(database, key=key, rotate=10, places=(str(kept),)) as journal:
        for number in range(15):
            said(journal, f"{number}")
    oldest = "(SELECT min(chain) FROM ledgeragent_chains)"
    with psycopg.connect(database, autocommit=True) as base:
        base.execute("SET ledgeragent.erasing = 'on'")
        for table in ("ledgeragent_journal", "ledgeragent_heads", "ledgeragent_chains"):
            base.execute(f"DELETE FROM {table} WHERE chain = {oldest}")  # type: ignore[call-overload]
    code, printed = verified(database, capsys, "--head", str(kept))
    assert code == 1
    assert "is gone, and another one goes on from its record 11" in printed
    assert "tells of a chain of 11 records that is not there" in printed


def test_a_conversation_is_erased_while_others_are_written(
    database: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(database, key=key) as one, opened(database, key=key) as other:
        for journal in (one, other):
            said(journal, "I am Ines Okafor", "mine")
            said(journal, "I am somebody else", "yours")
        assert main(["journal", "erase", database, "--session", "mine", "--key", key]) == 0
        said(one, "and on", "yours")
    assert "2 records of mine erased" in capsys.readouterr().out
    assert "Okafor" not in str(run(database, "SELECT record FROM ledgeragent_journal"))
    code, printed = verified(database, capsys, "--key", f"{key}.pub")
    assert code == 0, printed
    assert {r["session"] for r in records(database)} == {"yours", ""}
    with opened(database, key=key):  # the next writer takes such a chain up
        pass
    with pytest.raises(UsageError, match="there is no conversation mine"):
        from ledgeragent.journal.burial import bury

        bury(database, "mine", CheckpointPlan())


@pytest.mark.parametrize("verb", ["head", "erase"])
def test_a_place_that_did_not_take_the_head_is_told(
    database: str, verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(database) as journal:
        said(journal, "I am Ines Okafor", "mine")
    options = ["--session", "mine"] if verb == "erase" else []
    nobody = ["--to", "http://127.0.0.1:9/heads"]
    assert main(["journal", verb, database, *options, *nobody]) == 1
    assert "not taken by 127.0.0.1" in caplog.text


def test_a_chain_whose_time_is_over_is_taken_out(
    database: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(database, key=key, rotate=10) as journal:
        for number in range(15):
            said(journal, f"{number}")
        chain = chain_of(journal)
        [(oldest,)] = run(database, "SELECT min(chain) FROM ledgeragent_chains WHERE ended")
        assert main(["journal", "erase", database, "--chain", chain]) == 2
        assert "is being written" in capsys.readouterr().err
        assert main(["journal", "erase", database, "--chain", oldest, "--key", key]) == 0
    code, printed = verified(database, capsys, "--key", f"{key}.pub")
    assert code == 0, printed
    assert f"chain {oldest} was taken out" in printed
    assert oldest not in str(run(database, "SELECT chain FROM ledgeragent_journal"))


def test_conversations_over_several_chains_are_exported_in_order(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(database) as one, opened(database) as other:
        for number in range(6):
            said((one, other)[number % 2], f"{number}")
    assert main(["journal", "export", database]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert [m["content"] for m in json.loads(line)["messages"]] == [f"{n}" for n in range(6)]
    assert main(["journal", "show", database, "--session", "s1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert main(["journal", "head", database]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_what_is_redacted_is_not_in_the_database(database: str) -> None:
    with opened(database, redact=["accounts.*.owner", "text"]) as journal:
        play(journal)
    text = str(run(database, "SELECT record FROM ledgeragent_journal"))
    assert "Okafor" not in text
    assert "close my account" not in text
    assert "frozen" in text
