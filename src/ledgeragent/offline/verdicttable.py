"""Verdicts as a table: a Parquet file that DuckDB, Spark or a warehouse can be asked of."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import TracebackType
from typing import Any

from ledgeragent.errors import MissingExtraError
from ledgeragent.files.objects import is_object, write_object
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


class VerdictTable:
    """A Parquet file under way: it stands at `place` once all of it is written, or not at all.

    `place` is a file, or an object in a store. A file is readable by its owner alone, since arguments and
    evidence are what customers said. As a context manager; raises OSError or DataError where it cannot be
    written.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._rows: list[VerdictRow] = []
        folder = None if is_object(place) else Path(place).parent
        # The name is given up with `replace`, or at the end.
        self._file = NamedTemporaryFile(dir=folder, prefix=".verdicts-", delete=False)  # noqa: SIM115
        self._writer: Any = pq.ParquetWriter(self._file, SCHEMA, compression="zstd")

    def write(self, rows: Sequence[VerdictRow]) -> None:
        """Adds rows."""
        self._rows += rows
        while len(self._rows) >= GROUP:
            self._flush(self._rows[:GROUP])
            del self._rows[:GROUP]

    def _flush(self, rows: list[VerdictRow]) -> None:
        self._writer.write_table(_arrow_table(rows))

    def __enter__(self) -> VerdictTable:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        draft = Path(self._file.name)
        try:
            if kind is None and self._rows:
                self._flush(self._rows)
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            if kind is None:
                self._put_in_place(draft)
        finally:
            draft.unlink(missing_ok=True)

    def _put_in_place(self, draft: Path) -> None:
        if not is_object(self._place):
            draft.replace(self._place)
            return
        with draft.open("rb") as content:
            write_object(self._place, content)


def parquet(rows: Sequence[VerdictRow]) -> bytes:
    """A whole file of rows."""
    content = io.BytesIO()
    pq.write_table(_arrow_table(rows), content, compression="zstd")
    return content.getvalue()


def _arrow_table(rows: Sequence[VerdictRow]) -> Any:
    return pa.Table.from_pylist([*rows], schema=SCHEMA)
