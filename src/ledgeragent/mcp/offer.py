"""Offer: the ledger as the proxy adds it to what the server lists, as a tool and as a resource."""

from __future__ import annotations

from ledgeragent.mcp.messages import McpResult

STATE_URI = "ledger://state"
SHOW_LEDGER = "show_ledger"

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


class LedgerOffer:
    """What a server lists, and what is added: the tool unless the server has one of its name."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.own_tool = True
        self.server_has_resources = True

    def begin(self) -> None:
        """A listing of the tools begins anew."""
        self.names, self.own_tool = [], True

    def note(self, result: McpResult) -> bool:
        """Notes a page of tools; True if it was the last one."""
        self.names += [str(tool.get("name")) for tool in result.get("tools") or ()]
        return not result.get("nextCursor")

    def with_tool(self, result: McpResult) -> McpResult:
        """The last page of the tools, with the ledger's."""
        self.own_tool = SHOW_LEDGER not in self.names
        return {**result, "tools": [*result.get("tools", ()), _TOOL]} if self.own_tool else result

    def capabilities(self, result: McpResult) -> McpResult:
        """The answer to a handshake, which promises the ledger as well."""
        capabilities = dict(result.get("capabilities") or {})
        self.server_has_resources = "resources" in capabilities
        capabilities["resources"] = {**capabilities.get("resources", {}), "subscribe": True}
        capabilities.setdefault("tools", {})
        return {**result, "capabilities": capabilities}


def only_resource() -> McpResult:
    """The listing of a server that has no resources."""
    return {"resources": [_RESOURCE]}


def with_resource(result: McpResult) -> McpResult:
    """A page of the resources, with the ledger's on the last one."""
    if result.get("nextCursor"):
        return result
    return {**result, "resources": [*(result.get("resources") or ()), _RESOURCE]}


def state_contents(text: str) -> McpResult:
    """The answer to a read of the ledger's resource."""
    return {"contents": [{"uri": STATE_URI, "mimeType": "text/plain", "text": text}]}
