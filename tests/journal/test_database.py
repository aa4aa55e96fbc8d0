"""The database of a journal: who may open it, what it is made of, and that no address is shown."""

from __future__ import annotations

import threading

import pytest

from ledgeragent.cli.main import main
from ledgeragent.errors import DataError, UsageError
from ledgeragent.journal import Journal, open_store
from tests.journal.test_journal import BANK, play
from tests.postgres import PASSWORD

pytest.importorskip("psycopg")
pytest.importorskip("cryptography")

from tests.journal.test_postgres import chain_of, opened, run, verified


@pytest.mark.parametrize("action", ["verify", "show", "export", "head"])
def test_a_database_that_is_not_there(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["journal", action, f"postgresql://u:{PASSWORD}@127.0.0.1:1/d"]) == 2
    assert "postgresql://***@127.0.0.1:1/d: not a journal" in capsys.readouterr().err


def test_an_address_that_cannot_be_read_shows_no_part_of_itself() -> None:
    with pytest.raises(UsageError) as problem:
        Journal.open(f"postgresql://u:{PASSWORD}@@%zz/d?password={PASSWORD}", BANK)
    assert PASSWORD not in str(problem.value)


def test_a_database_of_something_else_is_no_journal(database: str) -> None:
    with pytest.raises(DataError, match="not a journal"):
        open_store(database)


def test_writers_that_start_at_once_make_the_tables_once(database: str) -> None:
    journals: list[Journal] = []
    threads = [threading.Thread(target=lambda: journals.append(opened(database))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({chain_of(journal) for journal in journals}) == 5
    for journal in journals:
        journal.close()


def test_tables_that_could_not_all_be_made_are_not_there(database: str) -> None:
    run(
        database, "CREATE FUNCTION ledgeragent_append_only() RETURNS int LANGUAGE sql AS 'SELECT 1'"
    )
    with pytest.raises(UsageError, match="the journal's database failed"):
        opened(database)
    run(database, "DROP FUNCTION ledgeragent_append_only")
    opened(database).close()


def test_a_writer_needs_no_right_to_change_or_to_make_anything(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    opened(database).close()
    run(database, "DROP ROLE IF EXISTS writer")
    run(database, "CREATE ROLE writer LOGIN")
    run(database, "GRANT SELECT, INSERT ON ledgeragent_journal, ledgeragent_heads TO writer")
    run(database, "GRANT SELECT, INSERT, UPDATE ON ledgeragent_chains TO writer")
    with opened(database.replace("tester", "writer")) as journal:
        play(journal)
    assert verified(database, capsys)[0] == 0


def test_rotation_is_refused_where_there_is_one_chain(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["chat", "--journal", "j.jsonl", "--journal-rotate", "10"]
    assert main(words) == 2
    assert "needs a --journal in Postgres" in capsys.readouterr().err
