"""The journal: every observation, proposal, verdict and execution, append-only and hash-chained.

One JSON record a line (or a row of SQLite), each with the hash of the one before it. A record is
handed to the operating system before the event it tells of goes on, so a process that is killed
loses nothing that anybody has seen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path as File
from typing import TypeAlias

from ledgeragent.absorb import Absorption
from ledgeragent.domain import Domain
from ledgeragent.errors import LedgerAgentError, UsageError
from ledgeragent.gate import Filtered
from ledgeragent.journal.chain import JOURNAL_VERSION, sealed, verify
from ledgeragent.journal.checkpoints import NO_CHECKPOINTS, Checkpoints
from ledgeragent.journal.heads import Head
from ledgeragent.journal.redaction import Redaction
from ledgeragent.journal.stores import Store, open_store
from ledgeragent.journal.verdicts import call_json, verdict_json
from ledgeragent.journal.vocabulary import vocabulary
from ledgeragent.types import Json, Reply, ToolCall, ToolReturn, UserMessage

Hear: TypeAlias = Callable[[Mapping[str, Json], str], None]
"""Is told of a record once it is written: as data, and as the line that stands in the journal."""


def stamp_of(domain: Domain) -> Mapping[str, Json]:
    """Which pack, in which version, with which content."""
    return {"name": domain.name, "version": domain.version, "digest": domain.digest}


def record_of(
    seq: int,
    time: str,
    event: str,
    session: str,
    stamp: Mapping[str, Json],
    data: Mapping[str, Json],
) -> Mapping[str, Json]:
    """A record without its place in the chain."""
    return {
        "journal": JOURNAL_VERSION,
        "seq": seq,
        "time": time,
        "session": session,
        "event": event,
        "pack": stamp,
        **data,
    }


@dataclass(slots=True)
class _ChainEnd:
    """Where the chain goes on; `covered` records of it stood before the last checkpoint."""

    head: str
    count: int
    time: str = ""
    covered: int = 0
    origin: str = ""


class Journal:
    """Writes the events of conversations. One per file; `session` tells conversations apart.

    Threads may share one.

    `redact` lists paths whose values are never written, e.g. `users.*.email`, `args.reason`,
    `params.code` or `text` (what was said); `*` stands for one segment, and everything below a listed
    path goes with it. Such a value is left out wherever it stands from then on. Reasons and returns
    that could repeat a redacted value are left out whole. `checkpoints` tells when the head is signed,
    where it is kept, and when all is forced to the disk.
    """

    def __init__(
        self,
        store: Store,
        domain: Domain,
        *,
        redact: Sequence[str] = (),
        checkpoints: Checkpoints = NO_CHECKPOINTS,
    ) -> None:
        self._store = store
        self._stamp = stamp_of(domain)
        self._parameters = domain.parameters
        self._lock = threading.RLock()
        self._redaction = Redaction(redact, words=vocabulary(domain))
        self._checkpoints = checkpoints
        self._hear: Hear | None = None
        chain = verify(store, heads=checkpoints.own)
        if not chain.intact:
            raise UsageError(f"the journal cannot be continued: {chain.problem}")
        covered = checkpoints.covered
        self._end = _ChainEnd(chain.head, chain.records, chain.time, covered, chain.origin)
        if checkpoints.signer and covered < chain.records:
            self._write("unsigned", "", {"unsigned": chain.records - covered})
        if chain.torn:
            store.drop_torn()
            self._write("recovered", "", {"torn_bytes": chain.torn})

    @classmethod
    def open(
        cls,
        file: File | str,
        domain: Domain,
        *,
        redact: Sequence[str] = (),
        checkpoints: Checkpoints = NO_CHECKPOINTS,
    ) -> Journal:
        """The journal in this file, to be written on: SQLite for `.sqlite` and `.db`, else JSON Lines."""
        store = open_store(file, writable=True)
        try:
            return cls(store, domain, redact=redact, checkpoints=checkpoints)
        except LedgerAgentError:
            store.close()
            raise

    def under(self, domain: Domain, *, redact: Sequence[str] = ()) -> Journal:
        """The same journal for another domain, such as a new version of a pack: one chain, two stamps."""
        other = copy(self)
        other._stamp = stamp_of(domain)
        other._parameters = domain.parameters
        other._redaction = Redaction(redact, self._redaction, words=vocabulary(domain))
        return other

    def telling(self, hear: Hear) -> Journal:
        """The same journal, which tells of each record that is written through it."""
        other = copy(self)
        other._hear = hear
        return other

    def keeps(self, domain: Domain) -> bool:
        """True if this domain's verdicts are what the journal is stamped for."""
        return self._stamp == stamp_of(domain) and self._parameters == domain.parameters

    def heard(self, session: str, message: UserMessage) -> None:
        """A message of the user."""
        self._write("heard", session, {"text": self._text(message.text)})

    def proposed(self, session: str, reply: Reply) -> None:
        """A reply as the model generated it."""
        calls = [call_json(call, self._redaction) for call in reply.calls]
        self._write("proposed", session, {"text": self._text(reply.text), "calls": calls})

    def judged(self, session: str, filtered: Filtered, *, shadow: bool = False) -> None:
        """The verdicts on a reply, with what else they hang on: the pack's parameters and the time.

        `shadow` marks verdicts that changed nothing.
        """
        verdicts = [verdict_json(verdict, self._redaction) for verdict in filtered.verdicts]
        time = {"now": filtered.now} if filtered.now else {}
        values = self._redaction.value(("params",), dict(self._parameters))
        parameters = {"parameters": values} if values else {}
        self._write(
            "judged", session, {"verdicts": verdicts, "shadow": shadow, **parameters, **time}
        )

    def observed(
        self, session: str, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> None:
        """The answer of a read, and where it was stored."""
        self._write("observed", session, self._returned(call, returned, absorption))

    def executed(
        self, session: str, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> None:
        """A call other than a read that ran, and what it answered."""
        self._write("executed", session, self._returned(call, returned, absorption))

    def checkpoint(self, occasion: str = "asked") -> Head:
        """Takes the head, signs it if there is a key, and sends it to where heads are kept."""
        with self._lock:
            if self._checkpoints.sync != "never":
                self._store.sync()
            head = Head(
                records=self._end.count,
                hash=self._end.head,
                time=utc_now(),
                origin=self._end.origin,
                occasion=occasion,
            )
            self._end.covered = head.records
            return self._checkpoints.keep(head)

    def close(self) -> None:
        """Takes the last head and releases the store."""
        try:
            if self._end.count > self._end.covered:
                self.checkpoint("close")
            self._checkpoints.close()
        finally:
            self._store.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, event: str, session: str, data: Mapping[str, Json]) -> None:
        with self._lock:
            data, session = self._redaction.everywhere(data), self._redaction.name(session)
            time, before = utc_now(), self._end.time
            if time < before:
                self._append("clock", "", time, {"was": before})
            self._append(event, session, time, data)
            if self._checkpoints.sync == "always":
                self._store.sync()
            if self._end.count - self._end.covered >= self._checkpoints.every:
                self.checkpoint("count")

    def _append(self, event: str, session: str, time: str, data: Mapping[str, Json]) -> None:
        record = record_of(self._end.count + 1, time, event, session, self._stamp, data)
        line, digest = sealed(record, self._end.head)
        self._store.append(line)
        self._end.head, self._end.time = digest, time
        self._end.origin = self._end.origin or digest
        self._end.count += 1
        if self._hear is not None:
            self._hear(record, line)

    def _text(self, text: str) -> Json:
        return self._redaction.value(("text",), text)

    def _returned(
        self, call: ToolCall, returned: ToolReturn, absorption: Absorption
    ) -> Mapping[str, Json]:
        return {
            "call": call_json(call, self._redaction),
            "content": self._redaction.content(returned.content, absorption),
            "error": returned.error,
            "lost": returned.lost,
            "stored": [str(path) for path in absorption.stored],
            "skipped": self._redaction.text(absorption.skipped)
            if absorption.problems
            else absorption.skipped,
        }


def utc_now() -> str:
    """The time as records have it, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
