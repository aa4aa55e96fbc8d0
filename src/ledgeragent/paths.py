"""Canonical ledger paths (paper §Ledger State): `orders.#W1`, and templates with `{keys}`."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar

from ledgeragent.errors import PathError
from ledgeragent.text import visible
from ledgeragent.types import Json

R = TypeVar("R")

_MOST_REMEMBERED = 8192
_PLAIN = re.compile(r"[\w#@+:/-]+", re.ASCII)
_TOKEN = re.compile(r'(?P<plain>[^."]+)|(?P<quoted>"(?:[^"\\]|\\.)*")')
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def quote(segment: str) -> str:
    """The segment as it is shown: bare if plain ASCII, else a JSON string that cannot end a block."""
    return segment if _PLAIN.fullmatch(segment) else visible(json.dumps(segment))


class Path(tuple[str, ...], Generic[R]):
    """An address in the ledger. `R` is the type of the record that lives there."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Path[Json]:
        """The path for its written form, e.g. `orders.#W1` or `orders."a.b"`."""
        segments: list[str] = []
        position = 0
        while position <= len(text):
            token = _TOKEN.match(text, position)
            if token is None:
                raise PathError(f"cannot read path {text!r} at character {position}")
            quoted = token["quoted"]
            segments.append(json.loads(quoted) if quoted else token["plain"])
            position = token.end() + 1
            if position <= len(text) and text[token.end()] != ".":
                raise PathError(f"expected '.' at character {token.end()} of path {text!r}")
        return Path(segments)

    def __str__(self) -> str:
        return ".".join(map(quote, self))

    def __repr__(self) -> str:
        return f"Path({str(self)!r})"


class PathTemplate(Generic[R]):
    """A family of paths: `PathTemplate("orders.{order_id}", Order)("#W1")` is `orders.#W1`.

    `record` is the TypedDict of what is stored there (or `str`, `list`), for readers and checkers.
    """

    __slots__ = (
        "_key_at",
        "_length",
        "_literal_at",
        "holds_objects",
        "keys",
        "record",
        "root",
        "segments",
        "text",
    )

    def __init__(self, text: str, record: type[R]) -> None:
        self.text = text
        self.record = record
        self.holds_objects = hasattr(record, "__required_keys__")
        self.segments = tuple(text.split("."))
        if not all(self.segments):
            raise PathError(f"empty segment in path template {text!r}")
        names = [_PLACEHOLDER.fullmatch(segment) for segment in self.segments]
        if names[0] is not None:
            raise PathError(f"path template {text!r} must begin with a literal")
        self.root = self.segments[0]
        self._length = len(self.segments)
        self.keys = tuple(name[1] for name in names if name)
        self._key_at = tuple(place for place, name in enumerate(names) if name)
        self._literal_at = tuple(
            (i, s)
            for i, (s, n) in enumerate(zip(self.segments, names, strict=True))
            if i and n is None
        )

    def _make(self, *keys: str) -> Path[R]:
        if len(keys) != len(self.keys):
            raise PathError(f"{self.text} takes {len(self.keys)} keys, got {len(keys)}")
        for key in keys:
            if not isinstance(key, str):
                raise PathError(f"the keys of {self.text} are text, got {keys!r}")
        segments = list(self.segments)
        for place, key in zip(self._key_at, keys, strict=True):
            segments[place] = key
        return Path(segments)

    if TYPE_CHECKING:

        def __call__(self, *keys: str) -> Path[R]:
            """The path with its placeholders filled in order."""
    else:
        __call__ = lru_cache(_MOST_REMEMBERED)(_make)

    def fits(self, path: Path[Json]) -> bool:
        """True if `path` belongs to this family."""
        if len(path) != self._length or path[0] != self.root:
            return False
        # Most families have no literal but their root.
        return not self._literal_at or all(path[i] == literal for i, literal in self._literal_at)

    def match(self, path: Path[Json]) -> dict[str, str] | None:
        """The placeholder values if `path` belongs to this family, else None."""
        if not self.fits(path):
            return None
        return {s[1:-1]: p for s, p in zip(self.segments, path, strict=True) if s.startswith("{")}

    def __repr__(self) -> str:
        return f"PathTemplate({self.text!r})"
