"""Tampering that somebody else would think of, in both forms of a journal, found through the command."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from ledgeragent.errors import DataError
from ledgeragent.journal import Journal
from ledgeragent.journal.sealing import GENESIS, line_of, parsed, sealed, tombstone
from ledgeragent.journal.signing import make_keys
from tests.journal.test_journal import BANK, play
from tests.journal.test_tampering import Lines, forged, kept, records_of

pytest.importorskip("cryptography")

OLDER = "2026-02-01T00:00:00.000+00:00"


def rehash_one(lines: Lines) -> Lines:
    record = {**parsed(lines[6]), "session": "other"}
    del record["hash"]
    return [*lines[:6], sealed(record, record["prev"])[0], *lines[7:]]


def rehash_the_rest(lines: Lines) -> Lines:
    records = records_of(lines)
    return forged([*records[:6], *({**r, "session": "other"} for r in records[6:])])


def repeat_one(lines: Lines) -> Lines:
    return [*lines[:5], lines[4], *lines[5:]]


def escape_a_letter(lines: Lines) -> Lines:
    return [lines[0].replace('"heard"', '"\\u0068eard"'), *lines[1:]]


def end_lines_otherwise(lines: Lines) -> Lines:
    return [f"{line}\r" for line in lines]


def add_an_empty_line(lines: Lines) -> Lines:
    return [*lines, ""]


def write_the_first_format(lines: Lines) -> Lines:
    old, previous = [], GENESIS
    for record in records_of(lines):
        bare = {**record, "journal": 1, "prev": previous}
        del bare["hash"]
        previous = _hash_of(line_of(bare))
        old.append(line_of({**bare, "hash": previous}))
    return old


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def drop_the_first(lines: Lines) -> Lines:
    return forged({**r, "seq": n} for n, r in enumerate(records_of(lines)[1:], 1))


def leave_one(lines: Lines) -> Lines:
    return lines[:1]


def number_with_a_point(lines: Lines) -> Lines:
    return [*lines[:3], lines[3].replace('"seq":4', '"seq":4.0'), *lines[4:]]


def erase_in_silence(lines: Lines) -> Lines:
    """A conversation taken out as `erase` does, by somebody who has no key."""
    records = records_of(lines)
    seqs = [r["seq"] for r in records if r["session"] == "s2"]
    last = {k: records[-1][k] for k in ("journal", "time", "pack")}
    told = {**last, "seq": len(lines) + 1, "event": "erased", "session": "", "seqs": seqs}
    stones = [
        tombstone(r["seq"], r["prev"], r["hash"]) if r["seq"] in seqs else line
        for line, r in zip(lines, records, strict=True)
    ]
    return [*stones, sealed(told, records[-1]["hash"])[0]]


def date_it_back(lines: Lines) -> Lines:
    """A changed record that passes for one from before `--since`, and for a clock that was set back."""
    record = {**parsed(lines[8]), "time": OLDER, "event": "clock", "was": "2026-11-01"}
    return [*lines[:8], json.dumps(record, sort_keys=True, separators=(",", ":")), *lines[9:]]


Tampering = Callable[[Lines], Lines]

KINDS: Mapping[Tampering, tuple[bool, bool, bool]] = {
    rehash_one: (True, True, True),
    rehash_the_rest: (False, True, True),
    repeat_one: (True, True, True),
    escape_a_letter: (True, True, True),
    end_lines_otherwise: (True, True, True),
    add_an_empty_line: (True, True, True),
    write_the_first_format: (False, True, True),
    drop_the_first: (False, True, True),
    leave_one: (False, True, True),
    number_with_a_point: (True, True, True),
    erase_in_silence: (False, False, True),
    date_it_back: (True, True, True),
}
"""Whether each is found without anything, with a head kept elsewhere, and with the key."""


def read_lines(file: Path) -> Lines:
    if file.suffix == ".jsonl":
        return file.read_text().splitlines()
    with sqlite3.connect(file) as base:
        lines = [row[0] for row in base.execute("SELECT record FROM journal ORDER BY seq")]
    base.close()
    return lines


def write_lines(file: Path, lines: Lines) -> None:
    if file.suffix == ".jsonl":
        file.write_bytes("".join(f"{line}\n" for line in lines).encode())
        return
    with sqlite3.connect(file) as base:
        base.execute("DELETE FROM journal")
        base.executemany("INSERT INTO journal (record) VALUES (?)", [(line,) for line in lines])
    base.close()


@pytest.mark.parametrize("name", ["j.jsonl", "j.db"])
@pytest.mark.parametrize("tampering", KINDS)
def test_it_is_found_as_the_docs_say(tmp_path: Path, tampering: Tampering, name: str) -> None:
    private, elsewhere = tmp_path / "journal.key", tmp_path / "elsewhere"
    public = make_keys(private)
    file = kept(tmp_path / name, private)
    assert main(["journal", "head", str(file), "--to", str(elsewhere)]) == 0
    before = read_lines(file)
    after = tampering(before)
    assert after != before
    write_lines(file, after)
    verify = ["journal", "verify", str(file)]
    with_key = main([*verify, "--key", str(public)])
    assert main([*verify, "--key", str(public), "--since", "2026-03-01"]) == with_key
    file.with_name(f"{name}.heads").unlink()
    found = main(verify), main([*verify, "--head", str(elsewhere)]), with_key
    assert found == KINDS[tampering]


def test_a_head_file_that_says_nothing_of_this_journal_proves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever writes the journal anew can write the heads beside it anew as well."""
    file, elsewhere = tmp_path / "j.jsonl", tmp_path / "elsewhere"
    (tmp_path / "empty").touch()
    for place in (elsewhere, tmp_path / "j.jsonl.heads"):
        with Journal.open(file, BANK) as journal:
            play(journal)
        assert main(["journal", "head", str(file), "--to", str(place)]) == 0
        assert main(["journal", "verify", str(file), "--head", str(place)]) == 0
        assert main(["journal", "verify", str(file), "--head", str(tmp_path / "empty")]) == 1
        if place == elsewhere:
            file.unlink()
    capsys.readouterr()
    assert main(["journal", "verify", str(file), "--head", str(elsewhere)]) == 1
    assert f"there is no head of this journal in {elsewhere}" in capsys.readouterr().out


