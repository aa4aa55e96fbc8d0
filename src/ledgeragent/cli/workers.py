"""Workers: several processes that serve one port, and one that keeps them running."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from ledgeragent.cli.hangup import keep_hangups
from ledgeragent.errors import UsageError

_FORWARDED = ("SIGTERM", "SIGINT", "SIGHUP")
_ENDED = "SIGCHLD"
_QUICK = 1.0
"""A worker that ends sooner than that, in seconds, would only end again."""


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens, for all workers. OSError where the address is not to be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024)


def run_workers(count: int, work: Callable[[int], int]) -> int:
    """Runs `work` in so many processes, each told its number from 1; 0 once all have ended well.

    Signals go on to all of them. One that ends though nobody told it to is begun anew; if this process
    itself is killed, they stop as on SIGTERM. UsageError on systems that cannot fork.
    """
    if sys.platform == "win32":
        raise UsageError(
            "--workers needs a POSIX system; start several gateways with --port instead"
        )
    return _Crew(count, work).run()


class _Crew:
    """The parent's view of its workers: each by its process number.

    Its signals are blocked and waited for one by one, so none falls between a fork and the note of it.
    """

    def __init__(self, count: int, work: Callable[[int], int]) -> None:
        self._count = count
        self._work = work
        self._workers: dict[int, tuple[int, float]] = {}
        self._is_stopping = False
        self._was_hung_up = False
        self._code = 0
        self._awaited = {getattr(signal, name) for name in (*_FORWARDED, _ENDED)}
        self._mask: set[int] = set()
        # Nothing is ever written to it. It ends when the last process that could has gone.
        self._life, self._held = os.pipe()

    def run(self) -> int:
        """Until all have ended."""
        # Where a signal would be ignored, some systems drop it though it is blocked.
        before = signal.signal(getattr(signal, _ENDED), _do_nothing)
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, self._awaited)
        try:
            for number in range(1, self._count + 1):
                self._begin(number)
            while self._workers:
                self._heed(signal.sigwait(self._awaited))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            signal.signal(getattr(signal, _ENDED), before)
            os.close(self._held)
            os.close(self._life)
        return self._code

    def _begin(self, number: int) -> None:
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            self._be_worker(number)
        self._workers[process] = (number, time.monotonic())

    def _be_worker(self, number: int) -> NoReturn:
        for awaited in self._awaited:
            signal.signal(awaited, signal.SIG_DFL)
        keep_hangups()
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        # What the others have read anew is not what this one was born with.
        if self._was_hung_up:
            os.kill(os.getpid(), signal.SIGHUP)
        os.close(self._held)
        threading.Thread(target=self._stop_alone, daemon=True).start()
        code = 1
        try:
            code = self._work(number)
            sys.stdout.flush()
        finally:
            os._exit(code)

    def _stop_alone(self) -> None:
        """In a worker: waits for the end of the parent, without which nobody keeps or stops it."""
        os.read(self._life, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _heed(self, number: int) -> None:
        if number != getattr(signal, _ENDED):
            self._forward(number)
            return
        # One signal may stand for several that ended.
        while self._workers and (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            process, status = ended
            # Where this process is the first of a container, others' children come to it too.
            if process in self._workers:
                self._replace(process, os.waitstatus_to_exitcode(status))

    def _replace(self, process: int, code: int) -> None:
        number, began = self._workers.pop(process)
        if self._is_stopping:
            # One that had only just begun may not know the signal yet.
            self._code = self._code or (0 if code == -signal.SIGTERM else abs(code))
        elif time.monotonic() - began < _QUICK:
            # It cannot begin at all: so it is with the others.
            self._code = abs(code) or 1
            self._forward(signal.SIGTERM)
        else:
            self._begin(number)

    def _forward(self, number: int) -> None:
        self._is_stopping = self._is_stopping or number in (signal.SIGTERM, signal.SIGINT)
        self._was_hung_up = self._was_hung_up or number == signal.SIGHUP
        for process in self._workers:
            os.kill(process, number)


def _do_nothing(number: int, frame: FrameType | None) -> None:
    """Handles a signal that is waited for elsewhere."""
