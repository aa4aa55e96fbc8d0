"""Tables of recorded data: the rows of a Parquet file as lines of JSON, some at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import IO, Any

from ledgeragent.errors import MissingExtraError
from ledgeragent.offline.jsontext import json_text
from ledgeragent.types import Json

PARQUET = b"PAR1"
_ROWS = 256
"""Rows that are held at once."""


class TableRows:
    """The rows of a Parquet file, to be read line by line as a file of JSON Lines is.

    A cell that is null counts as absent. A text that is a JSON object or list stands for it, since
    warehouses keep messages that way. Raises ValueError for a file that is no Parquet table.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        try:
            import pyarrow as pa  # type: ignore[import-untyped]
            import pyarrow.parquet as pq  # type: ignore[import-untyped]
        except ImportError:
            raise MissingExtraError("pyarrow", "table") from None
        try:
            table = pq.ParquetFile(pa.PythonFile(stream, mode="r"), pre_buffer=False)
        except (pa.ArrowException, OSError) as problem:
            raise ValueError(f"it is no Parquet table: {problem}") from None
        self._damage = pa.ArrowException
        self._lines = _lines(table)

    def readline(self, most: int) -> bytes:
        """The next row, of which at most so many bytes count; b"" behind the last."""
        try:
            return next(self._lines, b"")[:most]
        except (self._damage, OSError) as problem:
            raise EOFError(str(problem)) from None


def _lines(table: Any) -> Iterator[bytes]:
    for batch in table.iter_batches(batch_size=_ROWS):
        for row in batch.to_pylist():
            yield json_text(_record(row)).encode() + b"\n"


def _record(row: dict[str, Any]) -> Json:
    return {name: _column(value) for name, value in row.items() if value is not None}


def _column(value: Any) -> Json:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return _cell(value)


def _cell(value: Any) -> Json:
    if isinstance(value, dict):
        return {name: _cell(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return dict(value) if _is_map(value) else [_cell(one) for one in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def _is_map(value: list[Any]) -> bool:
    """True for a column of maps, whose cells are pairs."""
    return bool(value) and all(isinstance(one, tuple) for one in value)
