"""Places to which the heads of a journal go: a file, the system's log, or a URL."""

from __future__ import annotations

import logging
import logging.handlers
import os
import threading
import urllib.parse
import urllib.request
from pathlib import Path as File
from typing import Protocol

from ledgeragent.errors import UsageError
from ledgeragent.files.private import open_private

_TIMEOUT = 5.0
_log = logging.getLogger("ledgeragent.journal")


class HeadPlace(Protocol):
    """Where heads are kept, one JSON text each."""

    def keep(self, line: str) -> None:
        """Keeps one more."""
        ...

    def close(self) -> None:
        """Waits until all are kept, for a few seconds at most."""
        ...


def head_place(text: str) -> HeadPlace:
    """The place that a text names: `syslog:`, `syslog:HOST:PORT`, a URL, else a file."""
    if text.startswith(("https://", "http://")):
        return _Url(text)
    if text.startswith("syslog:"):
        return _SystemLog(text.removeprefix("syslog:"))
    return _HeadFile(File(text))


class _HeadFile:
    """A file, to which lines are added. What cannot be written is raised."""

    def __init__(self, file: File) -> None:
        self._file = file

    def keep(self, line: str) -> None:
        handle = open_private(self._file, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(handle, f"{line}\n".encode())
            os.fsync(handle)
        finally:
            os.close(handle)

    def close(self) -> None:
        """Nothing: each line is on the disk."""


class _Handler(logging.handlers.SysLogHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        _log.warning("a head of the journal was not taken by the system's log")


class _SystemLog:
    """The system's log (RFC 3164), here or on another host."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        if address and not (host and port.isascii() and port.isdigit()):
            raise UsageError(f"syslog:{address}: write syslog: or syslog:HOST:PORT")
        try:
            self._handler = _Handler((host, int(port)) if host else "/dev/log")
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise UsageError(f"syslog:{address}: no system log answers there: {reason}") from None

    def keep(self, line: str) -> None:
        self._handler.emit(
            logging.LogRecord(
                "ledgeragent", logging.INFO, "", 0, f"ledgeragent: {line}", None, None
            )
        )

    def close(self) -> None:
        self._handler.close()


class _Url:
    """A URL, to which each head is posted by a thread of its own; what fails is logged."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._threads: list[threading.Thread] = []

    def keep(self, line: str) -> None:
        thread = threading.Thread(target=self._post, args=(line.encode(),), daemon=True)
        self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        thread.start()

    def _post(self, body: bytes) -> None:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self._url, body, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT):
                pass
        except (OSError, ValueError) as problem:
            # Of the URL only the host, since the rest may hold a key.
            host = urllib.parse.urlsplit(self._url).hostname
            _log.warning("a head of the journal was not taken by %s: %s", host, problem)

    def close(self) -> None:
        for thread in self._threads:
            thread.join(_TIMEOUT)
