"""Names of domains: a shipped pack, a YAML file or folder, or `module:ATTRIBUTE` of your own."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ledgeragent.compiler.digest import digest_of
from ledgeragent.compiler.problems import nearest
from ledgeragent.domain import Domain
from ledgeragent.errors import LedgerAgentError, UsageError

if TYPE_CHECKING:
    from ledgeragent.compiler.samples import Sample

PACKS: Mapping[str, str] = {
    "airline": "ledgeragent.packs.airline",
    "retail": "ledgeragent.packs.retail",
    "telecom": "ledgeragent.packs.telecom",
    "telehealth": "ledgeragent.packs.telehealth",
    "banking_knowledge": "ledgeragent.packs.banking_knowledge",
    "shop": "ledgeragent.demo.shop.pack",
}
"""The module of each pack, imported when it is asked for."""


def is_data(name: str) -> bool:
    """True if `name` is a pack written as data: a YAML file, or a folder of them."""
    return name.endswith((".yaml", ".yml")) or (name not in PACKS and Path(name).is_dir())


def versions(name: str) -> dict[str, Domain]:
    """Every version of a domain, the default one first, as it stands; a YAML pack has one.

    Raises UsageError for a name that is none, DataError for a YAML pack that makes no whole domain.
    """
    if is_data(name):
        from ledgeragent.compiler.loader import load_pack

        domain = load_pack(name)
        return {domain.version: domain}
    return dict(_shipped(name)) if name in PACKS else dict(_own(name))


def version_of(name: str, listed: Mapping[str, Domain], version: str | None) -> Domain:
    """One of the versions of a domain, the default one for None; raises UsageError if it is none."""
    if version is None:
        return next(iter(listed.values()))
    if version not in listed:
        raise UsageError(
            f"domain {name} has no version {version!r}; choose one of: {', '.join(listed)}"
        )
    return listed[version]


def samples(name: str) -> tuple[Sample, ...]:
    """The samples of a pack: those of a YAML pack, else those in `samples.json` beside the module."""
    if is_data(name):
        from ledgeragent.compiler.loader import read_outline

        return tuple(read_outline(name).samples)
    from ledgeragent.compiler.samples import samples_from_json

    return samples_from_json(Path(str(module_of(name).__file__)).with_name("samples.json"))


def module_of(name: str) -> ModuleType:
    """The module of a shipped pack, or of `module:ATTRIBUTE`; raises UsageError if there is none."""
    if name in PACKS:
        return import_module(PACKS[name])
    module, colon, _ = name.partition(":")
    if not colon:
        near = nearest(name, PACKS)
        meant = f"did you mean {near}? " if near is not None else ""
        choices = f"choose one of: {', '.join(PACKS)}, or a YAML file"
        raise UsageError(f"there is no domain {name!r}; {meant}{choices}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return import_module(module)
    except LedgerAgentError:
        raise  # it says itself what is wrong with the pack
    except (ImportError, ValueError) as error:
        raise UsageError(f"cannot load domain {name!r}: {error}") from None
    except Exception as error:  # whatever the author's own module does when it is imported
        problem = f"{type(error).__name__}: {error}"
        raise UsageError(f"cannot load domain {name!r}: {problem}") from None


def _own(name: str) -> Mapping[str, Domain]:
    module, attribute = module_of(name), name.partition(":")[2]
    try:
        value = getattr(module, attribute)
    except AttributeError as error:
        raise UsageError(f"cannot load domain {name!r}: {error}") from None
    listed = {value.version: value} if isinstance(value, Domain) else value
    whole = isinstance(listed, Mapping) and all(isinstance(d, Domain) for d in listed.values())
    if not whole or not listed:
        raise UsageError(f"{name!r} is neither a Domain nor a dict of them by version")
    return listed


@cache
def _shipped(name: str) -> Mapping[str, Domain]:
    module = module_of(name)
    digest = digest_of(Path(str(module.__file__)).parent)
    return {v: replace(domain, digest=digest) for v, domain in module.VERSIONS.items()}


def pack_listing(tools: Collection[str]) -> str | None:
    """The shipped pack that alone lists all these tools, in any of its versions; None for no tools."""
    fitting = [name for name in PACKS if tools and _tools(name).issuperset(tools)]
    return fitting[0] if len(fitting) == 1 else None


def _tools(name: str) -> set[str]:
    return {tool.tool for version in versions(name).values() for tool in version.tools}
