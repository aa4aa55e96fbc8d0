"""The curves of what one process does: records, rules, sessions, journals."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.growth.curve import Curve, as_in_a_gateway, least, repeated
from benchmarks.growth.store import MOVE, PART, STORE, part, returned
from ledgeragent import Domain, predicate, violation
from ledgeragent.gate import Gate
from ledgeragent.gateway.ledgertail import ledger_tail
from ledgeragent.gateway.settings import MAX_LEDGER
from ledgeragent.journal import Journal, open_store, verify
from ledgeragent.journal.checkpoints import Checkpoints
from ledgeragent.journal.resuming import resumed
from ledgeragent.predicates import Broken, View
from ledgeragent.state import State
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.choose import open_session_store
from ledgeragent.stores.memory import Memory
from ledgeragent.types import Reply, UserMessage


def records() -> list[Curve]:
    """One return of n records: taken in, decided by, shown.

    It is taken in as a gateway does, which has the collector of garbage look for circles seldom, and
    as in a process that leaves Python's limits as they are, where it goes through all there is.
    """
    curves = [
        Curve("a return is taken in", "records"),
        Curve("a return is taken in where the collector is left as it is", "records"),
        Curve("a write is judged", "records"),
        Curve("the ledger is shown to the model", "records"),
    ]
    gate = Gate(domain=_with_rules(7))
    for size in (1, 10, 100, 1_000, 10_000, 32_000, 64_000, 100_000):
        content = [part(number) for number in range(size)]
        # No other copy of the records is held meanwhile: going through it would count as well.
        taking_in = partial(returned, State(), "list_parts", content, STORE)
        curves[1].add(size, least(taking_in))
        with as_in_a_gateway():
            curves[0].add(size, least(taking_in))
        state = taking_in()
        curves[2].add(size, repeated(partial(gate.judge, MOVE, state.ledger)))
        curves[3].add(size, least(partial(ledger_tail, state.ledger, MAX_LEDGER)))
        del state
    return curves


def _with_rules(count: int) -> Domain:
    def rule(number: int) -> Any:
        @predicate(f"store/rule-{number}", guards="move_part")
        def on_a_shelf(call: dict[str, str], ledger: View) -> Broken | None:
            """A part stands on a shelf."""
            shelf = ledger[PART(call["id"])]["shelf"]
            return None if shelf != f"{number}" else violation("it is on {shelf}", shelf=shelf)

        return on_a_shelf

    return Domain(
        name="store",
        version="1",
        tools=STORE.tools,
        predicates=tuple(rule(number) for number in range(count)),
    )


def rules() -> list[Curve]:
    """A write that n rules judge."""
    curves = [Curve("a write is judged, all allow", "rules"), Curve("a domain is made", "rules")]
    state = returned(State(), "list_parts", [part(0)], STORE)
    for size in (10, 100, 300, 1_000):
        domain = _with_rules(size)
        gate = Gate(domain=domain)
        curves[0].add(size, repeated(partial(gate.judge, MOVE, state.ledger)))
        curves[1].add(size, repeated(partial(_with_rules, size)))
    return curves


def sessions() -> list[Curve]:
    """A turn of a session, on disk: loaded, one more record read, kept.

    It holds n records of one return, or a conversation of n messages in which each fourth one is a
    return with a record.
    """
    curves = [
        Curve("a turn of a session in SQLite", "records"),
        Curve("a turn of a session in SQLite, a conversation", "messages"),
        Curve("… by a process that has not kept it, and has to load it", "messages"),
        Curve("… what it writes (kB in place of ms)", "messages"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for size in (10, 100, 1_000, 10_000):
            state = returned(State(), "list_parts", [part(n) for n in range(size)], STORE)
            asyncio.run(_turns(f"{folder}/{size}.db", state, size, curves[0]))
        for size in (10, 100, 1_000, 4_000):
            state = State()
            for number in range(size // 4):
                state = state.observe(UserMessage(text=f"And {number}?"), STORE)
                state = returned(state, "get_part", part(number), STORE, id=f"p{number}")
                state = state.observe(Reply(text=f"It is part {number}."), STORE)
            asyncio.run(_turns(f"{folder}/talk-{size}.db", state, size, *curves[1:]))
    return curves


async def _turns(
    file: str,
    state: State,
    size: int,
    curve: Curve,
    anew: Curve | None = None,
    written: Curve | None = None,
) -> None:
    store = open_session_store(file)
    await store.open()
    await store.save("session:a", SavedSession(memory=Memory(session="a", state=state)))
    spent, bytes_written = [], []
    for turn in range(5):
        gc.collect()
        _emptied(file)
        began = time.process_time()
        saved = await store.load("session:a")
        assert saved is not None
        state = saved.memory.state.observe(UserMessage(text="And?"), STORE)
        state = returned(state, "get_part", part(turn), STORE, id=str(turn))
        memory = Memory(session="a", state=state)
        await store.save("session:a", SavedSession(memory=memory, version=saved.version))
        spent.append(time.process_time() - began)
        bytes_written.append(Path(f"{file}-wal").stat().st_size)
    curve.add(size, min(spent))
    if written is not None:
        written.add(size, min(bytes_written) / 1e6)
    await store.close()
    if anew is not None:
        anew.add(size, min([await _loaded(file) for _ in range(5)]))


def _emptied(file: str) -> None:
    """Puts all that has been written into the file itself, so that what comes is all in its log."""
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def _loaded(file: str) -> float:
    store = open_session_store(file)
    await store.open()
    gc.collect()
    began = time.process_time()
    assert await store.load("session:a") is not None
    spent = time.process_time() - began
    await store.close()
    return spent


def journals() -> list[Curve]:
    """A journal of n records: written, opened again, proven."""
    curves = [
        Curve("a journal is written", "records"),
        Curve("a journal is opened again", "records"),
        Curve("a journal is proven", "records"),
    ]
    quiet = Checkpoints(sync="never")
    with tempfile.TemporaryDirectory() as folder:
        for size in (1_000, 10_000, 100_000):
            file = Path(folder, f"{size}.jsonl")
            with Journal.open(file, STORE, checkpoints=quiet) as journal:
                curves[0].add(size, least(partial(_written, journal, size), 1))
            store = open_store(file)
            curves[1].add(size, least(partial(resumed, store)))
            curves[2].add(size, least(partial(verify, store), 1))
            store.close()
    return curves


def _written(journal: Journal, count: int) -> None:
    for number in range(count):
        journal.heard("s", UserMessage(text=f"message {number}: {'Lorem ipsum. ' * 8}"))
