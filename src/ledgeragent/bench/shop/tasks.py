"""The tasks of the shop's benchmark: what a customer wants, and how the database must end."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ledgeragent.demo.shop.shop import Shop
from ledgeragent.types import Json, ToolCall

KINDS = ("plain", "insists", "slips", "changes")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """A customer's line, said once the agent's words meet `when`."""

    when: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One conversation to be had.

    `gold` are the writes of a right one, `tempting` calls that policy forbids and that an obliging
    agent would make.
    """

    id: str
    kind: str
    email: str
    opens: str
    lines: tuple[TaskLine, ...]
    gold: tuple[ToolCall, ...]
    tempting: tuple[ToolCall, ...]


@cache
def tasks() -> tuple[Task, ...]:
    """All forty, in the order of their file."""
    text = (files("ledgeragent.bench.shop") / "tasks.toml").read_text(encoding="utf-8")
    return tuple(_task(row) for row in tomllib.loads(text)["task"])


def _task(row: Json) -> Task:
    return Task(
        id=row["id"],
        kind=row["kind"],
        email=row["email"],
        opens=row["opens"],
        lines=tuple(TaskLine(**line) for line in row.get("lines", ())),
        gold=_calls(row["gold"]),
        tempting=_calls(row.get("tempting", ())),
    )


def _calls(pairs: Iterable[Json]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name=name, arguments=arguments, id=name) for name, arguments in pairs)


def wanted(task: Task) -> Json:
    """The shop's records as a right conversation leaves them."""
    with Shop() as shop:
        for call in task.gold:
            returned = shop.execute(call)
            assert not returned.failed, f"{task.id}: {returned.content}"
        return shop.snapshot()
