"""Tables of recorded data: the rows of a Parquet file as lines of JSON, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from ledgeragent.errors import DataError, MissingExtraError
from ledgeragent.files.allowance import allowance
from ledgeragent.files.decoding import decode
from ledgeragent.files.limits import MEMORY, refuse_large
from ledgeragent.offline.cells import cell, cost_of, in_python
from ledgeragent.offline.jsontext import json_text
from ledgeragent.types import Json

PARQUET = b"PAR1"
_ROWS = 256
"""Rows that are held at once, unless they are large."""
_BATCH_BYTES = 16 << 20
_BUFFER = 1 << 16
_MOST_PARTS = 20_000
"""Columns, and groups of rows."""
_PER_FOOTER_BYTE = 12
_FOOTER_SIZE = slice(-8, -4)
_MOST_WORDS = 200
_TOO_MUCH = "a row would take more memory than one document may"


class TableRows:
    """The rows of a Parquet file, to be read line by line as a file of JSON Lines is.

    A cell that is null counts as absent. A text that is a JSON object or list stands for it, since
    warehouses keep messages that way. Raises ValueError for a file that is no Parquet table.
    """

    def __init__(self, stream: IO[bytes], file: str) -> None:
        try:
            import pyarrow as pa  # type: ignore[import-untyped]
            import pyarrow.parquet as pq  # type: ignore[import-untyped]
        except ImportError:
            raise MissingExtraError("pyarrow", "table") from None
        self._file = file
        self._damage = (pa.ArrowException, OSError)
        _refuse_large_footer(stream, file)
        try:
            self._table = pq.ParquetFile(
                pa.PythonFile(stream, mode="r"),
                pre_buffer=False,
                buffer_size=_BUFFER,
                thrift_container_size_limit=_MOST_PARTS,
            )
        except self._damage as problem:
            raise ValueError(f"it is no Parquet table: {_words(problem)}") from None
        self._lines = self._rows()

    def readline(self, most: int) -> bytes:
        """The next row, of which at most so many bytes count; b"" behind the last.

        Raises DataError for a row that cannot be read. Where that is so of all behind it, it was the
        last.
        """
        line = next(self._lines, b"")
        if isinstance(line, DataError):
            raise line
        return line[:most]

    def _rows(self) -> Iterator[bytes | DataError]:
        for group in range(self._table.num_row_groups):
            passed = 0
            for most in (self._fitting(group), 1):
                try:
                    for batch in self._batches(group, most, passed):
                        yield from self._batch_lines(batch)
                        passed += batch.num_rows
                    break
                except MemoryError:
                    if most == 1:
                        yield MEMORY.refusal(_TOO_MUCH, self._file)
                        return
                except self._damage as problem:
                    yield DataError(f"the table is damaged: {_words(problem)}", file=self._file)
                    return

    def _fitting(self, group: int) -> int:
        """How many rows of a group are read at once, by what it says of their size."""
        about = self._table.metadata.row_group(group)
        per_row: int = about.total_byte_size // max(1, about.num_rows)
        return max(1, min(_ROWS, _BATCH_BYTES // max(1, per_row)))

    def _batches(self, group: int, most: int, passed: int) -> Iterator[Any]:
        """The record batches of a group behind the rows that were read; MemoryError for a bomb."""
        rows = self._table.iter_batches(batch_size=most, row_groups=[group], use_threads=False)
        while True:
            with allowance(MEMORY.value << 20):
                batch = next(rows, None)
            if batch is None:
                return
            skipped = min(passed, batch.num_rows)
            passed -= skipped
            if skipped < batch.num_rows:
                yield batch.slice(skipped)

    def _batch_lines(self, batch: Any) -> Iterator[bytes | DataError]:
        """The lines of a batch; its rows are looked at one by one where they are large."""
        if cost_of(batch) <= _BATCH_BYTES:
            try:
                yield from [self._line(row) for row in in_python(batch)]
                return
            except _ODD:
                pass
        for number in range(batch.num_rows):
            yield self._row_line(batch.slice(number, 1))

    def _row_line(self, row: Any) -> bytes | DataError:
        if cost_of(row) > MEMORY.value << 20:
            return MEMORY.refusal(_TOO_MUCH, self._file)
        try:
            (record,) = in_python(row)
            return self._line(record)
        except DataError as refusal:
            return refusal
        except MemoryError:
            return MEMORY.refusal(_TOO_MUCH, self._file)
        except _ODD as problem:
            return DataError(f"a cell cannot be read: {_words(problem)}", file=self._file)

    def _line(self, row: dict[str, Any]) -> bytes:
        record = {name: self._column(value) for name, value in row.items() if value is not None}
        return json_text(record).encode() + b"\n"

    def _column(self, value: Any) -> Json:
        if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            text = value.encode()
            refuse_large(text, self._file)
            try:
                return decode(text)
            except (ValueError, RecursionError):
                return value
        return cell(value)


_ODD = (DataError, ValueError, TypeError, ArithmeticError, MemoryError, RecursionError)
"""What Python raises for values that Parquet holds and Python does not."""


def _refuse_large_footer(stream: IO[bytes], file: str) -> None:
    """DataError for a table whose description of itself is too long; it is read as a whole."""
    end = stream.seek(0, 2)
    stream.seek(max(0, end - 8))
    length = int.from_bytes(stream.read(8)[_FOOTER_SIZE], "little")
    stream.seek(0)
    if length <= end and length * _PER_FOOTER_BYTE > MEMORY.value << 20:
        raise MEMORY.refusal("its footer would take more memory than one document may", file)


def _words(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:_MOST_WORDS]
