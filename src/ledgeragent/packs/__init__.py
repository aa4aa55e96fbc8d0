"""The domain packs that ship with LedgerAgent, found by name and version."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module

from ledgeragent.domain import Domain
from ledgeragent.errors import UsageError

PACKS: Mapping[str, str] = {
    "airline": "ledgeragent.packs.airline",
    "retail": "ledgeragent.packs.retail",
    "telecom": "ledgeragent.packs.telecom",
    "telehealth": "ledgeragent.packs.telehealth",
    "shop": "ledgeragent.demo.shop.pack",
}
"""The module of each pack, imported when it is asked for."""


def versions(name: str) -> dict[str, Domain]:
    """Every version of a pack, the default one first."""
    if name not in PACKS:
        raise UsageError(f"there is no domain {name!r}; choose one of: {', '.join(PACKS)}")
    found: dict[str, Domain] = import_module(PACKS[name]).VERSIONS
    return found


def load_domain(
    name: str, version: str | None = None, tools: Collection[str] | None = None
) -> Domain:
    """A shipped domain; its newest version unless `version` names another.

    `tools` are the names of the tools the agent has in this run: no rule then asks for others.
    """
    found = versions(name)
    if version is not None and version not in found:
        raise UsageError(
            f"domain {name} has no version {version!r}; choose one of: {', '.join(found)}"
        )
    domain = found[version] if version is not None else next(iter(found.values()))
    return domain.bind(tools) if tools is not None else domain
