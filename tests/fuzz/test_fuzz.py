"""No file makes the command stumble. The long run is `python -m tests.fuzz.run`."""

from __future__ import annotations

import pytest

from tests.fuzz.corpus import Reader, readers
from tests.fuzz.run import answers, file_of, outcomes

pytest.importorskip("yaml")

EACH = 250


@pytest.mark.parametrize("reader", [reader.name for reader in readers()])
def test_no_file_makes_it_stumble(reader: str) -> None:
    seen = [*outcomes(EACH, seed=7, only=reader)]
    assert [outcome for outcome in seen if outcome.fault] == []
    assert len(seen) == EACH


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
def test_every_command_gets_behind_the_door(reader: Reader) -> None:
    """Each reads a file of its kind that is right, and each such file is read: else nothing is tried."""
    read = [(command, number) for command, number, code in answers(reader) if code in (0, 1)]
    assert {command for command, _ in read} == {*reader.commands}
    assert {number for _, number in read} == {*range(len(reader.seeds))}


def test_the_same_number_is_the_same_file() -> None:
    reader = readers()[0]
    assert file_of(reader, 5, 0) == file_of(reader, 5, 0) != file_of(reader, 6, 0)


def test_a_fault_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the fuzzing looks for, it finds."""
    for does, fault in (
        (lambda words: 1 / 0, "ZeroDivisionError"),
        (lambda words: 3, "exit code 3"),
        (lambda words: 2, "nothing says why"),
        (lambda words: print("\x1b[31m") or 0, "control character"),
        (lambda words: print("{Infinity}") or 0, "its JSON is none"),
    ):
        monkeypatch.setattr("tests.fuzz.run.ledgeragent", does)
        seen = [*outcomes(30, only="cases")]
        assert any(fault in outcome.fault for outcome in seen), fault
