"""How the agent finds the policy in domains that have it searched for: the harness's retrieval variants."""

from __future__ import annotations

import inspect
from typing import Any

from ledgeragent.adapters.tau2 import Wire, harness
from ledgeragent.errors import UsageError

OFFLINE = "bm25"
"""The variant that is taken unless told: the harness's own asks an API for embeddings."""


def is_searched(domain: str) -> bool:
    """True for a domain whose policy is searched for."""
    return "retrieval_variant" in inspect.signature(_constructor(domain)).parameters


def _constructor(domain: str) -> Any:
    return harness("tau2.registry").registry.get_env_constructor(domain)


def variant_of(domain: str, named: str | None) -> str | None:
    """The variant to use; None where the domain has none. UsageError for one that it does not have."""
    if not is_searched(domain):
        return None
    variant = named or OFFLINE
    try:
        _constructor(domain)(retrieval_variant=variant)
    except Exception as error:  # a name that is none, or a search engine that is not installed
        raise UsageError(f"{domain} cannot be searched with {variant!r}: {error}") from None
    return variant


def environment_options(domain: str, variant: str | None, task: Wire) -> dict[str, Any]:
    """What the constructor of the domain's environment takes for a task."""
    return {"retrieval_variant": variant, "task": task} if variant is not None else {}
