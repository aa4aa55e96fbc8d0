"""A whole experiment: its jobs on some workers, failures tried again, a budget, all journaled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ledgeragent.bench.running.interrupts import Interrupted
from ledgeragent.bench.running.joblog import Job, JobLog
from ledgeragent.bench.running.progress import Announce, again

Play: TypeAlias = Callable[[Job], Mapping[str, Any]]
"""Does one job: a record with `reward`, `messages` and `tokens`. Raises where the harness failed."""

_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 60.0
_LONGEST_PROBLEM = 200
_REFUSALS = frozenset({401, 404})
"""Statuses of a model's server that every run would get: no such key, no such model or path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many jobs at once, how often one is tried, and how many tokens all of them may take."""

    workers: int = 1
    attempts: int = 4
    tokens: int | None = None


@dataclass(slots=True)
class LeftOver:
    """The jobs left over: those that failed every time, with why, and how many were not begun.

    `refused` if one failed in a way that all others would too.
    """

    failed: dict[Job, str] = field(default_factory=dict)
    left: int = 0
    refused: bool = False

    @property
    def complete(self) -> bool:
        """True if every job is done."""
        return not self.failed and not self.left


def conduct(
    jobs: Iterable[Job],
    play: Play,
    journal: JobLog,
    limits: Limits,
    tell: Announce = lambda line: None,
    pause: Callable[[float], None] = time.sleep,
    stopped: Callable[[], bool] = lambda: False,
) -> LeftOver:
    """Does every job that the journal has not.

    What is running when the budget ends, or when `stopped` says so, is finished and kept. A job whose
    pause ends in Interrupted is left. Nothing more is begun after a refusal of the key or the model.
    """
    waiting = [job for job in jobs if job not in journal.done]
    total, outcome = len(waiting), LeftOver()
    finished = 0
    running: dict[Future[Mapping[str, Any]], Job] = {}
    with ThreadPoolExecutor(limits.workers) as pool:
        while waiting or running:
            over = outcome.refused or stopped() or _spent(journal, limits)
            while waiting and len(running) < limits.workers and not over:
                job = waiting.pop(0)
                running[pool.submit(_attempt, play, job, limits.attempts, tell, pause)] = job
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                error = future.exception()
                if isinstance(error, Interrupted):
                    waiting.append(job)
                    continue
                finished += 1
                if error is not None:
                    outcome.failed[job] = f"{type(error).__name__}: {error}"
                    tell(f"{finished}/{total} {job}: failed, {outcome.failed[job]}")
                    outcome.refused |= _is_refusal(error)
                    continue
                record = future.result()
                journal.add(job, record)
                tell(f"{finished}/{total} {job}: reward {record['reward']}")
    outcome.left = len(waiting)
    return outcome


def _spent(journal: JobLog, limits: Limits) -> bool:
    return limits.tokens is not None and journal.tokens >= limits.tokens


def _attempt(
    play: Play, job: Job, attempts: int, tell: Announce, pause: Callable[[float], None]
) -> Mapping[str, Any]:
    """Plays a job, again after a growing pause where the harness or the model's server failed."""
    for number in range(1, attempts):
        try:
            return play(job)
        except Exception as error:
            if _is_refusal(error):
                raise
            seconds = _asked_for(error) or _FIRST_PAUSE * 2 ** (number - 1)
            seconds = min(seconds, _LONGEST_PAUSE)
            problem = _first_line(f"{type(error).__name__}: {error}")
            tell(again(str(job), problem, number, attempts, seconds))
            pause(seconds)
    return play(job)


def _is_refusal(error: BaseException) -> bool:
    return getattr(error, "status_code", None) in _REFUSALS


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _LONGEST_PROBLEM else f"{line[:_LONGEST_PROBLEM]}..."


def _asked_for(error: Exception) -> float | None:
    """How long the model's server asks to be left alone, where its answer is with the failure."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    header = str(headers.get("retry-after", ""))
    return float(header) if header.isascii() and header.isdigit() and int(header) > 0 else None
