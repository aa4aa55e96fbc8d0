"""A session as JSON texts and back: a head, and one for each row that stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from ledgeragent.ledger import Entry, Ledger, Origin, Stale, Unconfirmed, Utterance
from ledgeragent.paths import Path
from ledgeragent.persistent import PersistentList, PersistentMap
from ledgeragent.rejections import Rejections
from ledgeragent.state import State
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.errors import SessionStoreError
from ledgeragent.stores.memory import Memory, Refusals, Unsent
from ledgeragent.types import Json, ToolCall

FORMAT = 2
"""Of format 1, records, writes and what was said stand in the head, and there are no rows."""


def head_text(saved: SavedSession, doubtful: Sequence[tuple[int, str]] = ()) -> str:
    """What of a session is in no row, as ASCII text. `doubtful` are records that are in none, by place.

    What the latest return did is left out: nothing reads it again.
    """
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
        "doubtful": doubtful,
    }
    return _text(data)


def entry_text(entry: Entry, doubts: Sequence[Unconfirmed] = ()) -> str:
    """A record as ASCII text; `doubts` are the writes that may have happened, if it has marks by any."""
    return _text(_entry(entry, doubts))


def call_text(call: ToolCall) -> str:
    """A call as ASCII text."""
    return _text(_call(call))


def utterance_text(utterance: Utterance) -> str:
    """What was said, as ASCII text."""
    return _text(list(utterance))


def _text(data: Json) -> str:
    return json.dumps(data, separators=(",", ":"))


class LoadedSession(NamedTuple):
    """A session, and the places of its records among the rows; None where it has none, being older."""

    saved: SavedSession
    places: Mapping[Path[Json], int] | None


def loads(text: str, version: int, rows: Iterable[tuple[str, int, str]] = ()) -> LoadedSession:
    """The session with this head and these rows (kind, number, text), as the version it was kept as.

    SessionStoreError for one that a later version of this program has kept.
    """
    data, places = json.loads(text), None
    if data["format"] > FORMAT:
        raise SessionStoreError("this session was kept by a later version; upgrade this one too")
    if data["format"] == FORMAT:
        places = _put_in(data["state"]["ledger"], data["doubtful"], rows)
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
    saved = SavedSession(
        memory=memory,
        folded=folded,
        is_continued=data["taken"],
        item=data.get("item"),
        version=version,
    )
    return LoadedSession(saved, places)


def _put_in(
    ledger: dict[str, Json],
    doubtful: Iterable[tuple[int, str]],
    rows: Iterable[tuple[str, int, str]],
) -> Mapping[Path[Json], int]:
    """Puts what the rows hold into the ledger, as it was in format 1; the places of the records."""
    by_kind: dict[str, list[tuple[int, str]]] = {"entry": [], "write": [], "utterance": []}
    for kind, number, body in chain((("entry", *record) for record in doubtful), rows):
        by_kind[kind].append((number, body))
    bodies = {kind: [body for _, body in sorted(texts)] for kind, texts in by_kind.items()}
    for kind, name in (("entry", "entries"), ("write", "writes"), ("utterance", "utterances")):
        ledger[name] = [json.loads(body) for body in bodies[kind]]
    numbers = sorted(number for number, _ in by_kind["entry"])
    paths: Iterator[Path[Json]] = (Path(entry["path"]) for entry in ledger["entries"])
    return dict(zip(paths, numbers, strict=True))


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
        "unconfirmed": [[_call(d.call), d.running] for d in ledger.unconfirmed],
        "unavailable": [[*intent, answer] for intent, answer in ledger.unavailable.items()],
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
