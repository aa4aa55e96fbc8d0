"""Labelled cases as they stand in a file: each field is held to what it should be.

A row holds one proposed call with its label (`call`, `expect`), or a situation: one reply of one or
more `calls`, each with what may be answered to it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ledgeragent.errors import DataError
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.sources import pieces, records
from ledgeragent.offline.traces import read_messages
from ledgeragent.types import Json, Message, ToolCall

ALLOW = "allow"
REJECT = "reject"
REVISE_READ = "revise_read"
DECISIONS = (ALLOW, REJECT, REVISE_READ)
_CHOICE = ", ".join(DECISIONS)
SITUATION = "situation"
_FILES = (".jsonl", ".jsonl.gz")
_CALL = 'a call, {"name": ..., "arguments": {...}}'
_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The label of a call.

    Each of `accept` is right. A rejection has to come from one of `clauses` and of `rules` (ids, or
    what their last words are), and a request has to name one of `reads`, unless none is given.
    """

    accept: tuple[str, ...]
    clauses: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    reads: tuple[ToolCall, ...] = ()
    label: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A call of the reply that a case is about, and what is expected of it."""

    call: ToolCall
    expected: Expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One labelled case: which calls of one reply are right after `messages`?

    `parameters` is what the journal that it comes from says of the values of the pack's.
    `not_all_allowed`: letting all of them through is wrong, whatever is said of each.
    """

    id: str
    file: str
    domain: str | None
    kind: str
    clause: str | None
    note: str
    messages: tuple[Message, ...]
    proposals: tuple[Proposal, ...]
    not_all_allowed: bool
    parameters: Json = None


def read_cases(source: str) -> Iterator[Case]:
    """The cases of a file (`-` is stdin), or of the files of a folder, in order of their names.

    Raises DataError at the first that cannot be read, or has the id of one before it in its file.
    """
    for file in case_files(source):
        ids = CaseIds()
        for piece in pieces(file):
            for line, case in cases_in(piece):
                ids.add(case.id, piece.file, line)
                yield case


def case_files(source: str) -> list[str]:
    """The files with cases in a folder, or the one file; DataError for a folder without any."""
    if source == "-" or not Path(source).is_dir():
        return [source]
    files = [str(file) for file in sorted(Path(source).iterdir()) if file.name.endswith(_FILES)]
    if not files:
        raise DataError(
            f"this folder holds no file that ends in {' or '.join(_FILES)}", file=source
        )
    return files


def cases_in(piece: Piece) -> Iterator[tuple[int, Case]]:
    """The cases in a piece of a file, each with its line; DataError at the first that cannot be read."""
    for line, row in records(piece):
        if isinstance(row, DataError):
            raise row
        for one in row if isinstance(row, list) else [row]:
            try:
                yield line, _case(one, piece.file)
            except ValueError as problem:
                raise DataError(str(problem), file=piece.file, line=line) from None


class CaseIds:
    """The ids of the cases of a file, each with its line."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}

    def add(self, id: str, file: str, line: int) -> None:
        """Takes note of one; DataError where another case has it."""
        if id in self._lines:
            problem = f"id: should be unique, but line {self._lines[id]} has it"
            raise DataError(problem, file=file, line=line)
        self._lines[id] = line


def _case(row: Json, file: str) -> Case:
    if not isinstance(row, dict):
        raise ValueError("not a labelled case: it is no JSON object")
    several = "calls" in row
    return Case(
        id=str(_held(row, "id", _is_id, "text or a whole number")),
        file=file,
        domain=_held(row, "domain", _is_text_or_null, "text or null"),
        kind=_held({"kind": SITUATION, **row} if several else row, "kind", _is_text, "text"),
        clause=_held(row, "clause", _is_text_or_null, "text or null"),
        note=_held(row, "note", _is_note, "text or null") or "",
        messages=_messages(row),
        proposals=_situation(row) if several else (_labelled(row),),
        not_all_allowed=_held(row, "not_all_allowed", _is_flag, "true or false") or False,
        parameters=row.get("parameters"),
    )


def _labelled(row: Mapping[str, Json]) -> Proposal:
    return Proposal(call=_call(row, "call"), expected=_expected(row))


def _situation(row: Mapping[str, Json]) -> tuple[Proposal, ...]:
    """The calls of one reply, each with an id of its own, as a model gives them."""
    for name in ("call", "expect"):
        if name in row:
            raise ValueError(f"{name}: should not stand beside calls")
    calls = _held(row, "calls", _is_filled_list, "a list of calls")
    places = {f"calls[{number}]": call for number, call in enumerate(calls)}
    return tuple(_proposal(places, place) for place in places)


def _proposal(places: Mapping[str, Json], place: str) -> Proposal:
    call = replace(_call(places, place), id=place)
    inside = {f"{place}.{name}": value for name, value in places[place].items()}
    decisions = f"decisions ({_CHOICE})"
    accept = _listed(inside, f"{place}.accept", _is_decision, decisions)
    if not accept:
        raise _wrong(f"{place}.accept", f"a list of {decisions}", inside)
    rules = _listed(inside, f"{place}.rule_any", _is_text, "rule names")
    label = {"accept": [*accept], **({"rule_any": [*rules]} if rules else {})}
    return Proposal(call=call, expected=Expected(accept=accept, rules=rules, label=label))


def _messages(row: Mapping[str, Json]) -> tuple[Message, ...]:
    messages = _held(row, "messages", lambda value: isinstance(value, list), "a list of messages")
    try:
        return read_messages(messages)
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
    calls = {f"expect.read_any[{number}]": call for number, call in enumerate(others)}
    if label.get("expect.read") is not None:
        calls = {"expect.read": label["expect.read"], **calls}
    reads = tuple(_call(calls, place) for place in calls)
    for place, call in zip(calls, reads, strict=True):
        if call.malformed is not None:
            raise ValueError(f"{place}.arguments: should be a JSON object")
    return reads


def _call(holder: Mapping[str, Json], place: str) -> ToolCall:
    fields = _held(holder, place, lambda value: isinstance(value, dict), _CALL)
    inside = {f"{place}.{name}": value for name, value in fields.items()}
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
    value = json.dumps(holder[field], ensure_ascii=False)
    cut = value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}..."
    return ValueError(f"{field}: should be {should}, not {cut}")


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and value != ""


def _is_text_or_null(value: Json) -> bool:
    return value is None or _is_text(value)


def _is_note(value: Json) -> bool:
    return value is None or isinstance(value, str)


def _is_filled_list(value: Json) -> bool:
    return isinstance(value, list) and bool(value)


def _is_flag(value: Json) -> bool:
    return value is None or isinstance(value, bool)


def _is_id(value: Json) -> bool:
    return _is_text(value) or type(value) is int


def _is_decision(value: Json) -> bool:
    return isinstance(value, str) and value in DECISIONS


def _is_arguments(value: Json) -> bool:
    return value is None or isinstance(value, str | dict)
