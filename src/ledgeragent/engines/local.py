"""The engine of one machine: this process, or several of them."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from signal import SIG_IGN, SIGINT, signal
from threading import Thread
from typing import Generic

from ledgeragent.engines.engine import Failure, S, T, WorkerDied, guarded, outcome, salvaged

_WAITING_PER_JOB = 3
_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Up to `jobs` processes; there are never more of them than processors, or than shares."""

    jobs: int = 1
    share_bytes: int = 1

    def there(self, name: str) -> str:
        """The name as it is."""
        return name

    def run(
        self,
        sources: Sequence[str],
        reader: Callable[[int, str], Iterator[S]],
        work: Callable[[S], T],
    ) -> Iterator[tuple[S, T]]:
        """Each result beside its share, in the order of the sources."""
        stream = (share for number, name in enumerate(sources) for share in reader(number, name))
        first = list(islice(stream, min(self.jobs, processors())))
        shares = chain(first, stream)
        if len(first) < 2:
            return ((share, work(share)) for share in shares)
        return _Pool(work, len(first)).spread(shares)


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Pool(Generic[S, T]):
    """Some processes, and the shares that they have, in their order."""

    def __init__(self, work: Callable[[S], T], jobs: int) -> None:
        self._work = work
        self._jobs = jobs
        self._waiting: deque[tuple[S, Future[T | Failure]]] = deque()
        self._pool = ProcessPoolExecutor(jobs, initializer=_begin)

    def spread(self, shares: Iterable[S]) -> Iterator[tuple[S, T]]:
        """The results, with only a few shares under way at any time."""
        try:
            for share in shares:
                self._submit(share)
                if len(self._waiting) >= _WAITING_PER_JOB * self._jobs:
                    yield from self._next()
            while self._waiting:
                yield from self._next()
        finally:
            self._pool.shutdown(cancel_futures=True)

    def _submit(self, share: S) -> None:
        try:
            future = self._pool.submit(guarded, self._work, share)
        except BrokenProcessPool:
            self._begin_anew()
            future = self._pool.submit(guarded, self._work, share)
        self._waiting.append((share, future))

    def _next(self) -> Iterator[tuple[S, T]]:
        share, future = self._waiting.popleft()
        try:
            result = future.result()
        except BrokenProcessPool:
            # Which of those under way was deadly cannot be told: one by one they show it.
            self._begin_anew()
            yield from self._alone(share)
        else:
            yield share, outcome(result)

    def _begin_anew(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._pool = ProcessPoolExecutor(self._jobs, initializer=_begin)
        shares = [share for share, _ in self._waiting]
        self._waiting.clear()
        for share in shares:
            self._submit(share)

    def _alone(self, share: S) -> Iterator[tuple[S, T]]:
        for _ in range(_ATTEMPTS):
            try:
                result = self._attempt(share)
            except WorkerDied:
                continue
            yield share, result
            return
        yield from salvaged(share, self._attempt, self._work)

    def _attempt(self, share: S) -> T:
        with ProcessPoolExecutor(1, initializer=_begin) as alone:
            try:
                return outcome(alone.submit(guarded, self._work, share).result())
            except BrokenProcessPool:
                raise WorkerDied from None


def _begin() -> None:
    """Readies a worker: Ctrl-C is for its parent to answer, and it ends when the parent is gone."""
    signal(SIGINT, SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
