"""Finished runs on disk: what is there is done, and is never done again."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ledgeragent.bench.running.rowfile import RowFile
from ledgeragent.errors import UsageError
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
    """The runs of an experiment by job. Use as a context; one process at a time holds its file.

    The first line says under which settings the runs were made; others are refused.
    """

    def __init__(self, file: Path, settings: Mapping[str, Json]) -> None:
        self._place = file
        self._settings = json.loads(json.dumps(settings))
        self._lock = threading.Lock()
        self.done: set[Job] = set()
        self.tokens = 0

    def __enter__(self) -> JobLog:
        self._file = RowFile(self._place)
        try:
            self._resume()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def _resume(self) -> None:
        settings = None
        for number, row in self._file.rows():
            if number > 1:
                self._count(row)
                continue
            settings = row.get("settings")
            if settings != self._settings:
                problem = f"{self._place} was made with other settings; choose another file"
                raise UsageError(problem)
        if settings is None:
            self._file.append({"settings": self._settings})

    def _count(self, record: Json) -> None:
        job = Job(record["domain"], record["arm"], record["task_id"], record["trial"])
        self.done.add(job)
        self.tokens += int(record.get("tokens") or 0)

    def add(self, job: Job, record: Mapping[str, Any]) -> None:
        """Writes a finished run through to the disk, whole."""
        named = {**record, "domain": job.domain, "arm": job.arm}
        named |= {"task_id": job.task, "trial": job.trial}
        with self._lock:
            self._file.append(named)
            self._count(named)
