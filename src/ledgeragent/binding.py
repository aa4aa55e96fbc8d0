"""Which domain judges a recorded run: the pack, the version of its policy, the tools the agent had."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module

from ledgeragent import packs
from ledgeragent.domain import Domain
from ledgeragent.errors import UsageError
from ledgeragent.traces import Trace

# Which versions of a policy serve a benchmark, the best first; else the default version does.
_LINEAGE = {"tau2": ("tau2",), "tau": ("tau",), "tau_trait": ("tau_trait", "tau")}

# One name, two environments: this benchmark's tools and records have nothing in common with the pack's.
_FOREIGN = frozenset({("tau_trait", "telecom")})


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A domain by name, so that it can be handed to another process.

    `name` is what `packs.versions` knows, or `module:ATTRIBUTE` of a `Domain` (or a dict of them by version) of your own.
    `version` and `tools` overrule what a run records about itself.
    """

    name: str
    version: str | None = None
    tools: frozenset[str] | None = None

    def domain(self) -> Domain:
        """The domain where no run tells which version; raises UsageError if there is none."""
        return _bound(self.name, self.version, self.tools)

    def serves(self, trace: Trace) -> bool:
        """True unless the run says that it belongs to another domain."""
        foreign = (trace.benchmark, trace.domain) in _FOREIGN
        return not foreign and trace.domain in (None, self.domain().name)

    def domain_for(self, trace: Trace) -> Domain:
        """The domain for one run: its benchmark's version of the policy, and its tools."""
        version = self.version
        if version is None:
            known, wanted = versions(self.name), _LINEAGE.get(trace.benchmark or "", ())
            version = next((name for name in wanted if name in known), None)
        return _bound(self.name, version, self.tools or trace.tools)


@cache
def versions(name: str) -> dict[str, Domain]:
    """Every version of a domain, the default one first; raises UsageError for an unknown name."""
    if ":" not in name or packs.is_data(name):
        return packs.versions(name)
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"cannot load domain {name!r}: {error}") from None
    listed = {found.version: found} if isinstance(found, Domain) else found
    if not isinstance(listed, dict) or not all(isinstance(d, Domain) for d in listed.values()):
        raise UsageError(f"{name!r} is neither a Domain nor a dict of them by version")
    return listed


@lru_cache(maxsize=64)
def _bound(name: str, version: str | None, tools: frozenset[str] | None) -> Domain:
    found = versions(name)
    if version is not None and version not in found:
        raise UsageError(
            f"domain {name} has no version {version!r}; choose one of: {', '.join(found)}"
        )
    domain = found[version] if version is not None else next(iter(found.values()))
    return domain.bind(tools) if tools is not None else domain
