"""The domain packs: those that ship with LedgerAgent by name, YAML packs by file or folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from ledgeragent.compiler.digest import digest_of
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


def is_data(name: str) -> bool:
    """True if `name` is a pack written as data: a YAML file, or a folder of them."""
    return name.endswith((".yaml", ".yml")) or (name not in PACKS and Path(name).is_dir())


def versions(name: str) -> dict[str, Domain]:
    """Every version of a pack, the default one first; a YAML pack has one."""
    if is_data(name):
        domain = import_module("ledgeragent.compiler.loader").load_pack(name)
        return {domain.version: replace(domain, digest=digest_of(Path(name)))}
    if name not in PACKS:
        known = f"choose one of: {', '.join(PACKS)}, or a YAML file"
        raise UsageError(f"there is no domain {name!r}; {known}")
    return dict(_shipped(name))


@cache
def _shipped(name: str) -> Mapping[str, Domain]:
    module = import_module(PACKS[name])
    digest = digest_of(Path(str(module.__file__)).parent)
    return {v: replace(domain, digest=digest) for v, domain in module.VERSIONS.items()}


def load_domain(
    name: str, version: str | None = None, tools: Collection[str] | None = None
) -> Domain:
    """A shipped domain, or the YAML pack in a file or folder; its newest version unless told.

    `tools` are the names of the tools the agent has in this run: no rule then asks for others.
    """
    found = versions(name)
    if version is not None and version not in found:
        raise UsageError(
            f"domain {name} has no version {version!r}; choose one of: {', '.join(found)}"
        )
    domain = found[version] if version is not None else next(iter(found.values()))
    return domain.bind(tools) if tools is not None else domain
