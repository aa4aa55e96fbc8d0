"""Verdicts as a table: a Parquet file that DuckDB, Spark or a warehouse can be asked of."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from ledgeragent.errors import MissingExtraError, UsageError
from ledgeragent.files.objects import is_object, write_object
from ledgeragent.files.private import replacing
from ledgeragent.files.reading import opened
from ledgeragent.offline.verdictrow import VerdictRow

try:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]
except ImportError:
    raise MissingExtraError("pyarrow", "table") from None

VERSION = 1
"""The version of the schema: raised when a column changes its meaning or goes, not when one comes."""

_FACT = pa.struct(
    [("path", pa.string()), ("value", pa.string()), ("tool", pa.string()), ("turn", pa.int32())]
)
_FINDING = pa.struct(
    [
        *((name, pa.string()) for name in ("rule", "clause", "kind", "decision")),
        *((name, pa.string()) for name in ("enforcement", "reason")),
        ("reads", pa.list_(pa.string())),
        ("evidence", pa.list_(_FACT)),
    ]
)
SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        ("run", pa.string()),
        ("benchmark", pa.string()),
        ("task_id", pa.string()),
        ("reward", pa.float64()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("labels", pa.map_(pa.string(), pa.string())),
        ("number", pa.int32()),
        ("message", pa.int32()),
        ("tool", pa.string()),
        ("effect", pa.string()),
        ("arguments", pa.string()),
        ("executed", pa.bool_()),
        ("decision", pa.string()),
        ("outcome", pa.string()),
        ("rules", pa.list_(pa.string())),
        ("clauses", pa.list_(pa.string())),
        ("findings", pa.list_(_FINDING)),
        ("unread", pa.list_(pa.string())),
        ("pack", pa.string()),
        ("pack_version", pa.string()),
        ("pack_digest", pa.string()),
    ],
    metadata={"ledgeragent.verdicts": str(VERSION)},
)
GROUP = 20_000
"""Rows that are held in memory, and written at once."""


_MAGIC = b"PAR1"


class VerdictTable:
    """A table of verdicts that is being written by a `writer` of Parquet."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._rows: list[VerdictRow] = []

    def write(self, rows: Sequence[VerdictRow]) -> None:
        """Adds rows."""
        self._rows += rows
        while len(self._rows) >= GROUP:
            self._flush(self._rows[:GROUP])
            del self._rows[:GROUP]

    def finish(self) -> None:
        """Writes the rows that are still in memory."""
        if self._rows:
            self._flush(self._rows)

    def _flush(self, rows: list[VerdictRow]) -> None:
        self._writer.write_table(_arrow_table(rows))


@contextmanager
def verdict_table(place: str) -> Iterator[VerdictTable]:
    """A Parquet file under way: it stands at `place` once all of it is written, or not at all.

    `place` is a file, or an object in a store. A file is readable by its owner alone, since arguments and
    evidence are what customers said. UsageError where something else is there, DataError where it cannot
    be written.
    """
    if is_object(place):
        with TemporaryFile() as content:
            with _table_in(content) as table:
                yield table
            content.seek(0)
            write_object(place, content)
        return
    _refuse_another(Path(place))
    with replacing(Path(place)) as draft, draft.open("wb") as file:
        with _table_in(file) as table:
            yield table
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _table_in(file: IO[bytes]) -> Iterator[VerdictTable]:
    with pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
        table = VerdictTable(writer)
        yield table
        table.finish()


def parquet(rows: Sequence[VerdictRow]) -> bytes:
    """A whole file of rows."""
    content = io.BytesIO()
    pq.write_table(_arrow_table(rows), content, compression="zstd")
    return content.getvalue()


def _arrow_table(rows: Sequence[VerdictRow]) -> Any:
    return pa.Table.from_pylist([*rows], schema=SCHEMA)


def _refuse_another(path: Path) -> None:
    """UsageError for a file that is there and that is no Parquet file, such as the runs themselves."""
    if not path.is_file():
        return
    with opened(path) as file:
        if file.read(len(_MAGIC)) not in (b"", _MAGIC):
            raise UsageError(
                f"{path} is there already, and no Parquet file; remove it, or name another"
            )
