"""Verdicts as a table in parts: a folder of Parquet files, on this machine or in an object store.

In a store the workers write the parts themselves, so that no row passes the process that adds up.
"""

from __future__ import annotations

import io
import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType

from ledgeragent.errors import UsageError
from ledgeragent.files.objects import objects_at, remove_object, write_object
from ledgeragent.files.private import write_private
from ledgeragent.offline.verdictrow import VerdictRow
from ledgeragent.offline.verdicttable import GROUP, parquet

SUCCESS = "_SUCCESS"
"""The empty file that says that all parts are there, as other tools expect it."""


@dataclass(frozen=True, slots=True)
class ObjectPart:
    """Writes parts to a store. One that is written twice is the same as once."""

    folder: str

    def __call__(self, name: str, wholes: Sequence[str], rows: Sequence[VerdictRow], /) -> None:
        """Writes one. Those of partitions that it is a part of go: their worker died behind them."""
        for whole in wholes:
            remove_object(self._place(whole))
        if rows:
            write_object(self._place(name), io.BytesIO(parquet(rows)))

    def _place(self, name: str) -> str:
        return f"{self.folder}part-{name}.parquet"


class VerdictFolder(ABC):
    """A table in parts under way. Its folder has to be new, or empty.

    Once all of it is written `_SUCCESS` stands in it. Where the block ends otherwise, it is as it was.
    """

    def __init__(self, place: str) -> None:
        self.place = place

    @abstractmethod
    def finish(self) -> None:
        """All parts are there."""

    @abstractmethod
    def give_up(self) -> None:
        """None of them is to stay."""

    def __enter__(self) -> VerdictFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.give_up()


class StoredFolder(VerdictFolder):
    """One in an object store, whose parts the workers write."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        if objects_at(place):
            raise _not_empty(place)
        self.part = ObjectPart(place)

    def finish(self) -> None:
        """Says so in the store."""
        if not objects_at(self.place):
            write_object(f"{self.place}part-empty.parquet", io.BytesIO(parquet([])))
        write_object(f"{self.place}{SUCCESS}", io.BytesIO())

    def give_up(self) -> None:
        """Removes what was written."""
        for name in objects_at(self.place):
            remove_object(name)


class LocalFolder(VerdictFolder):
    """One on this machine, whose parts are written here, for their owner alone."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        folder = Path(place)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise _not_empty(place)
        self._folder = folder
        self._draft = Path(mkdtemp(dir=folder.parent, prefix=".verdicts-"))
        self._rows: list[VerdictRow] = []
        self._count = 0

    def write(self, rows: Sequence[VerdictRow]) -> None:
        """Adds rows."""
        self._rows += rows
        while len(self._rows) >= GROUP:
            self._flush(self._rows[:GROUP])
            del self._rows[:GROUP]

    def _flush(self, rows: Sequence[VerdictRow]) -> None:
        write_private(self._draft / f"part-{self._count:05}.parquet", parquet(rows))
        self._count += 1

    def finish(self) -> None:
        """Puts the folder in its place."""
        if self._rows or not self._count:
            self._flush(self._rows)
        write_private(self._draft / SUCCESS, b"")
        if self._folder.exists():
            self._folder.rmdir()  # not every system replaces even an empty one
        self._draft.replace(self._folder)

    def give_up(self) -> None:
        """Removes what was written."""
        shutil.rmtree(self._draft, ignore_errors=True)


def _not_empty(place: str) -> UsageError:
    return UsageError(f"--write {place}: something stands there; name a new folder, or empty it")
