"""Blocks about clients and frameworks that were tried as people install them."""

from __future__ import annotations

from typing import Any

from tools.markdown import made_by, result, table

_FILE = "mcp_clients.json"
_TRANSPORTS = ("stdio", "http")


def mcp_clients() -> str:
    """A row for each client of the MCP proxy: what it is, its versions, what it needs, what came of it."""
    report = result(_FILE)
    rows = [
        (
            row["about"].removesuffix(".").replace("\n", " "),
            ", ".join(f"`{name}` {version}" for name, version in row.get("versions", {}).items()),
            "`--session-per`" if row["reconnects"] else "",
            *_verdicts(row),
        )
        for row in report.values()
    ]
    head = ("client", "versions", "needs", *_TRANSPORTS)
    return table(head, rows) + made_by(_FILE, "python -m benchmarks.frameworks --mcp")


def _verdicts(row: dict[str, Any]) -> list[str]:
    if "not_installed" in row:
        return [f"not installed: {row['not_installed']}", ""]
    return ["; ".join(_verdict(row[transport])) for transport in _TRANSPORTS]


def _verdict(scenes: dict[str, str]) -> list[str]:
    if set(scenes.values()) == {"ok"}:
        return ["ok"]
    return [f"{name}: {verdict}".replace("|", "/") for name, verdict in scenes.items()]
