"""What a rule in CEL may ask for besides records, arguments and parameters: the time, the writes so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ledgeragent.arguments import Reader
from ledgeragent.compiler.cel.engine import CelError
from ledgeragent.compiler.shapes import SCALARS, TEXT, TIMESTAMP, Field, ListOf, Object, Shape
from ledgeragent.types import Json
from ledgeragent.view import View

CLOCK: Mapping[str, Shape] = {"now": TIMESTAMP, "today": SCALARS["date"], "timezone": TEXT}
"""The names by which a rule asks for the time: the moment, its day in the pack's zone, that zone."""

WRITES = "writes"
NAMES = frozenset((*CLOCK, WRITES))


def moment(text: str, zone: ZoneInfo) -> datetime:
    """The time that ISO 8601 text tells, in `zone` where it names none; ValueError for other text."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The surroundings of a pack's rules: its zone, and how the arguments of its writes are read.

    `names` are those of the names that one rule uses.
    """

    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    writes: Mapping[str, tuple[Shape, Reader | None]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()

    def of(self, names: Iterable[str]) -> Surroundings:
        """The same for a rule that uses these names."""
        return replace(self, names=NAMES.intersection(names))

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shape of each name."""
        fields = {tool: Field(ListOf(shape)) for tool, (shape, _) in self.writes.items()}
        return {**CLOCK, WRITES: Object("the writes so far", fields)}

    @property
    def timed(self) -> bool:
        """True if the time is asked for."""
        return not self.names.isdisjoint(("now", "today"))

    def containers(self, view: View) -> dict[str, Any]:
        """The values of the names that are used. Raises UnknownTimeError where nobody told the time."""
        values: dict[str, Any] = {}
        if self.timed:
            now = self._moment(view.now)
            values = {"now": now, "today": now.astimezone(self.zone).date().isoformat()}
        if "timezone" in self.names:
            values["timezone"] = self.zone.key
        if WRITES in self.names:
            values[WRITES] = self._done(view)
        return values

    def _moment(self, text: str) -> datetime:
        try:
            return moment(text, self.zone)
        except (TypeError, ValueError):
            raise CelError(f"{text!r:.60} is no time such as 2025-03-01T10:00:00Z") from None

    def _done(self, view: View) -> dict[str, list[Json]]:
        """The arguments of the writes so far by tool, in their order, read as rules read them."""
        by_tool: dict[str, list[Json]] = {tool: [] for tool in self.writes}
        for call in view.writes:
            if call.name in by_tool:
                reader = self.writes[call.name][1]
                arguments = dict(call.arguments)
                by_tool[call.name].append(reader(arguments, "", []) if reader else arguments)
        return by_tool
