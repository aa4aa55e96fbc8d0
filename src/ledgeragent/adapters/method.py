"""The method of an agent in a benchmark's harness, and the tail that it gives the prompt."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

from ledgeragent.domain import Domain
from ledgeragent.errors import UsageError
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.packs import PACKS, load_domain, versions
from ledgeragent.session.presenter import Presenter, RenderMode

_LED_TO = "Policy check of what was last proposed (a call it rejects did not run):"


PackOf: TypeAlias = Callable[[Collection[str]], Domain]
"""The pack for an agent with these tools."""


def pack_for(tools: Collection[str]) -> Domain:
    """The shipped pack that lists all these tools, bound to them; UsageError where none does."""
    for name in PACKS:
        for domain in versions(name).values():
            if all(domain.tool(tool) is not None for tool in tools):
                return domain.bind(tools)
    raise UsageError(f"no shipped pack lists all of these tools: {', '.join(sorted(tools))}")


def pack_named(name: str | None) -> PackOf:
    """The pack of this name, a file or `module:ATTRIBUTE`; without a name, the shipped one that fits."""
    return pack_for if name is None else partial(_named, name)


def _named(name: str, tools: Collection[str]) -> Domain:
    return load_domain(name, tools=tools)


def _judging(tools: Collection[str], pack: PackOf = pack_for) -> Gate:
    return Gate(domain=pack(tools), order="listed")


class GateMaker(Protocol):
    """The maker of an agent's gate, from the names of its tools and what finds their pack."""

    def __call__(self, tools: Collection[str], pack: PackOf = ...) -> Gate:
        """The gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How an agent differs from the harness's own.

    `gate` makes its gate from the names of its tools; `shows` tells if the ledger is in the prompt;
    `keeps_turn` is that of `LedgerAgent`.
    """

    gate: GateMaker = _judging
    shows: bool = True
    mode: RenderMode = "full"
    keeps_turn: bool = False

    def tail(self, presenter: Presenter, ledger: Ledger, feedback: str) -> str:
        """The text behind the history: the ledger, if shown and not empty, and the gate's answer."""
        parts = [presenter.tail(ledger)] if self.shows and len(ledger) else []
        return "\n\n".join([*parts, *([f"{_LED_TO}\n{feedback}"] if feedback else [])])
