"""Files that hold personal data: only their owner may read them, whatever the umask is."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path as File

from ledgeragent.errors import DataError, UsageError

_OWNER = stat.S_IRUSR | stat.S_IWUSR
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_AS_IT_IS: int = getattr(os, "O_BINARY", 0)
"""Without it, Windows would write two characters for a line's end."""

_NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)

BESIDE_SQLITE = ("-wal", "-shm", "-journal")
"""What SQLite writes beside a database. A new one gets the mode of the database."""


def open_private(file: File, flags: int) -> int:
    """The handle of a file that is made if it is not there, for its owner alone; DataError if not.

    A file that was there before is closed to everybody else. UsageError where that cannot be done, and
    for a link or what is no regular file.
    """
    _refuse_link(file)
    try:
        handle = os.open(file, flags | os.O_CREAT | _AS_IT_IS | _NO_LINK, _OWNER)
    except OSError as problem:
        raise DataError(problem.strerror or str(problem), file=str(file)) from None
    try:
        _close_to_others(file)
    except UsageError:
        os.close(handle)
        raise
    return handle


def make_private(file: File) -> None:
    """Makes a file for SQLite to open, as `open_private` does, and closes what stands beside it.

    A file that is there is not opened: to close a handle on it would undo SQLite's own locks.
    """
    if not os.path.lexists(file):
        os.close(open_private(file, os.O_RDWR))
    for beside in (file, *(file.with_name(f"{file.name}{end}") for end in BESIDE_SQLITE)):
        _refuse_link(beside)
        if beside.exists():
            _close_to_others(beside)


def write_private(file: File, content: bytes) -> None:
    """Writes a file anew, for its owner alone. It is whole or as it was before: never half.

    UsageError for a link, which could lead anywhere, and for what is no regular file.
    """
    with replacing(file) as draft, draft.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def replacing(file: File) -> Iterator[File]:
    """A private draft beside a file, which takes the file's place where the block ends well."""
    _refuse_link(file)
    draft = file.with_name(f".{os.urandom(6).hex()}-{file.name}")
    try:
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, _OWNER))
    except OSError as problem:
        raise DataError(problem.strerror or str(problem), file=str(file)) from None
    try:
        yield draft
        os.replace(draft, file)
    except OSError as problem:
        raise DataError(problem.strerror or str(problem), file=str(file)) from None
    finally:
        with suppress(OSError):
            draft.unlink()


def _refuse_link(file: File) -> None:
    if file.is_symlink():
        raise UsageError(f"{file}: this is a link; name the file that it leads to")
    if file.exists() and not file.is_file():
        raise UsageError(
            f"{file}: this is no regular file; - is stdout, where a verb can write there"
        )


def _close_to_others(file: File) -> None:
    # Windows has no such modes: there a file belongs to whom its folder belongs to.
    if sys.platform == "win32" or not _is_open(file):
        return
    with suppress(OSError):
        os.chmod(file, _OWNER)
    if _is_open(file):
        mode = stat.filemode(file.stat().st_mode)
        raise UsageError(
            f"{file}: others may read or change it ({mode}), and its mode cannot be changed; it holds "
            "what customers said, so make it private (chmod 600) or name another file"
        )


def _is_open(file: File) -> bool:
    info = file.stat()
    return stat.S_ISREG(info.st_mode) and bool(info.st_mode & _OTHERS)
