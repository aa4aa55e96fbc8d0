"""Answers of SOPBench's tools: a pair of a flag and a value, or the value alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ledgeragent import PathTemplate, Read, Write
from ledgeragent.effects import Neutral
from ledgeragent.types import Arguments, Json

_ERROR = re.compile(r"\(False\b|\w*Error\b")
_REFUSAL = re.compile(rf"False\b|{_ERROR.pattern}")


def failed(text: str) -> bool:
    """True for the answer of a read of a flag that has none."""
    return _ERROR.match(text.strip()) is not None


def refused(text: str) -> bool:
    """True for the answer of a write that was not done, or of a read that says nothing."""
    return _REFUSAL.match(text.strip()) is not None


def value(text: str) -> Json:
    """The value behind `(True, ...)`, or that stands there alone; a text without quotes as it is."""
    try:
        answer = ast.literal_eval(text)
    except (SyntaxError, TypeError, ValueError):
        return text.strip()
    paired = isinstance(answer, tuple) and len(answer) == 2 and answer[0] is True
    return answer[1] if paired else answer


def moment(text: str) -> Json:
    """The time that the environment tells; ValueError for what is none."""
    time = value(text)
    datetime.fromisoformat(str(time))
    return time


def each(records: Json, arguments: Arguments) -> Iterable[Json]:
    """The records of a list, each at a path of its own."""
    return records if isinstance(records, list) else ()


def read(tool: str, to: PathTemplate[Any], *parameters: str, **more: Any) -> Read[Any]:
    """A read that answers with a record, a number or a text."""
    options = {"parse": value, "failed": refused, **more}
    return Read(tool=tool, to=to, parameters=parameters, **options)


def flag(tool: str, to: PathTemplate[Any], *parameters: str, **more: Any) -> Read[Any]:
    """A read that answers with yes or no: False alone is a no here, and no refusal."""
    return read(tool, to, *parameters, failed=failed, **more)


def write(tool: str, *touches: Any) -> Write:
    """A write, with what it makes stale."""
    return Write(tool=tool, arguments=dict, open=True, touches=touches, failed=refused)


def neutral(*tools: str) -> tuple[Neutral, ...]:
    """Tools whose answers no rule reads."""
    return tuple(Neutral(tool=tool) for tool in (*tools, "exit_conversation"))
