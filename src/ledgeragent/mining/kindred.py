"""Kindred places: arguments and fields whose values are keys of a family of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ledgeragent.mining.conduct import Conduct
from ledgeragent.mining.families import Family, MinedRoute
from ledgeragent.mining.sketch import Sketch

_LEAST_COMMON = 3


class KeysOf:
    """The keys by which records of each family were asked for."""

    def __init__(self, routes: Iterable[MinedRoute], conducts: Mapping[str, Conduct]) -> None:
        self._keys: dict[str, Sketch] = {}
        for route in routes:
            family = route.family
            if len(family.keys) != 1 or not family.holds_objects or route.lookup:
                continue
            name = route.renames.get(family.keys[0], family.keys[0])
            sought = conducts[route.tool].asked.get(name)
            own = family.profile.fields.get(family.keys[0])
            for sketch in (sought, own.sketch if own is not None else None):
                if sketch is not None:
                    self._keys.setdefault(family.name, Sketch()).merge(sketch)

    def family_of(
        self, values: Sketch, besides: Family | None = None
    ) -> tuple[str, int, int] | None:
        """(family, values that are its keys, values compared), where that is half of them or more."""
        best: tuple[int, str, int] | None = None
        for name, keys in self._keys.items():
            common, compared = values.within(keys)
            own = besides is not None and besides.name == name
            if not own and common >= _LEAST_COMMON and 2 * common >= compared:
                best = max(best or (0, "", 0), (common, name, compared))
        return (best[1], best[0], best[2]) if best is not None else None