@pytest.mark.parametrize("extension", [".jsonl", ".db"])
def test_since_goes_by_heads_where_there_are_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], extension: str
) -> None:
    private = tmp_path / "journal.key"
    public = make_keys(private)
    file = kept(tmp_path / f"j{extension}", private)
    words = ["journal", "verify", str(file), "--key", str(public), "--since"]
    assert main([*words, "2026-03-01"]) == 0
    assert "0 records from before then were taken" in capsys.readouterr().out
    assert main([*words, "2999-01-01"]) == 0
    assert "12 records from before then were taken" in capsys.readouterr().out


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM journal WHERE seq = new.seq; END",
        "CREATE TABLE other (a)",
        "CREATE VIEW other AS SELECT record FROM journal",
        "CREATE INDEX other ON journal (record)",
    ],
)
def test_a_database_holds_nothing_beside_the_records(tmp_path: Path, statement: str) -> None:
    """A trigger drops what is written, and nobody is told."""
    file = tmp_path / "j.db"
    with Journal.open(file, BANK) as journal:
        play(journal)
    with sqlite3.connect(file) as base:
        base.execute(statement)
    base.close()
    assert main(["journal", "verify", str(file)]) == 2
    with pytest.raises(DataError, match="beside its records stands the"):
        Journal.open(file, BANK)


@pytest.mark.parametrize("number", [-(1 << 63), -5, -1, 0])
def test_a_row_in_front_of_the_first_is_found(tmp_path: Path, number: int) -> None:
    file = tmp_path / "j.db"
    with Journal.open(file, BANK) as journal:
        play(journal)
    with sqlite3.connect(file) as base:
        base.execute("INSERT INTO journal SELECT ?, record FROM journal WHERE seq = 1", (number,))
    base.close()
    assert main(["journal", "verify", str(file)]) == 1
