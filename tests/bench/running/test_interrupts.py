"""Ctrl-C in the long verbs: no waiting for an endpoint that fails, nothing lost, the rest next time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import IO

import pytest

from ledgeragent.bench.running.experiment import Limits, conduct
from ledgeragent.bench.running.interrupts import EXIT, Interrupted, Stop, interrupts, worked
from ledgeragent.bench.running.joblog import Job, JobLog
from ledgeragent.cli.main import main
from tests.bench.arms.fama.test_verb import Bench, failed, results
from tests.bench.chat_server import Body, chat_server, serving
from tests.bench.probes.test_probe import _run
from tests.bench.running.test_endpoint import refused
from tests.bench.running.test_experiment import JOBS, SETTINGS, record
from tests.bench.shop import scripted

ROOT = Path(__file__).parents[3]
KEY = "sk-a-secret-of-mine"


def test_a_pause_ends_when_the_run_does() -> None:
    stop = Stop()
    stop.pause(0)
    stop.check()
    waiting = threading.Event()

    def wait() -> None:
        waiting.set()
        with pytest.raises(Interrupted):
            stop.pause(3600)

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait()
    stop.set()
    thread.join()
    assert stop.is_set()
    with pytest.raises(Interrupted):
        stop.check()


def test_the_first_interrupt_is_told_and_handled_and_the_old_way_comes_back() -> None:
    said: list[str] = []
    before = signal.getsignal(signal.SIGINT)
    with interrupts(said.append) as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.is_set()
    assert signal.getsignal(signal.SIGINT) is before
    assert len(said) == 1


def test_outside_the_main_thread_interrupts_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    found: list[object] = []

    def elsewhere() -> None:
        with interrupts(lambda line: None) as stop:
            found.extend((stop.is_set(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [False, before]


def test_once_stopped_no_task_begins_and_what_is_done_is_given_out() -> None:
    stop, begun = Stop(), []

    def task(number: int) -> int:
        begun.append(number)
        if number == 3:
            stop.set()
        return number

    assert sorted(worked((partial(task, n) for n in range(9)), 1, stop)) == begun == [0, 1, 2, 3]


def test_a_failure_ends_the_waits_of_others_and_is_raised_last() -> None:
    stop = Stop()
    waiting = threading.Barrier(3)

    def waits() -> int:
        waiting.wait()
        stop.pause(3600)
        return 0

    def succeeds() -> int:
        waiting.wait()
        return 1

    def fails() -> int:
        waiting.wait()
        raise ValueError("broken")

    given: list[int] = []
    with pytest.raises(ValueError, match="broken"):
        given.extend(worked([waits, succeeds, fails, succeeds], 3, stop))
    assert 0 not in given


def test_whoever_stops_listening_stops_the_tasks() -> None:
    stop, begun = Stop(), []

    def task(number: int) -> int:
        begun.append(number)
        if number:
            stop.pause(3600)
        return number

    found = worked((partial(task, n) for n in range(9)), 1, stop)
    assert next(found) == 0
    found.close()
    assert stop.is_set()
    assert set(begun) <= {0, 1}


def test_a_job_that_is_interrupted_while_it_waits_is_left_and_not_failed(tmp_path: Path) -> None:
    stop = Stop()
    told: list[str] = []

    def play(job: Job) -> dict[str, object]:
        if job == JOBS[1]:
            stop.set()
            raise ConnectionError("no answer\nand more")
        return record(job)

    with JobLog(tmp_path / "r", SETTINGS) as journal:
        outcome = conduct(JOBS, play, journal, Limits(), told.append, stop.pause, stop.is_set)
        assert journal.done == {JOBS[0]}
        assert (outcome.failed, outcome.left) == ({}, len(JOBS) - 1)
    assert f"{JOBS[1]}: ConnectionError: no answer; try 1 of 4, again in 2 s" in told


# The verbs, each against a server that answers a few times and fails from then on


def _probe(tmp_path: Path) -> tuple[list[str], Callable[[Body], str]]:
    runs = tmp_path / "runs.jsonl"
    runs.write_text("".join(f"{json.dumps(_run(f'r{n}'))}\n" for n in range(3)))
    answer = json.dumps({"name": "apply_voucher", "arguments": {}})
    return ["probe", str(runs), "--model", "m", "-o", str(tmp_path / "kept")], lambda body: answer


def _fama(tmp_path: Path) -> tuple[list[str], Callable[[Body], str]]:
    file = results(tmp_path, [failed(str(n), "DCV") for n in range(3)])
    command = ["fama", file, "--model", "judge", "--oracle", "-o", str(tmp_path / "choice")]
    return [*command, "--keep", str(tmp_path / "kept")], Bench()


@pytest.mark.parametrize(("made", "answers"), [(_probe, 6), (_fama, 8)], ids=["probe", "fama"])
def test_an_interrupted_verb_goes_on_where_it_was(
    made: Callable[[Path], tuple[list[str], Callable[[Body], str]]],
    answers: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LEDGERAGENT_DATA_DIR", raising=False)
    command, answer = made(tmp_path)
    asked: list[Body] = []

    def until_then(body: Body) -> str | None:
        asked.append(body)
        if len(asked) <= answers:
            return answer(body)
        os.kill(os.getpid(), signal.SIGINT)
        return None

    with chat_server(until_then) as url:
        assert main(["bench", *command, "--url", url]) == EXIT
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{url}: " in told.err and "; try 1 of 6, again in 1 s\n" in told.err
    assert "\ninterrupted; " in told.err
    kept = (tmp_path / "kept").read_text().splitlines()
    assert kept
    with chat_server(answer) as url:
        assert main(["bench", *command, "--url", url]) == 0
    assert capsys.readouterr().out
    assert (tmp_path / "kept").read_text().splitlines()[: len(kept)] == kept


def _shop(url: str, kept: Path) -> list[str]:
    command = ["bench", "shop", "--model", "careful", "--trials", "3", "--tasks", "cancel-open"]
    return [*command, "--arms", "fc", "--url", url, "-o", str(kept)]


def _started(command: list[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENAI_API_KEY": KEY}
    program = [sys.executable, "-m", "ledgeragent", *command]
    return subprocess.Popen(program, env=environment, stderr=subprocess.PIPE, text=True)


def _until(words: str, said: IO[str] | None) -> str:
    """What the process says on standard error up to a line with these words."""
    assert said is not None
    lines = []
    for line in said:
        lines.append(line)
        if words in line:
            break
    return "".join(lines)


def test_an_interrupt_during_the_wait_leaves_the_shops_runs_to_be_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    one = 5  # answers to a conversation
    with (
        scripted.server([(503, KEY.encode())], most=one) as url,
        _started(_shop(url, kept)) as process,
    ):
        told = _until("try 2 of 6", process.stderr)
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate()
    assert process.returncode == EXIT
    lines = [line for line in told.splitlines() if "; try " in line]
    assert lines == [
        f"{url}: status 503; try {number} of 6, again in {seconds} s"
        for number, seconds in ((1, 1), (1, 1), (2, 2))
    ]
    assert "finishing what is running" in rest
    assert "interrupted; 2 runs are left" in rest
    assert KEY not in told + rest
    before = kept.read_text()
    assert len(before.splitlines()) == 1
    with scripted.server() as url:
        assert main(_shop(url, kept)) == 0
    assert "pass^3" in capsys.readouterr().out
    assert kept.read_text().startswith(before)
    assert len(kept.read_text().splitlines()) == 3


def test_a_second_interrupt_waits_for_nothing(tmp_path: Path) -> None:
    asked, over = threading.Event(), threading.Event()

    class Silent(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.set()
            over.wait()

    try:
        with serving(Silent) as url, _started(_shop(url, tmp_path / "kept")) as process:
            asked.wait()
            process.send_signal(signal.SIGINT)
            _until("once more to stop at once", process.stderr)
            process.send_signal(signal.SIGINT)
            process.wait()
            over.set()
    finally:
        over.set()
    assert process.returncode == EXIT


@pytest.mark.parametrize("verb", ["shop", "probe", "fama"])
def test_a_port_that_nobody_listens_at_is_told_while_it_is_tried(
    verb: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Stop, "pause", lambda self, seconds: None)
    monkeypatch.delenv("LEDGERAGENT_DATA_DIR", raising=False)
    with refused() as url:
        given = {
            "shop": lambda: _shop(url, tmp_path / "kept")[1:],
            "probe": lambda: [*_probe(tmp_path)[0], "--url", url],
            "fama": lambda: [*_fama(tmp_path)[0], "--url", url],
        }
        code = main(["bench", *given[verb]()])
    told = capsys.readouterr().err.splitlines()
    assert code == (0 if verb == "probe" else 2)
    first = told[:6]
    for number, line in enumerate(first[:5], 1):
        assert line.startswith(f"{url}: ConnectionRefusedError: "), line
        assert line.endswith(f"; try {number} of 6, again in {2 ** (number - 1)} s"), line
    assert url in first[5] and "6 times" in first[5]
