"""A journal that is opened again is read from its last head on, and `verify` still reads all of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgeragent.errors import UsageError
from ledgeragent.journal import Journal, JsonlStore, SqliteStore, Store, open_store, verify
from ledgeragent.journal.checkpoints import CheckpointPlan
from ledgeragent.journal.resuming import LEAST, resumed
from ledgeragent.journal.signing import make_keys
from ledgeragent.types import UserMessage
from tests.journal.test_journal import BANK

MANY = 2 * LEAST + 500


@pytest.fixture(params=["journal.jsonl", "journal.sqlite"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return filled(tmp_path / str(request.param), MANY)


def filled(file: Path, count: int, plan: CheckpointPlan | None = None) -> Path:
    checkpoints = (plan or CheckpointPlan(sync="never")).checkpoints(file)
    with Journal.open(file, BANK, checkpoints=checkpoints) as journal:
        for number in range(count):
            journal.heard("s", UserMessage(text=f"message {number}"))
    return file


def test_only_the_end_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = 0

    def counted(kind: type[JsonlStore] | type[SqliteStore]) -> None:
        genuine = kind._lines

        def count(self: Store, begin: int) -> Iterator[str]:
            nonlocal lines
            for line in genuine(self, begin):  # type: ignore[arg-type]
                lines += 1
                yield line

        monkeypatch.setattr(kind, "_lines", count)

    counted(JsonlStore)
    counted(SqliteStore)
    filled(file, 1)
    assert LEAST <= lines <= LEAST + 5
    monkeypatch.undo()
    chain = verify(open_store(file))
    assert chain.intact
    assert chain.records == MANY + 1


def test_the_end_is_where_a_whole_check_finds_it(file: Path) -> None:
    store = open_store(file)
    whole, end = verify(store), resumed(store)
    assert (end.records, end.head, end.time, end.origin, end.problem, end.torn) == (
        whole.records,
        whole.head,
        whole.time,
        whole.origin,
        None,
        0,
    )


@pytest.mark.parametrize(("place", "is_refused"), [(10, False), (MANY - 10, True)])
def test_what_was_changed_before_the_end_is_left_to_verify(
    file: Path, place: int, is_refused: bool
) -> None:
    change(file, f"message {place}", "massage")
    assert (
        verify(open_store(file)).problem == f"record {place + 1} was changed after it was written"
    )
    if is_refused:
        with pytest.raises(UsageError, match=f"record {place + 1} was changed"):
            filled(file, 1)
    else:
        filled(file, 1)


def change(file: Path, words: str, others: str) -> None:
    """Writes something else into one record, as somebody would who can write the file."""
    if file.suffix == ".jsonl":
        text = file.read_text()
        assert f'"{words}"' in text
        file.write_text(text.replace(f'"{words}"', f'"{others}"'))
        return
    with sqlite3.connect(file) as base:
        query = "UPDATE journal SET record = replace(record, ?, ?)"
        base.execute(query, (f'"{words}"', f'"{others}"'))
    base.close()


def test_all_behind_the_last_signed_head_is_read(tmp_path: Path) -> None:
    """A change of what no head covers yet is found at the start, however much that is."""
    pytest.importorskip("cryptography")
    make_keys(tmp_path / "key")
    plan = CheckpointPlan(key=str(tmp_path / "key"), every=10 * MANY, sync="never")
    file = filled(tmp_path / "j.jsonl", 10, plan)
    beside = tmp_path / "j.jsonl.heads"
    first = beside.read_text().splitlines()[0]
    filled(file, MANY, plan)
    beside.write_text(f"{first}\n")
    change(file, "message 200", "massage")
    with pytest.raises(UsageError, match="was changed"):
        filled(file, 1, plan)


def test_a_journal_whose_end_is_gone_is_not_continued(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    make_keys(tmp_path / "key")
    plan = CheckpointPlan(key=str(tmp_path / "key"), sync="never")
    file = filled(tmp_path / "j.jsonl", MANY, plan)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-5]))
    with pytest.raises(UsageError, match="the last are gone"):
        filled(file, 1, plan)


@pytest.mark.parametrize("torn", ['{"journal":2', "x" * (3 << 16)])
def test_a_torn_end_of_a_long_journal(tmp_path: Path, torn: str) -> None:
    file = filled(tmp_path / "j.jsonl", MANY)
    with file.open("a") as stream:
        stream.write(torn)
    assert open_store(file).torn() == torn.encode()
    filled(file, 1)
    chain = verify(open_store(file))
    assert chain.intact
    assert (chain.records, chain.torn) == (MANY + 2, 0)
