"""Labelled cases as they stand in a file: each field is held to what it should be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ledgeragent.errors import DataError
from ledgeragent.offline.sources import pieces, records
from ledgeragent.offline.traces import read_messages
from ledgeragent.types import Json, Message, ToolCall

ALLOW = "allow"
REJECT = "reject"
REVISE_READ = "revise_read"
DECISIONS = (ALLOW, REJECT, REVISE_READ)
_CHOICE = ", ".join(DECISIONS)
_CALL = 'a call, {"name": ..., "arguments": {...}}'
_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The label of a case.

    Each of `accept` is right. A rejection has to come from one of `clauses` and a request has to
    name one of `reads`, unless none is given.
    """

    accept: tuple[str, ...]
    clauses: tuple[str, ...]
    reads: tuple[ToolCall, ...]
    label: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One labelled case: is `call` right after `messages`?"""

    id: str
    domain: str | None
    kind: str
    clause: str | None
    messages: tuple[Message, ...]
    call: ToolCall
    expected: Expected


def read_cases(file: str) -> Iterator[Case]:
    """The cases of a file (`-` is stdin).

    Raises DataError at the first that cannot be read, or has the id of one before it.
    """
    seen: dict[str, int] = {}
    for piece in pieces(file):
        for line, row in records(piece):
            if isinstance(row, DataError):
                raise row
            for one in row if isinstance(row, list) else [row]:
                try:
                    case = _case(one)
                    if case.id in seen:
                        raise ValueError(f"id: should be unique, but line {seen[case.id]} has it")
                except ValueError as problem:
                    raise DataError(str(problem), file=piece.file, line=line) from None
                seen[case.id] = line
                yield case


def _case(row: Json) -> Case:
    if not isinstance(row, dict):
        raise ValueError("not a labelled case: it is no JSON object")
    return Case(
        id=str(_held(row, "id", _is_id, "text or a whole number")),
        domain=_held(row, "domain", _is_text_or_null, "text or null"),
        kind=_held(row, "kind", _is_text, "text"),
        clause=_held(row, "clause", _is_text_or_null, "text or null"),
        messages=_messages(row),
        call=_call(row, "call"),
        expected=_expected(row),
    )


def _messages(row: Mapping[str, Json]) -> tuple[Message, ...]:
    given = _held(row, "messages", lambda value: isinstance(value, list), "a list of messages")
    try:
        return read_messages(given)
    except ValueError as problem:
        raise ValueError(f"messages: {problem}") from None


def _expected(row: Mapping[str, Json]) -> Expected:
    label = _held(row, "expect", lambda value: isinstance(value, dict), "an object")
    inside = {f"expect.{name}": value for name, value in label.items()}
    accept = _listed(inside, "expect.accept", _is_decision, f"decisions ({_CHOICE})")
    if not accept or "decision" in label:
        decision = _held(inside, "expect.decision", _is_decision, f"one of {_CHOICE}")
        accept = accept or (decision,)
    clause = _held(inside, "expect.clause", _is_text_or_null, "text or null")
    clauses = [clause, *_listed(inside, "expect.clause_any", _is_text, "clause ids")]
    return Expected(
        accept=accept,
        clauses=tuple(clause for clause in clauses if clause is not None),
        reads=_reads(inside),
        label=label,
    )


def _reads(label: Mapping[str, Json]) -> tuple[ToolCall, ...]:
    others = _listed(label, "expect.read_any", lambda value: isinstance(value, dict), "calls")
    wanted = {f"expect.read_any[{number}]": call for number, call in enumerate(others)}
    if label.get("expect.read") is not None:
        wanted = {"expect.read": label["expect.read"], **wanted}
    reads = tuple(_call(wanted, place) for place in wanted)
    for place, read in zip(wanted, reads, strict=True):
        if read.malformed is not None:
            raise ValueError(f"{place}.arguments: should be a JSON object")
    return reads


def _call(holder: Mapping[str, Json], place: str) -> ToolCall:
    given = _held(holder, place, lambda value: isinstance(value, dict), _CALL)
    inside = {f"{place}.{name}": value for name, value in given.items()}
    arguments = _held(inside, f"{place}.arguments", _is_arguments, "an object, or text")
    return ToolCall.parse(
        name=_held(inside, f"{place}.name", _is_text, "text"), arguments=arguments
    )


def _listed(
    holder: Mapping[str, Json], field: str, is_right: Callable[[Json], bool], what: str
) -> tuple[Json, ...]:
    """The items of a list that may be absent."""

    def are_right(value: Json) -> bool:
        return value is None or (isinstance(value, list) and all(map(is_right, value)))

    return tuple(_held(holder, field, are_right, f"a list of {what}") or ())


def _held(
    holder: Mapping[str, Json], field: str, is_right: Callable[[Json], bool], should: str
) -> Json:
    """The value of a field, None where it is absent; raises ValueError if that is not right."""
    value = holder.get(field)
    if not is_right(value):
        raise _wrong(field, should, holder)
    return value


def _wrong(field: str, should: str, holder: Mapping[str, Json]) -> ValueError:
    if field not in holder:
        return ValueError(f"{field}: should be {should}, but is missing")
    given = json.dumps(holder[field], ensure_ascii=False)
    cut = given if len(given) <= _MOST_SHOWN else f"{given[:_MOST_SHOWN]}..."
    return ValueError(f"{field}: should be {should}, not {cut}")


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and value != ""


def _is_text_or_null(value: Json) -> bool:
    return value is None or _is_text(value)


def _is_id(value: Json) -> bool:
    return _is_text(value) or type(value) is int


def _is_decision(value: Json) -> bool:
    return isinstance(value, str) and value in DECISIONS


def _is_arguments(value: Json) -> bool:
    return value is None or isinstance(value, str | dict)
