"""Redaction: what stays out of a journal, by where it stands and by what was seen there."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from ledgeragent.absorb import Absorption
from ledgeragent.journal.secrecy import REDACTED, SecretValues
from ledgeragent.types import Json

_SENTENCE = 16
"""Characters. A shorter message is a word that others say as well, so it is no secret elsewhere."""


class Redaction:
    """The values that stay out of a journal. False if none do.

    A value that was seen at a listed path is known from then on to every redaction that shares `seen`.
    It is never taken out of `words`, the names of fields, tools and rules.
    """

    def __init__(
        self,
        patterns: Iterable[str],
        seen: Redaction | None = None,
        *,
        words: Collection[str] = (),
    ) -> None:
        self._words = words
        self._patterns = [tuple(pattern.split(".")) for pattern in patterns]
        self._seen: SecretValues = SecretValues() if seen is None else seen._seen
        self._names: dict[str, str] = {} if seen is None else seen._names

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def value(self, path: tuple[str, ...], value: Json) -> Json:
        """The value with every part at a listed path replaced."""
        if not self._patterns:
            return value
        if any(_covers(pattern, path) for pattern in self._patterns):
            if path != ("text",) or len(value) >= _SENTENCE:
                self._seen.add(value)
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
        entries = (absorption.ledger.get(path) for path in absorption.stored)
        records = [self.value(tuple(e.path), e.value) if e else REDACTED for e in entries]
        return records[0] if len(records) == 1 else REDACTED

    def text(self, text: str | None) -> str | None:
        """Nothing of a text that could repeat anything, such as what an exception says."""
        return REDACTED if self._patterns and text else text

    def everywhere(self, data: Mapping[str, Json]) -> Mapping[str, Json]:
        """A whole record without any value that was seen at a listed path. The one seam of the journal."""
        clean: Mapping[str, Json] = self._seen.without(data, self._words)
        return clean

    def name(self, session: str) -> str:
        """A conversation's name; one that holds such a value gets another, the same in this process."""
        if session in self._names:
            return self._names[session]
        if self._seen.without(session) == session:
            return session
        return self._names.setdefault(session, f"redacted-{os.urandom(8).hex()}")


def _covers(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if len(path) < len(pattern):
        return False
    return all(want in ("*", got) for want, got in zip(pattern, path, strict=False))
