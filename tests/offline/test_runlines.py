"""Run lines: what a line says does not depend on whether its messages were decoded into fields."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.errors import DataError
from ledgeragent.offline import runlines
from ledgeragent.offline.forms import chatfields
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.runlines import PlainRun, RunLines
from ledgeragent.offline.traces import Trace, traces_of
from ledgeragent.types import Json

msgspec = pytest.importorskip("msgspec")

CALL: dict[str, Json] = {
    "id": "c1",
    "type": "function",
    "function": {"name": "get_book", "arguments": '{"book_id": "B1"}'},
    "requestor": "assistant",
}
RUN: dict[str, Json] = {
    "id": "a1",
    "benchmark": "tau2",
    "domain": "lending",
    "task_id": 7,
    "trial": 0,
    "reward": 1.0,
    "nonstandard_tools": [],
    "gold_actions": [{"name": "get_book", "arguments": {"book_id": "B1"}}],
    "note": None,
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Is Ferns in?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
        {"role": "tool", "content": "{}", "tool_call_id": "c2", "name": "get_book", "error": False},
        {"role": "tool", "content": "Error", "tool_call_id": "c1", "error": True},
        {"role": "user", "content": None, "tool_calls": [{**CALL, "requestor": "user"}]},
        {"role": "tool", "content": "on", "requestor": "user", "id": "u1"},
        {"role": "assistant", "content": "It is.", "reasoning_content": "so"},
    ],
}
FIRST = json.dumps(RUN).encode()


def ways(*lines: bytes) -> tuple[list[str], list[str]]:
    """What a piece with these lines behind a run says, read into fields and as any record."""
    piece = Piece(file="runs.jsonl", line=1, lines=(FIRST + b"\n", *lines))
    fast = read(piece)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runlines, "_fast", None)
        return fast, read(piece)


def read(piece: Piece) -> list[str]:
    return [shown(one) for one in traces_of(piece)]


def shown(one: Trace | DataError) -> str:
    """All that a conversation says, what does not count when two are compared too."""
    if isinstance(one, DataError):
        return str(one)
    return repr((one, one.form, one.extras, one.left_out, one.unfit))


def paths(value: Json, *way: str | int) -> list[tuple[str | int, ...]]:
    """The way to each value inside another."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    return [path for key in keys for path in ((*way, key), *paths(value[key], *way, key))]


def changed(way: tuple[str | int, ...], change: Json) -> dict[str, Json]:
    """The run with one value changed: to another, gone, or an object's with one field more."""
    run: Any = copy.deepcopy(RUN)
    *outer, last = way
    inner = run
    for key in outer:
        inner = inner[key]
    if change == "GONE":
        del inner[last]
    elif isinstance(change, tuple):
        inner[change[0]] = change[1]
    else:
        inner[last] = change
    return run


WAYS = paths(RUN)
INNER = [way for way in WAYS if isinstance(way[-1], str)]
VALUES: list[Json] = [
    "GONE", None, True, False, 0, 1, 1.5, 10**30, "", "x", "c1", "user", "assistant", "tool",
    "function", "developer", "é\u2028", [], [1], ["x"], {}, {"a": 1}, [{"role": "user"}], [CALL],
]  # fmt: skip
FIELDS = [
    "timestamp", "created_at", "time", "labels", "metadata", "traj", "simulations", "function_call",
    "custom", "tool_messages", "status", "args", "name", "id", "tools", "parameters", "requestor",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_any_value_in_any_place_is_read_alike(value: Json) -> None:
    fast, slow = ways(*(json.dumps(changed(way, value)).encode() + b"\n" for way in WAYS))
    assert fast == slow
    assert len(fast) == 1 + len(WAYS)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "value", [None, "", "x", 1_700_000_000, [], [1], {}, {"name": "x"}], ids=repr
)
def test_a_field_more_is_read_alike(field: str, value: Json) -> None:
    lines = [json.dumps(changed(way, (field, value))).encode() + b"\n" for way in INNER]
    fast, slow = ways(*lines)
    assert fast == slow


