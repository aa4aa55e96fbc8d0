"""The aftermath of writes: whether looks before and after them confirm what a pack says they touch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ledgeragent.absorb import absorb, touched_by
from ledgeragent.domain import Domain
from ledgeragent.effects import Write
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.mining.callhistory import CallHistory
from ledgeragent.mining.world import WHOLE, changed
from ledgeragent.paths import Path
from ledgeragent.shape import shape_of
from ledgeragent.types import Json

TouchKey = tuple[str, str, str]
"""A tool, the written path of a family, and a field at the top of its records (\"\" for all)."""

_ENOUGH_LOOKS = 5
_LEAST_SHARE = 0.03
_LEAST_TIMES = 2


class Aftermath:
    """Looks at records around writes, in all conversations so far."""

    def __init__(self, domain: Domain) -> None:
        routes = [route for tool in domain.tools for route in domain.routes(tool.tool)]
        self._families = {route.to.text: route.to for route in routes}
        self._with_fields = {t for t, to in self._families.items() if shape_of(to.record).fields}
        self._looks: Counter[TouchKey] = Counter()
        self._confirmed: Counter[TouchKey] = Counter()
        self._alone: Counter[tuple[str, str]] = Counter()
        self._undeclared: Counter[TouchKey] = Counter()

    def add(self, history: CallHistory, domain: Domain) -> None:
        """Folds a conversation through the domain, as it is for this one."""
        ledger = Ledger()
        last: dict[Path[Json], tuple[Json, int]] = {}
        writes: list[tuple[str, tuple[Touch, ...]]] = []
        for step in history.steps:
            tool = domain.tool(step.tool)
            if isinstance(tool, Write) and step.failure is None:
                writes.append((step.tool, (*touched_by(ledger, step.call, domain),)))
            absorption = absorb(ledger, step.call, step.returned, domain)
            ledger = absorption.ledger
            for path in dict.fromkeys(absorption.stored):
                entry = ledger.get(path)
                if entry is None or not entry.typed:
                    continue
                if path in last:
                    before, number = last[path]
                    unknown = {f for f in _names(entry.value) if entry.stale_at((f,)) is not None}
                    by_write = isinstance(tool, Write)
                    self._look(path, before, entry.value, unknown, writes[number:], by_write)
                last[path] = entry.value, len(writes)

    def _look(
        self,
        path: Path[Json],
        before: Json,
        after: Json,
        unknown: set[str],
        writes: Sequence[tuple[str, tuple[Touch, ...]]],
        by_write: bool,
    ) -> None:
        """Compares two looks. What a write `answered` itself is known afterwards, so it may change."""
        family = self._family(path)
        fields = {field for field in changed(before, after) if field not in unknown}
        if fields and family not in self._with_fields:
            fields = {WHOLE}  # its keys are data, not fields
        tools = {tool for tool, _ in writes}
        declared: set[str] = set()
        for tool, touches in writes:
            marks = {
                touch.fields[0] if touch.fields else "" for touch in touches if touch.path == path
            }
            declared |= marks
            for mark in marks - unknown:
                self._looks[tool, family, mark] += 1
                self._confirmed[tool, family, mark] += mark in fields or (not mark and bool(fields))
        if len(tools) == 1 and not by_write:
            (tool,) = tools
            self._alone[tool, family] += 1
            if "" not in declared:
                self._undeclared.update((tool, family, field) for field in fields - declared)

    def _family(self, path: Path[Json]) -> str:
        return next((text for text, to in self._families.items() if to.fits(path)), str(path[0]))

    def never_changed(self) -> Iterator[tuple[TouchKey, int]]:
        """The touches that enough looks and no change speak against, with the number of looks."""
        for mark, looks in sorted(self._looks.items()):
            if looks >= _ENOUGH_LOOKS and not self._confirmed[mark]:
                yield mark, looks

    def undeclared(self) -> Iterator[tuple[TouchKey, int, int]]:
        """The changes that a write alone made and does not declare, with times and looks."""
        for mark, times in sorted(self._undeclared.items()):
            looks = self._alone[mark[:2]]
            if times >= _LEAST_TIMES and times >= _LEAST_SHARE * looks:
                yield mark, times, looks


def _names(record: Json) -> Sequence[str]:
    return [*record] if isinstance(record, dict) else ()
