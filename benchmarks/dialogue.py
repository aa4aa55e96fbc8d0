"""The conversations of the gateway's benchmark: what clients ask, and what the model answers to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks import fixture

MARK = "0" * 16
SMALL = "I want to return my lamp"
ASKED = "What is your e-mail address?"
SPOKEN = 20
"""Turns of words that a long conversation has behind it when it begins, and that it goes on for."""


def request_body(stream: bool) -> bytes:
    """The request, with `MARK` where each conversation differs."""
    reads = (
        ("find_user_id_by_email", {"email": "ines.okafor1001@example.com"}, fixture.USER_ID),
        ("get_user_details", {"user_id": fixture.USER_ID}, json.dumps(fixture.user())),
        ("get_order_details", {"order_id": fixture.ORDER_ID}, json.dumps(fixture.order())),
    )
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You serve the customers of a shop. " * 40},
        {"role": "user", "content": f"{MARK} I want to return my desk lamp."},
    ]
    for n, (name, arguments, content) in enumerate(reads):
        call = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": f"call_{n}", "type": "function", "function": call}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": content})
    names = [*(name for name, _, _ in reads), "return_delivered_order_items"]
    parameters = {"type": "object", "properties": {}}
    tools = [
        {"type": "function", "function": {"name": name, "parameters": parameters}} for name in names
    ]
    body = {"model": "m", "messages": messages, "tools": tools, "stream": stream}
    return json.dumps(body).encode()


def small_body() -> bytes:
    """A small request: the first words of a conversation, and the same tools."""
    whole = json.loads(request_body(False))
    said = {"role": "user", "content": f"{MARK} {SMALL}."}
    return json.dumps({**whole, "messages": [said]}).encode()


def long_bodies() -> tuple[bytes, ...]:
    """A long conversation's requests, each one turn longer than the one before it."""
    whole = json.loads(request_body(False))
    turn = [{"role": "assistant", "content": ASKED}, {"role": "user", "content": f"{SMALL}."}]
    words = "It stood on my desk for a week, and then its arm would not stay up any more. " * 4
    long_turn = [turn[0], {"role": "user", "content": f"{words}{SMALL}."}]
    spoken = whole["messages"] + long_turn * SPOKEN
    requests = (spoken + turn * turns for turns in range(SPOKEN))
    return tuple(json.dumps({**whole, "messages": said}).encode() for said in requests)


def small_reply() -> bytes:
    """The upstream's answer to words: words."""
    message = {"role": "assistant", "content": ASKED}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": "chatcmpl-1", "created": 1, "model": "m", "object": "chat.completion"}
    return json.dumps({**head, "choices": [choice]}).encode()


def reply_bytes(stream: bool) -> bytes:
    """The upstream's answer to everything: a sentence, and a return that is allowed."""
    made = fixture.return_call(fixture.CARD)
    function = {"name": made.name, "arguments": json.dumps(made.arguments)}
    call = {"index": 0, "id": "call_9", "type": "function", "function": function}
    head = {"id": "chatcmpl-1", "created": 1, "model": "m"}
    if not stream:
        message = {"role": "assistant", "content": "One moment.", "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}
        whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        return json.dumps(whole).encode()
    deltas = [{"role": "assistant", "content": ""}, {"content": "One "}, {"content": "moment."}]
    chunks = [*((delta, None) for delta in (*deltas, {"tool_calls": [call]})), ({}, "tool_calls")]
    events = []
    for delta, reason in chunks:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        events.append(json.dumps({**head, "object": "chat.completion.chunk", "choices": [choice]}))
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


JUDGED = b"return_delivered_order_items"
KINDS: dict[str, tuple[Sequence[bytes], bytes]] = {
    "whole": ((request_body(False),), JUDGED),
    "streamed": ((request_body(True),), JUDGED),
    "small": ((small_body(),), ASKED.encode()),
    "long": (long_bodies(), ASKED.encode()),
}
"""The requests of each kind, in their order, and what stands in every answer to one."""
