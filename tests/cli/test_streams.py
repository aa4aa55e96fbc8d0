"""Standard input and output that cannot be used: one line on stderr and exit code 2, whatever the verb."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.offline.test_cases import LEND, case

from .branches import NAME
from .command import BOOK, ROOT, jsonl, lend, run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a shell as POSIX has it")

FULL = pytest.param(
    "> /dev/full",
    "No space left on device",
    id="full",
    marks=pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full"),
)
CLOSED = pytest.param(">&-", "it is closed", id="closed")
READ_ONLY = pytest.param("1< /dev/null", "Bad file descriptor", id="read-only")

WRITERS = [
    "replay FILE --domain NAME",
    "replay FILE --domain NAME --jobs 2 --format json",
    "test --domain NAME --cases CASES",
    "test --domain shop",
    "diff FILE --domain NAME@tau2 --against NAME@tau",
    "explain FILE:1 --domain NAME",
    "explain lending/days --domain NAME",
    "view FILE --domain NAME -o -",
    "coverage shop",
    "check shop",
    "journal verify JOURNAL",
    "demo --scenario 1",
    "chat --plain",
    "bench --help",
    "gateway --domain shop --upstream http://127.0.0.1:9 --port 0",
    "--version",
    "--help",
    "replay --help",
]


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the command does in a shell, where streams can be closed."""
    (folder / "runs.jsonl").write_text(jsonl(run("r", BOOK, lend())))
    (folder / "cases.jsonl").write_text(jsonl(case(LEND, BOOK)))
    (folder / "journal.jsonl").touch()
    names = {
        "FILE": folder / "runs.jsonl",
        "CASES": folder / "cases.jsonl",
        "JOURNAL": folder / "journal.jsonl",
        "NAME": NAME,
    }
    for name, stands_for in names.items():
        command = command.replace(name, str(stands_for))
    return subprocess.run(
        f"{shlex.quote(sys.executable)} -m ledgeragent {command}",
        shell=True,
        text=True,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("command", WRITERS)
def test_output_that_cannot_be_written_is_told_by_every_verb(tmp_path: Path, command: str) -> None:
    done = shell(f"{command} < /dev/null > /dev/full", tmp_path)
    problem = "cannot write to standard output: No space left on device"
    assert (done.returncode, done.stderr) == (2, f"ledgeragent: error: {problem}\n")


@pytest.mark.parametrize("command", ["replay FILE --domain NAME", "test --domain shop", "--help"])
def test_so_is_output_that_is_closed(tmp_path: Path, command: str) -> None:
    done = shell(f"{command} >&-", tmp_path)
    problem = "cannot write to standard output: it is closed"
    assert (done.returncode, done.stderr) == (2, f"ledgeragent: error: {problem}\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("redirection", "told"), [FULL, CLOSED, READ_ONLY])
def test_so_it_is_with_and_without_a_buffer(
    tmp_path: Path, redirection: str, told: str, unbuffered: str
) -> None:
    done = shell(f"coverage airline {redirection}", tmp_path, PYTHONUNBUFFERED=unbuffered)
    assert done.stderr == f"ledgeragent: error: cannot write to standard output: {told}\n"
    assert done.returncode == 2


def test_what_the_encoding_lacks_is_told(tmp_path: Path) -> None:
    (tmp_path / "odd.jsonl").write_text(jsonl(run("caf\u00e9", BOOK, lend(99), reward=1)))
    command = f"replay {tmp_path}/odd.jsonl --domain NAME"
    done = shell(command, tmp_path, PYTHONIOENCODING="ascii")
    problem = r"cannot write to standard output: its encoding, ascii, lacks '\xe9'"
    assert (done.returncode, done.stderr) == (2, f"ledgeragent: error: {problem}\n")


@pytest.mark.parametrize(
    "command",
    [
        "replay - --domain NAME",
        "replay - --domain NAME --jobs 2",
        "test --domain NAME --cases -",
        "diff - --domain NAME@tau2 --against NAME@tau",
        "view - --domain NAME -o -",
        "bench conformance - --data-dir .",
        "chat --model http://127.0.0.1:9 --model-name any",
        "mcp --domain shop -- cat",
    ],
)
def test_input_that_is_closed_is_told(tmp_path: Path, command: str) -> None:
    if command.startswith("mcp"):
        pytest.importorskip("mcp")
    done = shell(f"{command} <&-", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("ledgeragent: error: ")


def test_a_closed_input_is_named(tmp_path: Path) -> None:
    done = shell("replay - --domain NAME <&-", tmp_path)
    assert done.stderr == "ledgeragent: error: <stdin>: it is closed\n"


def test_a_closed_input_that_nobody_reads_is_no_error(tmp_path: Path) -> None:
    done = shell("replay FILE --domain NAME --jobs 2 <&-", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("lending: 1 runs")


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full"])
def test_an_error_that_nobody_can_hear_still_has_its_code(tmp_path: Path, redirection: str) -> None:
    done = shell(f"replay {tmp_path}/nowhere --domain NAME {redirection}", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_warnings_do_not_get_into_the_report_where_stderr_is_closed(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text("{\n")
    command = f"replay FILE {tmp_path}/broken.jsonl --domain NAME --format json 2>&-"
    done = shell(command, tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("{")


def test_a_folder_that_cannot_be_written_is_an_error_in_one_line(tmp_path: Path) -> None:
    done = shell(f"replay FILE --domain NAME --baseline {tmp_path}/no/such --update", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_pipe_whose_reader_leaves_is_silent(tmp_path: Path) -> None:
    done = shell("coverage airline --format json | head -1", tmp_path)
    assert (done.stdout, done.stderr) == ("{\n", "")
