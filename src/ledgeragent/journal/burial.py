"""Burial: a conversation, or a chain as a whole, leaves a database of which others go on writing.

What was taken out is told in a chain of the burial's own, so that the chains still hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ledgeragent.errors import DataError, UsageError
from ledgeragent.journal.chain import Chain, verify
from ledgeragent.journal.chainwriter import ChainWriter, Happening
from ledgeragent.journal.checkpoints import CheckpointPlan
from ledgeragent.journal.crossreferences import CrossReferences
from ledgeragent.journal.database import DatabaseError, JournalDatabase
from ledgeragent.journal.opening import open_to_write
from ledgeragent.journal.postgres import PostgresStore
from ledgeragent.journal.sealing import line_of, parsed, tombstone
from ledgeragent.types import Json

_NOBODY = {"name": "-", "version": "-", "digest": ""}
"""No pack judged what a burial records."""


def bury(address: str, session: str, plan: CheckpointPlan) -> tuple[int, int]:
    """Takes a conversation out of all chains.

    The numbers of its records, and of heads that a place did not take. Each record becomes a
    tombstone. UsageError where a chain is broken, or there is no such conversation.
    """
    base = JournalDatabase(address)
    try:
        stones = _stones(base, session)
        if not stones:
            raise UsageError(f"{base.shown}: there is no conversation {session} in it")
        for chain in stones:
            _intact(base, chain)
        # Told first: a tombstone that nobody tells of would speak against the journal.
        data = {"chains": {name: sorted(lines) for name, lines in stones.items()}}
        lost = _record(address, plan, [("erased", data)])
        for chain, lines in stones.items():
            base.replace(chain, lines)
    except DatabaseError as problem:
        raise DataError(str(problem), file=base.shown) from None
    finally:
        base.close()
    return sum(map(len, stones.values())), lost


def drop(address: str, chain: str, plan: CheckpointPlan) -> tuple[int, int]:
    """Takes a whole chain out that nobody writes: its records, and heads that a place did not take."""
    base = JournalDatabase(address)
    try:
        if chain not in base.chains():
            raise UsageError(f"{base.shown}: there is no chain {chain} in it")
        if not base.lock(chain):
            raise UsageError(f"{base.shown}: chain {chain} is being written; nothing was erased")
        end = _intact(base, chain)
        # Nobody takes it up any more, this burial's own writer included.
        PostgresStore(base, chain).end()
        data = {"chain": chain, "records": end.records, "head": end.head, "origin": end.origin}
        lost = _record(address, plan, [*_retold(base, chain), ("dropped", data)])
        base.drop(chain)
    except DatabaseError as problem:
        raise DataError(str(problem), file=base.shown) from None
    finally:
        base.close()
    return end.records, lost


def _stones(base: JournalDatabase, session: str) -> Mapping[str, dict[int, str]]:
    """The tombstones of a conversation, by chain and number."""
    stones: dict[str, dict[int, str]] = {}
    for chain, line in base.holding(line_of({"session": session})[1:-1]) if session else ():
        record = parsed(line)
        if record.get("session") == session:
            stone = tombstone(record["seq"], record["prev"], record["hash"])
            stones.setdefault(chain, {})[record["seq"]] = stone
    return stones


def _intact(base: JournalDatabase, chain: str) -> Chain:
    buried = CrossReferences.read(base).erased.get(chain, ())
    end = verify(PostgresStore(base, chain), buried=buried)
    if not end.intact:
        raise UsageError(f"{base.shown}: chain {chain}: {end.problem}; nothing was erased")
    return end


def _retold(base: JournalDatabase, chain: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """What a chain tells of others, which somebody has to tell once it is gone."""
    for teller, line in base.telling():
        record = parsed(line)
        if teller == chain and record["event"] == "erased":
            yield "erased", {"chains": record["chains"]}
        elif teller == chain and record["event"] == "dropped":
            yield "dropped", {key: record[key] for key in ("chain", "records", "head", "origin")}


def _record(
    address: str, plan: CheckpointPlan, events: Iterable[tuple[str, Mapping[str, Json]]]
) -> int:
    """Writes events in a chain of their own; how many heads were not taken."""
    store, checkpoints = open_to_write(address, plan.checkpoints(address))
    writer = ChainWriter(store, checkpoints, _NOBODY)
    try:
        for event, data in events:
            writer.write(Happening(event=event, stamp=_NOBODY, data=data))
    except BaseException:
        writer.close()
        raise
    return writer.close()
