"""Draft: a ledger on which much is put before anybody looks at it, changed in place until then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from ledgeragent.entry import UNMARKED, Entry
from ledgeragent.ledger import Ledger, Touch, Utterance
from ledgeragent.offline.observation import Merge, Observation, Put, Unavailable
from ledgeragent.offline.textmemory import TextMemory
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.types import Json, ToolCall

R = TypeVar("R")

# What two entries became that were merged, with both, so that nothing else can have their identity: runs
# of a task often begin with the same reads.
_merged: TextMemory[tuple[int, int], tuple[Entry, Entry, Entry]] = TextMemory()


class LedgerDraft(Ledger):
    """What was observed and written since `base`, a ledger; `done` is the one with all of it.

    What else than records is asked of it, that ledger answers.
    """

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
                self._fresh[step.entry.path] = step.entry
            elif isinstance(step, Merge):
                self._merge(step.entry)
            elif isinstance(step, Unavailable):
                object.__setattr__(self, "base", self.base.without(call, step.answer))
            else:
                self.unreadable(step.path, step.answer, call, turn)

    def _merge(self, entry: Entry) -> None:
        path, fresh = entry.path, self._fresh
        earlier = fresh.get(path) or self.base.get(path)
        if earlier is None:
            fresh[path] = entry
        elif earlier.stale is not UNMARKED:  # marks are of this run alone
            self.merge(entry)
        else:
            key = (id(earlier), id(entry))
            triple = _merged.get(key)
            if triple is None:
                self.merge(entry)
                triple = (fresh[path], earlier, entry)
                _merged.put(key, triple, 0)
            fresh[path] = triple[0]

    def get(self, path: Path[Json]) -> Entry | None:
        return self._fresh.get(path) or self.base.get(path)

    def put(self, entry: Entry) -> Ledger:
        self._fresh[entry.path] = entry
        return self

    def put_all(self, entries: Sequence[Entry]) -> Ledger:
        for entry in entries:
            self._fresh[entry.path] = entry
        return self

    def glob(self, template: PathTemplate[R]) -> Iterator[Entry]:
        return self._settled().glob(template)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._settled())

    def __getattr__(self, name: str) -> Any:
        # What it has not itself; of records it has its own account.
        if name == "_roots":
            raise AttributeError(name)
        return getattr(self.base, name)

    def _settled(self) -> Ledger:
        return self.base.put_all([*self._fresh.values()]) if self._fresh else self.base

    def wrote(self, call: ToolCall, touched: Iterable[Touch]) -> Ledger:
        writes, others = self.base.writes.append(call), self.base._others(call)
        object.__setattr__(self, "base", self.base._with(writes=writes, unconfirmed=others))
        return self.marked(touched, call)

    def done(self, turn: int, now: str, spoken: Sequence[Utterance]) -> Ledger:
        """The ledger with all that was observed, at this turn and time, after what was spoken."""
        base = self.base
        if spoken or turn != base.turn or now != base.now:
            utterances = base.utterances
            for utterance in spoken:
                utterances = utterances.append(utterance)
            base = base._with(turn=turn, now=now, utterances=utterances)
        return base.put_all([*self._fresh.values()]) if self._fresh else base
