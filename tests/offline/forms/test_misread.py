"""Nothing is misread in silence: what cannot be read is told with its place and what was expected."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.errors import DataError
from ledgeragent.offline.traces import Trace, read_traces
from ledgeragent.types import Json, ToolReturn

from . import conversation as talk
from . import items, records

STRANGE = {"type": "hologram", "data": "x"}


def changed(value: Json, *path: Any, to: Json = None, drop: str = "") -> Json:
    """A copy of the value with something else at a path, or without a key there."""
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    if drop:
        del inner[path[-1]][drop]
    else:
        inner[path[-1]] = to
    return value


PARTS = {
    "openai": (changed(talk.openai(), 1, "content", to=[STRANGE]), "message 2"),
    "anthropic": (changed(talk.ANTHROPIC, "messages", 5, "content", to=[STRANGE]), "message 6"),
    "bedrock": (changed(talk.converse(), 5, "content", to=[{"hologram": {}}]), "message 6"),
    "gemini": (changed(talk.GEMINI, "contents", 5, "parts", to=[{"hologram": {}}]), "content 6"),
    "gen_ai": (changed(talk.GEN_AI, 1, "parts", to=[STRANGE]), "message 2"),
    "vercel": (changed(talk.VERCEL_UI, 1, "parts", 0, to=STRANGE), "message 2"),
    "langchain": (changed(talk.LANGCHAIN, 1, "content", to=[STRANGE]), "message 2"),
    "pydantic ai": (
        changed(talk.PYDANTIC_AI, 5, "parts", to=[{"part_kind": "hologram"}]),
        "message 6",
    ),
    "autogen": (changed(talk.AUTOGEN, 6, "type", to="hologram"), "message 7"),
    "responses": (changed(items.RESPONSES, 1, "type", to="hologram"), "item 2"),
    "claude code": (changed(talk.CLAUDE_CODE, 6, "message", "content", to=[STRANGE]), "entry 7"),
}

WITHOUT_ARGUMENTS = {
    "openai": changed(talk.openai(), 2, "tool_calls", 0, "function", drop="arguments"),
    "anthropic": changed(talk.ANTHROPIC, "messages", 1, "content", 1, drop="input"),
    "bedrock": changed(talk.converse(), 1, "content", 0, "toolUse", drop="input"),
    "gen_ai": changed(talk.GEN_AI, 2, "parts", 0, drop="arguments"),
    "vercel": changed(talk.VERCEL_UI, 1, "parts", 1, drop="input"),
    "langchain": changed(talk.LANGCHAIN, 2, "tool_calls", 0, drop="args"),
    "pydantic ai": changed(talk.PYDANTIC_AI, 1, "parts", 0, drop="args"),
    "autogen": changed(talk.AUTOGEN, 1, "content", 0, drop="arguments"),
    "responses": changed(items.RESPONSES, 2, drop="arguments"),
    "agentdojo": changed(records.AGENT_DOJO, "messages", 2, "tool_calls", 0, drop="args"),
}

ORPHANS = {
    "openai": changed(talk.openai(), 3, "tool_call_id", to="c9"),
    "anthropic": changed(talk.ANTHROPIC, "messages", 2, "content", 0, "tool_use_id", to="t9"),
    "bedrock": changed(talk.converse(), 2, "content", 0, "toolResult", "toolUseId", to="t9"),
    "gemini": changed(
        talk.GEMINI, "contents", 2, "parts", 0, "functionResponse", "name", to="burn_book"
    ),
    "gen_ai": changed(talk.GEN_AI, 3, "parts", 0, "id", to="c9"),
    "vercel": changed(talk.vercel_model(), 2, "content", 0, "toolCallId", to="c9"),
    "langchain": changed(talk.LANGCHAIN, 3, "tool_call_id", to="c9"),
    "pydantic ai": changed(talk.PYDANTIC_AI, 2, "parts", 0, "tool_call_id", to="c9"),
    "ag2": changed(talk.AG2, 3, "tool_responses", 0, "tool_call_id", to="c9"),
    "autogen": changed(talk.AUTOGEN, 2, "content", 0, "call_id", to="c9"),
    "responses": changed(items.RESPONSES, 3, "call_id", to="c9"),
    "mcp": changed(records.MCP, 4, "id", to=9),
    "hermes": [*items.HERMES, {"role": "tool", "content": "again"}],
}


def problem(folder: Path, value: Json, *, lines: bool = False) -> DataError:
    """What is wrong with the one conversation of a file."""
    file = folder / "runs.json"
    file.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value))
    (error,) = (one for one in read_traces(str(file)) if isinstance(one, DataError))
    return error


@pytest.mark.parametrize("name", PARTS)
def test_an_unknown_part_is_told(tmp_path: Path, name: str) -> None:
    value, place = PARTS[name]
    error = problem(tmp_path, value)
    assert error.problem.startswith(f"{place}: unknown content part 'hologram'; expected ")


@pytest.mark.parametrize("name", WITHOUT_ARGUMENTS)
def test_a_call_without_its_arguments_is_told(tmp_path: Path, name: str) -> None:
    assert (
        "the call of get_book has no arguments; expected "
        in problem(tmp_path, WITHOUT_ARGUMENTS[name]).problem
    )


@pytest.mark.parametrize("name", ORPHANS)
def test_a_return_that_pairs_with_nothing_is_told(tmp_path: Path, name: str) -> None:
    assert "and no call before it" in problem(tmp_path, ORPHANS[name]).problem


def test_the_place_is_the_line_where_lines_are_elements(tmp_path: Path) -> None:
    error = problem(tmp_path, ORPHANS["responses"], lines=True)
    assert (error.line, error.problem.partition(":")[0]) == (4, "item 4")


def test_a_broken_line_within_a_conversation_is_told(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    lines = [json.dumps(item) for item in items.RESPONSES]
    file.write_text("\n".join([*lines[:1], "{", *lines[1:]]))
    error, trace = read_traces(str(file))
    assert isinstance(error, DataError)
    assert (error.line, isinstance(trace, Trace)) == (2, True)


def test_pictures_and_thoughts_are_left_out_and_counted(tmp_path: Path) -> None:
    value = changed(
        talk.ANTHROPIC,
        "messages",
        0,
        "content",
        to=[{"type": "text", "text": talk.ASK}, {"type": "image", "source": {}}],
    )
    file = tmp_path / "runs.json"
    file.write_text(json.dumps(value))
    (trace,) = read_traces(str(file))
    assert isinstance(trace, Trace)
    assert trace.left_out == (("media", 1), ("reasoning", 1))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"%PDF-1.7", "a PDF document"),
        (b"ARROW1", "an Arrow table"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, kind: str) -> None:
    file = tmp_path / "runs.json"
    file.write_bytes(content + b"rest")
    with pytest.raises(DataError, match=kind):
        list(read_traces(str(file)))


def test_a_record_of_no_form_names_the_forms_that_were_tried(tmp_path: Path) -> None:
    error = problem(tmp_path, {"speech": "Hello"})
    tried = dict(getattr(error, "reasons", ()))
    assert tried["anthropic"] == "no list under 'messages'"
    assert tried["spans"] == "no span with a trace id and attributes"


def test_a_span_without_recorded_content_is_told(tmp_path: Path) -> None:
    error = problem(tmp_path, records.otlp({"gen_ai.operation.name": "chat"}))
    assert "is the recording of content switched on?" in error.problem


def test_a_failed_request_of_a_batch_is_told(tmp_path: Path) -> None:
    row = {"custom_id": "r1", "response": None, "error": {"message": "too long"}}
    assert "the request failed" in problem(tmp_path, row).problem


def test_half_a_return_is_lost(tmp_path: Path) -> None:
    rows = copy.deepcopy(items.RESPONSES)
    rows[3]["status"], rows[5]["status"] = "completed", "incomplete"
    file = tmp_path / "run.json"
    file.write_text(json.dumps(rows))
    (trace,) = read_traces(str(file))
    assert isinstance(trace, Trace)
    returns = [message for message in trace.messages if isinstance(message, ToolReturn)]
    assert [one.lost for one in returns] == [False, True]
