"""Runs of tools that tracers record on their own, servers that ask back, and answers in pieces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.errors import DataError
from ledgeragent.offline.traces import Trace, read_traces
from ledgeragent.types import ToolReturn

ASKED = {"role": "user", "content": "Lend me B1."}
ARGUMENTS = {"book_id": "B1"}
REPLY = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "lend_book", "arguments": json.dumps(ARGUMENTS)},
        }
    ],
}
MESSAGE = {"type": "tool", "tool_call_id": "c1", "content": "lent"}


def langsmith(inputs: Any, output: Any, **more: Any) -> list[dict[str, Any]]:
    both = {"trace_id": "t", "start_time": "2025-01-01"}
    model = {"id": "m", "run_type": "llm", "inputs": {"messages": [ASKED]}, "outputs": REPLY}
    tool = {"id": "u", "run_type": "tool", "name": "lend_book", "inputs": inputs, **more}
    return [{**both, **model}, {**both, **tool, "outputs": {"output": output}}]


def langfuse(kind: str, **more: Any) -> list[dict[str, Any]]:
    rows = [
        {"type": "GENERATION", "input": [ASKED], "output": REPLY},
        {"type": kind, "name": "lend_book", "input": ARGUMENTS, "output": "lent", **more},
    ]
    return [
        {"id": f"o{n}", "traceId": "t", "startTime": f"2025-01-0{n + 1}", **row}
        for n, row in enumerate(rows)
    ]


def read(folder: Path, value: Any) -> Trace:
    file = folder / "runs.json"
    file.write_text(json.dumps(value))
    (trace,) = read_traces(str(file))
    assert isinstance(trace, Trace), trace
    return trace


@pytest.mark.parametrize(
    "value",
    [
        langsmith(ARGUMENTS, "lent"),
        langsmith({"input": json.dumps(ARGUMENTS)}, "lent"),
        langsmith({"input": str(ARGUMENTS)}, MESSAGE),
        langsmith({"input": "whatever"}, {"lc": 1, "type": "constructor", "kwargs": MESSAGE}),
        langfuse("TOOL"),
        langfuse("SPAN"),
    ],
)
def test_the_last_calls_are_answered_by_the_runs_of_their_tools(tmp_path: Path, value: Any) -> None:
    last = read(tmp_path, value).messages[-1]
    assert last == ToolReturn(call_id="c1", content="lent")


@pytest.mark.parametrize(
    "value",
    [
        langsmith({"book_id": "B2"}, "lent"),
        langsmith(ARGUMENTS, {**MESSAGE, "tool_call_id": "c2"}),
        langfuse("TOOL", name="move_book"),
        langfuse("EVENT"),
    ],
)
def test_no_other_run_answers_them(tmp_path: Path, value: Any) -> None:
    assert not any(isinstance(m, ToolReturn) for m in read(tmp_path, value).messages)


def test_a_run_that_failed_is_a_failed_return(tmp_path: Path) -> None:
    last = read(tmp_path, langsmith(ARGUMENTS, "no such book", error="KeyError")).messages[-1]
    assert last == ToolReturn(call_id="c1", content="no such book", error=True)


def test_what_a_server_asks_back_is_no_answer_of_a_tool(tmp_path: Path) -> None:
    call = {"method": "tools/call", "params": {"name": "lend_book", "arguments": ARGUMENTS}}
    words = {"role": "assistant", "content": {"type": "text", "text": "a word"}}
    lent = {"content": [{"type": "text", "text": "lent"}]}
    lines = [
        {"id": 2, **call},
        {"id": 2, "method": "sampling/createMessage", "params": {"messages": []}},
        {"id": 2, "result": words},
        {"id": 2, "result": lent},
    ]
    file = tmp_path / "log.jsonl"
    file.write_text("".join(f"{json.dumps({'jsonrpc': '2.0', **line})}\n" for line in lines))
    (trace,) = read_traces(str(file))
    assert isinstance(trace, Trace)
    assert [m.content for m in trace.messages if isinstance(m, ToolReturn)] == [lent["content"]]


PIECE = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "x"}}]}


@pytest.mark.parametrize("answer", [PIECE, [PIECE, PIECE], f"data: {json.dumps(PIECE)}\n\n"])
def test_an_answer_in_pieces_is_refused(tmp_path: Path, answer: Any) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({"request": {"messages": [ASKED]}, "response": answer}))
    (problem,) = read_traces(str(file))
    assert isinstance(problem, DataError) and "log the whole answer" in problem.problem
