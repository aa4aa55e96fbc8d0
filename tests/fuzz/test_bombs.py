"""Small files that grow: each is refused by name, in bounded memory."""

from __future__ import annotations

import gzip
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.branches import NAME
from tests.cli.command import ROOT

if not Path("/proc/self/status").exists():
    pytest.skip("nothing tells the peak of a process here", allow_module_level=True)

MOST_MEGABYTES = 300
MEGABYTE = 1 << 20


def _zipped(file: Path, head: bytes, part: bytes, times: int) -> None:
    with gzip.open(file, "wb", compresslevel=1) as stream:
        stream.write(head)
        for _ in range(times):
            stream.write(part)


def one_long_line(file: Path) -> None:
    _zipped(file, b'{"messages": "', b"a" * MEGABYTE, 400)


def empty_lines(file: Path) -> None:
    _zipped(file, b"", b"\n" * MEGABYTE, 300)


def tiny_lists(file: Path) -> None:
    _zipped(file, b"[", b"[]," * MEGABYTE, 40)


def lines_of_a_document(file: Path) -> None:
    _zipped(file, b"[\n", b"\n" * MEGABYTE, 60)


def one_wide_character(file: Path) -> None:
    _zipped(file, b'{"messages": ["' + "😀".encode(), b"a" * MEGABYTE, 60)


def an_archive(file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", "{}")
        with archive.open("samples/1.json", "w") as sample:
            for _ in range(200):
                sample.write(b"0," * (MEGABYTE // 2))


def an_endless_view(file: Path) -> None:
    base = sqlite3.connect(file)
    base.execute(
        "CREATE VIEW agent_messages AS WITH RECURSIVE r(id, session_id, message_data) AS (SELECT 1, 's', "
        "'{}' UNION ALL SELECT id + 1, 's', '{}' FROM r) SELECT * FROM r"
    )
    base.close()


def a_computed_column(file: Path) -> None:
    base = sqlite3.connect(file)
    base.execute(
        "CREATE TABLE agent_messages (id INTEGER, session_id TEXT, message_data TEXT AS "
        "(hex(zeroblob(400000000))))"
    )
    base.execute("INSERT INTO agent_messages (id, session_id) VALUES (1, 's')")
    base.commit()
    base.close()


BOMBS: tuple[Callable[[Path], None], ...] = (
    one_long_line,
    empty_lines,
    tiny_lists,
    lines_of_a_document,
    one_wide_character,
    an_archive,
    an_endless_view,
    a_computed_column,
)


# The peak since this process began, not since the one that it was forked from.
PROGRAM = """
import sys
from ledgeragent.cli.main import main
code = main(sys.argv[1:])
print("peak", next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(code)
"""


def peak_of(*words: str) -> tuple[int, int, str]:
    """The exit code of a command, its peak in MB, and what it said."""
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    _, _, peak = done.stdout.rpartition("peak ")
    return done.returncode, int(peak) // 1024, done.stdout + done.stderr


@pytest.mark.parametrize("bomb", BOMBS)
def test_recorded_runs_that_grow(tmp_path: Path, bomb: Callable[[Path], None]) -> None:
    file = tmp_path / "runs.bin"
    bomb(file)
    code, megabytes, said = peak_of("replay", str(file), "--domain", NAME)
    assert code == 2 and "Traceback" not in said
    assert "raises that" in said or "no table of rows" in said
    assert megabytes < MOST_MEGABYTES


def test_a_journal_that_is_an_endless_view(tmp_path: Path) -> None:
    file = tmp_path / "j.db"
    base = sqlite3.connect(file)
    base.execute(
        "CREATE VIEW journal AS WITH RECURSIVE r(seq, record) AS (SELECT 1, '{}' UNION ALL SELECT "
        "seq + 1, '{}' FROM r) SELECT * FROM r"
    )
    base.close()
    code, megabytes, said = peak_of("journal", "show", str(file))
    assert code == 2 and "not a journal" in said and megabytes < MOST_MEGABYTES


def test_a_journal_of_empty_lines_is_not_read_for_good(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    file.write_bytes(b"\n" * (20 * MEGABYTE))
    code, megabytes, said = peak_of("journal", "show", str(file))
    assert code == 1 and "LEDGERAGENT_MAX_BROKEN_RECORDS raises that" in said
    assert megabytes < MOST_MEGABYTES


def test_records_that_name_each_other_twice(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    records = "".join(f"  R{n}: {{a: R{n + 1}, b: R{n + 1}}}\n" for n in range(26))
    file = tmp_path / "pack.yaml"
    file.write_text(
        f'schema: ledgeragent/v1\ndomain: d\nversion: "1"\nrecords:\n{records}  R26: {{c: str}}\n'
        'reads: {get: {to: "rs.{c}", record: R0}}\n'
    )
    code, megabytes, said = peak_of("check", str(file))
    assert code == 1 and "LEDGERAGENT_MAX_FIELDS raises that" in said
    assert megabytes < MOST_MEGABYTES


@pytest.mark.parametrize(
    "words",
    [
        ("check", "FILE.yaml"),
        ("check", "shop", "--tools", "FILE.json"),
        ("replay", "FILE", "--domain", NAME),
        ("diff", "-", "--domain", NAME, "--baseline", "FILE"),
        ("journal", "verify", "FILE.jsonl"),
        ("view", "FILE.jsonl", "--domain", NAME),
        ("bench", "report", "FILE"),
        ("gateway", "--config", "FILE"),
    ],
)
@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_what_has_no_end_is_no_input(tmp_path: Path, kind: str, words: tuple[str, ...]) -> None:
    from ledgeragent.cli.main import main

    named = [word.replace("FILE", str(tmp_path / "endless")) for word in words]
    for word in named:
        if word.startswith(str(tmp_path)):
            if kind == "pipe":
                os.mkfifo(word)
            else:
                Path(word).symlink_to("/dev/zero")
    assert main(named) == 2
