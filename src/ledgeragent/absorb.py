"""Absorb (paper §Ledger Updates): what a tool return does to the ledger, and why nothing else.

A successful return of a known read stores records. A successful write is appended to the history
and marks what it touched as stale; then what it answered is stored, where the pack declares that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from ledgeragent.domain import Domain
from ledgeragent.effects import (
    Neutral,
    Read,
    ReturnRoute,
    Route,
    Tool,
    Untyped,
    Write,
    lost_on_the_way,
)
from ledgeragent.ledger import Entry, Ledger, Touch
from ledgeragent.paths import Path
from ledgeragent.returned import Content, is_plain, unwrapped
from ledgeragent.shape import shape_of
from ledgeragent.types import Json, ToolCall, ToolReturn, canonical, is_error

_LONGEST_STATUS_LINE = 200
_STATUS_LINE = re.compile(
    r"\W*(?:HTTP\S*\s+)?(?:50[234]\b|timed? ?out|connection|bad gateway)", re.I
)

Outcome: TypeAlias = Literal["executed", "refused", "lost"]
"""What became of a write; `lost` where nobody knows."""


class Absorption(NamedTuple):
    """The ledger after one return: `stored` paths, or the reason why none was (`skipped`).

    `problems` are what the return has that its declared type has not, for whoever runs this:
    what rests on it cannot be judged. `call` is the one that it answered, None where there is none.
    """

    ledger: Ledger
    stored: tuple[Path[Json], ...] = ()
    skipped: str | None = None
    problems: tuple[str, ...] = ()
    call: ToolCall | None = None


def absorb(ledger: Ledger, call: ToolCall, returned: ToolReturn, domain: Domain) -> Absorption:
    """The ledger after `call` answered `returned`. Idempotent; unrelated reads commute."""
    routes = domain.routes(call.name)
    if not routes:
        tool = domain.tool(call.name)
        if isinstance(tool, Neutral):
            return Absorption(ledger=ledger, skipped=f"{call.name} observes no record")
        return after_write(ledger, call, returned, domain, outcome_of(tool, returned))
    answer = Content(returned.content)
    failed = returned.failed or returned.lost
    if failed or any(_fails(route, answer) for route in routes):
        return _after_failure(ledger, call, returned, routes)
    if call.malformed is not None:
        return Absorption(ledger=ledger, skipped="the arguments of the call were not an object")
    return _store(ledger, call, answer, routes)


def _store(
    ledger: Ledger, call: ToolCall, answer: Content, routes: Iterable[Route[Any]]
) -> Absorption:
    paths: list[Path[Json]] = []
    problems: list[str] = []
    unread: list[Route[Any]] = []
    for route in routes:
        try:
            entries = _entries(route, call, answer, ledger.turn)
        except Exception as problem:
            problems.append(_account(problem))
            unread.append(route)
            continue
        ledger = _put_all(ledger, route, entries)
        paths.extend([entry.path for entry in entries])
        problems += _absent(route, entries)
    distinct = tuple(dict.fromkeys(problems))
    if paths or not distinct:
        return Absorption(ledger, tuple(paths), None, distinct)
    for route in unread:
        ledger = _without_answer(ledger, route, call, answer.raw)
    return Absorption(ledger, (), "; ".join(distinct), distinct)


def _put_all(ledger: Ledger, route: Route[Any], entries: list[Entry]) -> Ledger:
    omitted = route.omit if isinstance(route, ReturnRoute) and not route.merge else None
    if not (route.merge or omitted):
        return ledger.put_all(entries)
    for entry in entries:
        ledger = ledger.merge(entry, omitted)
    return ledger


def _without_answer(ledger: Ledger, route: Route[Any], call: ToolCall, content: Json) -> Ledger:
    """The ledger that knows of an answer which says nothing, where its path can be told.

    Of a record that several reads supply, each some fields, it says nothing either.
    """
    if not isinstance(route, Read) or route.merge:
        return ledger
    try:
        path = _path(route, None, call) if route.when(call.arguments) else None
    except Exception:  # the pack's own code, or arguments that give no key
        path = None
    answer = content if isinstance(content, str) else canonical(content)
    return ledger if path is None else ledger.unreadable(path, answer, call, ledger.turn)


def _absent(route: Route[Any], entries: Iterable[Entry]) -> Iterator[str]:
    """The declared fields that records lack, in words."""
    if route.merge or not route.to.holds_objects:
        return
    required = shape_of(route.to.record).required
    if isinstance(route, ReturnRoute):
        required -= route.omit
    for entry in entries:
        if entry.typed and not required <= entry.value.keys():
            lacking = sorted(required - entry.value.keys())
            yield from (f"the answer of {entry.source.name} has no `{name}`" for name in lacking)


def _account(problem: Exception) -> str:
    """Why a return could not be stored. A route that fails on an odd return is no reason to stop."""
    text = str(problem)
    return text if isinstance(problem, ValueError) and text else f"{type(problem).__name__}: {text}"


def outcome_of(tool: Tool | None, returned: ToolReturn) -> Outcome:
    """What a return says of the write that it answers."""
    content = unwrapped(returned.content)
    answer = content if isinstance(content, str) else ""
    refused = returned.failed or is_error(content)
    refused = refused or (isinstance(tool, Write) and tool.failed(answer))
    if refused and answer is not content:
        answer = canonical(content) if content else ""
    if returned.lost or _is_lost(tool, answer, refused):
        return "lost"
    return "refused" if refused else "executed"


def after_write(
    ledger: Ledger, call: ToolCall, returned: ToolReturn, domain: Domain, outcome: Outcome
) -> Absorption:
    """The ledger after a write with this outcome."""
    if outcome == "refused":
        return Absorption(ledger.refused(call), skipped="the write failed and changed nothing")
    touched = touched_by(ledger, call, domain)
    if outcome == "lost":
        doubted = ledger.doubted(call, touched, running=False)
        return Absorption(doubted, skipped="it is not known whether the write executed")
    written, tool = ledger.wrote(call, touched), domain.tool(call.name)
    if not isinstance(tool, Write) or not tool.returns or call.malformed is not None:
        return Absorption(written, skipped="a write is no observation of what it wrote")
    return _store(written, call, Content(returned.content), tool.returns)


def _is_lost(tool: Tool | None, answer: str, refused: bool) -> bool:
    """True for an answer that tells a failure of the transport; a short one, where none is flagged.

    So is a failure without a word: a refusal has a reason.
    """
    if not answer.strip():
        return refused
    if not (refused or len(answer) <= _LONGEST_STATUS_LINE):
        return False
    tells = tool.lost if isinstance(tool, Write) else lost_on_the_way
    return tells(answer) and (refused or _STATUS_LINE.match(answer) is not None)


def touched_by(ledger: Ledger, call: ToolCall, domain: Domain) -> list[Touch]:
    """What a write changes."""
    tool = domain.tool(call.name)
    # What a tool reads in arguments that are no JSON, nobody can tell.
    arguments = domain.arguments(call) if call.malformed is None else None
    return tool.touched(arguments, ledger) if isinstance(tool, Write) else []


def _fails(route: Read[Any], answer: Content) -> bool:
    content = answer.content(route)
    return isinstance(content, str) and (is_error(content) or route.failed(content))


def _after_failure(
    ledger: Ledger, call: ToolCall, returned: ToolReturn, routes: Iterable[Read[Any]]
) -> Absorption:
    answer = str(returned.content)
    if any(route.unavailable(answer) for route in routes):
        ledger = ledger.without(call, answer)
    return Absorption(ledger=ledger, skipped="the read failed")


def _entries(route: Route[Any], call: ToolCall, answer: Content, turn: int) -> list[Entry]:
    if not route.when(call.arguments):
        return []
    value = answer.value(route)
    if route.to.record is str and route.is_whole and not is_plain(value, Untyped):
        raise ValueError(f"{call.name} answered with no plain text, though that is declared")
    if isinstance(value, Untyped):
        path = _path(route, None, call)
        return [Entry(path=path, value=value.text, source=call, turn=turn, typed=False)]
    entries: list[Entry] = []
    holds_objects = route.to.holds_objects
    omit = route.omit if isinstance(route, ReturnRoute) else ()
    for record in route.records(value, call.arguments):
        if holds_objects and type(record) is not dict and not isinstance(record, Mapping):
            raise ValueError(f"{call.name} returned no object for {route.to.text}")
        if omit:
            record = {name: field for name, field in record.items() if name not in omit}
        entries.append(Entry(_path(route, record, call), record, call, turn))
    return entries


def _path(route: Route[Any], record: Json, call: ToolCall) -> Path[Json]:
    keys = []
    for name in route.to.keys:
        key = route.key(name, record, call.arguments)
        if key is None:
            raise ValueError(f"neither the return nor the arguments of {call.name} give {name!r}")
        keys.append(key)
    return route.to(*keys)
