"""Absorb (paper §Ledger Updates): what a tool return does to the ledger, and why nothing else.

Only a successful return of a known read stores records. A successful write stores nothing: it is
appended to the history and marks what it touched as stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ledgeragent.domain import Domain
from ledgeragent.effects import Neutral, Parser, Read, Tool, Untyped, Write
from ledgeragent.ledger import Entry, Ledger, Touch
from ledgeragent.paths import Path
from ledgeragent.types import Json, ToolCall, ToolReturn


class Absorption(NamedTuple):
    """The ledger after one return: `stored` paths, or the reason why none was (`skipped`)."""

    ledger: Ledger
    stored: tuple[Path[Json], ...] = ()
    skipped: str | None = None


def absorb(ledger: Ledger, call: ToolCall, returned: ToolReturn, domain: Domain) -> Absorption:
    """The ledger after `call` answered `returned`. Idempotent; unrelated reads commute."""
    routes = domain.routes(call.name)
    if not routes:
        return _after_other(ledger, call, returned, domain.tool(call.name))
    content = returned.content
    if returned.failed or any(_fails(route, content) for route in routes):
        return _after_failure(ledger, call, returned, routes)
    if call.malformed is not None:
        return Absorption(ledger=ledger, skipped="the arguments of the call were not an object")
    stored: list[Path[Json]] = []
    problems: list[str] = []
    parsed: dict[Parser, Json] = {}
    for route in routes:
        try:
            entries = _entries(route, call, content, ledger.turn, parsed)
        except Exception as problem:
            problems.append(_told(problem))
            continue
        for entry in entries:
            ledger = ledger.merge(entry) if route.merge else ledger.put(entry)
            stored.append(entry.path)
    if problems and not stored:
        return Absorption(ledger=ledger, skipped="; ".join(dict.fromkeys(problems)))
    return Absorption(ledger=ledger, stored=tuple(stored))


def _told(problem: Exception) -> str:
    """Why a return could not be stored. A route that fails on an odd return is no reason to stop."""
    text = str(problem)
    return text if isinstance(problem, ValueError) and text else f"{type(problem).__name__}: {text}"


def _after_other(
    ledger: Ledger, call: ToolCall, returned: ToolReturn, tool: Tool | None
) -> Absorption:
    if isinstance(tool, Neutral):
        return Absorption(ledger=ledger, skipped=f"{call.name} observes no record")
    if returned.failed or (isinstance(tool, Write) and _fails(tool, returned.content)):
        return Absorption(ledger=ledger, skipped="the write failed and changed nothing")
    return Absorption(
        ledger=ledger.wrote(call, _touched(ledger, call, tool)),
        skipped="a write is no observation of what it wrote",
    )


def _touched(ledger: Ledger, call: ToolCall, tool: Tool | None) -> list[Touch]:
    """What an executed write changed; everything, where its own account of it fails."""
    if not isinstance(tool, Write):
        return []
    try:
        return [touch for touches in tool.touches for touch in touches(call.arguments, ledger)]
    except Exception:
        return [Touch(entry.path) for entry in ledger]


def _fails(tool: Read[Any] | Write, content: Json) -> bool:
    return isinstance(content, str) and tool.failed(content)


def _after_failure(
    ledger: Ledger, call: ToolCall, returned: ToolReturn, routes: Iterable[Read[Any]]
) -> Absorption:
    answer = str(returned.content)
    if any(route.unavailable(answer) for route in routes):
        ledger = ledger.without(call, answer)
    return Absorption(ledger=ledger, skipped="the read failed")


def _entries(
    route: Read[Any], call: ToolCall, content: Json, turn: int, parsed: dict[Parser, Json]
) -> list[Entry]:
    """The records of a return for one route; `parsed` keeps what its other routes have parsed."""
    if not route.when(call.arguments):
        return []
    if not isinstance(content, str):
        value = content
    elif route.parse in parsed:
        value = parsed[route.parse]
    else:
        value = parsed[route.parse] = route.parse(content)
    if isinstance(value, Untyped):
        path = _path(route, None, call)
        return [Entry(path=path, value=value.text, source=call, turn=turn, typed=False)]
    entries: list[Entry] = []
    for record in route.records(value, call.arguments):
        if route.to.holds_objects and type(record) is not dict and not isinstance(record, Mapping):
            raise ValueError(f"{call.name} returned no object for {route.to.text}")
        entries.append(Entry(path=_path(route, record, call), value=record, source=call, turn=turn))
    return entries


def _path(route: Read[Any], record: Json, call: ToolCall) -> Path[Json]:
    keys = []
    for name in route.to.keys:
        key = route.key(name, record, call.arguments)
        if key is None:
            raise ValueError(f"neither the return nor the arguments of {call.name} give {name!r}")
        keys.append(key)
    return route.to(*keys)
