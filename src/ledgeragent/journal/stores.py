"""Stores, in which the records of a journal stand: what all of them do, and that of JSON Lines."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path as File
from typing import Protocol, runtime_checkable

from ledgeragent.errors import DataError, LedgerAgentError, UsageError
from ledgeragent.files.limits import refuse_large
from ledgeragent.files.private import open_private, write_private
from ledgeragent.journal.lock import WriterLock
from ledgeragent.journal.tails import begin_of_last, end_of_lines

_AS_IT_IS: int = getattr(os, "O_BINARY", 0)

LONGEST_RECORD = 16 << 20
"""Bytes. What is longer is not read into memory."""


class ChainMovedError(OSError):
    """A store stands at the beginning of another chain: what was to be added has to be sealed anew."""


class Store(Protocol):
    """Where records are kept, in order. `waits` where another process may hold up who appends."""

    waits: bool

    def append(self, line: str) -> None:
        """Adds one record; returns once it has been handed to the operating system."""
        ...

    def lines(self) -> Iterator[str]:
        """Every whole record, oldest first."""
        ...

    def recent(self, count: int) -> Iterator[str]:
        """The last `count` whole records, oldest first, without reading what stands before them."""
        ...

    def torn(self) -> bytes:
        """The bytes after the last whole record: the part of one that was being written."""
        ...

    def drop_torn(self) -> None:
        """Sets the torn part aside, so that writing can go on behind the last whole record."""
        ...

    def sync(self) -> None:
        """Returns once all is on the disk."""
        ...

    def make_replaceable(self) -> None:
        """Leaves nothing beside the file, and keeps writers away; UsageError if readers prevent it."""
        ...

    def close(self) -> None:
        """Releases the file."""
        ...


@runtime_checkable
class SeveralChains(Protocol):
    """A store that can go on in another chain; `chain` is the name of the one that it writes."""

    chain: str

    def begin(self) -> str:
        """Leaves the chain, and begins another, whose name is returned."""
        ...

    def end(self) -> None:
        """Notes that nobody goes on with the chain."""
        ...

    def erased(self) -> Collection[int]:
        """The numbers of its records that other chains tell were erased."""
        ...


class NowhereStore:
    """Keeps no record, for whoever only wants to be told of them."""

    waits = False

    def append(self, line: str) -> None:
        """Nothing to keep."""

    def lines(self) -> Iterator[str]:
        """No record."""
        return iter(())

    def recent(self, count: int) -> Iterator[str]:
        """No record."""
        return iter(())

    def torn(self) -> bytes:
        """Nothing."""
        return b""

    def drop_torn(self) -> None:
        """Nothing to set aside."""

    def sync(self) -> None:
        """Nothing to wait for."""

    def make_replaceable(self) -> None:
        """Nothing stands beside it."""

    def close(self) -> None:
        """Nothing to release."""


class JsonlStore:
    """One record a line. A second writer is refused while one has the file open."""

    waits = False

    def __init__(self, file: File, *, writable: bool) -> None:
        self.file = file
        flags = os.O_RDWR | os.O_APPEND
        self._handle = open_private(file, flags) if writable else self._readable()
        try:
            self._lock = WriterLock(file) if writable else None
            if writable and not os.path.samestat(os.fstat(self._handle), os.stat(file)):
                raise UsageError(
                    f"{file}: another process has just replaced this journal; try again"
                )
        except LedgerAgentError:
            os.close(self._handle)
            raise

    def _readable(self) -> int:
        refuse_special(self.file)
        try:
            return os.open(self.file, os.O_RDONLY | _AS_IT_IS)
        except OSError as problem:
            raise DataError(problem.strerror or str(problem), file=str(self.file)) from None

    def append(self, line: str) -> None:
        """Adds one record; returns once it has been handed to the operating system.

        What was written of a record that doesn't fit on the disk is taken back, and OSError raised.
        """
        whole = f"{line}\n".encode()
        left = memoryview(whole)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError as problem:
            written = len(whole) - len(left)
            os.ftruncate(self._handle, os.fstat(self._handle).st_size - written)
            raise OSError(problem.errno, problem.strerror, str(self.file)) from None

    def lines(self) -> Iterator[str]:
        """Every whole record, oldest first; DataError for one of more than 16 MiB.

        Bytes that are no UTF-8 are kept apart, as half characters.
        """
        return self._lines(0)

    def recent(self, count: int) -> Iterator[str]:
        """The last `count` whole records, oldest first; DataError as in `lines`."""
        with self.file.open("rb") as stream:
            begin = begin_of_last(stream, count)
        return self._lines(begin)

    def _lines(self, begin: int) -> Iterator[str]:
        with self.file.open("rb") as stream:
            stream.seek(begin)
            number = 0
            while line := stream.readline(LONGEST_RECORD):
                number += 1
                if line.endswith(b"\n"):
                    refuse_large(line, str(self.file), number)
                    yield line[:-1].decode("utf-8", "surrogateescape")
                elif len(line) == LONGEST_RECORD:
                    problem = f"a record has at most {LONGEST_RECORD} bytes"
                    raise DataError(problem, file=str(self.file), line=number)

    def torn(self) -> bytes:
        """The bytes after the last line end."""
        with self.file.open("rb") as stream:
            stream.seek(end_of_lines(stream))
            return stream.read()

    def drop_torn(self) -> None:
        """Moves the torn part to a file of its own beside the journal."""
        torn = self.torn()
        if torn:
            size = self.file.stat().st_size - len(torn)
            write_private(self.file.with_name(f"{self.file.name}.torn-{size}"), torn)
            os.truncate(self._handle, size)

    def sync(self) -> None:
        """Returns once all is on the disk."""
        os.fsync(self._handle)

    def make_replaceable(self) -> None:
        """Nothing to do: all is in the file."""

    def close(self) -> None:
        """Releases the file."""
        if self._handle < 0:
            return
        os.close(self._handle)
        self._handle = -1
        if self._lock is not None:
            self._lock.release()


def refuse_special(file: File) -> None:
    """DataError for what is not there, or would never end, such as a pipe or a device."""
    try:
        mode = file.stat().st_mode
    except OSError as problem:
        raise DataError(problem.strerror or str(problem), file=str(file)) from None
    if not stat.S_ISREG(mode):
        raise DataError("not a journal: this is no regular file", file=str(file))
