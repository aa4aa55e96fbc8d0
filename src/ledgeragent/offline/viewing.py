"""Views of the conversations of a file, recorded runs and journals alike, step by step."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path as File

from ledgeragent import packs
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.reading import opened
from ledgeragent.journal import REDACTED, Event, open_store
from ledgeragent.journal.records import sound_records
from ledgeragent.journal.transcripts import exported
from ledgeragent.journal.verdicts import verdict_of
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.forms.agentssdk import holds_sessions
from ledgeragent.offline.forms.registry import form_named
from ledgeragent.offline.timeline import TimelineStep, timeline
from ledgeragent.offline.traces import Trace, read_messages, read_traces
from ledgeragent.types import Json
from ledgeragent.verdict import Verdict

_DATABASES = (".sqlite", ".sqlite3", ".db")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A run to look at: `verdicts` are those a journal recorded, None where there is no journal."""

    trace: Trace
    verdicts: tuple[tuple[Verdict, ...], ...] | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run step by step, with the domain that judged it."""

    conversation: Recording
    domain: Domain
    steps: list[TimelineStep]


def conversations(file: str, form: str | None = None) -> Iterator[Recording | DataError]:
    """Every conversation of a recorded file or a journal; a broken one as what is wrong with it."""
    if is_journal(file):
        yield from _journalled(File(file))
        return
    for trace in read_traces(file, form_named(form) if form is not None else None):
        yield trace if isinstance(trace, DataError) else Recording(trace=trace)


def viewed(conversation: Recording, binding: Binding | None) -> RunView:
    """The run folded through its domain: the one given, else the one that it names itself.

    Raises UsageError where neither names one.
    """
    trace = conversation.trace
    if binding is None:
        if trace.domain is None or trace.domain not in packs.PACKS:
            raise UsageError(f"{trace.run} names no domain of this package; give one with --domain")
        binding = Binding(name=trace.domain)
    domain = binding.domain_for(trace)
    trace = binding.named(trace)
    return RunView(
        conversation=replace(conversation, trace=trace),
        domain=domain,
        steps=timeline(trace, domain, conversation.verdicts),
    )


def is_journal(file: str) -> bool:
    """True for a database, or a text file that begins with a record of a journal."""
    if File(file).suffix in _DATABASES:
        return not holds_sessions(File(file))
    try:
        if file == "-":
            return False
        with opened(file) as stream:
            first = json.loads(stream.readline(1 << 20))
    except (OSError, ValueError, RecursionError, DataError):
        return False
    return isinstance(first, dict) and "journal" in first and "event" in first


def _journalled(file: File) -> Iterator[Recording | DataError]:
    store = open_store(file)
    try:
        entries = list(sound_records(store, str(file)))
    finally:
        store.close()
    yield from (entry for entry in entries if isinstance(entry, DataError))
    records = [entry for entry in entries if not isinstance(entry, DataError)]
    sessions: dict[str, list[Event]] = defaultdict(list)
    for record in records:
        sessions[record["session"]].append(record)
    for conversation in exported(records):
        yield _session(conversation, sessions[conversation["id"]], str(file))


def recorded_session(events: list[Event], place: str) -> Recording | DataError:
    """The one session that these records of a journal are of; `place` is where they come from."""
    (conversation,) = exported(events)
    return _session(conversation, events, place)


def _session(
    conversation: Mapping[str, Json], events: list[Event], file: str
) -> Recording | DataError:
    try:
        messages = read_messages(conversation["messages"])
        verdicts = tuple(_verdicts(events))
    except ValueError as problem:
        return DataError(f"session {conversation['id']}: {problem}", file=file)
    parameters = conversation.get("parameters")
    trace = Trace(run=conversation["id"], messages=messages, parameters=parameters)
    return Recording(
        trace=replace(trace, domain=events[0]["pack"]["name"]),
        verdicts=verdicts,
        redacted=any(REDACTED in json.dumps(event) for event in events),
    )


def _verdicts(events: list[Event]) -> Iterator[tuple[Verdict, ...]]:
    """Per reply with calls what was answered to them; nothing where the journal ends before that."""
    for event, after in pairwise([*events, {"event": "", "verdicts": ()}]):
        if event["event"] == "proposed" and event["calls"]:
            yield tuple(map(verdict_of, after["verdicts"])) if after["event"] == "judged" else ()
