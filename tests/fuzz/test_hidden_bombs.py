"""What hides behind a file that is opened with care: members, parts, journals beside it, standard input."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from tests.cli.command import ROOT
from tests.fuzz.corpus import NAME
from tests.fuzz.test_bombs import MEGABYTE, MOST_MEGABYTES, PROGRAM, peak_of

LISTS = b"[" + b"[]," * (10 * MEGABYTE) + b"[]]"


def a_member_of_lists(file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1.json", LISTS)


def a_part_of_lists(folder: Path) -> None:
    _results(folder).write_bytes(LISTS)


def rows_of_lists(file: Path) -> None:
    base = sqlite3.connect(file)
    base.execute("CREATE TABLE agent_messages (id INTEGER, session_id TEXT, message_data TEXT)")
    base.execute("INSERT INTO agent_messages VALUES (1, 's', ?)", (LISTS.decode(),))
    base.commit()
    base.close()


def a_journal_that_says_the_database_is_large(file: Path) -> None:
    """The write-ahead journal of a few pages, whose last frame says how many the database has."""
    base = sqlite3.connect(file, isolation_level=None)
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("CREATE TABLE agent_messages (id INTEGER, session_id TEXT, message_data TEXT)")
    content, changes = file.read_bytes(), Path(f"{file}-wal").read_bytes()
    base.close()
    file.write_bytes(content)
    Path(f"{file}-wal").write_bytes(_with_pages(changes, 400_000))


def _with_pages(changes: bytes, pages: int) -> bytes:
    """The journal with another size of the database, and the checksums for it."""
    header, frames = changes[:32], bytearray(changes[32:])
    order = ">" if struct.unpack(">I", header[:4])[0] & 1 else "<"
    size = 24 + struct.unpack(">I", header[8:12])[0]
    sums = struct.unpack(">II", header[24:32])
    for start in range(0, len(frames), size):
        if start + 2 * size > len(frames):
            frames[start + 4 : start + 8] = struct.pack(">I", pages)
        if frames[start : start + 4] == struct.pack(">I", 1):  # the page that tells it too
            frames[start + 52 : start + 56] = struct.pack(">I", pages)
        for part in (frames[start : start + 8], frames[start + 24 : start + size]):
            sums = _checksum(order, bytes(part), sums)
        frames[start + 16 : start + 24] = struct.pack(">II", *sums)
    return header + bytes(frames)


def _checksum(order: str, content: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    one, two = sums
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


def _results(folder: Path) -> Path:
    """A harness's folder of results, with the place of the one part in it."""
    (folder / "simulations").mkdir(parents=True)
    (folder / "results.json").write_text('{"simulations": []}')
    return folder / "simulations" / "1.json"


BOMBS: tuple[Callable[[Path], None], ...] = (
    a_member_of_lists,
    a_part_of_lists,
    rows_of_lists,
    a_journal_that_says_the_database_is_large,
)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="nothing tells a peak here")
@pytest.mark.parametrize("bomb", BOMBS)
def test_what_is_inside_is_of_bounded_size(tmp_path: Path, bomb: Callable[[Path], None]) -> None:
    file = tmp_path / "runs.bin"
    bomb(file)
    code, megabytes, said = peak_of("replay", str(file), "--domain", NAME)
    assert code == 2 and "Traceback" not in said
    assert "LEDGERAGENT_MAX_MEMORY_MB raises that" in said
    assert megabytes < MOST_MEGABYTES


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
@pytest.mark.parametrize("words", [("check", "-"), ("mine", "-", "-o", "PACK")])
def test_standard_input_without_an_end(tmp_path: Path, words: tuple[str, ...]) -> None:
    """`mine` goes through it twice, from a file of its own, which would fill the disk."""
    named = [word.replace("PACK", str(tmp_path / "pack")) for word in words]
    with open("/dev/zero", "rb") as endless:
        command = [sys.executable, "-c", PROGRAM, *named]
        done = subprocess.run(
            command, stdin=endless, capture_output=True, text=True, check=False, cwd=ROOT
        )
    assert done.returncode == 2 and "raises that" in done.stderr
    assert int(done.stdout.rpartition("peak ")[2]) // 1024 < MOST_MEGABYTES


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("verb", [["replay", "--domain", NAME], ["bench", "report"], ["traces"]])
@pytest.mark.parametrize("kind", ["pipe", "device", "deep", "none"])
def test_a_part_of_a_folder_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: list[str], kind: str
) -> None:
    part = _results(tmp_path / "results")
    match kind:
        case "pipe":
            os.mkfifo(part)
        case "device":
            part.symlink_to("/dev/zero")
        case "deep":
            part.write_text("[" * 200_000)
        case _:
            part.write_bytes(b"\xff")
    assert main([*verb, str(tmp_path / "results")]) == 2
    out, err = capsys.readouterr()
    assert str(part) in out + err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_folder_of_packs_with_a_pipe_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pack.yml")
    assert main(["check", str(tmp_path)]) == 2
    assert "pack.yml: this is no regular file" in capsys.readouterr().err


@pytest.mark.parametrize("header", ["[]", "3", '{"eval": 3}', "[" * 100_000])
def test_odd_members_of_an_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], header: str
) -> None:
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", header)
        archive.writestr("samples/1.json", '{"messages": [{"role": 5}]}')
    assert main(["replay", str(file), "--domain", NAME]) == 2
    assert str(file) in capsys.readouterr().err


def test_an_archive_of_very_many_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", "{}")
    file.write_bytes(file.read_bytes() + b"PK\x01\x02" * 60_000)
    assert main(["replay", str(file), "--domain", NAME]) == 2
    assert "more than 50,000 files" in capsys.readouterr().err


def test_a_row_file_that_is_another_file_stays(tmp_path: Path) -> None:
    """Its end is cut off where a killed process left part of a row, and only there."""
    from ledgeragent.bench.running.rowfile import RowFile
    from ledgeragent.errors import DataError

    file = tmp_path / "notes.txt"
    file.write_text("my notes\nwithout an end")
    with pytest.raises(DataError, match="this is another file"):
        RowFile(file)
    assert file.read_text() == "my notes\nwithout an end"
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"a": 1}) + '\n{"b": ' + "2" * (3 << 20))
    opened = RowFile(rows)
    assert [*opened.rows()] == [(1, {"a": 1})]
    opened.close()
    assert rows.read_text() == '{"a": 1}\n'
