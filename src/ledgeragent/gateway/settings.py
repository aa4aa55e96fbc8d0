"""How a gateway of one domain in front of one upstream runs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ledgeragent.errors import UsageError
from ledgeragent.gateway.values import DEFAULT_BOUND, MAX_VALUES, ValueBound
from ledgeragent.journal.recorder import Mode
from ledgeragent.session.toolnames import ToolNames
from ledgeragent.verdict import Decision

_KEY = re.compile("[!-~]+")

ANY = "*"
"""In a list of hosts or origins: all of them."""


MAX_LEDGER = 256 << 10
"""Bytes of records at the tail of a prompt: some 60,000 tokens."""


class ExchangeLimits(NamedTuple):
    """What one exchange may take: the values in a reply, revisions, the bytes of records in a prompt.

    A conversation that was refused the same `refusals` times in a row is not answered any more (0: always).
    """

    bound: ValueBound = DEFAULT_BOUND
    revisions: int = 1
    refusals: int = 0
    ledger: int = MAX_LEDGER


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a gateway runs. Sizes in bytes, times in seconds.

    `max_values` bounds the values of one JSON text, whoever sent it, `max_remembered` the histories
    that are kept, each counted with the size of its request.
    `keys` are the gateway's own API keys (none: whoever reaches the port may use it), and
    `upstream_key` is what goes upstream instead of the client's. `unknown` answers calls of tools
    that the domain does not list, `undecided` calls with a rule whose record no tool of the domain
    supplies. Which tools those are says whoever runs the gateway, never a request.

    `upstream` is "" where another program asks it. `upstream_base` is the path under which it has its
    API, where it is not what `upstream` tells. `hosts` are the names that a request may call the
    gateway by, `origins` the web pages that may use it. Raises UsageError for a key that no header
    can carry.
    """

    upstream: str
    upstream_base: str | None = None
    mode: Mode = "enforce"
    max_revisions: int = 1
    max_body: int = 8 << 20
    max_values: int = MAX_VALUES
    timeout: float = 600.0
    reply_timeout: float = 3_600.0
    body_timeout: float = 30.0
    max_concurrent: int = 1_000
    max_remembered: int = 256 << 20
    keys: frozenset[str] = frozenset()
    upstream_key: str | None = None
    metrics_key: str | None = None
    console_key: str | None = None
    hosts: frozenset[str] = frozenset({ANY})
    origins: frozenset[str] = frozenset()
    context_role: str = "auto"
    unknown: Decision = Decision.REVISE
    undecided: Decision = Decision.BLOCK
    tool_names: ToolNames = field(default_factory=ToolNames)
    max_refusals: int = 20
    max_ledger: int = MAX_LEDGER
    require_tools: bool = False
    require_session: bool = False

    @property
    def limits(self) -> ExchangeLimits:
        """What each exchange may take."""
        return ExchangeLimits(
            bound=ValueBound(self.max_values),
            revisions=self.max_revisions,
            refusals=self.max_refusals,
            ledger=self.max_ledger,
        )

    def __post_init__(self) -> None:
        own = {"keys": self.keys, "upstream_key": {self.upstream_key or "none"}}
        own["metrics_key"] = {self.metrics_key or "none"}
        own["console_key"] = {self.console_key or "none"}
        if "" in (self.upstream_key, self.metrics_key, self.console_key):
            raise UsageError("a key of the gateway is empty")
        for name, keys in own.items():
            for key in keys:
                if not key:
                    raise UsageError(
                        f"{name}: one of them is empty, so that no key would do as well"
                    )
                if not _KEY.fullmatch(key):
                    raise UsageError(f"{name}: a key should be printable ASCII without spaces")
