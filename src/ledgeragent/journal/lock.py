"""The lock that keeps a second writer away from a file, on POSIX systems and on Windows."""

from __future__ import annotations

import os
import sys
from pathlib import Path as File

from ledgeragent.errors import UsageError
from ledgeragent.files.private import open_private


class WriterLock:
    """Held from its making until `release`, or until its process ends, however that ends.

    UsageError where another writer holds it, which calls the file by its `noun`. On the file itself
    unless `beside`: then on one of the same name with `.lock` behind it.
    """

    def __init__(self, file: File, *, beside: bool = False, noun: str = "journal") -> None:
        # Windows lets nobody read what is locked, and a journal is read while it is written.
        beside = beside or sys.platform == "win32"
        target = file.with_name(f"{file.name}.lock") if beside else file
        self._handle = open_private(target, os.O_RDWR)
        try:
            _lock(self._handle)
        except OSError:
            os.close(self._handle)
            raise UsageError(f"{file}: another process is writing this {noun}") from None

    def release(self) -> None:
        """Lets the next writer in."""
        os.close(self._handle)


def _lock(handle: int) -> None:
    """Locks a file that was just opened; OSError where another handle has locked it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
