"""Verdicts as a table: a Parquet file that DuckDB, Spark or a warehouse can be asked of."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ledgeragent.errors import MissingExtraError, UsageError
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
_GROUP = 20_000  # rows held in memory, and written at once


_MAGIC = b"PAR1"


class VerdictTable:
    """A table of verdicts that is being written by a `writer` of Parquet."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._rows: list[VerdictRow] = []

    def write(self, rows: Sequence[VerdictRow]) -> None:
        """Adds rows."""
        self._rows += rows
        while len(self._rows) >= _GROUP:
            self._flush(self._rows[:_GROUP])
            del self._rows[:_GROUP]

    def finish(self) -> None:
        """Writes the rows that are still in memory."""
        if self._rows:
            self._flush(self._rows)

    def _flush(self, rows: list[VerdictRow]) -> None:
        self._writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))


@contextmanager
def verdict_table(path: str) -> Iterator[VerdictTable]:
    """A Parquet file under way: it stands at `path` once all of it is written, or not at all.

    Readable by its owner alone, since arguments and evidence are what customers said. UsageError where
    something else is there, DataError where the file cannot be written.
    """
    _refuse_another(Path(path))
    with replacing(Path(path)) as draft, draft.open("wb") as file:
        with pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
            table = VerdictTable(writer)
            yield table
            table.finish()
        file.flush()
        os.fsync(file.fileno())


def _refuse_another(path: Path) -> None:
    """UsageError for a file that is there and that is no Parquet file, such as the runs themselves."""
    if not path.is_file():
        return
    with opened(path) as file:
        if file.read(len(_MAGIC)) not in (b"", _MAGIC):
            raise UsageError(
                f"{path} is there already, and no Parquet file; remove it, or name another"
            )
