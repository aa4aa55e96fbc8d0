"""`--jobs`: how many processes really start, and that none outlives the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ledgeragent.engines.local import processors

from .command import ROOT, RUNS, jsonl

MANY = "99999999"
TWO = (
    "import sys; from ledgeragent.engines import local; local.processors = lambda: 2; "
    "from ledgeragent.cli.main import main; sys.exit(main())"
)
PATIENCE = 60.0


def started(
    folder: Path, *arguments: str | Path, program: tuple[str, ...]
) -> subprocess.Popen[str]:
    """The command on a domain whose module notes every process that has it, in `folder`."""
    (folder / "noting.py").write_text(
        "import os\n"
        "from pathlib import Path\n"
        "from tests.cli.branches import VERSIONS\n"
        f"def note():\n    Path({str(folder)!r}, f'{{os.getpid()}}.pid').touch()\n"
        "note()\n"
        "if hasattr(os, 'register_at_fork'):\n    os.register_at_fork(after_in_child=note)\n"
    )
    return subprocess.Popen(
        [sys.executable, *program, "replay", *arguments, "--domain", "noting:VERSIONS"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={
            **os.environ,
            "LEDGERAGENT_ALLOW_FAULTY": "1",
            "PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT, ROOT / "src"))),
        },
    )


def processes(folder: Path) -> set[int]:
    """The processes that were noted."""
    return {int(file.stem) for file in folder.glob("*.pid")}


def megabytes(number: int) -> str:
    """Recorded runs that are read in this many pieces."""
    records = [{**RUNS[n % len(RUNS)], "id": str(n), "note": "x" * 20_000} for n in range(50)]
    return jsonl(*records) * number


@pytest.mark.parametrize(("size", "most"), [(0, 0), (3, min(3, processors()))])
def test_no_more_processes_start_than_there_are_processors_or_pieces(
    tmp_path: Path, size: int, most: int
) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(megabytes(size) + jsonl(*RUNS))
    reports = []
    for jobs in ("1", MANY):
        with started(tmp_path, file, "--jobs", jobs, program=("-m", "ledgeragent")) as process:
            reports.append((*process.communicate(timeout=PATIENCE), process.returncode))
    assert len(processes(tmp_path)) <= 2 + most
    assert reports[0] == reports[1]
    assert reports[0][1:] == ("", 0)


@pytest.mark.skipif(os.name == "nt", reason="needs signals as POSIX has them")
@pytest.mark.parametrize("deadly", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_command(tmp_path: Path, deadly: signal.Signals) -> None:
    with started(tmp_path, "-", "--jobs", "2", program=("-c", TWO)) as process:
        assert process.stdin is not None
        process.stdin.write(megabytes(3))
        process.stdin.flush()
        give_up = time.monotonic() + PATIENCE
        while len(processes(tmp_path)) < 3 and time.monotonic() < give_up:
            time.sleep(0.02)
        process.send_signal(deadly)
        try:
            # They hold its output open for as long as they live.
            out, _ = process.communicate(timeout=PATIENCE)
        finally:
            left = processes(tmp_path) - {process.pid}
            for worker in left if sys.exc_info()[0] else ():
                os.kill(worker, signal.SIGKILL)
    assert (len(left), out, process.returncode) == (2, "", -deadly)
