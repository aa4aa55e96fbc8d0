"""Relay: what the proxy does with each message of one connection. No I/O: messages in, messages out.

Only calls of tools, the listings that the ledger is added to, and reads of the ledger are touched, and
in mode "shadow" not even these. Everything else passes as it came: resources, prompts, progress,
cancellation, logging, completion, sampling, elicitation, and methods nobody has thought of yet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ledgeragent.adapters.common import Policy, require
from ledgeragent.session.ticket import Ticket, refusal
from ledgeragent.types import Json, ToolCall

require("mcp", "2.3", "mcp")

from mcp_types import (  # noqa: E402
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

RPC: TypeAlias = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
McpResult: TypeAlias = dict[str, Any]

STATE_URI = "ledger://state"
SHOW_LEDGER = "show_ledger"
METHOD_NOT_FOUND = -32601
INVALID_REQUEST = -32600
NOT_BEGUN = frozenset({-32700, INVALID_REQUEST, METHOD_NOT_FOUND, -32602})
"""Errors of the protocol that say that a call was never begun. Any other may have come after it."""

_ABOUT = (
    "Records observed through the tools so far, latest value per path, with what is out of date."
)
_TOOL: McpResult = {
    "name": SHOW_LEDGER,
    "title": "Show the ledger",
    "description": _ABOUT,
    "inputSchema": {"type": "object", "properties": {}},
    "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
}
_RESOURCE: McpResult = {
    "uri": STATE_URI,
    "name": "ledger",
    "description": _ABOUT,
    "mimeType": "text/plain",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The messages that follow from one: those for the server, and those for the client."""

    to_server: tuple[RPC, ...] = ()
    to_client: tuple[RPC, ...] = ()

    def __add__(self, other: Step) -> Step:
        """Both, in this order."""
        return Step(
            to_server=(*self.to_server, *other.to_server),
            to_client=(*self.to_client, *other.to_client),
        )


