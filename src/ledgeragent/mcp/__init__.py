"""The MCP proxy: stands between a host and a tool server, judges every call and passes all else on."""

from ledgeragent.adapters.common import require

require("mcp", "2.1", "mcp")
