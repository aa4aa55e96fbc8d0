"""The progress bar: only for a person, only where it takes a while, and gone in the end."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

import pytest

from ledgeragent.cli.progress import Progress
from ledgeragent.offline.piece import Piece


class Screen(io.StringIO):
    """What a terminal is sent."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file of 100 bytes."""
    runs = tmp_path / "runs.jsonl"
    runs.write_bytes(b"x" * 100)
    return str(runs)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands where it is set."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def shown(monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, files: list[str]) -> Progress:
    monkeypatch.setattr(sys, "stderr", screen)
    return Progress(files)


def piece(file: str, position: int) -> Piece:
    return Piece(file=file, line=1, position=position)


def test_long_input_shows_its_share_and_leaves_an_empty_line(
    monkeypatch: pytest.MonkeyPatch, clock: list[float], file: str
) -> None:
    screen = Screen()
    with shown(monkeypatch, screen, [file, file]) as progress:
        progress(piece(file, 50))
        assert screen.getvalue() == ""
        clock[0] = 2.0
        progress(piece(file, 60))
    assert re.fullmatch(r"\r\[#+\.+\]  30%\r\x1b\[K", screen.getvalue())


def test_it_counts_the_files_before(
    monkeypatch: pytest.MonkeyPatch, clock: list[float], file: str, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(b"x" * 100)
    screen = Screen()
    progress = shown(monkeypatch, screen, [file, str(other)])
    progress(piece(file, 100))
    clock[0] = 2.0
    progress(piece(str(other), 50))
    assert screen.getvalue().endswith(" 75%")


def test_short_input_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, clock: list[float], file: str
) -> None:
    screen = Screen()
    with shown(monkeypatch, screen, [file]) as progress:
        progress(piece(file, 100))
    assert screen.getvalue() == ""


def test_nobody_there_or_no_end_in_sight_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, clock: list[float], file: str
) -> None:
    for screen, files in ((io.StringIO(), [file]), (Screen(), ["-"]), (Screen(), ["nowhere"])):
        progress = shown(monkeypatch, screen, files)
        clock[0] += 5.0
        progress(piece(files[0], 50))
        assert screen.getvalue() == ""
