"""Reading: the one place where a file that somebody hands over is opened."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as File
from typing import IO

from ledgeragent.errors import DataError
from ledgeragent.files.limits import TEXT, Limit

_HANDED_OVER = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""What a shell has opened already, as `<(command)`: it has a writer."""


@contextmanager
def opened(file: File | str) -> Iterator[IO[bytes]]:
    """A file to be read; `-` is standard input. DataError where it cannot be, or would never end.

    A pipe with a name and a device are refused: who opens one may wait for good, or read for good.
    """
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        # Without waiting: a pipe that nobody writes to would hold the opening up.
        handle = os.open(
            file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except (OSError, ValueError) as problem:
        raise _unreadable(problem, file) from None
    with os.fdopen(handle, "rb") as stream:
        _require_end(handle, str(file))
        yield stream


def read_bytes(file: File | str, limit: Limit = TEXT) -> bytes:
    """What a file holds, of at most so many MB."""
    try:
        with opened(file) as stream:
            content = stream.read((limit.value << 20) + 1)
    except OSError as problem:
        raise _unreadable(problem, file) from None
    if len(content) > limit.value << 20:
        raise limit.refusal("the file is larger than one of its kind may be", str(file))
    return content


def read_text(file: File | str, limit: Limit = TEXT) -> str:
    """The text of a file in UTF-8, without the mark that some editors put first."""
    content = read_bytes(file, limit)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"is not UTF-8 text (byte {error.start}); save it as UTF-8"
        raise DataError(problem, file=str(file), line=line) from None


def _require_end(handle: int, file: str) -> None:
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise DataError("Is a directory", file=file)
    if stat.S_ISREG(mode):
        return
    if not (stat.S_ISFIFO(mode) and file.startswith(_HANDED_OVER)):
        raise DataError("this is no regular file; - reads standard input", file=file)
    os.set_blocking(handle, True)


def _unreadable(problem: OSError | ValueError, file: File | str) -> DataError:
    words = problem.strerror if isinstance(problem, OSError) else None
    return DataError(words or str(problem), file=str(file))
