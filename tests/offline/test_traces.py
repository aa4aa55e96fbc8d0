"""Readers of recorded conversations: each form, told from its content, and what is wrong with others."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ledgeragent.errors import DataError
from ledgeragent.offline.traces import Trace, read_messages, read_traces, tool_names
from ledgeragent.types import Json, Reply, ToolCall, ToolReturn, UserMessage

ASK = {"role": "user", "content": "Is Ferns in?"}
LOOK = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "get_book", "arguments": '{"book_id": "B1"}'},
        }
    ],
}
FOUND = {"role": "tool", "tool_call_id": "c1", "name": "get_book", "content": '{"book_id": "B1"}'}
TOLD = {"role": "assistant", "content": "It is."}
CHAT = [{"role": "system", "content": "Be kind."}, ASK, LOOK, FOUND, TOLD]
READ = (
    UserMessage(text="Is Ferns in?"),
    Reply(calls=(ToolCall(name="get_book", arguments={"book_id": "B1"}, id="c1"),)),
    ToolReturn(call_id="c1", content='{"book_id": "B1"}'),
    Reply(text="It is."),
)
OURS = {
    "id": "a1",
    "benchmark": "tau2",
    "domain": "lending",
    "task_id": 7,
    "reward": 1,
    "nonstandard_tools": ["burn_book"],
    "messages": CHAT,
}
TAU = {"task_id": 7, "reward": 0.0, "info": {}, "traj": CHAT, "trial": 2}
TAU2 = {
    "timestamp": "2025-01-01",
    "info": {"environment_info": {"domain_name": "lending", "policy": "..."}},
    "tasks": [],
    "simulations": [
        {
            "id": "s1",
            "task_id": "7",
            "trial": 0,
            "reward_info": {"reward": 1.0},
            "messages": [
                {**ASK, "turn_idx": 0},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {
                            "id": "c1",
                            "name": "get_book",
                            "arguments": {"book_id": "B1"},
                            "requestor": "assistant",
                        }
                    ],
                },
                {
                    "id": "c1",
                    "role": "tool",
                    "content": '{"book_id": "B1"}',
                    "requestor": "assistant",
                    "error": False,
                },
                TOLD,
            ],
        }
    ],
}


def write(folder: Path, *lines: str | Json, name: str = "runs.jsonl") -> str:
    """A file of these lines: text as it is, anything else as JSON."""
    file = folder / name
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return str(file)


def good(file: str) -> list[Trace]:
    """The conversations of a file in which nothing is broken."""
    found = list(read_traces(file))
    assert [trace for trace in found if isinstance(trace, DataError)] == []
    return [trace for trace in found if isinstance(trace, Trace)]


def broken(file: str) -> list[str]:
    """What is said of the broken records of a file."""
    return [
        str(one).replace(file, "FILE") for one in read_traces(file) if isinstance(one, DataError)
    ]


def test_our_form_carries_what_is_known_of_the_run(tmp_path: Path) -> None:
    (trace,) = good(write(tmp_path, OURS))
    assert trace == Trace(
        run="a1",
        messages=READ,
        benchmark="tau2",
        domain="lending",
        task_id="7",
        reward=1.0,
        nonstandard=frozenset({"burn_book"}),
    )


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(CHAT),
        json.dumps(CHAT, indent=2),
        json.dumps({"messages": CHAT}),
        json.dumps({"messages": CHAT}, indent=2),
        json.dumps([CHAT]),
        json.dumps([{"messages": CHAT}], indent=1),
        "\ufeff" + json.dumps(CHAT),
        "\n\n" + json.dumps(CHAT),
    ],
    ids=["list", "printed list", "object", "printed object", "lists", "objects", "bom", "blanks"],
)
def test_openai_messages_in_every_wrapping(tmp_path: Path, content: str) -> None:
    (trace,) = good(write(tmp_path, content))
    assert trace.messages == READ
    assert (trace.domain, trace.benchmark, trace.reward, trace.tools) == (None, None, None, None)


def test_each_line_of_json_lines_is_a_conversation_named_by_its_place(tmp_path: Path) -> None:
    file = write(tmp_path, CHAT, {"messages": CHAT[1:2]})
    assert [(t.run, len(t.messages)) for t in good(file)] == [(f"{file}:1", 4), (f"{file}:2", 1)]


def test_the_heading_of_a_result_file_is_no_broken_run(tmp_path: Path) -> None:
    heading = {"settings": {"agent": "m"}}
    assert len(good(write(tmp_path, heading, {"messages": CHAT}))) == 1


def test_a_request_with_its_tools_tells_the_tools_of_the_run(tmp_path: Path) -> None:
    schemas = [{"type": "function", "function": {"name": "get_book", "parameters": {}}}]
    (trace,) = good(write(tmp_path, {"messages": CHAT, "tools": schemas}))
    assert trace.tools == {"get_book"}


def test_taubench_results(tmp_path: Path) -> None:
    file = write(tmp_path, json.dumps([TAU, {**TAU, "trial": 3, "reward": 1.0}], indent=2))
    first, second = good(file)
    assert (first.messages, first.benchmark, first.task_id, first.reward) == (READ, "tau", "7", 0.0)
    assert (first.run, second.run) == (f"{file}:1#1/7.2", f"{file}:1#2/7.3")


def test_tau2_results(tmp_path: Path) -> None:
    (trace,) = good(write(tmp_path, json.dumps(TAU2, indent=2)))
    assert trace.messages == READ
    assert (trace.run, trace.benchmark, trace.domain, trace.reward) == ("s1", "tau2", "lending", 1)


def test_calls_are_counted_by_tool_in_the_order_of_the_first_ones() -> None:
    names = ("get_order", "find_user", "get_order")
    replies = [Reply(calls=(ToolCall(name=name),)) for name in names]
    trace = Trace(run="r", messages=(*replies, UserMessage(text="Well")))
    assert [*trace.calls_by_tool.items()] == [("get_order", 2), ("find_user", 1)]
    renamed = trace.renamed({"find_user": "get_order"})
    assert [*renamed.calls_by_tool.items()] == [("get_order", 3)]


def test_several_returns_in_one_tau2_message() -> None:
    bundle = {
        "role": "tool",
        "tool_messages": [
            {"id": "1", "role": "tool", "content": "a", "requestor": "assistant"},
            {"id": "2", "role": "tool", "content": "b", "requestor": "user"},
            {"id": "3", "role": "tool", "content": "c", "requestor": "assistant", "error": True},
        ],
    }
    assert read_messages([bundle]) == (
        ToolReturn(call_id="1", content="a"),
        ToolReturn(call_id="3", content="c", error=True),
    )


def test_what_the_user_calls_is_their_turn_and_no_call_of_the_agent() -> None:
    device = {"id": "u1", "name": "toggle_roaming", "arguments": {}, "requestor": "user"}
    messages = [
        {"role": "user", "content": None, "tool_calls": [device]},
        {"role": "tool", "id": "u1", "content": "on", "requestor": "user"},
        {"role": "assistant", "content": "Well done.", "tool_calls": [device]},
    ]
    assert read_messages(messages) == (UserMessage(), Reply(text="Well done."))


def test_parts_of_what_was_said_are_joined_and_returns_kept() -> None:
    parts = [{"type": "text", "text": "Is Ferns"}, {"type": "text", "text": " in?"}]
    messages = [
        {"role": "user", "content": parts},
        {"role": "tool", "tool_call_id": "1", "content": parts},
        {"role": "tool", "tool_call_id": "2", "content": [{"book_id": "B1"}]},
        {"role": "tool", "tool_call_id": "3", "content": None},
        {"role": "tool", "tool_call_id": 4, "content": []},
    ]
    assert read_messages(messages) == (
        UserMessage(text="Is Ferns in?"),
        ToolReturn(call_id="1", content=parts),
        ToolReturn(call_id="2", content=[{"book_id": "B1"}]),
        ToolReturn(call_id="3", content=""),
        ToolReturn(call_id="4", content=[]),
    )


@pytest.mark.parametrize(
    ("arguments", "malformed"),
    [('{"book_id": ', '{"book_id": '), ('{"n": NaN}', '{"n": NaN}'), ("[]", "[]"), ([1], "[1]")],
)
def test_arguments_that_are_no_object_are_kept_as_they_came(
    arguments: Json, malformed: str
) -> None:
    call = {"id": "1", "function": {"name": "get_book", "arguments": arguments}}
    (reply,) = read_messages([{"role": "assistant", "tool_calls": [call]}])
    assert isinstance(reply, Reply)
    assert reply.calls[0].malformed == malformed


def test_nan_in_a_record_is_no_number(tmp_path: Path) -> None:
    line = json.dumps({"messages": CHAT, "reward": 1}).replace('"reward": 1', '"reward": NaN')
    assert good(write(tmp_path, line))[0].reward is None


def test_gzip_is_told_from_the_content(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_bytes(gzip.compress(json.dumps(OURS).encode()) + gzip.compress(b"\n" + b"[]"))
    assert [trace.run for trace in read_traces(str(file)) if isinstance(trace, Trace)] == ["a1"]


def test_a_broken_line_is_told_with_its_place_and_the_others_are_read(tmp_path: Path) -> None:
    file = write(tmp_path, OURS, '{"id": "a2", "messages": [', OURS, "", "42", {"id": "a3"})
    assert [type(one).__name__ for one in read_traces(file)] == [
        "Trace",
        "DataError",
        "Trace",
        "NoFormError",
        "NoFormError",
    ]
    assert broken(file) == [
        "FILE:2: not JSON: Expecting value at column 27",
        "FILE:5: a recorded conversation is a JSON object or a list of messages",
        'FILE:6: no conversation: expected a list under "messages" or "traj"',
    ]


def test_a_broken_first_line_does_not_hide_the_others(tmp_path: Path) -> None:
    file = write(tmp_path, '{"id": "a1", "messages": [', OURS, OURS)
    assert [type(one).__name__ for one in read_traces(file)] == ["DataError", "Trace", "Trace"]


def test_a_run_before_lines_of_another_form_is_read_and_they_are_told(tmp_path: Path) -> None:
    hello = {"role": "user", "content": "Hello"}
    run = {"benchmark": "tau2", "task_id": "1", "messages": [hello]}
    entry = {"type": "user", "sessionId": "s", "uuid": "1", "message": hello}
    first, *others = read_traces(write(tmp_path, run, entry))
    assert isinstance(first, Trace)
    assert first.messages == (UserMessage(text="Hello"),)
    assert [isinstance(other, DataError) for other in others] == [True]


def test_a_broken_document_is_one_problem(tmp_path: Path) -> None:
    whole = json.dumps(TAU2, indent=2)
    assert broken(write(tmp_path, whole[:-40])) != []
    assert len(broken(write(tmp_path, whole[:-40]))) == 1


def test_one_broken_run_of_a_document_leaves_the_others(tmp_path: Path) -> None:
    runs = {**TAU2, "simulations": [{"id": "s0", "messages": None}, *TAU2["simulations"], 7]}
    file = write(tmp_path, json.dumps(runs))
    assert [one.run for one in read_traces(file) if isinstance(one, Trace)] == ["s1"]
    assert broken(file) == [
        'FILE:1: record 1: no conversation: expected a list under "messages" or "traj"',
        "FILE:1: record 3: a recorded conversation is a JSON object or a list of messages",
    ]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("hello", "it is no message object"),
        ({"content": "hello"}, "it has no 'role'"),
        ({"role": "critic", "content": "hello"}, "unknown role 'critic'"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, "it has no 'name'"),
        ({"role": "assistant", "tool_calls": "get_book"}, "it is no message object"),
        ({"role": "assistant", "tool_calls": [{"name": 7}]}, "a tool call's name is not text"),
    ],
)
def test_a_message_that_cannot_be_read_is_told(message: Json, problem: str) -> None:
    with pytest.raises(ValueError, match="message 2: ") as raised:
        read_messages([ASK, message])
    assert str(raised.value) == f"message 2: {problem}"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "FILE: the file is empty"),
        (b"\n \n", "FILE: the file is empty"),
        (b"\x00\xff", "FILE:1: not UTF-8 text"),
        (b"[]", "FILE:1: no conversation: the list is empty"),
        (
            b'[{"simulations": [{}]}]',
            'FILE:1: record 1: no conversation: expected a list under "messages" or "traj"',
        ),
        (b"[[]]", "FILE:1: record 1: no conversation: the list is empty"),
        (b'{"messages": []}', 'FILE:1: no conversation: "messages" is empty'),
        (b'{"messages": 5}', 'FILE:1: no conversation: "messages" is no list'),
        (b'{"traj": []}', 'FILE:1: no conversation: "traj" is empty'),
        (b'{"simulations": 5}', 'FILE:1: no conversation: "simulations" is no list'),
        (b'{"simulations": []}', 'FILE:1: no conversation: "simulations" is empty'),
        (
            b'{"simulations": [{"messages": {}}]}',
            'FILE:1: record 1: no conversation: "messages" is no list',
        ),
        (b'"text"', "FILE:1: a recorded conversation is a JSON object or a list of messages"),
        (b"[" * 100_000 + b"1", "FILE:1: nested too deeply"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_holds_no_conversation_is_told(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "runs"
    file.write_bytes(content)
    assert broken(str(file))[0] == problem


def test_a_damaged_gzip_file_is_told_after_what_could_be_read(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl.gz"
    lines = "".join(json.dumps({**OURS, "id": str(n)}) + "\n" for n in range(5000))
    whole = gzip.compress(lines.encode())
    file.write_bytes(whole[: len(whole) // 2])
    found = list(read_traces(str(file)))
    assert isinstance(found[0], Trace)
    assert isinstance(found[-1], DataError)
    assert found[-1].problem == "the compressed data is damaged or ends early"


@pytest.mark.parametrize("name", ["nowhere.jsonl", "."])
def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError):
        list(read_traces(str(tmp_path / name)))


def test_only_a_piece_of_json_lines_is_held_at_a_time(tmp_path: Path) -> None:
    line = json.dumps({**OURS, "note": "x" * 400_000})
    file = write(tmp_path, *[line] * 5, "broken")
    read = read_traces(file)
    first = next(read)
    assert isinstance(first, Trace)
    Path(file).write_text("")
    assert sum(isinstance(trace, Trace) for trace in read) < 4


@pytest.mark.parametrize(
    "listed",
    [
        ["get_book"],
        [{"name": "get_book", "type": "read"}],
        [{"type": "function", "function": {"name": "get_book"}}],
    ],
)
def test_tools_are_listed_by_name_or_by_schema(listed: Json) -> None:
    assert tool_names(listed) == {"get_book"}


@pytest.mark.parametrize("listed", ["get_book", [7], [{}], {"name": "get_book"}])
def test_a_list_without_names_is_no_list_of_tools(listed: Json) -> None:
    with pytest.raises(ValueError, match="tool"):
        tool_names(listed)
