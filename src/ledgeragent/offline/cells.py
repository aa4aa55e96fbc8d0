"""Cells of a table of Arrow: what they cost in Python, and the JSON that they stand for."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

from ledgeragent.types import Json

_PER_BYTE = 3
_PER_VALUE = 64
"""Bytes that a value takes besides those of its content."""


def cost_of(batch: Any) -> int:
    """About how many bytes the rows of a batch take as values of Python, and as text."""
    return sum(map(_cost, batch.columns))


def in_python(batch: Any) -> list[dict[str, Any]]:
    """The rows of a batch. Raises what Python does for values that it has no place for."""
    import pyarrow as pa  # type: ignore[import-untyped]

    columns = [_coarser(column) for column in batch.columns]
    rows: list[dict[str, Any]] = pa.RecordBatch.from_arrays(
        columns, names=batch.schema.names
    ).to_pylist()
    return rows


def cell(value: Any) -> Json:
    """What a cell stands for in JSON; what is null in an object counts as absent."""
    if isinstance(value, dict):
        return {name: cell(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        if _is_map(value):
            return {_key(key): cell(one) for key, one in value}
        return [cell(one) for one in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def _is_map(value: list[Any]) -> bool:
    """True for a column of maps, whose cells are pairs."""
    return bool(value) and all(isinstance(one, tuple) for one in value)


def _key(key: Any) -> Any:
    plain = cell(key)
    return plain if isinstance(plain, str | int | float) else str(plain)


def _cost(array: Any) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _cost(array.storage)
    if isinstance(array, pa.DictionaryArray):
        # Each of its cells becomes a value of its own.
        texts = pc.binary_length(array.dictionary) if _has_length(kind.value_type) else None
        chars = pc.sum(texts.take(array.indices)).as_py() if texts is not None else 0
        return _PER_BYTE * (chars or 0) + _PER_VALUE * len(array)
    if isinstance(array, pa.MapArray):
        # What it says of its keys is of the whole of which it may be a part.
        first, behind = array.offsets[0].as_py(), array.offsets[len(array)].as_py()
        inner = [part.slice(first, behind - first) for part in (array.keys, array.items)]
        return _PER_VALUE * len(array) + sum(map(_cost, inner))
    if pa.types.is_nested(kind) and hasattr(array, "flatten"):
        inner = array.flatten()
        parts = inner if isinstance(inner, list) else [inner]
        return _PER_VALUE * len(array) + sum(map(_cost, parts))
    return _PER_BYTE * int(array.nbytes) + _PER_VALUE * len(array)


def _has_length(kind: Any) -> bool:
    import pyarrow.types as kinds  # type: ignore[import-untyped]

    tests = (kinds.is_string, kinds.is_binary, kinds.is_large_string, kinds.is_large_binary)
    return any(test(kind) for test in tests)


def _coarser(column: Any) -> Any:
    """A column whose times are no finer than those of Python, which has no nanoseconds."""
    kind = _coarser_type(column.type)
    return column if kind == column.type else column.cast(kind, safe=False)


def _coarser_type(kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_struct(kind):
        fields = [kind.field(n) for n in range(kind.num_fields)]
        return pa.struct([field.with_type(_coarser_type(field.type)) for field in fields])
    if kinds.is_list(kind) or kinds.is_large_list(kind):
        make = pa.list_ if kinds.is_list(kind) else pa.large_list
        return make(kind.value_field.with_type(_coarser_type(kind.value_type)))
    if kinds.is_map(kind):
        return pa.map_(_coarser_type(kind.key_type), _coarser_type(kind.item_type))
    if getattr(kind, "unit", None) != "ns":
        return kind
    if kinds.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.time64("us") if kinds.is_time(kind) else pa.duration("us")
