"""The schedule and the journal of an experiment: killed, resumed, failing, short of budget."""

from __future__ import annotations

import json
import multiprocessing
import random
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ledgeragent.bench.results.reading import read_results
from ledgeragent.bench.running.experiment import Limits, conduct
from ledgeragent.bench.running.joblog import Job, JobLog
from ledgeragent.errors import UsageError

SETTINGS = {"agent": "m"}
JOBS = [Job("retail", "fc", str(n), t) for t in range(2) for n in range(10)]


def record(job: Job) -> dict[str, Any]:
    return {"reward": float(int(job.task) % 2), "messages": [], "tokens": 10, "agent_model": "m"}


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_every_job_is_done_once_and_can_be_reported(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    for _ in range(2):
        with JobLog(file, SETTINGS) as journal:
            assert conduct(JOBS, record, journal, Limits(workers=3)).complete
    runs = list(read_results(str(file)))
    assert len(runs) == len(JOBS)
    assert {(run.task, run.success) for run in runs} == {(str(n), n % 2 == 1) for n in range(10)}


def test_a_failing_job_is_tried_again_after_growing_pauses(tmp_path: Path) -> None:
    tries: list[Job] = []
    pauses: list[float] = []

    def play(job: Job) -> dict[str, Any]:
        tries.append(job)
        if len(tries) < 3:
            raise ConnectionError("429")
        return record(job)

    with JobLog(tmp_path / "r", SETTINGS) as journal:
        outcome = conduct(JOBS[:1], play, journal, Limits(attempts=4), pause=pauses.append)
    assert outcome.complete
    assert pauses == [2.0, 4.0]


@pytest.mark.parametrize("status", [401, 404])
def test_a_refusal_of_the_key_or_the_model_ends_the_experiment(tmp_path: Path, status: int) -> None:
    """Thousands of runs would be refused alike, each after several pauses."""
    tries: list[Job] = []
    pauses: list[float] = []

    class RefusedError(Exception):
        status_code = status

    def play(job: Job) -> dict[str, Any]:
        tries.append(job)
        if len(tries) == 3:
            raise RefusedError("no such key")
        return record(job)

    with JobLog(tmp_path / "r", SETTINGS) as journal:
        outcome = conduct(JOBS, play, journal, Limits(attempts=4), pause=pauses.append)
    assert outcome.refused and outcome.failed == {JOBS[2]: "RefusedError: no such key"}
    assert (outcome.left, tries, pauses) == (len(JOBS) - 3, JOBS[:3], [])


@pytest.mark.parametrize("status", [403, 408, 429, 500, 529])
def test_what_another_run_may_not_meet_ends_nothing(tmp_path: Path, status: int) -> None:
    """403 too: some servers answer so to what one conversation says."""

    class PassingError(Exception):
        status_code = status

    def play(job: Job) -> dict[str, Any]:
        if job == JOBS[0]:
            raise PassingError
        return record(job)

    with JobLog(tmp_path / "r", SETTINGS) as journal:
        outcome = conduct(JOBS, play, journal, Limits(attempts=2), pause=lambda s: None)
    assert not outcome.refused and list(outcome.failed) == JOBS[:1] and not outcome.left


def test_a_job_that_keeps_failing_is_told_and_left_for_the_next_time(tmp_path: Path) -> None:
    file = tmp_path / "r"

    def play(job: Job) -> dict[str, Any]:
        if job == JOBS[1]:
            raise TimeoutError("no answer")
        return record(job)

    with JobLog(file, SETTINGS) as journal:
        outcome = conduct(JOBS[:3], play, journal, Limits(attempts=2), pause=lambda s: None)
        assert outcome.failed == {JOBS[1]: "TimeoutError: no answer"}
    with JobLog(file, SETTINGS) as journal:
        assert journal.done == {JOBS[0], JOBS[2]}
        assert conduct(JOBS[:3], record, journal, Limits()).complete


def test_a_spent_budget_stops_cleanly_and_counts_what_was_spent_before(tmp_path: Path) -> None:
    file = tmp_path / "r"
    with JobLog(file, SETTINGS) as journal:
        outcome = conduct(JOBS, record, journal, Limits(tokens=35))
        assert (len(journal.done), outcome.left, outcome.complete) == (4, 16, False)
    with JobLog(file, SETTINGS) as journal:
        assert conduct(JOBS, record, journal, Limits(tokens=35)).left == 16


def test_what_the_server_asks_for_is_waited_within_reason(tmp_path: Path) -> None:
    asked = iter(["7", "600", "soon", ""])
    pauses: list[float] = []

    def play(job: Job) -> dict[str, Any]:
        if told := next(asked):
            error = ConnectionError("429")
            error.response = SimpleNamespace(headers={"retry-after": told})  # type: ignore[attr-defined]
            raise error
        return record(job)

    with JobLog(tmp_path / "r", SETTINGS) as journal:
        assert conduct(JOBS[:1], play, journal, Limits(), pause=pauses.append).complete
    assert pauses == [7.0, 60.0, 8.0]


def test_once_stopped_nothing_new_is_started_and_what_runs_is_kept(tmp_path: Path) -> None:
    stop = threading.Event()

    def play(job: Job) -> dict[str, Any]:
        if job == JOBS[2]:
            stop.set()
        return record(job)

    with JobLog(tmp_path / "r", SETTINGS) as journal:
        outcome = conduct(JOBS, play, journal, Limits(), stopped=stop.is_set)
        assert journal.done == set(JOBS[:3])
        assert (outcome.left, outcome.complete) == (len(JOBS) - 3, False)
        assert conduct(JOBS, record, journal, Limits()).complete


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "r"
    with JobLog(file, SETTINGS) as journal:
        conduct(JOBS[:2], record, journal, Limits())
    file.write_bytes(file.read_bytes()[:-5])
    with JobLog(file, SETTINGS) as journal:
        assert journal.done == {JOBS[0]}
        conduct(JOBS[:2], record, journal, Limits())
    assert len(lines(file)) == 3


def test_other_settings_and_a_second_process_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "r"
    with (
        JobLog(file, SETTINGS),
        pytest.raises(UsageError, match="another process is writing this file"),
        JobLog(file, SETTINGS),
    ):
        pass
    with pytest.raises(UsageError, match="other settings"), JobLog(file, {"agent": "n"}):
        pass


def experiment(file: Path) -> None:
    """Goes on with all jobs, slowly enough to be killed in the middle of one."""

    def play(job: Job) -> dict[str, Any]:
        time.sleep(0.01)
        return {**record(job), "padding": "x" * 20000}

    with JobLog(file, SETTINGS) as journal:
        conduct(JOBS, play, journal, Limits(workers=3))


def test_killed_at_random_and_resumed_it_ends_as_if_undisturbed(tmp_path: Path) -> None:
    file = tmp_path / "r"
    chance = random.Random(7)
    # Each life is a process of its own; what it imports was imported once.
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload([__name__])
    for _ in range(20):
        before = len(file.read_bytes().splitlines()) if file.exists() else 0
        process = forks.Process(target=experiment, args=(file,))
        process.start()
        wanted = before + chance.randint(1, 2)
        while (
            process.is_alive()
            and len(file.read_bytes().splitlines() if file.exists() else ()) < wanted
        ):
            time.sleep(0.002)
        process.kill()
        process.join()
    last = forks.Process(target=experiment, args=(file,))
    last.start()
    last.join()
    assert last.exitcode == 0
    jobs = [Job(r["domain"], r["arm"], r["task_id"], r["trial"]) for r in lines(file)[1:]]
    assert sorted(jobs) == sorted(JOBS)
    assert {r["task_id"]: r["reward"] for r in lines(file)[1:]} == {
        job.task: record(job)["reward"] for job in JOBS
    }


def test_other_software_is_refused_unless_asked_for_and_then_told(tmp_path: Path) -> None:
    file = tmp_path / "r"
    with JobLog(file, SETTINGS, {"ledgeragent": "1"}) as journal:
        journal.add(JOBS[0], record(JOBS[0]))
    with (
        pytest.raises(UsageError, match='ledgeragent: "1", now "2"'),
        JobLog(file, SETTINGS, {"ledgeragent": "2"}),
    ):
        pass
    for _ in range(2):
        with JobLog(file, SETTINGS, {"ledgeragent": "2"}, mixed=True) as journal:
            assert journal.done == {JOBS[0]}
    with JobLog(file, SETTINGS, {"ledgeragent": "2"}) as journal:
        journal.add(JOBS[1], record(JOBS[1]))
    made_by = [row["made_by"]["ledgeragent"] for row in lines(file) if "made_by" in row]
    assert made_by == ["1", "2"]
    assert len(list(read_results(str(file)))) == 2
