"""The tables of a journal in Postgres: what stands in their place is not believed."""

from __future__ import annotations

import pytest

from ledgeragent.cli.main import main
from ledgeragent.journal import Journal
from ledgeragent.types import UserMessage
from tests.journal.test_journal import BANK

psycopg = pytest.importorskip("psycopg")

from ledgeragent.journal.database import DatabaseError, JournalDatabase  # noqa: E402

OTHER_TRIGGER = (
    "CREATE FUNCTION quiet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; "
    "CREATE TRIGGER quiet BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION quiet()"
)
CHANGES = {
    "a view": "ALTER TABLE {table} RENAME TO kept; CREATE VIEW {table} AS SELECT * FROM kept",
    "a view of a schema before it": (
        "CREATE SCHEMA IF NOT EXISTS before; CREATE VIEW before.{table} AS SELECT * FROM {table}; "
        "ALTER ROLE CURRENT_USER SET search_path TO before, public"
    ),
    "another trigger": OTHER_TRIGGER,
    "a rule": "CREATE RULE quiet AS ON INSERT TO {table} DO INSTEAD NOTHING",
    "an heir": "CREATE TABLE heir () INHERITS ({table})",
    "row security": "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
    "a computed column": "ALTER TABLE {table} ADD more TEXT GENERATED ALWAYS AS ('x') STORED",
}


CASES = [
    *((change, "ledgeragent_journal") for change in CHANGES),
    ("a view", "ledgeragent_heads"),
    ("another trigger", "ledgeragent_chains"),
]


@pytest.mark.parametrize(("change", "table"), CASES)
def test_what_is_no_plain_table_is_not_believed(
    database: str, change: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Journal.open(database, BANK) as journal:
        journal.heard("s1", UserMessage(text="hello"))
        assert main(["journal", "verify", database]) == 0
        with psycopg.connect(database, autocommit=True) as base:
            base.execute(CHANGES[change].format(table=table))  # type: ignore[call-overload]
            try:
                _check_refusal(database, table, capsys)
            finally:
                base.execute("ALTER ROLE CURRENT_USER RESET search_path")


def _check_refusal(database: str, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DatabaseError, match=f"{table} in the journal's database is not the table"):
        JournalDatabase(database).connect()
    assert main(["journal", "verify", database]) != 0
    assert table in "".join(capsys.readouterr())


def test_a_guard_that_was_switched_off_is_told(database: str) -> None:
    Journal.open(database, BANK).close()
    with psycopg.connect(database, autocommit=True) as base:
        base.execute("ALTER TABLE ledgeragent_journal DISABLE TRIGGER ledgeragent_append_only")
    with pytest.raises(DatabaseError, match="other triggers"):
        JournalDatabase(database).connect()
