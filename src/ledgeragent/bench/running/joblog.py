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

_LONGEST = 100


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

    The first line says under which settings the runs were made, and by which software. Other settings
    are refused, other software too unless `mixed`: then a line says from where on.
    """

    def __init__(
        self,
        file: Path,
        settings: Mapping[str, Json],
        made_by: Mapping[str, Json] | None = None,
        mixed: bool = False,
    ) -> None:
        self._place = file
        self._settings = json.loads(json.dumps(settings))
        self._made_by = json.loads(json.dumps(made_by or {}))
        self._mixed = mixed
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
        header = None
        for number, row in self._file.rows():
            if "settings" in row:
                header = row
            elif number == 1:
                raise self._file.fault("no result file: it does not begin with its settings", 1)
            else:
                self._count(row)
        if header is not None:
            self._compare(header)
        if header is None or header.get("made_by", {}) != self._made_by:
            self._file.append({"settings": self._settings, "made_by": self._made_by})

    def _compare(self, header: Json) -> None:
        if different := _differing(header["settings"], self._settings):
            raise UsageError(
                f"{self._place} was made with other settings ({different}); choose another file"
            )
        different = _differing(header.get("made_by", {}), self._made_by)
        if different and not self._mixed:
            raise UsageError(
                f"{self._place} was made by other software ({different}); choose another file, or go "
                "on with --other-version"
            )

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


def _differing(old: Json, new: Json) -> str:
    """The settings that differ, each with both values."""
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return "; ".join(
        f"{name}: {_brief(old.get(name))}, now {_brief(new.get(name))}" for name in names
    )


def _brief(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
