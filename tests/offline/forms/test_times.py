"""The time that records tell: taken for that of the replies, whatever way it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.offline.forms.times import moment_in, time_of
from ledgeragent.offline.traces import Trace, read_traces
from ledgeragent.types import Reply

NOON = "2025-03-01T12:00:00+00:00"


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2025-03-01T12:00:00Z", NOON),
        ("2025-03-01T13:00:00+01:00", "2025-03-01T13:00:00+01:00"),
        ("2025-03-01 12:00:00", NOON),
        (1740830400, NOON),
        (1740830400000, NOON),
        ("1740830400000000000", NOON),
        (1740830400.0, NOON),
        (17, ""),
        ("soon", ""),
        (True, ""),
        (None, ""),
        ([], ""),
    ],
)
def test_a_time_in_its_ways(value: Any, moment: str) -> None:
    assert moment_in(value) == moment
    assert time_of({"timestamp": value}) == moment


def times(tmp_path: Path, record: Any, lines: bool = False) -> list[str]:
    file = tmp_path / ("run.jsonl" if lines else "run.json")
    file.write_text("\n".join(map(json.dumps, record)) if lines else json.dumps(record))
    traces = [trace for trace in read_traces(str(file)) if isinstance(trace, Trace)]
    return [m.at for trace in traces for m in trace.messages if type(m) is Reply]


def assistant(**more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "Yes.", **more}


USER = {"role": "user", "content": "Hello"}


def test_messages_tell_theirs(tmp_path: Path) -> None:
    messages = [USER, assistant(timestamp=NOON), {**USER, "created_at": 1740834000}, assistant()]
    assert times(tmp_path, {"messages": messages}) == [NOON, "2025-03-01T13:00:00+00:00"]


def test_a_run_tells_that_of_all(tmp_path: Path) -> None:
    assert times(tmp_path, {"created": 1740830400, "messages": [USER, assistant()]}) == [NOON]


def test_where_none_is_told_none_is_known(tmp_path: Path) -> None:
    assert times(tmp_path, {"messages": [USER, assistant()]}) == [""]


def test_a_transcript_of_a_coding_agent(tmp_path: Path) -> None:
    entries = [
        {"type": kind, "timestamp": at, "sessionId": "s", "message": message}
        for kind, at, message in (
            ("user", "2025-03-01T11:59:00Z", USER),
            ("assistant", NOON, assistant()),
        )
    ]
    assert times(tmp_path, entries, lines=True) == [NOON]


def test_spans(tmp_path: Path) -> None:
    sides = {
        "gen_ai.input.messages": ("user", "Hi"),
        "gen_ai.output.messages": ("assistant", "Yes."),
    }
    attributes = {
        name: json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
        for name, (role, text) in sides.items()
    }
    span = {
        "traceId": "t",
        "name": "chat",
        "startTimeUnixNano": "1740830400000000000",
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
    }
    record = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    assert times(tmp_path, record) == [NOON]