TOKENS = [
    b"NaN", b"-Infinity", b"1e999", b"-0", b"1" * 5_000, b'"\\ud800"', b'"\\udc00\\ud800"', b'"\xff"',
    b'"\\u0000"', b'"\\q"', b"'x'", b"01", b"[1,]", b"", b"tru", b'"\t"', b'{"a": 1, "a": 2}',
    b'{"role": "user", "role": "tool"}', b'"x", "messages": []', b'"x", "benchmark": 0',
    b'"x", "r\\u006fle": "user"',
]  # fmt: skip


@pytest.mark.parametrize("token", TOKENS)
def test_any_text_in_any_place_is_read_alike(token: bytes) -> None:
    mark = "HERE"
    texts = [json.dumps(changed(way, mark)).encode() for way in WAYS]
    fast, slow = ways(*(text.replace(b'"HERE"', token) + b"\n" for text in texts))
    assert fast == slow


@settings(max_examples=300)
@given(st.data())
def test_damaged_lines_are_read_alike(data: st.DataObject) -> None:
    text = bytearray(FIRST)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    fast, slow = ways(bytes(text).replace(b"\n", b" ") + b"\n")
    assert fast == slow


@pytest.mark.parametrize("field", ["note", "gold_actions", "reward"])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_what_is_nested_too_deep_is_too_deep_in_both(field: str, begin: str, end: str) -> None:
    lines = []
    for depth in range(700, 1_010):
        nested = f"{begin * depth}1{end * depth}"
        text = json.dumps({**RUN, field: "HERE"}).replace('"HERE"', nested)
        lines.append(text.encode() + b"\n")
    fast, slow = ways(*lines)
    assert fast == slow
    assert any("nested too deeply" in one for one in fast) and "nested" not in fast[1]


def test_runs_like_the_first_are_decoded_into_fields() -> None:
    lines = RunLines()
    lines.begin(RUN, len(FIRST))
    run = lines.value(FIRST, "runs.jsonl", 2)
    assert type(run) is PlainRun
    assert run.text is FIRST
    assert {**run.dialogue.record, "messages": RUN["messages"]} == RUN


@pytest.mark.parametrize(
    "first",
    [
        {**RUN, "traj": RUN["messages"]},
        {**RUN, "simulations": []},
        {name: value for name, value in RUN.items() if name != "benchmark"},
        {**RUN, 'a "quoted" name': 1},
        {**RUN, **{f"more {number}": 1 for number in range(64)}},
        [RUN],
    ],
    ids=["traj", "simulations", "no benchmark", "quotes", "many fields", "list"],
)
def test_other_records_are_read_as_they_are(first: Json) -> None:
    lines = RunLines()
    lines.begin(first, len(FIRST))
    text = json.dumps(first).encode()
    assert lines.value(text, "runs.jsonl", 2) == first


def test_the_limit_of_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGERAGENT_MAX_MEMORY_MB", "1")
    large = json.dumps({**RUN, "note": "x" * 2_000_000}).encode()
    fast, slow = ways(large, FIRST)
    assert fast == slow
    assert "LEDGERAGENT_MAX_MEMORY_MB" in fast[1]


def test_without_the_extra_every_line_is_read_as_any_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runlines, "_fast", None)
    lines = RunLines()
    lines.begin(RUN, len(FIRST))
    assert lines.value(FIRST, "runs.jsonl", 2) == RUN


def test_every_field_that_is_expected_stands_in_the_run_of_these_tests() -> None:
    """So that `test_any_value_in_any_place_is_read_alike` has each of them hold every value."""
    messages = RUN["messages"]
    assert {name for message in messages for name in message} == fields_of(chatfields.ChatMessage)
    assert CALL.keys() == fields_of(chatfields.ChatCall)
    assert CALL["function"].keys() == fields_of(chatfields.ChatFunction)


def fields_of(struct: Any) -> set[str]:
    return set(struct.__struct_fields__)


def test_the_problem_of_a_run_is_told_with_its_line_and_message(tmp_path: Path) -> None:
    broken = changed(("messages", 3, "tool_call_id"), "nobody")
    fast, slow = ways(json.dumps(broken).encode())
    assert fast == slow
    assert "message 4" in fast[1] and "runs.jsonl" in fast[1]
