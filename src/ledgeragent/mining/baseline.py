"""The baseline: how records are found by conversations that have written nothing yet."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ledgeragent.types import Json, canonical

if TYPE_CHECKING:
    from ledgeragent.mining.world import Look

_MOST_RECORDS = 50_000
_LEAST_RUNS = 2


class Baseline:
    """Records as they are found, by field, where every conversation finds the same.

    In a test environment each conversation starts from one state; in a real one a record changes from
    one to the next, and tells nothing then.
    """

    def __init__(self) -> None:
        self._fields: dict[tuple[str, tuple[str, ...]], dict[str, int | None]] = {}
        self._runs: dict[tuple[str, tuple[str, ...]], int] = {}

    def add(self, family: str, keys: tuple[str, ...], look: Look, run: int) -> None:
        """Takes the first look of a conversation at a record, if nothing was written before."""
        if look.writes or type(look.record) is not dict or len(self._fields) > _MOST_RECORDS:
            return
        fields = self._fields.setdefault((family, keys), {})
        self._runs[family, keys] = self._runs.get((family, keys), 0) + 1
        for name, value in look.record.items():
            number = _number(value)
            fields[name] = number if fields.get(name, number) == number else None

    def changed(self, family: str, keys: tuple[str, ...], record: Json) -> Iterator[str]:
        """The fields of a record that are otherwise than all conversations find them."""
        if type(record) is not dict or self._runs.get((family, keys), 0) < _LEAST_RUNS:
            return
        for name, number in self._fields[family, keys].items():
            if number is not None and name in record and _number(record[name]) != number:
                yield name


def _number(value: Json) -> int:
    return zlib.crc32(canonical(value).encode())
