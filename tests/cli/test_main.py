"""The command as a whole: help, verbs, interruption, a reader who leaves."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ledgeragent as package
from ledgeragent.cli.main import parser
from ledgeragent.cli.verbs import VERBS

from .branches import NAME
from .command import ROOT, RUNS, jsonl, ledgeragent


def test_it_tells_its_version() -> None:
    assert ledgeragent("--version") == (0, f"ledgeragent {package.__version__}\n", "")


def test_the_help_lists_every_verb() -> None:
    done = ledgeragent("--help")
    assert done.code == 0
    assert all(f"\n    {verb} " in done.out for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str) -> None:
    done = ledgeragent(verb, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: ledgeragent {verb}")


@pytest.mark.parametrize("arguments", [(), ("fly",), ("--fly",)])
def test_what_is_no_verb_is_told(arguments: tuple[str, ...]) -> None:
    done = ledgeragent(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "usage: ledgeragent" in done.err


def test_only_the_module_of_the_verb_is_imported() -> None:
    program = (
        "import sys\n"
        "from ledgeragent.cli.main import parser\n"
        "parser(['test'])\n"
        "print(sorted(m for m in sys.modules if m.startswith('ledgeragent.demo')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["fly"], ["demo", "--help"]])
def test_what_tells_of_verbs_imports_none_that_it_need_not(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        "from ledgeragent.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m in ('ledgeragent.check', 'ledgeragent.offline.replay')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")


def test_a_verb_behind_the_end_of_the_options_is_one() -> None:
    assert ledgeragent("--", "explain").code == 2


def test_every_verb_sets_what_runs_it() -> None:
    top = parser()
    assert all(f"{verb}" in top.format_help() for verb in VERBS)


def test_a_reader_who_leaves_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(*RUNS * 300))
    command = [sys.executable, "-m", "ledgeragent", "replay", str(file), "--domain", NAME]
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=buffered
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert (process.wait(), process.stderr.read()) == (141, b"")


@pytest.mark.skipif(os.name == "nt", reason="needs signals as POSIX has them")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interruption_ends_it_quietly(tmp_path: Path, jobs: str) -> None:
    started = tmp_path / "started"
    (tmp_path / "slow.py").write_text(
        "from pathlib import Path\n"
        "from tests.cli.branches import VERSIONS\n"
        f"Path({str(started)!r}).touch()\n"
    )
    command = [sys.executable, "-m", "ledgeragent", "replay", "-", "--jobs", jobs]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    with subprocess.Popen(
        [*command, "--domain", "slow:VERSIONS"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        while not started.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        # A signal just before a read begins is noticed only after it: the end of the input is.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")
