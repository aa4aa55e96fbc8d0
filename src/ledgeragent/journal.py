"""The journal: every observation, proposal, verdict and execution, append-only and hash-chained.

One JSON record a line (or a row of SQLite), each with the hash of the one before it. A record is
handed to the operating system before the event it tells of goes on, so a process that is killed
loses nothing that anybody has seen.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path as File
from typing import Protocol, TypeAlias

from ledgeragent.absorb import Absorption
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError, UsageError
from ledgeragent.gate import Filtered
from ledgeragent.types import Json, Reply, ToolCall, ToolReturn, UserMessage, canonical
from ledgeragent.verdict import Finding, Verdict

JOURNAL_VERSION = 1
GENESIS = "0" * 64
REDACTED = "[redacted]"

Record: TypeAlias = dict[str, Json]


def chained(record: Mapping[str, Json], previous: str) -> Record:
    """The record with its place in the chain: the hash of the one before it, and its own."""
    linked = {**record, "prev": previous}
    return {**linked, "hash": hashlib.sha256(_line(linked).encode()).hexdigest()}


def _line(record: Mapping[str, Json]) -> str:
    """The record on one line; half a character is written as its JSON escape."""
    return canonical(record).encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """What a check of a journal found: `records` intact ones, `torn` bytes after them, a `problem`.

    `problem` names the first record that was changed, removed or reordered; None if there is none.
    """

    records: int
    head: str
    torn: int = 0
    problem: str | None = None

    @property
    def intact(self) -> bool:
        """True if no record was changed, removed or reordered."""
        return self.problem is None


class Store(Protocol):
    """Where records are kept, in order."""

    def append(self, line: str) -> None:
        """Adds one record; returns once it has been handed to the operating system."""
        ...

    def lines(self) -> Iterator[str]:
        """Every whole record, oldest first."""
        ...

    def torn(self) -> bytes:
        """What follows the last whole record: the part of one that was being written."""
        ...

    def drop_torn(self) -> None:
        """Sets the torn part aside, so that writing can go on behind the last whole record."""
        ...

    def close(self) -> None:
        """Releases the file."""
        ...


class JsonlStore:
    """One record a line. A second writer is refused while one has the file open."""

    def __init__(self, file: File, *, writable: bool) -> None:
        self.file = file
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND if writable else os.O_RDONLY
        try:
            self._handle = os.open(file, flags, 0o600)
        except OSError as problem:
            raise DataError(problem.strerror or str(problem), file=str(file)) from None
        if writable:
            _lock(self._handle, file)

    def append(self, line: str) -> None:
        """Adds one record; returns once it has been handed to the operating system.

        What was written of a record that doesn't fit on the disk is taken back, and OSError raised.
        """
        whole = f"{line}\n".encode()
        left = memoryview(whole)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError:
            written = len(whole) - len(left)
            os.ftruncate(self._handle, os.fstat(self._handle).st_size - written)
            raise

    def lines(self) -> Iterator[str]:
        """Every whole record, oldest first."""
        with self.file.open("rb") as stream:
            for line in stream:
                if line.endswith(b"\n"):
                    yield line.decode("utf-8", "replace").rstrip("\n")

    def torn(self) -> bytes:
        """The bytes after the last line end."""
        with self.file.open("rb") as stream:
            last = b""
            for line in stream:
                last = line
        return b"" if last.endswith(b"\n") else last

    def drop_torn(self) -> None:
        """Moves the torn part to a file of its own beside the journal."""
        torn = self.torn()
        if torn:
            size = self.file.stat().st_size - len(torn)
            self.file.with_name(f"{self.file.name}.torn-{size}").write_bytes(torn)
            os.truncate(self._handle, size)

    def close(self) -> None:
        """Releases the file."""
        os.close(self._handle)


def _locked(file: File) -> int:
    """A handle that keeps other writers away from a journal for as long as it is open."""
    lock = file.with_name(f"{file.name}.lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        raise DataError(problem.strerror or str(problem), file=str(file)) from None
    _lock(handle, file)
    return handle


def _lock(handle: int, file: File) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise UsageError(f"{file}: another process is writing this journal") from None


class SqliteStore:
    """One record a row; SQLite's own log makes a torn record impossible.

    A second writer is refused, as long as one has the file of the same name with `.lock` behind it.
    """

    def __init__(self, file: File, *, writable: bool) -> None:
        if not writable and not file.exists():
            raise DataError("there is no such journal", file=str(file))
        # Not the database itself: to close any other handle on it would undo SQLite's own locks.
        self._handle = _locked(file) if writable else None
        try:
            # The journal sees to it that only one thread at a time is here.
            self._base = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY, record TEXT NOT NULL)"
            )
        except sqlite3.DatabaseError as problem:
            self._release()
            raise DataError(f"not a journal: {problem}", file=str(file)) from None

    def append(self, line: str) -> None:
        """Adds one record in a transaction of its own."""
        self._base.execute("INSERT INTO journal (record) VALUES (?)", (line,))

    def lines(self) -> Iterator[str]:
        """Every record, oldest first."""
        for (line,) in self._base.execute("SELECT record FROM journal ORDER BY seq"):
            yield line

    def torn(self) -> bytes:
        """Nothing: a transaction is whole or absent."""
        return b""

    def drop_torn(self) -> None:
        """Nothing to set aside."""

    def close(self) -> None:
        """Releases the file."""
        self._base.close()
        self._release()

    def _release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def open_store(file: File | str, *, writable: bool = False) -> Store:
    """The store for a file: SQLite for `.sqlite` and `.db`, else one JSON record a line."""
    path = File(file)
    kind = SqliteStore if path.suffix in {".sqlite", ".sqlite3", ".db"} else JsonlStore
    return kind(path, writable=writable)


def verify(store: Store) -> Chain:
    """Recomputes the chain; stops at the first record that does not belong where it stands."""
    previous, count = GENESIS, 0
    for line in store.lines():
        try:
            record = json.loads(line)
            given = record.pop("hash")
        except (ValueError, KeyError, AttributeError):
            return Chain(records=count, head=previous, problem=f"record {count + 1} is unreadable")
        if record.get("prev") != previous:
            problem = f"record {count + 1} does not follow the one before it"
            return Chain(records=count, head=previous, problem=problem)
        expected = hashlib.sha256(_line(record).encode()).hexdigest()
        if given != expected:
            problem = f"record {count + 1} was changed after it was written"
            return Chain(records=count, head=previous, problem=problem)
        previous, count = given, count + 1
    return Chain(records=count, head=previous, torn=len(store.torn()))


def read(store: Store) -> Iterator[Record]:
    """Every whole record, oldest first, without checking the chain."""
    return (json.loads(line) for line in store.lines())


def stamp_of(domain: Domain) -> Mapping[str, Json]:
    """Which pack, in which version, with which content."""
    return {"name": domain.name, "version": domain.version, "digest": domain.digest}


class Journal:
    """Writes the events of conversations. One per file; `session` tells conversations apart.

    Threads may share one.

    `redact` lists paths whose values are never written, e.g. `users.*.email`, `args.reason` or
    `text` (what was said); `*` stands for one segment, and everything below a listed path goes
    with it. Reasons and returns that could repeat a redacted value are then left out whole.
    """

    def __init__(self, store: Store, domain: Domain, *, redact: Sequence[str] = ()) -> None:
        self._store = store
        self._stamp = stamp_of(domain)
        self._lock = threading.Lock()
        self._redaction = Redaction(redact)
        chain = verify(store)
        if not chain.intact:
            raise UsageError(f"the journal cannot be continued: {chain.problem}")
        self._head = chain.head
        self._count = chain.records
        if chain.torn:
            store.drop_torn()
            self._write("recovered", "", {"torn_bytes": chain.torn})

    @classmethod
    def open(cls, file: File | str, domain: Domain, *, redact: Sequence[str] = ()) -> Journal:
        """The journal in this file, to be written on: SQLite for `.sqlite` and `.db`, else JSON Lines."""
        return cls(open_store(file, writable=True), domain, redact=redact)

    def keeps(self, domain: Domain) -> bool:
        """True if this domain's verdicts are what the journal is stamped for."""
        return self._stamp == stamp_of(domain)

    def heard(self, session: str, message: UserMessage) -> None:
        """A message of the user."""
        self._write("heard", session, {"text": self._text(message.text)})

    def proposed(self, session: str, reply: Reply) -> None:
        """A reply as the model generated it."""
        calls = [self._call(call) for call in reply.calls]
        self._write("proposed", session, {"text": self._text(reply.text), "calls": calls})

    def judged(self, session: str, filtered: Filtered, *, shadow: bool = False) -> None:
        """The verdicts on a reply. `shadow` marks verdicts that changed nothing."""
        verdicts = [self._verdict(verdict) for verdict in filtered.verdicts]
        self._write("judged", session, {"verdicts": verdicts, "shadow": shadow})

    def observed(
        self, session: str, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> None:
        """What a read answered, and where it was stored."""
        self._write("observed", session, self._returned(call, returned, absorption))

    def executed(
        self, session: str, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> None:
        """A call other than a read that ran, and what it answered."""
        self._write("executed", session, self._returned(call, returned, absorption))

    def close(self) -> None:
        """Releases the store."""
        self._store.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, event: str, session: str, data: Mapping[str, Json]) -> None:
        with self._lock:
            record = {
                "journal": JOURNAL_VERSION,
                "seq": self._count + 1,
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "session": session,
                "event": event,
                "pack": self._stamp,
                **data,
            }
            linked = chained(record, self._head)
            self._store.append(_line(linked))
            self._head = linked["hash"]
            self._count += 1

    def _text(self, text: str) -> Json:
        return self._redaction.value(("text",), text)

    def _call(self, call: ToolCall) -> Record:
        arguments = self._redaction.value(("args",), dict(call.arguments))
        told = {"id": call.id, "name": call.name, "arguments": arguments}
        return told if call.malformed is None else {**told, "malformed": call.malformed}

    def _returned(
        self, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> Mapping[str, Json]:
        return {
            "call": self._call(call),
            "content": self._redaction.content(returned.content, absorption),
            "error": returned.error,
            "stored": [str(path) for path in absorption.stored],
            "skipped": absorption.skipped,
        }

    def _verdict(self, verdict: Verdict) -> Record:
        return {
            "call": self._call(verdict.call),
            "decision": verdict.decision.name,
            "findings": [self._finding(f) for f in verdict.findings],
            "shadow": [self._finding(f) for f in verdict.shadow],
        }

    def _finding(self, finding: Finding) -> Record:
        return {
            "predicate": finding.predicate,
            "clause": finding.clause,
            "kind": finding.kind.value,
            "decision": finding.decision.name,
            "enforcement": finding.enforcement.value,
            "reason": REDACTED if self._redaction else finding.reason,
            "reads": [self._call(call) for call in finding.reads],
            "evidence": [
                {
                    "path": fact.path,
                    "value": self._redaction.value((*fact.record, *fact.fields), fact.value),
                    "source": fact.source.name,
                    "turn": fact.turn,
                }
                for fact in finding.evidence
            ],
            "error": finding.error,
        }


class Redaction:
    """Which values stay out of a journal. False if none do."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [tuple(pattern.split(".")) for pattern in patterns]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def value(self, path: tuple[str, ...], value: Json) -> Json:
        """The value with every part at a listed path replaced."""
        if not self._patterns:
            return value
        if any(_covers(pattern, path) for pattern in self._patterns):
            return REDACTED
        if isinstance(value, Mapping):
            return {key: self.value((*path, str(key)), part) for key, part in value.items()}
        if isinstance(value, list):
            return [self.value((*path, str(n)), part) for n, part in enumerate(value)]
        return value

    def content(self, content: Json, absorption: Absorption) -> Json:
        """What a tool returned, without the listed parts of the records that it held.

        With a redaction in force, a return that was not stored as exactly one record is left out whole.
        """
        if not self._patterns:
            return content
        if len(absorption.stored) != 1:
            return REDACTED
        entry = absorption.ledger.get(absorption.stored[0])
        return self.value(tuple(entry.path), entry.value) if entry is not None else REDACTED


def _covers(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if len(path) < len(pattern):
        return False
    return all(want in ("*", got) for want, got in zip(pattern, path, strict=False))
