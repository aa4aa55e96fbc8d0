"""Anthropic Messages: `tool_use` and `tool_result` blocks in the content of messages."""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.offline.forms.chat import INSTRUCTIONS
from ledgeragent.offline.forms.form import Dialogue, Form, listed, marked, parts_of
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import leave, role_of, unknown, unknown_role, word
from ledgeragent.types import Json

_USES, _RESULTS = ("tool_use", "mcp_tool_use"), ("tool_result", "mcp_tool_result")
_SERVERS_OWN = "server_tool_use"


def write_blocks(messages: Json, scribe: Scribe) -> None:
    """Writes messages of blocks down."""
    for message in scribe.each(messages):
        write_block_message(message, scribe)


def write_block_message(message: Mapping[str, Json], scribe: Scribe) -> None:
    """Writes one message of blocks down."""
    role = role_of(message)
    content = message.get("content")
    blocks = content if isinstance(content, list) else [content] if content else []
    if role == "assistant":
        _generation(blocks, scribe)
    elif role == "user":
        _turn(blocks, scribe)
    elif role in INSTRUCTIONS:
        scribe.leave_out("instructions")
    else:
        raise unknown_role(role)


def _generation(blocks: list[Json], scribe: Scribe) -> None:
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else "text"
        if kind in _USES:
            scribe.call(call_of(block.get("name"), block, "input", id=block.get("id")))
        elif kind in _RESULTS:
            _result(block, scribe)
        elif kind == _SERVERS_OWN or str(kind).endswith("_tool_result"):
            scribe.leave_out("tools of the provider")
        else:
            _say(block, kind, scribe)


def _say(block: Json, kind: Json, scribe: Scribe) -> None:
    if kind != "text" and not leave(str(kind), scribe):
        raise unknown(kind, "text", *_USES, "thinking")
    if kind == "text":
        scribe.say(word(block, scribe))


def _turn(blocks: list[Json], scribe: Scribe) -> None:
    texts: list[str] = []
    results = 0
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else "text"
        if kind in _RESULTS:
            _result(block, scribe)
            results += 1
        elif kind == "text":
            texts.append(word(block, scribe))
        elif not leave(str(kind), scribe):
            raise unknown(kind, "text", *_RESULTS, "image")
    if texts or not results:
        scribe.user("".join(texts))


def _result(block: Mapping[str, Json], scribe: Scribe) -> None:
    for part in parts_of(block):
        if part.get("type") != "text":
            scribe.leave_out(f"{part.get('type')} in a return")
    scribe.returned(
        block.get("tool_use_id"), block.get("content"), error=bool(block.get("is_error"))
    )


def is_block_message(message: Mapping[str, Json]) -> bool:
    """True for a message with a block that only this form has."""
    kinds = {part.get("type") for part in parts_of(message)}
    return bool(kinds & {*_USES, *_RESULTS, _SERVERS_OWN})


def _talks(value: Json) -> list[Dialogue]:
    messages = [*(listed(value, "messages") or ())]
    record = value if isinstance(value, dict) else {}
    answer = record.get("response", record)
    if isinstance(answer, dict) and answer.get("type") == "message":
        messages.append(answer)
    return [Dialogue(record, lambda scribe: write_blocks(messages, scribe))]


def _unfit(value: Json) -> str | None:
    if isinstance(value, dict) and value.get("type") == "message" and "role" in value:
        return None if is_block_message(value) else _LACKING
    return marked(is_block_message, _LACKING, "messages")(value)


_LACKING = "no block of the type tool_use or tool_result"

FORM = Form(
    name="anthropic",
    title="Anthropic Messages",
    looks='`{"role", "content": [{"type": "tool_use", "id", "name", "input"}]}` and '
    '`{"type": "tool_result", "tool_use_id", "content"}`',
    unfit=_unfit,
    dialogues=_talks,
    streams=True,
)
