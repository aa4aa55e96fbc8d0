"""The text of a file that an author wrote: UTF-8, of bounded size, lines that end in `\\n`."""

from __future__ import annotations

from pathlib import Path as FilePath

from ledgeragent.errors import DataError


def read_text(path: FilePath, most_bytes: int) -> str:
    """The text of a file of at most `most_bytes`."""
    try:
        size = path.stat().st_size
        if size > most_bytes:
            text = f"the file has {size / 1e6:.1f} MB, at most {most_bytes / 1e6:.0f} MB are read"
            problem = f"{text}; split it or remove what is no rule"
            raise DataError(problem, file=str(path), line=1)
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"is not UTF-8 text (byte {error.start}); save it as UTF-8"
        raise DataError(problem, file=str(path), line=line) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
