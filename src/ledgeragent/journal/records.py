"""Records as readers expect them: which fields an event has, and what is wrong with one that has not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ledgeragent.errors import DataError
from ledgeragent.files.limits import BROKEN_RECORDS
from ledgeragent.journal.sealing import Event, parsed
from ledgeragent.journal.stores import Store
from ledgeragent.journal.verdicts import tool_call_of, verdict_of
from ledgeragent.types import Json

FieldCheck: TypeAlias = Callable[[Json], None]
"""Raises ValueError for what a field cannot hold."""


def sound_records(store: Store, file: str) -> Iterator[Event | DataError]:
    """Every record that was not erased; what is none as a DataError with its line and its field."""
    broken = 0
    try:
        for number, line in enumerate(store.lines(), start=1):
            try:
                record = parsed(line)
                if record.get("tombstone") is True:
                    continue
                require_sound(record)
            except (ValueError, RecursionError) as problem:
                yield DataError(f"not a record: {problem}", file=file, line=number)
                broken += 1
                if broken == BROKEN_RECORDS.value:
                    yield BROKEN_RECORDS.refusal(
                        "so many are broken that it is not read on", file, number
                    )
                    return
            else:
                yield record
    except DataError as problem:
        yield problem


def require_sound(record: Event) -> None:
    """ValueError with the name of the field that a record lacks, or that holds what it cannot."""
    event = record.get("event")
    if not isinstance(event, str):
        raise ValueError("`event` is no text")
    for name, check_field in {**_ALWAYS, **_FIELDS.get(event, {})}.items():
        if name not in record:
            raise ValueError(f"there is no `{name}`")
        try:
            check_field(record[name])
        except ValueError as problem:
            raise ValueError(f"`{name}` {problem}") from None


def _text(value: Json) -> None:
    if not isinstance(value, str):
        raise ValueError("is no text")


def _text_or_nothing(value: Json) -> None:
    if value is not None:
        _text(value)


def _number(value: Json) -> None:
    if type(value) is not int:
        raise ValueError("is no number")


def _flag(value: Json) -> None:
    if not isinstance(value, bool):
        raise ValueError("is neither true nor false")


def _anything(value: Json) -> None:
    """No check_field."""


def _pack(value: Json) -> None:
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        raise ValueError("names no pack")


def _call(value: Json) -> None:
    if not isinstance(value, Mapping):
        raise ValueError("is no call")
    for key in ("id", "name"):
        if not isinstance(value.get(key), str):
            raise ValueError(f"has an `{key}` that is no text")
    if not isinstance(value.get("malformed", ""), str):
        raise ValueError("has a `malformed` that is no text")
    tool_call_of(value)


def _verdict(value: Json) -> None:
    if not isinstance(value, Mapping):
        raise ValueError("is no verdict")
    for key in ("call", "decision", "findings", "shadow"):
        if key not in value:
            raise ValueError(f"has no `{key}`")
    _call(value["call"])
    _list_of(_finding)(value["findings"])
    _list_of(_finding)(value["shadow"])
    if not isinstance(value.get("word", ""), str):
        raise ValueError("has a `word` that is no text")
    verdict_of(value)


def _finding(value: Json) -> None:
    if not isinstance(value, Mapping):
        raise ValueError("is no finding")
    for key in ("predicate", "reason"):
        if not isinstance(value.get(key), str):
            raise ValueError(f"has a `{key}` that is no text")
    for key in ("clause", "error", "public"):
        if not isinstance(value.get(key), str | None):
            raise ValueError(f"has a `{key}` that is no text")
    for key in ("reads", "waits_for"):
        _list_of(_call)(value.get(key, []))
    _list_of(_fact)(value.get("evidence"))


def _fact(value: Json) -> None:
    if not isinstance(value, Mapping):
        raise ValueError("is no fact")
    for key in ("path", "source"):
        if not isinstance(value.get(key), str):
            raise ValueError(f"has a `{key}` that is no text")
    _list_of(_text)(value.get("fields", []))
    if "turn" not in value or "value" not in value:
        raise ValueError("has no `turn` or no `value`")
    _number(value["turn"])


def _list_of(check_field: FieldCheck) -> FieldCheck:
    def check(value: Json) -> None:
        if not isinstance(value, list):
            raise ValueError("is no list")
        for number, part in enumerate(value):
            try:
                check_field(part)
            except ValueError as problem:
                raise ValueError(f"[{number}] {problem}") from None

    return check


_ANSWER: Mapping[str, FieldCheck] = {
    "call": _call,
    "content": _anything,
    "error": _flag,
    "stored": _list_of(_text),
    "skipped": _text_or_nothing,
}
_ALWAYS: Mapping[str, FieldCheck] = {
    "seq": _number,
    "time": _text,
    "session": _text,
    "pack": _pack,
}
_FIELDS: Mapping[str, Mapping[str, FieldCheck]] = {
    "heard": {"text": _text},
    "proposed": {"text": _text, "calls": _list_of(_call)},
    "judged": {"verdicts": _list_of(_verdict), "shadow": _flag},
    "observed": _ANSWER,
    "executed": _ANSWER,
}
