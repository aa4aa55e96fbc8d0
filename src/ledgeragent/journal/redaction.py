"""Redaction: the values that stay out of a journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ledgeragent.absorb import Absorption
from ledgeragent.types import Json

REDACTED = "[redacted]"


class Redaction:
    """The values that stay out of a journal. False if none do."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [tuple(pattern.split(".")) for pattern in patterns]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def value(self, path: tuple[str, ...], value: Json) -> Json:
        """The value with every part at a listed path replaced."""
        if not self._patterns:
            return value
        if any(_covers(pattern, path) for pattern in self._patterns):
            return REDACTED
        if isinstance(value, Mapping):
            return {key: self.value((*path, str(key)), part) for key, part in value.items()}
        if isinstance(value, list):
            return [self.value((*path, str(n)), part) for n, part in enumerate(value)]
        return value

    def content(self, content: Json, absorption: Absorption) -> Json:
        """The return of a tool, without the listed parts of the records that it held.

        With a redaction in force, a return that was not stored as exactly one record is left out whole.
        """
        if not self._patterns:
            return content
        if len(absorption.stored) != 1:
            return REDACTED
        entry = absorption.ledger.get(absorption.stored[0])
        return self.value(tuple(entry.path), entry.value) if entry is not None else REDACTED


def _covers(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if len(path) < len(pattern):
        return False
    return all(want in ("*", got) for want, got in zip(pattern, path, strict=False))
