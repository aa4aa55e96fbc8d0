"""Files in which lines of two forms stand: what is no part of the one is read as the other, or told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.errors import DataError
from ledgeragent.offline.forms.registry import form_named
from ledgeragent.offline.traces import Trace, read_traces
from ledgeragent.types import Json
from tests.cli.branches import NAME
from tests.cli.command import ledgeragent

from .test_forms import DOCUMENTS

CALL = {"id": "other", "type": "function", "function": {"name": "other_tool", "arguments": "{}"}}
TALK = [
    {"role": "user", "content": "Something else."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "other", "content": "done"},
]
STRANGERS: dict[str, Json] = {
    "a run of a benchmark": {"benchmark": "tau2", "id": "x", "task_id": "1", "messages": TALK},
    "a run without a name": {"traj": TALK, "reward": 1.0},
    "a conversation": {"id": "x", "messages": TALK},
    "messages alone": TALK,
    "nothing that is known": {"colour": "blue"},
    "an empty object": {},
    "a number": 5,
    "a text": "something",
    "null": None,
}
STREAMS = {
    name: document if isinstance(document, list) else [document]
    for name, (form, document) in DOCUMENTS.items()
    if form_named(form).streams
}
PLACES = {"before": 0, "behind": 1_000, "inside": 1}


def has_call(one: Trace | DataError, name: str) -> bool:
    return isinstance(one, Trace) and any(call.name == name for call in one.calls)


def calls_of(conversations: list[Trace | DataError]) -> list[str]:
    return sorted(c.name for one in conversations if isinstance(one, Trace) for c in one.calls)


@pytest.mark.parametrize("as_lines", [True, False], ids=["lines", "list"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=STRANGERS)
def test_nothing_is_dropped_without_a_word(
    tmp_path: Path, stranger: Json, place: int, as_lines: bool
) -> None:
    for name, elements in STREAMS.items():
        file = tmp_path / "runs.jsonl"

        def read(values: list[Any], file: Path = file) -> list[Trace | DataError]:
            lines = "".join(f"{json.dumps(value)}\n" for value in values)
            file.write_text(lines if as_lines else json.dumps(values))
            return [*read_traces(str(file))]

        alone, mixed = read(elements), read([*elements[:place], stranger, *elements[place:]])
        told = [one for one in mixed if isinstance(one, DataError)]
        assert told or any(has_call(one, "other_tool") for one in mixed), name
        kept = [call for call in calls_of(mixed) if call != "other_tool"]
        assert told or kept == calls_of(alone), name


@pytest.mark.parametrize("name", STREAMS)
def test_a_run_of_a_benchmark_is_read_behind_lines_of_any_form(tmp_path: Path, name: str) -> None:
    run = STRANGERS["a run of a benchmark"]
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in [*STREAMS[name], run]))
    *others, last = read_traces(str(file))
    assert has_call(last, "other_tool") and isinstance(last, Trace) and last.benchmark == "tau2"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in STREAMS[name]))
    assert calls_of(others) == calls_of([*read_traces(str(file))])


def test_every_list_of_runs_in_an_object_is_read(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    one = {"messages": TALK}
    file.write_text(json.dumps({"runs": [one, one], "conversations": [{"messages": TALK[:2]}]}))
    assert [len(trace.messages) for trace in read_traces(str(file)) if isinstance(trace, Trace)]
    assert len([*read_traces(str(file))]) == 3


def test_a_replay_tells_a_line_that_is_no_part_of_a_transcript(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    lines = [*STREAMS["claude code"], {"colour": "blue"}]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = ledgeragent("replay", file, "--domain", NAME, "--format", "json")
    assert done.json["skipped_by_reason"] == {"broken": 1}
    assert f"{file}:{len(lines)}: " in done.err
