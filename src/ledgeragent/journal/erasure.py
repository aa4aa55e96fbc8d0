"""Erasure: a conversation leaves a journal, and the hashes of its records stay, so that the chain holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path as File

from ledgeragent.domain import Domain
from ledgeragent.errors import UsageError
from ledgeragent.journal.chain import parsed, tombstone, verify
from ledgeragent.journal.checkpoints import CheckpointPlan, Checkpoints
from ledgeragent.journal.heads import Head
from ledgeragent.journal.private import replacing
from ledgeragent.journal.stores import Store, open_store
from ledgeragent.journal.writer import Journal


def erase(file: str, session: str, plan: CheckpointPlan) -> int:
    """Takes a conversation out of a journal that nobody writes; the number of its records.

    Each becomes a tombstone, and a record at the end tells which they were. The new file is written
    beside the old one and takes its place when it is whole. UsageError where the chain is broken or
    there is no such conversation.
    """
    store = open_store(file, writable=True)
    try:
        checkpoints = plan.checkpoints(file)
        chain = verify(store, heads=checkpoints.earlier)
        if chain.problem is not None or chain.torn:
            raise UsageError(
                f"{file}: {chain.problem or 'its last record is torn'}; nothing was erased"
            )
        seqs = _seqs(store, session)
        if not seqs:
            raise UsageError(f"{file}: there is no conversation {session} in it")
        with replacing(File(file)) as draft:
            head = _write_without(store, draft, frozenset(seqs), checkpoints)
            store.empty_log()
    finally:
        store.close()
    if plan.is_used:
        checkpoints.keep(head)
    checkpoints.close()
    return len(seqs)


def _seqs(store: Store, session: str) -> list[int]:
    records = map(parsed, store.lines())
    return [r["seq"] for r in records if session and r.get("session") == session]


def _write_without(
    store: Store, draft: File, seqs: frozenset[int], checkpoints: Checkpoints
) -> Head:
    """Writes what remains, and a record of what was taken out; the head after it."""
    new = open_store(draft, writable=True)
    try:
        for line in _remaining(store, seqs):
            new.append(line)
        # The heads go out once the new file stands in its place.
        with Journal(new, _NOBODY, checkpoints=replace(checkpoints, places=())) as journal:
            journal.erased(sorted(seqs))
            return journal.checkpoint("erase")
    finally:
        new.close()
        draft.with_name(f"{draft.name}.lock").unlink(missing_ok=True)


def _remaining(store: Store, seqs: frozenset[int]) -> Iterator[str]:
    for line in store.lines():
        record = parsed(line)
        gone = record["seq"] in seqs
        yield tombstone(record["seq"], record["prev"], record["hash"]) if gone else line


_NOBODY = Domain(name="-", version="-", tools=())
"""No pack judged what an erasure records."""
