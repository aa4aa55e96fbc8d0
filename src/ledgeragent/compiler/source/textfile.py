"""The text of a file that an author wrote: UTF-8, of bounded size, lines that end in `\\n`."""

from __future__ import annotations

from pathlib import Path as FilePath

from ledgeragent.errors import DataError
from ledgeragent.files.limits import PACK, Limit, is_refusal
from ledgeragent.files.reading import read_text as read_any


def read_text(path: FilePath, limit: Limit = PACK) -> str:
    """The text of a file of at most so many MB."""
    try:
        text = read_any(path, limit)
    except DataError as error:
        if error.line is not None:
            raise
        if is_refusal(error.problem):
            raise DataError(error.problem, file=error.file, line=1) from None
        raise DataError(f"cannot be read: {error.problem}", file=error.file) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
