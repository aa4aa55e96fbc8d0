"""Ctrl-C during a long run: what is under way is finished and kept, the rest is left for next time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

from ledgeragent.bench.running.progress import Announce

T = TypeVar("T")

EXIT = 130
"""The exit code of a run that was interrupted."""


class Interrupted(KeyboardInterrupt):
    """Raised in place of a pause, or of work that was not begun, once a run is to end."""


class Stop:
    """Says whether a run is to end; nobody waits past it."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Lets nothing new begin, and ends every pause."""
        self._event.set()

    def is_set(self) -> bool:
        """True once the run is to end."""
        return self._event.is_set()

    def pause(self, seconds: float) -> None:
        """Waits; raises Interrupted as soon as the run is to end."""
        if self._event.wait(seconds):
            raise Interrupted

    def check(self) -> None:
        """Raises Interrupted if the run is to end."""
        if self.is_set():
            raise Interrupted


@contextmanager
def interrupts(tell: Announce) -> Iterator[Stop]:
    """A stop that the first Ctrl-C sets; a second one ends the process, as safely as a kill does.

    Outside the main thread, which alone is interrupted, nothing sets it.
    """
    stop, first = Stop(), threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def interrupted(signum: int, frame: object) -> None:
        if first.is_set():
            os._exit(EXIT)
        first.set()
        stop.set()
        tell("finishing what is running; once more to stop at once (nothing recorded is lost)")

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def worked(tasks: Iterable[Callable[[], T]], workers: int, stop: Stop) -> Iterator[T]:
    """The result of each task, as it is done, some of them at a time.

    Once stopped, none begins, and those that wait give up. A failure stops the others too: it is
    raised when what they came to was given out.
    """
    failure: BaseException | None = None
    with ThreadPoolExecutor(workers) as pool:
        try:
            for future in as_completed([pool.submit(_unless, stop, task) for task in tasks]):
                error = future.exception()
                if error is None:
                    yield future.result()
                elif not isinstance(error, Interrupted):
                    failure = failure or error
        finally:
            stop.set()
    if failure is not None:
        raise failure


def _unless(stop: Stop, task: Callable[[], T]) -> T:
    stop.check()
    try:
        return task()
    except Exception:
        stop.set()
        raise
