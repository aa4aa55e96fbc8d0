"""Messages of the protocol, and the few that the proxy writes itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from ledgeragent.types import Json

RPC: TypeAlias = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
McpResult: TypeAlias = dict[str, Any]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
CONNECTION_CLOSED = -32000
ELICITATION_REQUIRED = -32042
NOT_BEGUN = frozenset(
    {PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, ELICITATION_REQUIRED}
)
"""Errors of the protocol that say that a call was never begun. Any other may have come after it."""


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


def key_of(id: object) -> str:
    """A request's id as text. 1 and "1" are one id: servers answer either with the other."""
    return str(id)


def answer(message: JSONRPCRequest, result: McpResult) -> Step:
    """The step that answers a request of the client."""
    return Step(to_client=(JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result),))


def failure(message: JSONRPCRequest, code: int, text: str) -> Step:
    """The step that answers a request of the client with an error of the protocol."""
    return Step(to_client=(error_of(message.id, code, text),))


def error_of(id: Any, code: int, text: str, data: Any = None) -> JSONRPCError:
    """An error of the protocol; `id` is None where nobody knows which request it is about."""
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=text, data=data))


def text_result(text: str) -> McpResult:
    """The result of a tool that says this."""
    return {"content": [{"type": "text", "text": text}]}


def content_of(result: McpResult) -> Json:
    """The answer of a tool: its structured content, else its blocks of text. The core reads them."""
    structured = result.get("structuredContent")
    if structured is not None:
        return structured
    blocks = entries_of(result.get("content"))
    texts = [text for block in blocks if (text := _text_of(block)) is not None]
    return texts[0] if len(texts) == 1 else [{"type": "text", "text": t} for t in texts] or ""


def entries_of(listed: object) -> list[Mapping[str, Any]]:
    """The objects of a list; a server may send anything in place of either."""
    return [e for e in listed if isinstance(e, Mapping)] if isinstance(listed, list) else []


def _text_of(block: Mapping[str, Any]) -> str | None:
    """The text of a block, also of a resource that came with the answer."""
    resource = block.get("resource") if block.get("type") == "resource" else block
    text = resource.get("text") if isinstance(resource, Mapping) else None
    return text if isinstance(text, str) and block.get("type") in ("text", "resource") else None
