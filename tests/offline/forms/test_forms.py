"""Every form: our conversation is read from it, as a file, packed, as lines, and with --from."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
from pathlib import Path

import pytest

from ledgeragent.errors import DataError
from ledgeragent.offline.forms.registry import FORMS, form_named
from ledgeragent.offline.traces import Trace, read_traces
from ledgeragent.returned import unwrapped
from ledgeragent.types import Json, Reply, ToolReturn, UserMessage

from . import conversation as talk
from . import items, records

DOCUMENTS: dict[str, tuple[str, Json]] = {
    "openai": ("openai-chat", talk.openai()),
    "legacy": ("openai-chat", talk.LEGACY),
    "anthropic": ("anthropic", talk.ANTHROPIC),
    "claude code": ("claude-code", talk.CLAUDE_CODE),
    "bedrock": ("bedrock", {"modelId": "m", "messages": talk.converse()}),
    "strands": ("strands", talk.converse(metadata={})),
    "gemini": ("gemini", talk.GEMINI),
    "adk": ("gemini", talk.ADK),
    "gen_ai": ("gen-ai", talk.GEN_AI),
    "gen_ai both sides": (
        "gen-ai",
        {"gen_ai.input.messages": talk.GEN_AI[:-1], "gen_ai.output.messages": talk.GEN_AI[-1:]},
    ),
    "vercel ui": ("vercel", talk.VERCEL_UI),
    "vercel ui 4": ("vercel", talk.VERCEL_UI_4),
    "vercel model": ("vercel", talk.vercel_model()),
    "vercel core": ("vercel", talk.vercel_model("args")),
    "langchain": ("langchain", talk.LANGCHAIN),
    "langchain data": ("langchain", [{"type": m["type"], "data": m} for m in talk.LANGCHAIN]),
    "langchain dumpd": ("langchain", {"messages": talk.LANGCHAIN_DUMPD}),
    "langgraph": ("langchain", {"values": {"messages": talk.LANGCHAIN}}),
    "pydantic ai": ("pydantic-ai", talk.PYDANTIC_AI),
    "ag2": ("ag2", talk.AG2),
    "ag2 by agent": ("ag2", {"chat_messages": {"user": talk.AG2}}),
    "autogen": ("autogen", talk.AUTOGEN),
    "responses": ("responses", items.RESPONSES),
    "response": ("responses", {"input": talk.ASK, "output": items.RESPONSES[1:]}),
    "rollout": ("responses", items.ROLLOUT),
    "nemo gym": ("nemo-gym", items.NEMO_GYM),
    "hermes": ("hermes", items.HERMES),
    "qwen coder": ("hermes", {"messages": items.QWEN_CODER}),
    "sharegpt": ("hermes", items.SHAREGPT),
    "sharegpt calls": ("hermes", items.SHAREGPT_CALLS),
    "inspect log": ("inspect", records.INSPECT),
    "inspect sample": ("inspect", records.inspect_sample()),
    "agentdojo": ("agentdojo", records.AGENT_DOJO),
    "mcp": ("mcp", records.MCP),
    "mcp log": ("mcp", records.MCP_LOG),
    "batch": ("openai-log", records.BATCH),
    "request log of messages": (
        "openai-log",
        [
            {"messages": records.CHAT[:n], "response": {"choices": [{"message": records.CHAT[n]}]}}
            for n in (2, 4, 6)
        ],
    ),
    "answer that is told twice": (
        "openai-log",
        {"messages": records.CHAT, "response": {"choices": [{"message": records.CHAT[6]}]}},
    ),
    "runs in an object": ("openai-chat", {"runs": [{"messages": records.CHAT}]}),
    "request log": ("openai-log", records.REQUESTS),
    "langfuse": ("langfuse", records.LANGFUSE),
    "langfuse list": ("langfuse", {"data": [records.LANGFUSE]}),
    "langfuse rows": ("langfuse", records.LANGFUSE_ROWS),
    "langsmith": ("langsmith", records.LANGSMITH),
    "otlp": ("spans", records.OTLP),
    "otlp tools": ("spans", records.OTLP_TOOLS),
    "otlp flat": ("spans", records.OTLP_LEGACY),
    "openinference": ("spans", records.OPEN_INFERENCE),
    "phoenix": ("spans", records.PHOENIX),
    "logfire": ("spans", records.LOGFIRE),
    "logfire events": ("spans", records.LOGFIRE_EVENTS),
    "sdk spans": ("spans", records.SDK_SPANS),
}
WORDLESS = {"mcp", "mcp log", "otlp tools"}


def write(folder: Path, value: Json, name: str = "runs.json") -> str:
    """A file with this value as a document."""
    file = folder / name
    file.write_text(json.dumps(value, indent=1))
    return str(file)


def only(file: str, form: str | None = None) -> Trace:
    """The one conversation of a file."""
    (trace,) = read_traces(file, form_named(form) if form is not None else None)
    assert isinstance(trace, Trace), trace
    return trace


def check(trace: Trace, *, words: bool = True) -> None:
    """The conversation is ours, whatever its form."""
    calls = [(call.name, dict(call.arguments), call.malformed) for call in trace.calls]
    assert calls == [("get_book", talk.LOOK, None), ("lend_book", talk.LEND, None)]
    returns = [m for m in trace.messages if isinstance(m, ToolReturn)]
    assert [r.call_id for r in returns] == [call.id for call in trace.calls]
    first, second = (unwrapped(r.content) for r in returns)
    assert (json.loads(first) if isinstance(first, str) else first) == talk.BOOK
    assert second == talk.LENT
    assert not any(r.failed for r in returns)
    if words:
        assert trace.messages[0] == UserMessage(text=talk.ASK)
        assert isinstance(trace.messages[-1], Reply)
        assert trace.messages[-1].text == talk.DONE


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_conversation_is_read_from_every_form(tmp_path: Path, name: str) -> None:
    form, value = DOCUMENTS[name]
    trace = only(write(tmp_path, value))
    assert trace.form == form
    check(trace, words=name not in WORDLESS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_form_that_is_named_reads_the_same(tmp_path: Path, name: str) -> None:
    form, value = DOCUMENTS[name]
    if isinstance(value, list) and not form_named(form).streams:
        value = value[-1]
    trace = only(write(tmp_path, value), form)
    assert trace.calls


@pytest.mark.parametrize("name", [n for n, (_, v) in DOCUMENTS.items() if isinstance(v, list)])
def test_the_elements_may_stand_a_line_each(tmp_path: Path, name: str) -> None:
    form, value = DOCUMENTS[name]
    file = tmp_path / "runs.jsonl.gz"
    file.write_bytes(gzip.compress("".join(json.dumps(one) + "\n" for one in value).encode()))
    trace = only(str(file))
    assert trace.form == form
    check(trace, words=name not in WORDLESS)


@pytest.mark.parametrize(
    "name", [n for n, (_, v) in DOCUMENTS.items() if isinstance(v, dict) and n != "otlp tools"]
)
def test_each_line_may_hold_a_conversation(tmp_path: Path, name: str) -> None:
    form, value = DOCUMENTS[name]
    file = tmp_path / "runs.jsonl"
    file.write_text((json.dumps(value) + "\n") * 2)
    traces = list(read_traces(str(file)))
    for trace in traces:
        assert isinstance(trace, Trace), trace
        assert trace.form == form
        check(trace, words=name not in WORDLESS)


def test_every_form_has_a_document() -> None:
    assert {form for form, _ in DOCUMENTS.values()} == {form.name for form in FORMS} - {
        "agents-sdk"
    }


def test_sessions_of_the_agents_sdk_are_read_from_their_database(tmp_path: Path) -> None:
    file = tmp_path / "sessions.db"
    with sqlite3.connect(file) as database:
        database.execute("pragma journal_mode=wal")
        database.execute(
            "create table agent_messages (id integer primary key, session_id, message_data)"
        )
        rows = [("s1", json.dumps(item)) for item in items.RESPONSES]
        database.executemany(
            "insert into agent_messages (session_id, message_data) values (?, ?)", rows
        )
        database.commit()
        trace = only(str(file))
    database.close()
    assert (trace.form, trace.run) == ("agents-sdk", "s1")
    check(trace)


def test_another_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with sqlite3.connect(file) as database:
        database.execute("create table books (id)")
    database.close()
    with pytest.raises(DataError, match="none with sessions of the Agents SDK"):
        list(read_traces(str(file)))


def test_an_eval_log_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "library"}}))
        archive.writestr("samples/lend_epoch_1.json", json.dumps(records.inspect_sample()))
    trace = only(str(file))
    assert (trace.form, trace.run, trace.reward) == ("inspect", "lend.1", 1.0)
    check(trace)


def test_batch_output_alone_is_the_call_of_the_model(tmp_path: Path) -> None:
    trace = only(write(tmp_path, records.BATCH_OUTPUT))
    assert [call.name for call in trace.calls] == ["get_book"]
    assert trace.run == "r1"


def test_batch_output_of_anthropic_is_read(tmp_path: Path) -> None:
    message = {"type": "message", **talk.ANTHROPIC["messages"][1]}  # type: ignore[dict-item]
    value = {"custom_id": "r1", "result": {"type": "succeeded", "message": message}}
    assert [call.name for call in only(write(tmp_path, value)).calls] == ["get_book"]


def test_a_log_that_grows_over_many_megabytes_is_one_conversation(tmp_path: Path) -> None:
    chat = records.CHAT
    long = [{**m, "content": "x" * 600_000} if m["role"] == "system" else m for m in chat]
    long[1] = {"role": "user", "content": "y" * 600_000}
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps({"messages": long[:n]}) + "\n" for n in (2, 4, 6, 7)))
    trace = only(str(file))
    assert (len(trace.calls), dict(trace.left_out)["requests that a later one repeats"]) == (2, 3)


def test_what_a_record_says_of_its_run_is_taken_over(tmp_path: Path) -> None:
    gym = only(write(tmp_path, items.NEMO_GYM))
    assert (gym.reward, gym.tools) == (1.0, {"get_book", "lend_book"})
    dojo = only(write(tmp_path, records.AGENT_DOJO))
    assert (dojo.reward, dojo.task_id) == (1.0, "library/user_task_1")
