"""Names of medications: the tools don't mind their case, and take the beginning for the whole."""

from __future__ import annotations

from collections.abc import Iterable


def medication_key(name: str) -> str:
    """The name under which a medication's catalog is kept."""
    return name.strip().casefold()


def meant(medication: str, names: Iterable[str]) -> list[str]:
    """The names that the medication is meant by: the very one, else those that share a prefix."""
    target = medication_key(medication)
    keys = {name: medication_key(name) for name in names}
    exact = [name for name, key in keys.items() if key == target]
    return exact or [name for name, key in keys.items() if _share_prefix(target, key)]


def _share_prefix(one: str, other: str) -> bool:
    return bool(one and other) and (one.startswith(other) or other.startswith(one))
