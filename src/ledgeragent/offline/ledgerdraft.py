"""Draft: a ledger on which much is put before anybody looks at it, changed in place until then."""

from __future__ import annotations

from collections.abc import Sequence

from ledgeragent.entry import Entry
from ledgeragent.ledger import Ledger, Utterance
from ledgeragent.offline.observation import Merge, Observation, Put, Unavailable
from ledgeragent.paths import Path
from ledgeragent.types import Json, ToolCall


class LedgerDraft(Ledger):
    """What was observed since `base`, which is a ledger; `done` is the one with all of it."""

    __slots__ = ("_fresh", "base")
    base: Ledger
    _fresh: dict[Path[Json], Entry]

    def __init__(self, base: Ledger) -> None:
        self.begin(base)

    def begin(self, base: Ledger) -> None:
        """Begins anew, on another ledger."""
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "_fresh", {})

    def observe(self, observation: Observation, call: ToolCall, turn: int) -> None:
        """Takes what a return told, which answered this call in this turn."""
        for step in observation:
            if isinstance(step, Put):
                self.put(_of_call(step.entry, call, turn))
            elif isinstance(step, Merge):
                self.merge(_of_call(step.entry, call, turn))
            elif isinstance(step, Unavailable):
                object.__setattr__(self, "base", self.base.without(call, step.answer))
            else:
                self.unreadable(step.path, step.answer, call, turn)

    def get(self, path: Path[Json]) -> Entry | None:
        return self._fresh.get(path) or self.base.get(path)

    def put(self, entry: Entry) -> Ledger:
        self._fresh[entry.path] = entry
        return self

    def done(self, turn: int, now: str, spoken: Sequence[Utterance]) -> Ledger:
        """The ledger with all that was observed, at this turn and time, after what was spoken."""
        base = self.base
        if spoken or turn != base.turn or now != base.now:
            utterances = base.utterances
            for utterance in spoken:
                utterances = utterances.append(utterance)
            base = base._with(turn=turn, now=now, utterances=utterances)
        return base.put_all([*self._fresh.values()]) if self._fresh else base


def _of_call(entry: Entry, call: ToolCall, turn: int) -> Entry:
    """What another return of the same text has observed, as that of this call."""
    return Entry(entry.path, entry.value, call, turn, entry.typed, entry.sound)
