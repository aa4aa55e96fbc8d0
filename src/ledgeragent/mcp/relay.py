"""Relay: what the proxy does with each message of one connection. No I/O: messages in, messages out.

Only calls of tools, the listings that the ledger is added to, and reads of the ledger are touched, and
in mode "shadow" not even these. Everything else passes as it came: resources, prompts, progress,
cancellation, logging, completion, sampling, elicitation, and methods nobody has thought of yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from ledgeragent.adapters.common import Policy
from ledgeragent.mcp.calls import Calls
from ledgeragent.mcp.messages import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RPC,
    McpResult,
    Step,
    answer,
    error_of,
    failure,
    key_of,
    text_result,
)
from ledgeragent.mcp.offer import (
    SHOW_LEDGER,
    STATE_URI,
    LedgerOffer,
    names_on,
    only_resource,
    state_contents,
    with_resource,
)
from ledgeragent.mcp.serverrecord import ServerRecord
from ledgeragent.mcp.shared import SharedSession
from ledgeragent.session.conversation import Conversation

_UPDATED = JSONRPCNotification(
    jsonrpc="2.0", method="notifications/resources/updated", params={"uri": STATE_URI}
)


class Relay:
    """One connection. `version` is the protocol's, once it is agreed upon.

    `open` are the requests of the client that have no answer yet, by their keys.
    """

    def __init__(
        self,
        guard: Policy,
        session: SharedSession | None = None,
        prefix: str = "",
        record: ServerRecord | None = None,
    ) -> None:
        self.version: str | None = None
        self.session = session or SharedSession(guard.open())
        self.calls = Calls(guard, record or ServerRecord.under(guard), prefix)
        self.open: dict[str, JSONRPCRequest] = {}
        self._guard = guard
        self._edits: dict[str, Callable[[McpResult], McpResult]] = {}
        self._offer = LedgerOffer()
        self._subscribed = False

    @property
    def conversation(self) -> Conversation:
        """The conversation of the connection, for requests that name no other."""
        return self.session.conversation

    def names_session(self, message: RPC) -> bool:
        """True for a request that is about a conversation: a call of a tool, a read of the ledger."""
        if not isinstance(message, JSONRPCRequest):
            return False
        params = message.params or {}
        return message.method == "tools/call" or params.get("uri") == STATE_URI

    def from_client(self, message: RPC, session: SharedSession | None = None) -> Step:
        """The step that follows from a message of the client, in the session that it names."""
        if isinstance(message, JSONRPCRequest):
            return self._opened(message, session or self.session)
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            key = key_of((message.params or {}).get("requestId"))
            step = Step() if self.calls.cancel(key) else Step(to_server=(message,))
            return step + self.calls.released()
        return Step(to_server=(message,))

    def _opened(self, message: JSONRPCRequest, session: SharedSession) -> Step:
        key = key_of(message.id)
        if key in self.open and not self._guard.shadow:
            # Nobody could tell the two answers apart.
            text = f"the request id {message.id!r} is that of one still open; give each its own"
            return failure(message, INVALID_REQUEST, text)
        self.open[key] = message
        params = message.params or {}
        if self._guard.shadow:
            step = self._overheard(message, params, session)
        else:
            step = self._request(message, params, session)
        return self._closing(step)

    def _closing(self, step: Step) -> Step:
        """The step, whose answers close their requests."""
        for message in step.to_client:
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self.open.pop(key_of(message.id), None)
        return step

    def _request(
        self, message: JSONRPCRequest, params: Mapping[str, Any], session: SharedSession
    ) -> Step:
        is_state = params.get("uri") == STATE_URI
        match message.method:
            case "tools/call" if params.get("name") == SHOW_LEDGER and self._offer.own_tool:
                return answer(message, text_result(session.conversation.context()))
            case "tools/call" if not isinstance(params.get("name"), str):
                # Some servers take a list of one name for the name.
                return failure(message, INVALID_PARAMS, "the name of a tool should be a text")
            case "tools/call":
                return self.calls.take(message, params, session)
            case "resources/read" if is_state:
                return answer(message, state_contents(session.conversation.context()))
            case "resources/subscribe" | "resources/unsubscribe" if is_state:
                self._subscribed = message.method == "resources/subscribe"
                return answer(message, {})
            case "resources/list" if not self._offer.server_has_resources:
                return answer(message, only_resource())
            case "resources/templates/list" if not self._offer.server_has_resources:
                return answer(message, {"resourceTemplates": []})
            case "resources/list":
                self._edits[key_of(message.id)] = with_resource
            case "initialize":
                self._edits[key_of(message.id)] = self._initialized
            case _:
                return self._overheard(message, params, session)
        return Step(to_server=(message,))

    def _overheard(
        self, message: JSONRPCRequest, params: Mapping[str, Any], session: SharedSession
    ) -> Step:
        """The step from what is only listened to; all that is done where verdicts change nothing."""
        match message.method:
            case "tools/call":
                return self.calls.take(message, params, session)
            case "server/discover":
                # Without a handshake there would be no connection to keep a ledger for.
                return failure(message, METHOD_NOT_FOUND, "the proxy needs a handshake")
            case "initialize":
                self._edits[key_of(message.id)] = self._agreed
            case "tools/list":
                before = self._offer.before(params.get("cursor"))
                self._edits[key_of(message.id)] = partial(self._listed, before)
            case "tasks/result" | "tasks/get" | "tasks/cancel":
                self.calls.asks_for_task(message, params)
        return Step(to_server=(message,))

    def from_server(self, message: RPC) -> Step:
        """The step that follows from a message of the server."""
        before = self.conversation.ledger
        match message:
            case JSONRPCResponse():
                edit = self._edits.pop(key_of(message.id), None)
                self.calls.answered(message, self.session)
                message = _edited(message, edit) if edit is not None else message
            case JSONRPCError() if message.id is not None:
                self._edits.pop(key_of(message.id), None)
                self.calls.answered(message, self.session)
            case JSONRPCNotification():
                self.calls.noted(message, self.session)
        passed = Step(to_client=(message,))
        if self._subscribed and self.conversation.ledger is not before:
            passed += Step(to_client=(_UPDATED,))
        return self._closing(passed + self.calls.released())

    def released(self, session: SharedSession) -> Step:
        """The step for calls that waited for what another connection of their session has done."""
        return self._closing(self.calls.released(session))

    def hurried(self, key: str) -> Step:
        """The step for a call that has waited here long enough."""
        return self._closing(self.calls.hurried(key))

    def taken_back(self, message: JSONRPCRequest, problem: str) -> Step:
        """The step for a call that was judged, and will not go on after all."""
        self.calls.take_back(key_of(message.id))
        text = f"Error: this call was not executed: {problem}"
        return self._closing(answer(message, {**text_result(text), "isError": True}))

    def closed(self) -> Step:
        """The step when the server is gone: every open request fails, whatever its call did."""
        self.calls.lose()
        text = "the connection to the tool server was closed before it answered"
        open_requests, self.open = self.open, {}
        errors = (error_of(m.id, CONNECTION_CLOSED, text) for m in open_requests.values())
        return Step(to_client=tuple(errors))

    def _agreed(self, result: McpResult) -> McpResult:
        self.version = result.get("protocolVersion")
        return result

    def _initialized(self, result: McpResult) -> McpResult:
        return self._offer.capabilities(self._agreed(result))

    def _listed(self, before: frozenset[str] | None, result: McpResult) -> McpResult:
        page = names_on(result)
        names = before | page if before is not None else None
        if not self._offer.is_last(names, result):
            return result
        if names is not None:
            self.calls.take_listing(names)
            self.conversation.rebind(*self.calls.bound)
        return result if self._guard.shadow else self._offer.with_tool(names or page, result)


def _edited(message: JSONRPCResponse, edit: Callable[[McpResult], McpResult]) -> JSONRPCResponse:
    result = edit(message.result)
    if result is message.result:
        return message
    return JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result)
