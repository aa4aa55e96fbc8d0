"""Exchanges over HTTP in the stateless form: one request, one answer, and no connection of the client.

The server has a connection of its own for each session, which is kept while the session is in use.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import anyio
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from starlette.requests import Request
from starlette.responses import Response

from ledgeragent.mcp.logwords import reason_of
from ledgeragent.mcp.messages import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    RPC,
    error_of,
)
from ledgeragent.mcp.pump import Pump
from ledgeragent.mcp.sessions import Sessions, UnnamedSessionError
from ledgeragent.mcp.shared import SharedSession
from ledgeragent.mcp.transports import McpServer

log = logging.getLogger(__name__)

IDLE_SECONDS = 600.0
PING_SECONDS = 15.0
HEADER_MISMATCH = -32020

_STREAM = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache, no-transform")]
_HINT = (
    "requests in the stateless form belong to no session here, so no write sees what was read before "
    "it; say what a session is with --session-per"
)


class ServerLink:
    """A connection to the server that exchanges share, each under an id of its own."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self._ids = count(1)
        self._exchanges: dict[Any, Any] = {}
        self._to_pump, self.from_exchanges = anyio.create_memory_object_stream[SessionMessage](0)
        self.to_exchanges, self._from_pump = anyio.create_memory_object_stream[SessionMessage](0)

    async def distribute(self) -> None:
        """Hands each message to the exchange that it belongs to, until there are no more."""
        async with self._from_pump:
            async for item in self._from_pump:
                self._hand_out(item)
        for exchange in self._exchanges.values():
            exchange.close()

    def _hand_out(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            key = message.id
        else:
            key = getattr(item.metadata, "related_request_id", None)
        if key in self._exchanges:
            self._exchanges[key].send_nowait(message)

    @asynccontextmanager
    async def exchange(self, message: JSONRPCRequest) -> AsyncIterator[Any]:
        """The stream of messages that belong to a request. Leaving early gives the request up."""
        number = next(self._ids)
        out, stream = anyio.create_memory_object_stream[RPC](math.inf)
        self._exchanges[number] = out
        self.scope.deadline = math.inf
        try:
            await self._send(message.model_copy(update={"id": number}))
            yield stream
        except BaseException:
            with anyio.move_on_after(1, shield=True):
                await self._send(_cancellation(number))
            raise
        finally:
            del self._exchanges[number]
            out.close()
            stream.close()
            if not self._exchanges:
                self.scope.deadline = anyio.current_time() + IDLE_SECONDS

    async def _send(self, message: RPC) -> None:
        await self._to_pump.send(SessionMessage(message))

    def close(self) -> None:
        """Lets the server go."""
        for stream in (self._to_pump, self.from_exchanges, self.to_exchanges):
            stream.close()


def _cancellation(number: int) -> JSONRPCNotification:
    return JSONRPCNotification(
        jsonrpc="2.0", method="notifications/cancelled", params={"requestId": number}
    )


class StatelessEndpoint:
    """Answers requests that come with no connection, in the session that they name."""

    def __init__(
        self, sessions: Sessions, upstream: McpServer, security: TransportSecuritySettings
    ) -> None:
        self.group: anyio.abc.TaskGroup | None = None
        self._sessions = sessions
        self._upstream = upstream
        self._security = TransportSecurityMiddleware(security)
        self._links: dict[str, ServerLink] = {}
        self._hinted = False

    async def handle(self, headers: Mapping[str, str], scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        request = Request(scope, receive)
        refusal = await self._security.validate_request(request, is_post=request.method == "POST")
        if refusal is None and request.method != "POST":
            refusal = Response(status_code=405, headers={"allow": "POST"})
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        message = _parsed(await request.body(), request)
        if isinstance(message, JSONRPCError):
            await _respond(message, message.id, scope, receive, send)
        elif isinstance(message, JSONRPCNotification):
            await Response(status_code=202)(scope, receive, send)
        else:
            await self._answer(message, headers, scope, receive, send)

    async def _answer(
        self,
        message: JSONRPCRequest,
        headers: Mapping[str, str],
        scope: Any,
        receive: Any,
        send: Any,
    ) -> None:
        alone = not self._sessions.outlive_connections
        try:
            link = await self._link(headers, alone=alone)
        except UnnamedSessionError as problem:
            error = error_of(message.id, INVALID_PARAMS, str(problem))
            await _respond(error, message.id, scope, receive, send)
            return
        except Exception as problem:
            log.error("the server cannot be reached: %s", reason_of(problem))
            error = error_of(message.id, CONNECTION_CLOSED, "the tool server cannot be reached")
            await _respond(error, message.id, scope, receive, send, status=502)
            return
        try:
            await _exchange(link, message, scope, receive, send)
        finally:
            if alone:
                link.close()

    async def _link(self, headers: Mapping[str, str], *, alone: bool) -> ServerLink:
        """The connection to the server of the session that the headers name; a new one if alone."""
        session, key = self._sessions.of_connection(headers), self._sessions.key_of(headers)
        if alone and not self._hinted:
            self._hinted = True
            log.warning(_HINT)
        if not alone and key in self._links:
            return self._links[key]
        assert self.group is not None
        link = ServerLink()
        if not alone:
            self._links[key] = link
        try:
            await self.group.start(self._serve, link, session)
        except BaseException:
            self._forget(link)
            raise
        return link

    async def _serve(
        self,
        link: ServerLink,
        session: SharedSession | None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            async with self._upstream() as server, anyio.create_task_group() as group:
                group.start_soon(link.distribute)
                task_status.started()
                client = (link.from_exchanges, link.to_exchanges)
                with link.scope:
                    await Pump(self._sessions, session, client, server).run()
                self._forget(link)
                link.close()
        finally:
            self._forget(link)
            link.close()

    def _forget(self, link: ServerLink) -> None:
        for key in [key for key, other in self._links.items() if other is link]:
            del self._links[key]


def _parsed(body: bytes, request: Request) -> JSONRPCRequest | JSONRPCNotification | JSONRPCError:
    """The message of a request, or what is wrong with it."""
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError):
        return error_of(None, PARSE_ERROR, "Parse error")
    try:
        if isinstance(decoded, dict) and "id" not in decoded:
            return JSONRPCNotification.model_validate(decoded)
        message = JSONRPCRequest.model_validate(decoded)
    except ValueError:
        return error_of(None, INVALID_REQUEST, "the body should be one request or notification")
    duplicate = find_duplicated_routing_header(request.headers.items())
    if duplicate is not None:
        return error_of(message.id, HEADER_MISMATCH, f"{duplicate} header appears more than once")
    route = classify_inbound_request(decoded, headers=dict(request.headers))
    if isinstance(route, InboundLadderRejection):
        return error_of(message.id, route.code, route.message, route.data)
    return message


async def _exchange(
    link: ServerLink, message: JSONRPCRequest, scope: Any, receive: Any, send: Any
) -> None:
    """The answer as it comes: alone as JSON, or as the last event of a stream."""

    async def watch(cancel: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        cancel.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch, group.cancel_scope)
        async with link.exchange(message) as stream:
            first = await _next(stream)
            if isinstance(first, JSONRPCResponse | JSONRPCError):
                await _respond(first, message.id, scope, receive, send)
            else:
                await _stream(first, stream, message.id, send)
        group.cancel_scope.cancel()


async def _next(stream: Any) -> RPC | None:
    """The next message; None if none has come for a while."""
    with anyio.move_on_after(PING_SECONDS):
        try:
            message: RPC = await stream.receive()
            return message
        except anyio.EndOfStream:
            return error_of(None, CONNECTION_CLOSED, "the connection to the tool server was closed")
    return None


async def _stream(first: RPC | None, stream: Any, id: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _STREAM})
    message, more = first, True
    while more:
        more = not isinstance(message, JSONRPCResponse | JSONRPCError)
        event = b": ping\r\n\r\n" if message is None else _event(message, id)
        await send({"type": "http.response.body", "body": event, "more_body": more})
        message = await _next(stream) if more else None


def _event(message: RPC, id: Any) -> bytes:
    return b"event: message\r\ndata: " + _body(message, id) + b"\r\n\r\n"


def _body(message: RPC, id: Any) -> bytes:
    body = message.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(message, JSONRPCResponse | JSONRPCError):
        body["id"] = id
    return json.dumps(body, separators=(",", ":")).encode()


async def _respond(
    message: RPC, id: Any, scope: Any, receive: Any, send: Any, *, status: int = 0
) -> None:
    code = message.error.code if isinstance(message, JSONRPCError) else None
    status = status or ERROR_CODE_HTTP_STATUS.get(code or 0, 200)
    response = Response(_body(message, id), status_code=status, media_type="application/json")
    await response(scope, receive, send)
