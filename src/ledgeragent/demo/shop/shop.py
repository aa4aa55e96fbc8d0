"""Shop: one database with its tools, as an agent meets them: calls in, text out."""

from __future__ import annotations

import inspect
import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ledgeragent.demo.shop import reads, records, writes
from ledgeragent.demo.shop.records import ToolError
from ledgeragent.types import Json, ToolCall, ToolReturn

TODAY = "2026-05-20"

TOOLS: Mapping[str, Callable[..., Json]] = {
    tool.__name__: tool
    for tool in (
        reads.find_customer,
        reads.get_customer,
        reads.get_order,
        reads.get_parcel,
        reads.get_product,
        reads.search_products,
        reads.get_voucher,
        reads.get_box,
        writes.cancel_order,
        writes.change_address,
        writes.change_quantity,
        writes.apply_voucher,
        writes.refund_item,
        writes.send_replacement,
        writes.pause_box,
        writes.end_box,
        writes.hand_over,
    )
}
"""The functions behind the tools, by the name an agent calls."""

_ACCEPTED: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
}


class ShopChange(NamedTuple):
    """One value that differs: its path, and what it was and is (None: not there)."""

    path: str
    before: Json
    after: Json


class Shop:
    """A shop of its own, in memory, as it was on the morning of `TODAY`."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.row_factory = sqlite3.Row
        for script in ("schema.sql", "seed.sql"):
            self._db.executescript(_resource(script))
        self._start = self.snapshot()

    def execute(self, call: ToolCall) -> ToolReturn:
        """The tool's answer: JSON text, or `Error: ...` where it could do nothing."""
        try:
            with self._db:
                answer = json.dumps(self._run(call), ensure_ascii=False)
        except (ToolError, sqlite3.Error, OverflowError, UnicodeError) as problem:
            return ToolReturn(call_id=call.id, content=f"Error: {problem}", error=True)
        return ToolReturn(call_id=call.id, content=answer)

    def _run(self, call: ToolCall) -> Json:
        tool = TOOLS.get(call.name)
        if tool is None:
            raise ToolError(f"there is no tool {call.name}")
        if call.malformed is not None:
            raise ToolError("the arguments are not a JSON object")
        return tool(self._db, **_checked(tool, call.arguments))

    def snapshot(self) -> dict[str, dict[str, Json]]:
        """Every record as it is now: family, key, record. Two equal shops have equal snapshots."""
        return records.everything(self._db)

    def diff(self) -> tuple[ShopChange, ...]:
        """The changes since the shop opened, one value at a time, ordered by path."""
        return changes(self._start, self.snapshot())

    def close(self) -> None:
        """Drops the database."""
        self._db.close()

    def __enter__(self) -> Shop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def tool_schemas() -> list[Json]:
    """The tools as OpenAI function schemas."""
    schemas: list[Json] = json.loads(_resource("tools.json"))
    return schemas


def policy() -> str:
    """The shop's rules for its agents, as Markdown. Each rule ends with the id of its clause."""
    return _resource("policy.md")


def changes(before: Json, after: Json) -> tuple[ShopChange, ...]:
    """Every value that differs between two nested objects, ordered by path. None: not there."""
    return tuple(_changes((), before, after))


def _changes(path: tuple[str, ...], before: Json, after: Json) -> Iterator[ShopChange]:
    if isinstance(before, dict) or isinstance(after, dict):
        was, now = before or {}, after or {}
        for name in sorted({*was, *now}):
            yield from _changes((*path, name), was.get(name), now.get(name))
    elif before != after:
        yield ShopChange(".".join(path), before, after)


def _checked(tool: Callable[..., Json], arguments: Mapping[str, Json]) -> Mapping[str, Json]:
    """The arguments, or a ToolError that says which is missing, unknown or of the wrong type."""
    expected = dict(list(inspect.signature(tool).parameters.items())[1:])
    for name in expected:
        if name not in arguments:
            raise ToolError(f"{tool.__name__} needs {name}")
    for name, value in arguments.items():
        if name not in expected:
            raise ToolError(f"{tool.__name__} takes no {name}")
        annotation = str(expected[name].annotation)
        if isinstance(value, bool) or not isinstance(value, _ACCEPTED[annotation]):
            raise ToolError(f"{name} must be of type {annotation}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ToolError(f"{name} must be a number")
    return arguments


@cache
def _resource(name: str) -> str:
    return (files("ledgeragent.demo.shop") / name).read_text(encoding="utf-8")
