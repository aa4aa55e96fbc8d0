"""Documents: JSON files that are parsed as a whole, once it is known that they fit into memory."""

from __future__ import annotations

import json
from pathlib import Path as File

from ledgeragent.errors import DataError
from ledgeragent.files.limits import MEMORY, memory_of, refuse_large
from ledgeragent.files.reading import read_bytes
from ledgeragent.types import Json


def read_document(file: File | str) -> Json:
    """The value of a JSON file; DataError for one that is none, or takes more memory than it may."""
    return parse_document(read_bytes(file, MEMORY), str(file))


def parse_document(content: bytes, file: str) -> Json:
    """The value of a JSON text; DataError, with the `file`, for one that is none or too large."""
    refuse_large(content, file)
    try:
        return json.loads(content)
    except RecursionError:
        raise DataError("nested too deeply", file=file) from None
    except ValueError as problem:
        raise DataError(f"not JSON: {problem}", file=file) from None


class DocumentBudget:
    """What several documents that are held at once may take together; `file` is named where it is spent."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._left = MEMORY.value << 20

    def parse(self, content: bytes, part: str) -> Json:
        """The value of one more document, which is a `part` of the file."""
        self._left -= memory_of(content)
        if self._left < 0:
            problem = "its parts would take more memory than one document may"
            raise MEMORY.refusal(problem, self._file)
        return parse_document(content, part)
