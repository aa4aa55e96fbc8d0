"""Blocks about clients and frameworks that were tried as people install them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.markdown import made_by, result, table

_FILE = "mcp_clients.json"
_FRAMEWORKS = "frameworks.json"
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


def frameworks() -> str:
    """A row for each agent at the gateway: its versions, formats, what it needs, what came of it."""
    report = result(_FRAMEWORKS)
    head = ("framework", "versions", "format", "tools return text", "tools return dicts")
    rows = [row for each in report["frameworks"].values() for row in _rows(each)]
    return table(head, rows) + made_by(_FRAMEWORKS, report["command"])


def _rows(framework: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """A row for each format of a framework."""
    about = framework["about"].removesuffix(".")
    if "not_installed" in framework:
        why = framework["not_installed"].replace("|", "/")
        yield about, "", "", f"not installed: {why}", ""
        return
    versions = ", ".join(f"`{name}` {version}" for name, version in framework["versions"].items())
    wires = dict.fromkeys(name.split()[0] for name in framework["cells"])
    for wire in wires:
        cells = {
            n.removeprefix(wire): c for n, c in framework["cells"].items() if n.startswith(wire)
        }
        kinds = (_kind(cells, kind) for kind in (" text ", " dict "))
        yield about, versions, wire, *kinds


def _kind(cells: dict[str, dict[str, Any]], kind: str) -> str:
    """What came of the cells of one kind of tools: `ok`, or each that was not, and why."""
    chosen = {n.removeprefix(kind): c for n, c in cells.items() if n.startswith(kind)}
    ways = " and ".join(dict.fromkeys(name.split()[0] for name in chosen))
    reasons: dict[str, list[str]] = {}
    for name, cell in chosen.items():
        reasons.setdefault(_reason(cell), []).append(name)
    if list(reasons) == ["ok"]:
        return f"ok ({ways})"
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in reasons.items()) or "-"


def _reason(cell: dict[str, Any]) -> str:
    """The verdict on a cell; if it is not `ok`, with the counters that tell it and what happened."""
    if cell["verdict"] == "ok":
        return "ok"
    counters = dict.fromkeys(name.partition("{")[0] for name in cell.get("counted", ()))
    counted = f" ({', '.join(f'`{name}`' for name in counters)})" if counters else ""
    return f"{cell['verdict']}{counted}: {cell['why']}".replace("|", "/")
