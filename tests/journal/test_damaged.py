"""Two thousand damaged journals: no traceback, one line for each fault, exit codes as documented."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import main
from ledgeragent.journal import Journal
from ledgeragent.journal.sealing import GENESIS, sealed
from tests.journal.test_journal import BANK, play

ODD: tuple[Any, ...] = (
    None, True, -1, 1e308, 10**30, "", "\ud800", "\x00\x1b[31m", [], [None], {}, {"": None}, "x" * 5000,
)  # fmt: skip
RAW = (
    b"Infinity",
    b"1e400",
    b"NaN",
    b"null",
    b"{}",
    b"[" * 2000,
    b'"\xff"',
    b"\xed\xa0\x80",
    b"\r",
)
DOMAIN = "tests.journal.test_journal:BANK"


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value, as what holds it and under which key."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    children = [(value, key) for key, _ in parts]
    inner = [v for c, k in children if isinstance(v := c[k], dict | list)]
    return children + [place for part in inner for place in places(part)]


def odd_field(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """One field of one record holds something odd, or is gone; the hashes fit."""
    records = [json.loads(line) for line in lines]
    holder, key = dice.choice(places(dice.choice(records)))
    if isinstance(holder, dict) and dice.random() < 0.2:
        del holder[key]
    else:
        holder[key] = dice.choice(ODD)
    written, previous = [], GENESIS
    for record in records:
        record.pop("hash", None)
        line, previous = sealed(record, previous)
        written.append(line.encode())
    return written


def odd_bytes(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    number = dice.randrange(len(lines))
    line, at = lines[number], dice.randrange(len(lines[number]))
    return [*lines[:number], line[:at] + dice.choice(RAW) + line[at + 1 :], *lines[number + 1 :]]


def odd_value(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """A value gives way to what is no strict JSON."""
    number = dice.randrange(len(lines))
    parts = lines[number].split(b":")
    at = dice.randrange(1, len(parts))
    end = parts[at].rfind(b",")
    parts[at] = dice.choice(RAW) + (parts[at][end:] if end >= 0 else b"}")
    return [*lines[:number], b":".join(parts), *lines[number + 1 :]]


def odd_order(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    return [dice.choice(lines) for _ in range(dice.randrange(len(lines) + 3))]


def cut(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    whole = b"\n".join(lines)
    return [whole[: dice.randrange(len(whole))]]


DAMAGES: tuple[Callable[[random.Random, list[bytes]], list[bytes]], ...] = (
    odd_field, odd_field, odd_bytes, odd_value, odd_order, cut,
)  # fmt: skip

JOURNALS = 2_000
VERBS = (["journal", "show"], ["journal", "export"], ["view"])


@pytest.mark.parametrize("share", range(8))
def test_no_damage_is_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], share: int
) -> None:
    file, page = tmp_path / "j.jsonl", tmp_path / "page.html"
    with Journal.open(file, BANK) as journal:
        play(journal)
    lines = file.read_bytes().splitlines()
    for seed in range(share, JOURNALS, 8):
        dice = random.Random(seed)
        file.write_bytes(b"\n".join(DAMAGES[seed % len(DAMAGES)](dice, lines)) + b"\n")
        code = main(["journal", "verify", str(file)])
        told = capsys.readouterr().out.encode("utf-8")
        assert code in (0, 1) and told.startswith(str(file).encode()), seed
        verb = VERBS[seed // len(DAMAGES) % len(VERBS)]
        options = ["--domain", DOMAIN, "-o", str(page)] if verb == ["view"] else []
        code = main([*verb, str(file), *options])
        output = capsys.readouterr()
        output.out.encode("utf-8")
        assert code in (0, 1, 2), seed
        assert code == 0 or str(file) in output.err, seed


@pytest.mark.parametrize("action", ["verify", "show", "export"])
def test_a_database_whose_own_account_of_it_is_no_text(tmp_path: Path, action: str) -> None:
    file = tmp_path / "j.db"
    with Journal.open(file, BANK) as journal:
        play(journal)
    for beside in tmp_path.glob("j.db-*"):
        beside.unlink()
    content = file.read_bytes()
    assert b"(seq INTEGER" in content
    file.write_bytes(content.replace(b"(seq INTEGER", b"\xbbseq INTEGER"))
    assert main(["journal", action, str(file)]) == 2