class Relay:
    """One connection, and so one session. `version` is the protocol's, once it is agreed upon."""

    def __init__(self, guard: Policy) -> None:
        self.version: str | None = None
        self.conversation = guard.open()
        self._guard = guard
        self._waiting: dict[str, Callable[[McpResult], McpResult]] = {}
        self._tickets: dict[str, Ticket] = {}
        self._held: dict[str, tuple[JSONRPCRequest, Ticket]] = {}
        self._names: list[str] = []
        self._own_tool = True
        self._resources = True
        self._subscribed = False

    def from_client(self, message: RPC) -> Step:
        """The step that follows from a message of the client."""
        if isinstance(message, JSONRPCRequest):
            return self._request(message)
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            return self._cancelled(message, _key((message.params or {}).get("requestId")))
        return Step(to_server=(message,))

    def _cancelled(self, message: JSONRPCNotification, key: str) -> Step:
        """The step where the client gives up a request; one that waits here the server never saw."""
        if key in self._held:
            _, ticket = self._held.pop(key)
            self.conversation.interrupted(ticket)
            return self._released()
        if key in self._tickets:
            self.conversation.interrupted(self._tickets[key])
        return Step(to_server=(message,)) + self._released()

    def closed(self) -> None:
        """Notes that the connection is gone: no open call will be answered."""
        self.conversation.settle()

    def _request(self, message: JSONRPCRequest) -> Step:
        params = message.params or {}
        if self._guard.shadow:
            return self._overheard(message, params)
        match message.method:
            case "tools/call" if _key(message.id) in self._held.keys() | self._tickets.keys():
                return _repeated(message)
            case "tools/call" if params.get("name") == SHOW_LEDGER and self._own_tool:
                return _answer(message, _said(self.conversation.context()))
            case "tools/call":
                return self._call(message, params)
            case "resources/read" if params.get("uri") == STATE_URI:
                text = self.conversation.context()
                block = {"uri": STATE_URI, "mimeType": "text/plain", "text": text}
                return _answer(message, {"contents": [block]})
            case "resources/subscribe" | "resources/unsubscribe" if params.get("uri") == STATE_URI:
                self._subscribed = message.method == "resources/subscribe"
                return _answer(message, {})
            case "resources/list" if not self._resources:
                return _answer(message, {"resources": [_RESOURCE]})
            case "resources/templates/list" if not self._resources:
                return _answer(message, {"resourceTemplates": []})
            case "server/discover":
                return _handshake(message)
            case "initialize":
                self._waiting[_key(message.id)] = self._initialized
            case "tools/list":
                if not params.get("cursor"):
                    self._own_tool = True
                self._list(message, params)
            case "resources/list":
                self._waiting[_key(message.id)] = _with_resource
        return Step(to_server=(message,))

    def _overheard(self, message: JSONRPCRequest, params: Mapping[str, Any]) -> Step:
        """The step where verdicts change nothing: the message goes on, and is listened to."""
        match message.method:
            case "tools/call":
                return self._call(message, params)
            case "server/discover":
                return _handshake(message)
            case "initialize":
                self._waiting[_key(message.id)] = self._agreed
            case "tools/list":
                self._list(message, params)
        return Step(to_server=(message,))

    def _list(self, message: JSONRPCRequest, params: Mapping[str, Any]) -> None:
        if not params.get("cursor"):
            self._names = []
        self._waiting[_key(message.id)] = self._listed

    def _call(self, message: JSONRPCRequest, params: Mapping[str, Any]) -> Step:
        call = ToolCall.parse(
            name=str(params.get("name")), arguments=params.get("arguments"), id=_key(message.id)
        )
        self.conversation.judge_also(call)
        ticket = self.conversation.claim(call)
        if not self.conversation.ready(ticket):
            self._held[call.id] = message, ticket
            return Step()
        return self._decided(message, ticket)

    def _decided(self, message: JSONRPCRequest, ticket: Ticket) -> Step:
        """The step from a verdict that stands: the call goes on, or is answered here."""
        if not ticket.allowed:
            return _answer(message, {**_said(refusal(ticket.verdict)), "isError": True})
        self._tickets[ticket.call.id] = ticket
        return Step(to_server=(message,))

    def _released(self) -> Step:
        """The step for calls that waited for one that has just ended."""
        step = Step()
        for key, (message, ticket) in tuple(self._held.items()):
            if self.conversation.ready(ticket):
                del self._held[key]
                step += self._decided(message, ticket)
        return step

    def from_server(self, message: RPC) -> Step:
        """The step that follows from a message of the server."""
        if isinstance(message, JSONRPCResponse):
            key = _key(message.id)
            edit = self._waiting.pop(key, None)
            if edit is not None:
                result = edit(message.result)
                if result is not message.result:
                    message = JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result)
            result = message.result
            return self._observed(key, message, content_of(result), bool(result.get("isError")))
        if isinstance(message, JSONRPCError) and message.id is not None:
            self._waiting.pop(_key(message.id), None)
            lost = message.error.code not in NOT_BEGUN
            return self._observed(_key(message.id), message, message.error.message, True, lost=lost)
        return Step(to_client=(message,))

    def _observed(
        self, key: str, message: RPC, content: object, error: bool, *, lost: bool = False
    ) -> Step:
        passed = Step(to_client=(message,))
        ticket = self._tickets.pop(key, None)
        if ticket is None:
            return passed
        before = self.conversation.ledger
        self.conversation.observe(ticket, content, error=error, lost=lost)
        if self._subscribed and self.conversation.ledger is not before:
            updated = JSONRPCNotification(
                jsonrpc="2.0", method="notifications/resources/updated", params={"uri": STATE_URI}
            )
            passed += Step(to_client=(updated,))
        return passed + self._released()

    def _agreed(self, result: McpResult) -> McpResult:
        self.version = result.get("protocolVersion")
        return result

    def _initialized(self, result: McpResult) -> McpResult:
        self._agreed(result)
        capabilities = dict(result.get("capabilities") or {})
        self._resources = "resources" in capabilities
        capabilities["resources"] = {**capabilities.get("resources", {}), "subscribe": True}
        capabilities.setdefault("tools", {})
        return {**result, "capabilities": capabilities}

    def _listed(self, result: McpResult) -> McpResult:
        tools = list(result.get("tools") or ())
        self._names += [str(tool.get("name")) for tool in tools]
        if result.get("nextCursor"):
            return result
        self.conversation.rebind(self._guard.gate(self._names))
        if self._guard.shadow:
            return result
        self._own_tool = SHOW_LEDGER not in self._names
        return {**result, "tools": [*tools, _TOOL]} if self._own_tool else result


def _key(id: object) -> str:
    """A request's id as text; 1 and "1" are different requests."""
    return json.dumps(id)


def _handshake(message: JSONRPCRequest) -> Step:
    """Without a handshake there is no connection, and so no session to keep a ledger in."""
    error = ErrorData(code=METHOD_NOT_FOUND, message="the proxy needs a handshake")
    return Step(to_client=(JSONRPCError(jsonrpc="2.0", id=message.id, error=error),))


def _repeated(message: JSONRPCRequest) -> Step:
    """The step for a call under the id of one still open: nobody could tell their answers apart."""
    text = f"the request id {message.id!r} is that of a call still open; give each request its own"
    error = ErrorData(code=INVALID_REQUEST, message=text)
    return Step(to_client=(JSONRPCError(jsonrpc="2.0", id=message.id, error=error),))


def _answer(message: JSONRPCRequest, result: McpResult) -> Step:
    return Step(to_client=(JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result),))


def _said(text: str) -> McpResult:
    return {"content": [{"type": "text", "text": text}]}


def _with_resource(result: McpResult) -> McpResult:
    if result.get("nextCursor"):
        return result
    return {**result, "resources": [*(result.get("resources") or ()), _RESOURCE]}


def content_of(result: McpResult) -> Json:
    """The answer of a tool: its structured content, else its blocks of text. The core reads them."""
    structured = result.get("structuredContent")
    if structured is not None:
        return structured
    blocks = [block for block in result.get("content") or () if block.get("type") == "text"]
    return blocks[0].get("text", "") if len(blocks) == 1 else blocks or ""
