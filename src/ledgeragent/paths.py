"""Canonical ledger paths (paper §Ledger State): `orders.#W1`, and templates with `{keys}`."""

from __future__ import annotations

import json
import re
from functools import lru_cache, partial
from types import UnionType
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


def _filled(
    text: str, segments: tuple[str, ...], places: tuple[int, ...], *keys: str
) -> Path[Json]:
    if len(keys) != len(places):
        raise PathError(f"{text} takes {len(places)} keys, got {len(keys)}")
    path = [*segments]
    for number, key in enumerate(keys):
        if not isinstance(key, str):
            raise PathError(f"the keys of {text} are text, got {keys!r}")
        path[places[number]] = key
    return Path(path)


# Rules call one for each record they read, which costs a partial half as much as a `__call__`.
class PathTemplate(partial[Path[R]]):
    """A family of paths: `PathTemplate("orders.{order_id}", Order)("#W1")` is `orders.#W1`.

    `record` is the TypedDict of what is stored there (or `str`, `list`), for readers and checkers.
    `literals` are those inside it, each with its place.
    """

    __slots__ = ("holds_objects", "keys", "literals", "record", "root", "segments", "text")

    text: str
    record: type[R] | UnionType
    holds_objects: bool
    segments: tuple[str, ...]
    root: str
    keys: tuple[str, ...]
    literals: tuple[tuple[int, str], ...]

    def __new__(cls, text: str, record: type[R] | UnionType) -> PathTemplate[R]:
        segments = tuple(text.split("."))
        if not all(segments):
            raise PathError(f"empty segment in path template {text!r}")
        names = [_PLACEHOLDER.fullmatch(segment) for segment in segments]
        if names[0] is not None:
            raise PathError(f"path template {text!r} must begin with a literal")
        places = tuple(place for place, name in enumerate(names) if name)
        fill = lru_cache(_MOST_REMEMBERED)(partial(_filled, text, segments, places))
        template = super().__new__(cls, fill)
        template.text, template.record = text, record
        template.holds_objects = hasattr(record, "__required_keys__")
        template.segments = segments
        template.root = segments[0]
        template.keys = tuple(name[1] for name in names if name)
        template.literals = tuple(
            (i, s) for i, (s, n) in enumerate(zip(segments, names, strict=True)) if i and n is None
        )
        return template

    if TYPE_CHECKING:

        def __call__(self, *keys: str) -> Path[R]:
            """The path with its placeholders filled in order."""

    def fits(self, path: Path[Json]) -> bool:
        """True if `path` belongs to this family."""
        if len(path) != len(self.segments) or path[0] != self.root:
            return False
        # Most families have no literal but their root.
        return not self.literals or all(path[place] == text for place, text in self.literals)

    def match(self, path: Path[Json]) -> dict[str, str] | None:
        """The placeholder values if `path` belongs to this family, else None."""
        if not self.fits(path):
            return None
        return {s[1:-1]: p for s, p in zip(self.segments, path, strict=True) if s.startswith("{")}

    def __repr__(self) -> str:
        return f"PathTemplate({self.text!r})"
