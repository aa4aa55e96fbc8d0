"""Twelve kinds of tampering: which are found without a key, with a head kept elsewhere, with a key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.journal import Journal, open_store
from ledgeragent.journal.checkpoints import CheckpointPlan, heads_beside
from ledgeragent.journal.proof import Proof, prove
from ledgeragent.journal.sealing import GENESIS, sealed
from ledgeragent.journal.signing import Signer, make_keys
from tests.journal.test_journal import BANK, play

pytest.importorskip("cryptography")

Lines = list[str]


def forged(records: Iterable[Mapping[str, Any]]) -> Lines:
    """A chain of these records, with hashes as whoever has this package computes them."""
    lines, previous = [], GENESIS
    for record in records:
        bare = {key: value for key, value in record.items() if key not in ("prev", "hash")}
        line, previous = sealed(bare, previous)
        lines.append(line)
    return lines


def records_of(lines: Lines) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def change_a_value(lines: Lines) -> Lines:
    return [*lines[:5], lines[5].replace("REVISE", "ALLOW"), *lines[6:]]


def add_a_second_key(lines: Lines) -> Lines:
    line = lines[5].replace('"event":"judged"', '"event":"heard","event":"judged"', 1)
    return [*lines[:5], line, *lines[6:]]


def write_it_otherwise(lines: Lines) -> Lines:
    """The same JSON in other bytes."""
    return [*lines[:5], lines[5].replace('"seq":6', '"seq": 6'), *lines[6:]]


def swap_two(lines: Lines) -> Lines:
    return [*lines[:2], lines[3], lines[2], *lines[4:]]


def remove_one(lines: Lines) -> Lines:
    return [*lines[:2], *lines[3:]]


def put_a_tombstone(lines: Lines) -> Lines:
    record = json.loads(lines[5])
    stone = {"journal": 2, "prev": record["prev"], "seq": 6, "tombstone": True}
    body = json.dumps(stone, sort_keys=True, separators=(",", ":"))[:-1]
    return [*lines[:5], f'{body},"hash":"{record["hash"]}"}}', *lines[6:]]


def equal_numbers(lines: Lines) -> Lines:
    return forged({**record, "seq": 1} for record in records_of(lines))


def an_old_clock(lines: Lines) -> Lines:
    return forged({**r, "time": "1999-12-31T23:59:59.000+00:00"} for r in records_of(lines))


def empty(lines: Lines) -> Lines:
    return []


def drop_the_last(lines: Lines) -> Lines:
    return lines[:-2]


def write_all_anew(lines: Lines) -> Lines:
    return forged(json.loads(line.replace("REVISE", "ALLOW")) for line in lines)


def add_one(lines: Lines) -> Lines:
    last = json.loads(lines[-1])
    bare = {k: v for k, v in last.items() if k not in ("prev", "hash")}
    return [*lines, sealed({**bare, "seq": len(lines) + 1}, last["hash"])[0]]


Tampering = Callable[[Lines], Lines]

KINDS: Mapping[Tampering, tuple[bool, bool, bool]] = {
    change_a_value: (True, True, True),
    add_a_second_key: (True, True, True),
    write_it_otherwise: (True, True, True),
    swap_two: (True, True, True),
    remove_one: (True, True, True),
    put_a_tombstone: (True, True, True),
    equal_numbers: (True, True, True),
    an_old_clock: (True, True, True),
    empty: (True, True, True),
    drop_the_last: (False, True, True),
    write_all_anew: (False, True, True),
    add_one: (False, False, True),
}
"""Whether each is found without anything, with a head kept elsewhere, and with the key."""


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    private = tmp_path / "journal.key"
    return private, make_keys(private)


def kept(file: Path, private: Path) -> Path:
    plan = CheckpointPlan(key=str(private))
    with Journal.open(file, BANK, checkpoints=plan.checkpoints(file)) as journal:
        play(journal)
        play(journal, "s2")
    return file


def proof_of(file: Path, **options: Any) -> Proof:
    store = open_store(file)
    try:
        return prove(store, str(file), **options)
    finally:
        store.close()


def tampered(file: Path, tampering: Tampering) -> None:
    before = file.read_text().splitlines()
    lines = tampering(before)
    assert lines != before
    file.write_text("".join(f"{line}\n" for line in lines))


def test_what_nobody_touched_is_proven(tmp_path: Path, keys: tuple[Path, Path]) -> None:
    file = kept(tmp_path / "j.jsonl", keys[0])
    proof = proof_of(file, key=str(keys[1]))
    assert (proof.faults, proof.heads, proof.covers) == ((), 1, 12)


@pytest.mark.parametrize("tampering", KINDS)
def test_without_a_key(tmp_path: Path, keys: tuple[Path, Path], tampering: Tampering) -> None:
    file = kept(tmp_path / "j.jsonl", keys[0])
    heads_beside(file).unlink()
    tampered(file, tampering)
    assert bool(proof_of(file).faults) is KINDS[tampering][0]


@pytest.mark.parametrize("tampering", KINDS)
def test_with_a_head_elsewhere(
    tmp_path: Path, keys: tuple[Path, Path], tampering: Tampering
) -> None:
    file = kept(tmp_path / "j.jsonl", keys[0])
    head = heads_beside(file).rename(tmp_path / "elsewhere.json")
    tampered(file, tampering)
    assert bool(proof_of(file, head_files=[str(head)]).faults) is KINDS[tampering][1]


@pytest.mark.parametrize("tampering", KINDS)
def test_with_the_key(tmp_path: Path, keys: tuple[Path, Path], tampering: Tampering) -> None:
    file = kept(tmp_path / "j.jsonl", keys[0])
    tampered(file, tampering)
    assert bool(proof_of(file, key=str(keys[1])).faults) is KINDS[tampering][2]


def test_heads_of_another_key_prove_nothing(tmp_path: Path, keys: tuple[Path, Path]) -> None:
    file = kept(tmp_path / "j.jsonl", keys[0])
    other = make_keys(tmp_path / "other.key")
    assert "not signed by this key" in proof_of(file, key=str(other)).faults[0]
    heads_beside(file).unlink()
    assert "no signed head" in proof_of(file, key=str(keys[1])).faults[0]


def test_a_forger_has_no_signature(tmp_path: Path, keys: tuple[Path, Path]) -> None:
    """A file written anew, with heads that fit it and carry a signature of another key."""
    file = kept(tmp_path / "j.jsonl", keys[0])
    heads_beside(file).unlink()
    make_keys(tmp_path / "other.key")
    file.unlink()
    kept(file, tmp_path / "other.key")
    assert proof_of(file, key=str(keys[1])).faults != ()


@pytest.mark.parametrize("is_signed", [True, False])
def test_a_foreign_head_covers_nothing_when_the_writer_comes_back(
    tmp_path: Path, keys: tuple[Path, Path], is_signed: bool
) -> None:
    """Records that somebody added are told, though a head in the file fits them."""
    file = kept(tmp_path / "j.jsonl", keys[0])
    added = CheckpointPlan()
    with Journal.open(file, BANK, checkpoints=added.checkpoints(file)) as journal:
        play(journal, "added")
        head = journal.checkpoint()
    make_keys(tmp_path / "other.key")
    if is_signed:
        head = head.signed(Signer.of_file(str(tmp_path / "other.key")))
    with heads_beside(file).open("a") as heads:
        heads.write(f"{head.line()}\n{replace(head, records=10_000).line()}\n")
    with Journal.open(file, BANK, checkpoints=CheckpointPlan(key=str(keys[0])).checkpoints(file)):
        pass
    last = json.loads(file.read_text().splitlines()[-1])
    assert (last["event"], last["unsigned"]) == ("unsigned", 6)


def test_a_journal_of_the_first_format_is_read_to_the_byte(tmp_path: Path) -> None:
    file, previous = tmp_path / "old.jsonl", GENESIS
    for number in (1, 2):
        record = {
            "journal": 1,
            "seq": number,
            "time": f"2026-11-0{number}T10:00:00.000+00:00",
            "session": "s",
            "event": "heard",
            "pack": {"name": "bank", "version": "1", "digest": ""},
            "text": "Grüße",
            "prev": previous,
        }
        text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        previous = hashlib.sha256(text.encode()).hexdigest()
        whole = {**record, "hash": previous}
        line = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        before = file.read_text() if file.exists() else ""
        file.write_text(f"{before}{line}\n")
    assert (proof_of(file).faults, proof_of(file).chain.old) == ((), 2)
    genuine = file.read_text()
    file.write_text(genuine.replace('"text":"', '"text":"x","text":"', 1))
    assert proof_of(file).faults != ()
    file.write_text(genuine)
    with Journal.open(file, BANK) as journal:
        play(journal)
    assert (proof_of(file).faults, proof_of(file).chain.records) == ((), 8)
