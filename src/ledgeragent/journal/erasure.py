"""Erasure: a conversation leaves a journal, and the hashes of its records stay, so that the chain holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path as File

from ledgeragent.errors import UsageError
from ledgeragent.files.private import replacing
from ledgeragent.journal.chain import Chain, verify
from ledgeragent.journal.chainwriter import record_of, utc_now
from ledgeragent.journal.checkpoints import CheckpointPlan, Checkpoints
from ledgeragent.journal.heads import Head
from ledgeragent.journal.opening import open_store
from ledgeragent.journal.sealing import parsed, sealed, tombstone
from ledgeragent.journal.stores import Store
from ledgeragent.types import Json


def erase(file: str, session: str, plan: CheckpointPlan) -> tuple[int, int]:
    """Takes a conversation out of a journal that nobody writes.

    The numbers of its records, and of places that did not take the new head.

    Each becomes a tombstone, and a record at the end tells which they were. The new file is written
    beside the old one and takes its place when it is whole. UsageError where the chain is broken or
    there is no such conversation.
    """
    store = open_store(file, writable=True)
    try:
        checkpoints = plan.checkpoints(file)
        chain = verify(store, heads=checkpoints.own)
        if chain.problem is not None or chain.torn:
            raise UsageError(
                f"{file}: {chain.problem or 'its last record is torn'}; nothing was erased"
            )
        seqs = _seqs(store, session)
        if not seqs:
            raise UsageError(f"{file}: there is no conversation {session} in it")
        with replacing(File(file)) as draft:
            end = _write_without(store, draft, seqs, _last_records(chain, seqs, checkpoints))
            store.make_replaceable()
    finally:
        store.close()
    if plan.is_used:
        # Only now: a head that the file does not come to would speak against it.
        checkpoints.keep(replace(end, origin=chain.origin))
    return len(seqs), checkpoints.close()


def _seqs(store: Store, session: str) -> list[int]:
    records = map(parsed, store.lines())
    return [r["seq"] for r in records if session and r.get("session") == session]


def _last_records(
    chain: Chain, seqs: list[int], checkpoints: Checkpoints
) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The events that are added, with their data."""
    if checkpoints.signer and checkpoints.covered < chain.records:
        yield "unsigned", {"unsigned": chain.records - checkpoints.covered}
    yield "erased", {"seqs": seqs}


def _write_without(
    store: Store, draft: File, seqs: list[int], events: Iterable[tuple[str, Mapping[str, Json]]]
) -> Head:
    """Writes what remains, and the events; the head after them."""
    new = open_store(draft, writable=True)
    gone, record = frozenset(seqs), dict[str, Json]()
    try:
        for line in store.lines():
            record = parsed(line)
            stone = tombstone(record["seq"], record["prev"], record["hash"])
            new.append(stone if record["seq"] in gone else line)
        # Where the clock was set back, the last record's time: what is added came after it.
        count, digest, time = record["seq"], record["hash"], max(utc_now(), record.get("time", ""))
        for event, data in events:
            count += 1
            line, digest = sealed(record_of(count, time, event, "", _NOBODY, data), digest)
            new.append(line)
        new.sync()
        return Head(records=count, hash=digest, time=time, origin="", occasion="erase")
    finally:
        new.close()
        draft.with_name(f"{draft.name}.lock").unlink(missing_ok=True)


_NOBODY = {"name": "-", "version": "-", "digest": ""}
"""No pack judged what an erasure records."""
