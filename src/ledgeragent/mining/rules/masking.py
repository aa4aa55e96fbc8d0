"""Masks: texts at listed paths, replaced everywhere they stand, so that samples still fit together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ledgeragent.types import Json


class Mask:
    """Replaces texts that stand at paths such as `users.*.email` by words that tell nothing.

    The same text gets the same word wherever it stands, in records, in their keys and in calls.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [tuple(pattern.split(".")) for pattern in patterns]
        self._words: dict[str, str] = {}

    def learn(self, path: Sequence[str], record: Json) -> None:
        """Takes in the texts of a record that are to be replaced."""
        for pattern in self._patterns:
            self._learn(pattern, tuple(path), record)

    def _learn(self, pattern: tuple[str, ...], path: tuple[str, ...], value: Json) -> None:
        if len(path) >= len(pattern):
            if all(p in ("*", part) for p, part in zip(pattern, path, strict=False)):
                self._learn_all(value)
        elif all(p in ("*", part) for p, part in zip(pattern, path, strict=False)):
            for name, child in value.items() if isinstance(value, dict) else ():
                self._learn(pattern, (*path, name), child)
            for child in value if isinstance(value, list) else ():
                self._learn(pattern, (*path, "*"), child)

    def _learn_all(self, value: Json) -> None:
        if isinstance(value, str) and value:
            self._words.setdefault(value, f"masked-{len(self._words) + 1}")
        for child in value.values() if isinstance(value, dict) else ():
            self._learn_all(child)
        for child in value if isinstance(value, list) else ():
            self._learn_all(child)

    def values(self, value: Json) -> Json:
        """The value without these texts."""
        if isinstance(value, str):
            return self._words.get(value, value)
        if isinstance(value, dict):
            return {self._words.get(k, k): self.values(v) for k, v in value.items()}
        return [self.values(item) for item in value] if isinstance(value, list) else value

    def record(self, path: Sequence[str], record: Json) -> tuple[tuple[str, ...], Json]:
        """The path and the record without these texts."""
        return tuple(self._words.get(part, part) for part in path), self.values(record)
