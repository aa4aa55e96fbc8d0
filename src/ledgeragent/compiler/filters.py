"""Arguments that make a read answer a part of a list: filters, and the marks of a page."""

from __future__ import annotations

import re
from collections.abc import Iterable

# fmt: off
_PAGING = frozenset((
    "after", "before", "count", "cursor", "limit", "max", "maximum", "offset", "page", "per", "size",
    "skip", "token", "top",
))
_FILTERS = frozenset((
    "active", "category", "date", "day", "end", "filter", "filters", "from", "include", "kind", "last",
    "month", "open", "period", "q", "query", "range", "recent", "search", "since", "start", "state",
    "status", "statuses", "tag", "tags", "text", "to", "type", "until", "year",
))
# fmt: on


def filters(arguments: Iterable[str], *, paging_only: bool = False) -> tuple[str, ...]:
    """Those of the arguments that, by their names, leave out some of what a read would answer."""
    narrowing = _PAGING if paging_only else _PAGING | _FILTERS
    return tuple(name for name in arguments if narrowing & _words(name))


def _words(name: str) -> set[str]:
    """The words of a name, none for that of an id: it says whose list it is."""
    words = {word.lower() for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name)}
    return set() if words & {"id", "ids"} else words
