"""Finished runs on disk, one JSON line each: what is there is done, and is never done again."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from ledgeragent.errors import DataError, UsageError
from ledgeragent.types import Json


class Job(NamedTuple):
    """One trial of one task in one arm."""

    domain: str
    arm: str
    task: str
    trial: int

    def __str__(self) -> str:
        return f"{self.domain} {self.arm} task {self.task} trial {self.trial}"


class JobLog:
    """The file of an experiment. Use as a context; one process at a time holds it.

    The first line says under which settings the runs were made; others are refused. A line that a
    killed process left unfinished is cut off, since its run was not recorded and will be done again.
    """

    def __init__(self, file: Path, settings: Mapping[str, Json]) -> None:
        self._file = file
        self._settings = json.loads(json.dumps(settings))
        self._lock = threading.Lock()
        self.done: set[Job] = set()
        self.tokens = 0

    def __enter__(self) -> JobLog:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._stream: IO[bytes] = self._file.open("a+b")
        try:
            self._resume()
        except BaseException:
            self._stream.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._stream.close()

    def _resume(self) -> None:
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{self._file} is in use by another process") from None
        self._stream.seek(0)
        content = self._stream.read()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            self._stream.truncate(len(whole))
        lines = whole.splitlines()
        if not lines:
            self._append({"settings": self._settings})
        for number, line in enumerate(lines, 1):
            self._take(line, number)

    def _take(self, line: bytes, number: int) -> None:
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DataError(f"not JSON: {error}", file=str(self._file), line=number) from None
        if number == 1:
            if record.get("settings") != self._settings:
                raise UsageError(f"{self._file} was made with other settings; choose another file")
            return
        self._count(record)

    def _count(self, record: Json) -> None:
        job = Job(record["domain"], record["arm"], record["task_id"], record["trial"])
        self.done.add(job)
        self.tokens += int(record.get("tokens") or 0)

    def add(self, job: Job, record: Mapping[str, Any]) -> None:
        """Writes a finished run through to the disk, whole."""
        named = {**record, "domain": job.domain, "arm": job.arm}
        named |= {"task_id": job.task, "trial": job.trial}
        with self._lock:
            self._append(named)
            self._count(named)

    def _append(self, record: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(record, default=str).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())
