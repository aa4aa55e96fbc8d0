"""The three wire formats as a client and an upstream write them, from the same neutral messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

Body = dict[str, Any]


class Wire(Protocol):
    """One format, both ends of it."""

    name: str
    path: str

    def request(self, messages: Sequence[Message], tools: Sequence[str], stream: bool) -> Body: ...

    def answer(self, reply: Reply, id: str) -> Body: ...

    def events(self, reply: Reply, id: str) -> list[bytes]: ...

    def read(self, body: Body) -> Reply: ...

    def read_events(self, events: Sequence[Any]) -> Reply: ...

    def told(self, body: Body) -> str: ...


def arguments(call: ToolCall) -> str:
    return call.malformed if call.malformed is not None else json.dumps(call.arguments)


def halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def sse(data: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    text = data if isinstance(data, str) else json.dumps(data)
    return f"{head}data: {text}\n\n".encode(errors="replace")


class ChatWire:
    name = "chat"
    path = "/v1/chat/completions"

    def request(self, messages: Sequence[Message], tools: Sequence[str], stream: bool) -> Body:
        return {
            "model": "m",
            "stream": stream,
            "tools": [{"type": "function", "function": {"name": tool}} for tool in tools],
            "messages": [
                {"role": "system", "content": "You lend books."},
                *map(self._message, messages),
            ],
        }

    def _message(self, message: Message) -> Body:
        match message:
            case UserMessage():
                return {"role": "user", "content": message.text}
            case ToolReturn():
                return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
            case Reply():
                return self._reply(message)

    def _reply(self, reply: Reply) -> Body:
        message: Body = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [self._call(call) for call in reply.calls]
        return message

    def _call(self, call: ToolCall) -> Body:
        function = {"name": call.name, "arguments": arguments(call)}
        return {"id": call.id, "type": "function", "function": function}

    def answer(self, reply: Reply, id: str) -> Body:
        reason = "tool_calls" if reply.calls else "stop"
        choice = {"index": 0, "message": self._reply(reply), "finish_reason": reason}
        return {
            "id": id,
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
        }

    def events(self, reply: Reply, id: str) -> list[bytes]:
        return [*(sse(chunk) for chunk in self._chunks(reply, id)), sse("[DONE]")]

    def _chunks(self, reply: Reply, id: str) -> Iterator[Body]:
        def chunk(delta: Body, reason: str | None = None) -> Body:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            head = {"id": id, "object": "chat.completion.chunk", "created": 1, "model": "m"}
            return {**head, "choices": [choice]}

        yield chunk({"role": "assistant", "content": ""})
        if reply.text:
            yield from (chunk({"content": part}) for part in halves(reply.text))
        for index, call in enumerate(reply.calls):
            first = {"index": index, **self._call(call)}
            first["function"] = {"name": call.name, "arguments": ""}
            yield chunk({"tool_calls": [first]})
            for part in halves(arguments(call)):
                more = {"index": index, "function": {"arguments": part}}
                yield chunk({"tool_calls": [more]})
        yield chunk({}, "tool_calls" if reply.calls else "stop")

    def read(self, body: Body) -> Reply:
        (choice,) = body["choices"]
        message = choice["message"]
        assert message["role"] == "assistant"
        calls = message.get("tool_calls") or []
        assert message["content"] or calls
        assert choice["finish_reason"] == ("tool_calls" if calls else "stop")
        return Reply(
            text=message["content"] or "",
            calls=tuple(ToolCall.parse(**call["function"], id=call["id"]) for call in calls),
        )

    def read_events(self, events: Sequence[Any]) -> Reply:
        assert events[-1] == "[DONE]"
        text, reason, calls = "", None, {}
        for event in events[:-1]:
            for choice in event["choices"]:
                delta = choice["delta"]
                text += delta.get("content") or ""
                reason = choice.get("finish_reason") or reason
                for part in delta.get("tool_calls") or ():
                    function = part["function"]
                    if part["index"] not in calls:
                        calls[part["index"]] = {
                            "id": part["id"],
                            "name": function["name"],
                            "arguments": "",
                        }
                    calls[part["index"]]["arguments"] += function["arguments"]
        assert sorted(calls) == list(range(len(calls)))
        assert reason == ("tool_calls" if calls else "stop")
        return Reply(text=text, calls=tuple(ToolCall.parse(**c) for c in calls.values()))

    def told(self, body: Body) -> str:
        return "\n".join(str(message["content"]) for message in body["messages"])


class MessagesWire:
    name = "messages"
    path = "/v1/messages"

    def request(self, messages: Sequence[Message], tools: Sequence[str], stream: bool) -> Body:
        merged: list[Body] = []
        for message in messages:
            role, blocks = self._blocks(message)
            if merged and merged[-1]["role"] == role:
                merged[-1]["content"] += blocks
            else:
                merged.append({"role": role, "content": blocks})
        return {
            "model": "m",
            "max_tokens": 100,
            "stream": stream,
            "system": "You lend books.",
            "tools": [{"name": tool, "input_schema": {"type": "object"}} for tool in tools],
            "messages": merged,
        }

    def _blocks(self, message: Message) -> tuple[str, list[Body]]:
        match message:
            case UserMessage():
                return "user", [{"type": "text", "text": message.text}]
            case ToolReturn():
                content = message.content
                blocks = content if type(content) is list else [{"type": "text", "text": content}]
                block = {"type": "tool_result", "tool_use_id": message.call_id, "content": blocks}
                return "user", [block]
            case Reply():
                return "assistant", self._reply(message)

    def _reply(self, reply: Reply) -> list[Body]:
        blocks: list[Body] = [{"type": "text", "text": reply.text}] if reply.text else []
        used = ({"id": c.id, "name": c.name, "input": dict(c.arguments)} for c in reply.calls)
        return [*blocks, *({"type": "tool_use", **block} for block in used)]

    def _frame(self, reply: Reply, id: str) -> Body:
        return {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_reason": "tool_use" if reply.calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 5, "output_tokens": 2},
        }

    def answer(self, reply: Reply, id: str) -> Body:
        return {**self._frame(reply, id), "content": self._reply(reply)}

    def events(self, reply: Reply, id: str) -> list[bytes]:
        return [sse(data, data["type"]) for data in self._data(reply, id)]

    def _data(self, reply: Reply, id: str) -> Iterator[Body]:
        frame = {**self._frame(reply, id), "content": [], "stop_reason": None}
        yield {"type": "message_start", "message": frame}
        yield {"type": "ping"}
        blocks: list[tuple[Body, list[Body]]] = []
        if reply.text:
            deltas = [{"type": "text_delta", "text": part} for part in halves(reply.text)]
            blocks.append(({"type": "text", "text": ""}, deltas))
        for call in reply.calls:
            start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            parts = ("", *halves(arguments(call)))
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            blocks.append((start, deltas))
        for index, (start, deltas) in enumerate(blocks):
            yield {"type": "content_block_start", "index": index, "content_block": start}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        reason = "tool_use" if reply.calls else "end_turn"
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 2}}
        yield {"type": "message_stop"}

    def read(self, body: Body) -> Reply:
        assert body["type"] == "message"
        assert body["content"]
        text = "".join(b["text"] for b in body["content"] if b["type"] == "text")
        used = [block for block in body["content"] if block["type"] == "tool_use"]
        assert body["stop_reason"] == ("tool_use" if used else "end_turn")
        calls = (ToolCall(name=b["name"], arguments=b["input"], id=b["id"]) for b in used)
        return Reply(text=text, calls=tuple(calls))

    def read_events(self, events: Sequence[Any]) -> Reply:
        assert events[0]["type"] == "message_start"
        assert events[-1] == {"type": "message_stop"}
        body = dict(events[0]["message"])
        blocks: list[Body] = []
        open_block: int | None = None
        for event in events[1:-1]:
            if event["type"] == "content_block_start":
                assert open_block is None
                assert event["index"] == len(blocks)
                open_block = event["index"]
                blocks.append({**event["content_block"], "json": ""})
            elif event["type"] == "content_block_delta":
                assert event["index"] == open_block
                delta = event["delta"]
                if delta["type"] == "text_delta":
                    blocks[-1]["text"] += delta["text"]
                else:
                    blocks[-1]["json"] += delta["partial_json"]
            elif event["type"] == "content_block_stop":
                assert event["index"] == open_block
                open_block = None
            elif event["type"] == "message_delta":
                body["stop_reason"] = event["delta"]["stop_reason"]
        for block in blocks:
            if block["type"] == "tool_use":
                block["input"] = json.loads(block["json"] or "{}")
        return self.read({**body, "content": blocks})

    def told(self, body: Body) -> str:
        return json.dumps(body["messages"], ensure_ascii=False)


class ResponsesWire:
    name = "responses"
    path = "/v1/responses"

    def request(self, messages: Sequence[Message], tools: Sequence[str], stream: bool) -> Body:
        return {
            "model": "m",
            "stream": stream,
            "instructions": "You lend books.",
            "tools": [{"type": "function", "name": tool, "parameters": {}} for tool in tools],
            "input": [item for message in messages for item in self._items(message)],
        }

    def _items(self, message: Message) -> list[Body]:
        match message:
            case UserMessage():
                return [{"role": "user", "content": message.text}]
            case ToolReturn():
                item = {"type": "function_call_output", "call_id": message.call_id}
                status = "incomplete" if message.lost else "completed"
                return [{**item, "output": message.content, "status": status}]
            case Reply():
                return self._output(message)

    def _output(self, reply: Reply) -> list[Body]:
        items: list[Body] = []
        if reply.text:
            part = {"type": "output_text", "text": reply.text, "annotations": []}
            items.append(
                {
                    "type": "message",
                    "id": "msg_1",
                    "status": "completed",
                    "role": "assistant",
                    "content": [part],
                }
            )
        return [*items, *map(self._call, reply.calls)]

    def _call(self, call: ToolCall) -> Body:
        return {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments(call),
        }

    def answer(self, reply: Reply, id: str) -> Body:
        return {
            "id": id,
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "m",
            "output": self._output(reply),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 5,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 2,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 7,
            },
        }

    def events(self, reply: Reply, id: str) -> list[bytes]:
        numbered = enumerate(self._data(reply, id))
        return [sse({**data, "sequence_number": n}, data["type"]) for n, data in numbered]

    def _data(self, reply: Reply, id: str) -> Iterator[Body]:
        started = {**self.answer(reply, id), "status": "in_progress", "output": []}
        yield {"type": "response.created", "response": started}
        yield {"type": "response.in_progress", "response": started}
        for index, item in enumerate(self._output(reply)):
            at = {"item_id": item["id"], "output_index": index}
            empty = {"content": []} if item["type"] == "message" else {"arguments": ""}
            added = {**item, **empty, "status": "in_progress"}
            yield {"type": "response.output_item.added", "output_index": index, "item": added}
            if item["type"] == "message":
                (part,) = item["content"]
                bare = {**part, "text": ""}
                part_at = {**at, "content_index": 0}
                yield {"type": "response.content_part.added", **part_at, "part": bare}
                for half in halves(part["text"]):
                    yield {"type": "response.output_text.delta", **part_at, "delta": half}
                yield {"type": "response.output_text.done", **part_at, "text": part["text"]}
                yield {"type": "response.content_part.done", **part_at, "part": part}
            else:
                kind = "response.function_call_arguments"
                for half in halves(item["arguments"]):
                    yield {"type": f"{kind}.delta", **at, "delta": half}
                yield {"type": f"{kind}.done", **at, "arguments": item["arguments"]}
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        yield {"type": "response.completed", "response": self.answer(reply, id)}

    def read(self, body: Body) -> Reply:
        assert body["status"] == "completed"
        assert body["output"]
        texts, calls = [], []
        for item in body["output"]:
            if item["type"] == "message":
                texts += [part["text"] for part in item["content"]]
            elif item["type"] == "function_call":
                calls.append(
                    ToolCall.parse(
                        name=item["name"], arguments=item["arguments"], id=item["call_id"]
                    )
                )
        return Reply(text="".join(texts), calls=tuple(calls))

    def read_events(self, events: Sequence[Any]) -> Reply:
        assert events[0]["type"] == "response.created"
        assert events[-1]["type"] == "response.completed"
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        final = events[-1]["response"]
        assert final["id"] == events[0]["response"]["id"]
        done = [e for e in events if e["type"] == "response.output_item.done"]
        assert [e["output_index"] for e in done] == list(range(len(done)))
        assert [e["item"] for e in done] == final["output"]
        self._check_deltas(events, final["output"])
        return self.read(final)

    def _check_deltas(self, events: Sequence[Any], output: Sequence[Body]) -> None:
        for index, item in enumerate(output):
            parts = [
                e["delta"]
                for e in events
                if e["type"].endswith(".delta") and e["output_index"] == index
            ]
            texts = item["content"] if item["type"] == "message" else ()
            whole = "".join(p["text"] for p in texts) or item.get("arguments", "")
            assert "".join(parts) == whole

    def told(self, body: Body) -> str:
        return json.dumps([body["input"], body.get("instructions")], ensure_ascii=False)


CHAT, MESSAGES, RESPONSES = ChatWire(), MessagesWire(), ResponsesWire()
WIRES: tuple[Wire, ...] = (CHAT, MESSAGES, RESPONSES)
