"""Places to which the heads of a journal go: a file, the system's log, or a URL."""

from __future__ import annotations

import logging
import logging.handlers
import os
from contextlib import closing
from pathlib import Path as File
from typing import Protocol

from ledgeragent.errors import UsageError
from ledgeragent.files.private import open_private
from ledgeragent.journal.courier import Courier
from ledgeragent.journal.posting import Post

_LONGEST_TAIL = 1 << 16


class HeadPlace(Protocol):
    """Where heads are kept, one JSON text each."""

    def keep(self, line: str) -> None:
        """Keeps one more."""
        ...

    def close(self) -> int | None:
        """Waits until all are kept, for a few seconds at most; how many were not, if that is not raised."""
        ...


def head_place(text: str) -> HeadPlace:
    """The place that a text names: `syslog:`, `syslog:SOCKET`, `syslog:HOST:PORT`, a URL, else a file."""
    if text.startswith(("https://", "http://")):
        post = Post(text)
        return Courier(post.host, post.send)
    if text.startswith("syslog:"):
        return Courier(text, _SystemLog(text.removeprefix("syslog:")).send)
    return _HeadFile(File(text))


class _HeadFile:
    """A file, to which lines are added. What cannot be written is raised, and none of it stays."""

    def __init__(self, file: File) -> None:
        self._file = file

    def keep(self, line: str) -> None:
        handle = open_private(self._file, os.O_RDWR | os.O_APPEND)
        whole = _whole_lines(handle)
        try:
            os.ftruncate(handle, whole)
            _write_all(handle, f"{line}\n".encode())
            os.fsync(handle)
        except OSError as problem:
            os.ftruncate(handle, whole)
            raise OSError(problem.errno, problem.strerror, str(self._file)) from None
        finally:
            os.close(handle)

    def close(self) -> None:
        """Nothing to wait for: each line is on the disk."""


def _whole_lines(handle: int) -> int:
    """The bytes up to the last line's end: behind it may be what a system left that lost power."""
    size = os.fstat(handle).st_size
    tail = max(size - _LONGEST_TAIL, 0)
    os.lseek(handle, tail, os.SEEK_SET)
    return tail + os.read(handle, _LONGEST_TAIL).rfind(b"\n") + 1


def _write_all(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


class _Handler(logging.handlers.SysLogHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Raises what kept the record from being sent."""
        raise


class _SystemLog:
    """The system's log (RFC 3164): by its socket here, or by UDP on another host."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        is_socket = not address or address.startswith("/")
        if not is_socket and not (host and port.isascii() and port.isdigit() and len(port) < 6):
            raise UsageError(
                f"syslog:{address}: write syslog:, syslog:/path/of/socket or syslog:HOST:PORT"
            )
        self._place = (address or "/dev/log") if is_socket else (host.strip("[]"), int(port))
        try:
            if is_socket:  # The handler would only wait for it to come.
                os.stat(address or "/dev/log")
            _Handler(self._place).close()
        except (OSError, OverflowError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            raise UsageError(f"syslog:{address}: no system log answers there: {reason}") from None

    def send(self, line: str) -> None:
        """Sends one message; OSError where it is not taken, which UDP does not tell."""
        text = f"ledgeragent: {line}"
        with closing(_Handler(self._place)) as handler:
            handler.emit(logging.LogRecord("ledgeragent", logging.INFO, "", 0, text, None, None))
