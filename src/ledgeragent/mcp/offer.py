"""Offer: the ledger as the proxy adds it to what the server lists, as a tool and as a resource."""

from __future__ import annotations

from ledgeragent.mcp.messages import McpResult, entries_of

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


_MOST_PAGES = 64
"""How many pages of listings that were not read to their end are remembered."""


class LedgerOffer:
    """What a server lists, and what is added to that."""

    def __init__(self) -> None:
        self.own_tool = True
        self.server_has_resources = True
        self._pages: dict[str, frozenset[str]] = {}

    def before(self, cursor: object) -> frozenset[str] | None:
        """The names on the pages before the one that is asked for; None where nobody knows them."""
        if cursor is None:
            return frozenset()
        return self._pages.get(cursor) if isinstance(cursor, str) else None

    def is_last(self, names: frozenset[str] | None, result: McpResult) -> bool:
        """True for the last page of the tools; behind another the names so far are noted."""
        cursor = result.get("nextCursor")
        if isinstance(cursor, str) and names is not None:
            # Listings may be under way side by side, and each goes on from its own pages.
            self._pages[cursor] = names
            while len(self._pages) > _MOST_PAGES:
                del self._pages[next(iter(self._pages))]
        return not cursor

    def with_tool(self, names: frozenset[str], result: McpResult) -> McpResult:
        """The last page of the tools, with the ledger's unless the server has one of its name."""
        tools = result.get("tools") or []
        self.own_tool = SHOW_LEDGER not in names
        is_added = self.own_tool and isinstance(tools, list)
        return {**result, "tools": [*tools, _TOOL]} if is_added else result

    def capabilities(self, result: McpResult) -> McpResult:
        """The answer to a handshake, which promises the ledger as well."""
        capabilities = _object(result.get("capabilities"))
        self.server_has_resources = "resources" in capabilities
        capabilities["resources"] = {**_object(capabilities.get("resources")), "subscribe": True}
        capabilities.setdefault("tools", {})
        return {**result, "capabilities": capabilities}


def only_resource() -> McpResult:
    """The listing of a server that has no resources."""
    return {"resources": [_RESOURCE]}


def with_resource(result: McpResult) -> McpResult:
    """A page of the resources, with the ledger's on the last one."""
    listed = result.get("resources") or []
    if result.get("nextCursor") or not isinstance(listed, list):
        return result
    return {**result, "resources": [*listed, _RESOURCE]}


def names_on(page: McpResult) -> frozenset[str]:
    """The names of the tools on a page."""
    names = (tool.get("name") for tool in entries_of(page.get("tools")))
    return frozenset(name for name in names if isinstance(name, str))


def _object(value: object) -> McpResult:
    return dict(value) if isinstance(value, dict) else {}


def state_contents(text: str) -> McpResult:
    """The answer to a read of the ledger's resource."""
    return {"contents": [{"uri": STATE_URI, "mimeType": "text/plain", "text": text}]}
