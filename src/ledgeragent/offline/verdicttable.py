"""Verdicts as a table: a Parquet file that DuckDB, Spark or a warehouse can be asked of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import TracebackType
from typing import Any

from ledgeragent.errors import MissingExtraError
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


class VerdictTable:
    """A Parquet file under way: it stands at `path` once all of it is written, or not at all.

    Readable by its owner alone, since arguments and evidence are what customers said. As a context
    manager; raises OSError where the file cannot be written.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._rows: list[VerdictRow] = []
        folder = self._path.parent
        # The name is given up with `replace`, or at the end.
        self._file = NamedTemporaryFile(dir=folder, prefix=".verdicts-", delete=False)  # noqa: SIM115
        self._writer: Any = pq.ParquetWriter(self._file, SCHEMA, compression="zstd")

    def write(self, rows: Sequence[VerdictRow]) -> None:
        """Adds rows."""
        self._rows += rows
        while len(self._rows) >= _GROUP:
            self._flush(self._rows[:_GROUP])
            del self._rows[:_GROUP]

    def _flush(self, rows: list[VerdictRow]) -> None:
        self._writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))

    def __enter__(self) -> VerdictTable:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        place = Path(self._file.name)
        try:
            if kind is None and self._rows:
                self._flush(self._rows)
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            if kind is None:
                place.replace(self._path)
        finally:
            place.unlink(missing_ok=True)
