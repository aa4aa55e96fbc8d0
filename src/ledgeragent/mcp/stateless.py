"""The stateless form of the protocol (2026-07-28): requests that carry their own envelope.

The server is spoken to with a handshake, which the proxy makes itself, so servers of either form do.
No I/O: messages in, messages out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from ledgeragent.mcp.messages import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RPC,
    McpResult,
    error_of,
    key_of,
)

_ENVELOPE = "io.modelcontextprotocol/"
VERSION_KEY = f"{_ENVELOPE}protocolVersion"
CAPABILITIES_KEY = f"{_ENVELOPE}clientCapabilities"
LOG_LEVEL_KEY = f"{_ENVELOPE}logLevel"
UNSUPPORTED_VERSION = -32022

_HANDSHAKE = "ledgeragent/handshake"
_INITIALIZED = JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")
_CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outflow:
    """What follows from a message: requests for the relay, and messages for the client."""

    to_relay: tuple[RPC, ...] = ()
    to_client: tuple[RPC, ...] = ()


class Stateless:
    """What one connection has of the stateless form: nothing, as long as nobody speaks it.

    `discoverable` says that the form is offered; otherwise those who know both are told to shake
    hands.
    """

    def __init__(self, *, discoverable: bool) -> None:
        self._discoverable = discoverable
        self._open: dict[str, JSONRPCRequest] = {}
        self._waiting: list[JSONRPCRequest] = []
        self._begun = False
        self._server: McpResult | None = None

    def from_client(self, message: RPC) -> Outflow:
        """What follows from a message of the client."""
        meta = _envelope(message)
        if meta is None or not isinstance(message, JSONRPCRequest):
            return Outflow(to_relay=(message,))
        if (error := _refusal(message, meta)) is not None:
            return Outflow(to_client=(error,))
        if message.method == "server/discover" and not self._discoverable:
            return Outflow(to_relay=(message,))
        if self._server is not None:
            return self._passed(message)
        self._waiting.append(message)
        if self._begun:
            return Outflow()
        self._begun = True
        return Outflow(to_relay=(_handshake(),))

    def _passed(self, message: JSONRPCRequest) -> Outflow:
        """What follows from a request, now that the server knows the proxy."""
        if message.method == "server/discover":
            assert self._server is not None
            response = JSONRPCResponse(
                jsonrpc="2.0", id=message.id, result=_discovered(self._server)
            )
            return Outflow(to_client=(response,))
        self._open[key_of(message.id)] = message
        return Outflow(to_relay=(_without_envelope(message),))

    def from_relay(self, message: RPC) -> Outflow:
        """What follows from a message that the relay has for the client."""
        match message:
            case JSONRPCResponse() | JSONRPCError() if message.id == _HANDSHAKE:
                return self._shaken(message)
            case JSONRPCResponse() if key_of(message.id) in self._open:
                request = self._open.pop(key_of(message.id))
                result = _completed(request.method, message.result)
                return Outflow(
                    to_client=(JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result),)
                )
            case JSONRPCError():
                self._open.pop(key_of(message.id), None)
            case JSONRPCRequest() if self._begun:
                return Outflow(to_relay=(_declined(message),))
            case JSONRPCNotification(method="notifications/message") if self._begun:
                return Outflow(to_client=(message,) if self._wants_log else ())
        return Outflow(to_client=(message,))

    @property
    def _wants_log(self) -> bool:
        return any(LOG_LEVEL_KEY in (_envelope(message) or ()) for message in self._open.values())

    def _shaken(self, message: JSONRPCResponse | JSONRPCError) -> Outflow:
        """What follows from the server's answer to the handshake: those who waited go on, or fail."""
        waiting, self._waiting = self._waiting, []
        if isinstance(message, JSONRPCError):
            self._begun = False
            text = f"the tool server was asked for a handshake: {message.error.message}"
            errors = (error_of(request.id, message.error.code, text) for request in waiting)
            return Outflow(to_client=tuple(errors))
        self._server = message.result
        passages = [self._passed(request) for request in waiting]
        return Outflow(
            to_relay=(_INITIALIZED, *(m for passage in passages for m in passage.to_relay)),
            to_client=tuple(m for passage in passages for m in passage.to_client),
        )


def _envelope(message: RPC) -> Mapping[str, Any] | None:
    """The envelope of a request in the stateless form; None for one in the other form."""
    params = message.params if isinstance(message, JSONRPCRequest) else None
    meta = (params or {}).get("_meta")
    return meta if isinstance(meta, Mapping) and VERSION_KEY in meta else None


def _refusal(message: JSONRPCRequest, meta: Mapping[str, Any]) -> JSONRPCError | None:
    version = meta[VERSION_KEY]
    if CAPABILITIES_KEY not in meta or not isinstance(version, str):
        text = f"params._meta: should hold {VERSION_KEY} (text) and {CAPABILITIES_KEY}"
        return error_of(message.id, INVALID_PARAMS, text)
    if version in MODERN_PROTOCOL_VERSIONS:
        return None
    data = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": version}
    return error_of(message.id, UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def _handshake() -> JSONRPCRequest:
    """The proxy's own handshake. It takes no questions: nobody could be asked them."""
    params = {
        "protocolVersion": LATEST_HANDSHAKE_VERSION,
        "capabilities": {},
        "clientInfo": {"name": "ledgeragent", "version": "1"},
    }
    return JSONRPCRequest(jsonrpc="2.0", id=_HANDSHAKE, method="initialize", params=params)


def _without_envelope(message: JSONRPCRequest) -> JSONRPCRequest:
    params = dict(message.params or {})
    params["_meta"] = {k: v for k, v in params["_meta"].items() if not k.startswith(_ENVELOPE)}
    return JSONRPCRequest(jsonrpc="2.0", id=message.id, method=message.method, params=params)


def _completed(method: str, result: McpResult) -> McpResult:
    """A result with what the stateless form demands of it. Nothing may be cached."""
    hints = {"ttlMs": 0, "cacheScope": "private"} if method in _CACHEABLE else {}
    return {"resultType": "complete", **hints, **result}


def _discovered(server: McpResult) -> McpResult:
    """The answer to a discovery, from the server's answer to the handshake."""
    names = ("capabilities", "instructions", "_meta")
    result = {name: server[name] for name in names if name in server}
    if "serverInfo" in server:
        meta = {**result.get("_meta", {}), f"{_ENVELOPE}serverInfo": server["serverInfo"]}
        result["_meta"] = meta
    versions = list(MODERN_PROTOCOL_VERSIONS)
    return _completed("server/discover", {**result, "supportedVersions": versions})


def _declined(message: JSONRPCRequest) -> RPC:
    """The answer to a question of the server, which no client of this form can be asked."""
    if message.method == "ping":
        return JSONRPCResponse(jsonrpc="2.0", id=message.id, result={})
    return error_of(message.id, METHOD_NOT_FOUND, "the client takes no requests")
