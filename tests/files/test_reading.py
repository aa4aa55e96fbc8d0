"""What is read is opened in one place: it ends, it is of bounded size, and the limit has a name."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.limits import MEMORY, PACK, Limit, is_refusal, memory_of, refuse_large
from ledgeragent.files.reading import opened, read_bytes, read_text

POSIX = pytest.mark.skipif(os.name == "nt", reason="needs pipes and devices as POSIX has them")


@POSIX
@pytest.mark.parametrize("kind", ["pipe", "device", "loop", "folder", "nothing"])
def test_what_does_not_end_or_is_none_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "loop":
        file.symlink_to(file)
    elif kind == "folder":
        file.mkdir()
    with pytest.raises(DataError, match=r"regular file|symbolic links|directory"):
        read_bytes(file)


@POSIX
def test_a_pipe_that_the_shell_opened_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    assert read_bytes(f"/dev/fd/{reading}") == b"text"
    os.close(reading)


def test_standard_input_is_read() -> None:
    with patch("sys.stdin", io.TextIOWrapper(io.BytesIO(b"text"))), opened("-") as stream:
        assert stream is sys.stdin.buffer and stream.read() == b"text"


def test_a_larger_file_is_refused_by_the_name_of_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(DataError, match=rf"\(1 MB\); {PACK.name} raises that$") as refusal:
        read_bytes(file, PACK)
    assert is_refusal(refusal.value.problem)
    monkeypatch.setenv(PACK.name, "2")
    assert len(read_bytes(file, PACK)) == (1 << 20) + 1


@pytest.mark.parametrize("text", ["no", "0", "-1", "1e3", "9" * 20, "²"])
def test_a_limit_that_is_no_number_is_told(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_LIMIT", text)
    with pytest.raises(UsageError, match="SOME_LIMIT: give a number of MB, 1 or more"):
        _ = Limit("SOME_LIMIT", 1, "MB").value


def test_text_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one\ntwo \xff")
    with pytest.raises(DataError, match=r"file:2: is not UTF-8 text \(byte 8\)"):
        read_text(file)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        (b"[" + b"[]," * 1000 + b"[]]", 56_000),
        (b'["' + "😀".encode() + b"a" * 1000 + b'"]', 8_000),
        (b'["\\ud83d\\ude00' + b"a" * 1000 + b'"]', 4_000),
        (b"[" + b'{"":0},' * 1000 + b"0]", 184_000),
    ],
)
def test_memory_is_never_taken_for_less_than_it_is(text: bytes, least: int) -> None:
    assert memory_of(text) >= least


def test_a_text_that_takes_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY.name, "1")
    refuse_large(b"[1]", "f")
    with pytest.raises(DataError, match=MEMORY.name):
        refuse_large(b"[" * 10_000, "f", 1)
