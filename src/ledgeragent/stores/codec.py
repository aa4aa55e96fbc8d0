"""A session as JSON text and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from ledgeragent.ledger import Entry, Ledger, Origin, Stale, Unconfirmed, Utterance
from ledgeragent.paths import Path
from ledgeragent.persistent import PersistentList, PersistentMap
from ledgeragent.rejections import Rejections
from ledgeragent.state import State
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.memory import Memory, Refusals, Unsent
from ledgeragent.types import Json, ToolCall

FORMAT = 1


def dumps(saved: SavedSession) -> str:
    """The session as ASCII text. What the latest return did is left out: nothing reads it again."""
    memory = saved.memory
    data = {
        "format": FORMAT,
        "session": memory.session,
        "state": _state(memory.state),
        "unsent": [[_call(unsent.call), *unsent[1:]] for unsent in memory.unsent],
        "warnings": memory.warnings,
        "refusals": memory.refusals,
        "upstream": memory.upstream,
        "size": memory.size,
        "folded": saved.folded,
        "taken": saved.is_continued,
        "item": saved.item,
    }
    return json.dumps(data, separators=(",", ":"))


def loads(text: str, version: int) -> SavedSession:
    """The session in a text, as the version that it was kept as."""
    data = json.loads(text)
    memory = Memory(
        session=data["session"],
        state=_read_state(data["state"]),
        unsent=tuple(Unsent(_read_call(call), *rest) for call, *rest in data.get("unsent", ())),
        warnings=tuple(data.get("warnings", ())),
        refusals=Refusals(*data.get("refusals", ())),
        upstream=data["upstream"],
        size=data.get("size", 0),
    )
    folded = tuple(data["folded"])
    return SavedSession(
        memory=memory,
        folded=folded,
        is_continued=data["taken"],
        item=data.get("item"),
        version=version,
    )


def _state(state: State) -> Json:
    counts = state.rejections.counts.items()
    return {
        "ledger": _ledger(state.ledger),
        "pending": _calls(state.pending),
        "rejections": [[*intent, key, n] for intent, by in counts for key, n in by.items()],
        "raced": _calls(state.raced),
    }


def _read_state(data: Mapping[str, Json]) -> State:
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for tool, arguments, grounds, number in data["rejections"]:
        counts.setdefault((tool, arguments), {})[grounds] = number
    return State(
        ledger=_read_ledger(data["ledger"]),
        pending=_read_calls(data["pending"]),
        rejections=Rejections(counts=PersistentMap(counts)),
        raced=_read_calls(data.get("raced", ())),
    )


def _ledger(ledger: Ledger) -> Json:
    return {
        "turn": ledger.turn,
        **({"now": ledger.now} if ledger.now else {}),
        "writes": _calls(ledger.writes),
        "unconfirmed": [[_call(d.call), d.running] for d in ledger.unconfirmed],
        "utterances": [list(utterance) for utterance in ledger.utterances],
        "unavailable": [[*intent, answer] for intent, answer in ledger.unavailable.items()],
        "entries": [_entry(entry, ledger.unconfirmed) for entry in ledger],
    }


def _read_ledger(data: Mapping[str, Json]) -> Ledger:
    ledger = Ledger(
        turn=data["turn"],
        now=data.get("now", ""),
        writes=PersistentList(_read_calls(data["writes"])),
        unconfirmed=tuple(
            Unconfirmed(_read_call(call), running) for call, running in data.get("unconfirmed", ())
        ),
        utterances=PersistentList(tuple(Utterance(*u) for u in data.get("utterances", ()))),
        unavailable=PersistentMap({(tool, i): answer for tool, i, answer in data["unavailable"]}),
    )
    entries = [_read_entry(entry, ledger.unconfirmed) for entry in data["entries"]]
    return ledger.put_all(entries) if entries else ledger


def _entry(entry: Entry, doubts: Sequence[Unconfirmed]) -> Json:
    return {
        "path": entry.path,
        "value": entry.value,
        "source": _call(entry.source),
        "turn": entry.turn,
        "typed": entry.typed,
        "stale": [[mark.fields, _by(mark, doubts)] for mark in entry.stale],
        "inherited": {name: [_call(o.source), o.turn] for name, o in entry.inherited.items()},
    }


def _by(mark: Stale, doubts: Sequence[Unconfirmed]) -> Json:
    """The write of a mark; one that may have happened by its number, so that it stays the same one."""
    at = next((n for n, doubt in enumerate(doubts) if doubt.call is mark.by), None)
    if at is not None:
        return at
    return None if mark.by is None else _call(mark.by)


def _read_by(by: Json, doubts: Sequence[Unconfirmed]) -> ToolCall | None:
    if isinstance(by, int):
        return doubts[by].call
    return None if by is None else _read_call(by)


def _read_entry(data: Mapping[str, Json], doubts: Sequence[Unconfirmed]) -> Entry:
    entry = Entry(
        path=Path(data["path"]),
        value=data["value"],
        source=_read_call(data["source"]),
        turn=data["turn"],
        typed=data["typed"],
        inherited={
            name: Origin(_read_call(source), turn)
            for name, (source, turn) in data["inherited"].items()
        },
    )
    marks = (Stale(tuple(fields), _read_by(by, doubts)) for fields, by in data["stale"])
    return entry.marked(marks) if data["stale"] else entry


def _calls(calls: Iterable[ToolCall]) -> Json:
    return [_call(call) for call in calls]


def _read_calls(rows: Sequence[Json]) -> tuple[ToolCall, ...]:
    return tuple(_read_call(call) for call in rows)


def _call(call: ToolCall) -> Json:
    return [call.id, call.name, dict(call.arguments), call.malformed]


def _read_call(row: Sequence[Json]) -> ToolCall:
    number, name, arguments, malformed = row
    return ToolCall(id=number, name=name, arguments=arguments, malformed=malformed)
