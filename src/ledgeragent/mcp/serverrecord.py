"""Server record: what is known of the server behind the proxy, whichever connection showed it."""

from __future__ import annotations

from dataclasses import dataclass

from ledgeragent.adapters.common import Policy
from ledgeragent.session.counters import ToolCounters


@dataclass(slots=True)
class ServerRecord:
    """The names that the server has `listed`, and `counters` of what became of its calls."""

    counters: ToolCounters
    listed: frozenset[str] = frozenset()

    @classmethod
    def under(cls, guard: Policy) -> ServerRecord:
        """The record of a server that has shown nothing yet."""
        return cls(ToolCounters(frozenset(tool.tool for tool in guard.gate().domain.tools)))
