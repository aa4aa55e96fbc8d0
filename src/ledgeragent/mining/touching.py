"""Touching: which fields of which records a write makes stale, by what was seen and by what is likely."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ledgeragent.mining.conduct import Conduct
from ledgeragent.mining.evidence import FieldChange
from ledgeragent.mining.families import Family, MinedRoute
from ledgeragent.mining.world import WHOLE, World

_LEAST_SHARE = 0.03
_LEAST_DOUBTFUL = 2
_ARGUMENT = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_NO_FIELD = re.compile(r"[.*\[]|\?$")
_ENOUGH_LOOKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedTouch:
    """A field (WHOLE: all) of the records that a write changes, with the reason to say so.

    `way` is the argument for each key, None for every observed record of the family. `seen` is False
    for a guess on the safe side: nobody looked. `sure` is False where it was seen too seldom, or after
    other writes too, to be told from an accident.
    """

    family: Family
    field: str
    way: tuple[str, ...] | None
    why: str
    seen: bool
    sure: bool = True

    @property
    def path(self) -> str:
        """The touched records, as a pack writes them."""
        keys = self.way if self.way is not None else ("*",) * len(self.family.keys)
        return ".".join((self.family.name, *(key if key == "*" else f"{{{key}}}" for key in keys)))


class Touching:
    """What the writes touch; `arguments` are the names that a tools file gives those of each.

    A change that was seen is evidence; looks that saw none are not.

    `left_out` are changes that another write's wrong answer explains: (tool, path, why).
    """

    def __init__(
        self,
        world: World,
        routes: Iterable[MinedRoute],
        arguments: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._world = world
        self._arguments = arguments or {}
        self._families: dict[str, Family] = {}
        self._renames: dict[str, dict[str, str]] = {}
        for route in routes:
            if route.family.keys and not route.lookup:
                self._families[route.family.name] = route.family
                self._renames.setdefault(route.family.name, {}).update(route.renames)
        self.left_out: list[tuple[str, str, str]] = []

    def of(self, conduct: Conduct) -> list[MinedTouch]:
        """The touches of one write, those that were seen first."""
        touches = [*self._seen(conduct.tool)]
        touches += self._of_tables(conduct.tool, touches)
        touches += self._of_named(conduct, touches)
        return [*map(_expressible, touches)]

    def _seen(self, tool: str) -> Iterator[MinedTouch]:
        for (name, family, field), change in sorted(self._world.changes.items()):
            if name != tool or family not in self._families:
                continue
            looks = self._world.looks[tool, family].runs
            why = _account(change, looks)
            if self._is_explained(family, field, change):
                why = f"{why}; each time the look before was an answer that gets it wrong"
                self.left_out.append((tool, f"{self._families[family].path} {field}", why))
                continue
            yield MinedTouch(
                family=self._families[family],
                field=field,
                way=change.way,
                why=why,
                seen=True,
                sure=_is_convincing(change, looks),
            )

    def _is_explained(self, family: str, field: str, change: FieldChange) -> bool:
        """True if all that was compared with later looks were answers of writes that get it wrong."""
        answers = (self._world.answers.get(by, {}).get(family) for by in change.after)
        wrong = [answer is not None and field in answer.wrong for answer in answers]
        return bool(wrong) and all(wrong)

    def _of_tables(self, tool: str, seen: Iterable[MinedTouch]) -> Iterator[MinedTouch]:
        """Tables of numbers in other records, of which calls name an entry: a balance, a stock."""
        touched = {(touch.family.name, touch.field) for touch in seen}
        for (name, family, field), named in sorted(self._world.entries.items()):
            executed = self._world.executed[tool]
            if name != tool or (family, field) in touched or named.times < _LEAST_SHARE * executed:
                continue
            looks = self._world.tested[name, family, field].runs
            if looks >= _ENOUGH_LOOKS:
                continue
            why = f"{named.times:,} of {executed:,} calls name a number in it, and {_looked(looks)}"
            yield MinedTouch(
                family=self._families[family], field=field, way=None, why=why, seen=False
            )

    def _of_named(self, conduct: Conduct, seen: Iterable[MinedTouch]) -> Iterator[MinedTouch]:
        """Records that the arguments name and that nobody looked at before and after."""
        touched = {touch.family.name for touch in seen if touch.way is not None and touch.sure}
        for name, family in self._families.items():
            looks = self._world.looks[conduct.tool, name].runs
            way = self._way(conduct, family)
            if name in touched or way is None or looks >= _ENOUGH_LOOKS:
                continue
            why = f"calls name it, and {_looked(looks)}"
            yield MinedTouch(family=family, field=WHOLE, way=way, why=why, seen=False)

    def _way(self, conduct: Conduct, family: Family) -> tuple[str, ...] | None:
        """The argument for each key of the family, by its name; None where one is missing."""
        way = []
        for key in family.keys:
            name = self._renames[family.name].get(key, key)
            arguments = conduct.asked or self._arguments.get(conduct.tool, ())
            places = [p for p in arguments if p.rpartition(".")[2] in (key, name)]
            if not places:
                return None
            way.append(min(places, key=len))
        return tuple(way)


def _expressible(touch: MinedTouch) -> MinedTouch:
    """The touch, or a wider one where a pack cannot name its argument or its field."""
    if touch.way is not None and not all(map(_ARGUMENT.fullmatch, touch.way)):
        touch = replace(touch, way=None, why=f"{touch.why}; no path can name the argument")
    if _NO_FIELD.search(touch.field):
        touch = replace(touch, field=WHOLE, sure=False, why=f"{touch.why}: its {touch.field}")
    return touch


def _is_convincing(change: FieldChange, looks: int) -> bool:
    if not change.alone.runs:
        return change.shared.runs >= _LEAST_DOUBTFUL
    return change.alone.runs >= _LEAST_SHARE * looks


def _account(change: FieldChange, looks: int) -> str:
    if change.alone.runs:
        return f"changed in {change.alone.runs:,} of {looks:,} conversations that looked again"
    return f"changed in {change.shared.runs:,} conversations, after this and other writes"


def _looked(looks: int) -> str:
    return "nobody looked again" if not looks else f"only {looks} conversations looked again"
