"""A session that is kept again writes what is new in it, and comes back as it was, whatever happens."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.render import render
from ledgeragent.state import State
from ledgeragent.stores import base
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.codec import loads
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError
from ledgeragent.stores.lately import LatelyKept, Stamp
from ledgeragent.stores.memory import Memory
from ledgeragent.stores.rows import SessionRows, change_to
from ledgeragent.stores.sqlite import SqliteSessions
from ledgeragent.types import Reply, ToolReturn, UserMessage
from tests.gateway.test_stores import MakeStore, make_store
from tests.lending.domain import BOOK_IN, LIBRARY, answer, call
from tests.property.world import DOMAIN, searched, steps

__all__ = ["make_store"]

FATES = st.sampled_from(["answered", "lost", "open"])
LISTENING = replace(DOMAIN, listens=True)


def saved_of(state: State, version: int = 0) -> SavedSession:
    return SavedSession(memory=Memory(session="s", state=state, size=100), version=version)


@searched
@given(st.lists(st.tuples(steps, FATES, st.booleans()), max_size=10), st.integers(0, 3))
def test_what_is_put_turn_by_turn_is_what_was_kept(taken: list, forgets: int) -> None:  # type: ignore[type-arg]
    """Also where it is not known now and then what is there, so that all of it is put."""
    state, kept, rows = State(), None, dict[tuple[str, int], str]()
    for number, (step, fate, hears) in enumerate(taken):
        made = replace(step.call, id=f"c{number}")
        state = state.observe(Reply(text=f"{number}", calls=(made,)), LISTENING)
        if hears:
            state = state.observe(UserMessage(text=f"heard {number}"), LISTENING)
        if fate != "open":
            returned = replace(step.returned, call_id=made.id, lost=fate == "lost")
            state = state.observe(returned, LISTENING)
        change = change_to(saved_of(state, number), kept)
        if change.is_whole:
            rows.clear()
        for key in change.gone:
            rows.pop(key, None)
        rows.update({(kind, at): body for kind, at, body in change.put})
        back, places = loads(change.head, number, [(*key, body) for key, body in rows.items()])
        assert back == saved_of(state._replace(last=None), number)
        assert list(back.memory.state.ledger) == list(state.ledger)
        assert render(back.memory.state.ledger) == render(state.ledger)
        assert places is not None and dict(places) == dict(change.rows.places)
        # Sometimes another process goes on with it, which only has what was loaded.
        kept = SessionRows(back, places) if number % 3 == 1 else change.rows
        state = back.memory.state if number % 3 == 1 else state
        kept = None if forgets and number % (forgets + 1) == 0 else kept


def turn(state: State, number: int) -> State:
    """One more book is read."""
    read = call("get_book", f"b{number}", book_id=f"B{number}")
    state = state.observe(Reply(calls=(read,)), LIBRARY)
    return state.observe(answer(read, {**BOOK_IN, "book_id": f"B{number}"}), LIBRARY)


def test_a_turn_puts_what_is_new_however_long_the_conversation() -> None:
    sizes = []
    for length in (10, 1_000):
        state = State()
        for number in range(length):
            state = turn(state, number)
        before = change_to(saved_of(state), None).rows
        change = change_to(saved_of(turn(state, length)), before)
        assert [row.kind for row in change.put] == ["entry"]
        assert not change.gone
        sizes.append(len(change.head) + sum(len(row.body) for row in change.put))
    assert sizes[1] <= sizes[0] + 20


def test_every_store_goes_on_where_another_stopped(make_store: MakeStore) -> None:
    async def scenario() -> None:
        stores = [make_store(), make_store()]
        state, version = State(), 0
        for store in stores:
            await store.open()
        for number in range(12):
            store = stores[number // 2 % 2]
            known = await store.load("session:a")
            assert (known is None) == (number == 0)
            if known is not None:
                assert known.memory.state.ledger == state.ledger
                assert list(known.memory.state.ledger) == list(state.ledger)
                version = known.version
            state = turn(known.memory.state if known is not None else State(), number)
            await store.save("session:a", saved_of(state, version))
            if number:
                with pytest.raises(SessionChangedError):
                    await stores[number % 2].save("session:a", saved_of(State(), version))
        for store in (*stores, make_store()):
            if store not in stores:
                await store.open()
            known = await store.load("session:a")
            assert known is not None
            assert known.memory.state.ledger == state._replace(last=None).ledger
            await store.close()

    asyncio.run(scenario())


Work = Callable[[SqliteSessions], Any]


def with_store(file: Path, work: Work) -> Any:
    async def scenario() -> Any:
        store = SqliteSessions(str(file))
        await store.open()
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(scenario())


def rows_in(file: Path) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(file)
    try:
        return database.execute("SELECT * FROM session_rows ORDER BY 1, 2, 3").fetchall()
    finally:
        database.close()


def test_a_save_that_fails_half_way_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "sessions.db"
    first = turn(State(), 1)

    async def scenario(store: SqliteSessions) -> None:
        await store.save("session:a", saved_of(first))
        run, statements = store._run, []

        def failing(statement: str, *values: object) -> Any:
            statements.append(statement)
            if "INTO session_rows" in statement:
                raise SessionStoreError("the disk is full")
            return run(statement, *values)

        known = await store.load("session:a")
        assert known is not None
        monkeypatch.setattr(store, "_run", failing)
        with pytest.raises(SessionStoreError, match="full"):
            await store.save("session:a", saved_of(turn(first, 2), 1))
        monkeypatch.undo()
        assert any("UPDATE" in statement for statement in statements)
        again = await store.load("session:a")
        assert again is not None
        assert (again.version, len(list(again.memory.state.ledger))) == (1, 1)
        await store.save("session:a", saved_of(turn(first, 3), 1))

    with_store(file, scenario)
    assert [row[2] for row in rows_in(file)] == [0, 1]


def test_what_is_dropped_for_its_age_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "sessions.db"
    with_store(file, lambda store: store.save("session:a", saved_of(turn(State(), 1))))
    assert rows_in(file)
    monkeypatch.setattr("ledgeragent.stores.sqlite.IDLE_SECONDS", -1.0)
    assert base.IDLE_SECONDS > 0
    assert with_store(file, lambda store: store.load("session:a")) is None
    assert rows_in(file) == []


def test_a_session_of_the_same_name_is_not_taken_for_the_one_before(tmp_path: Path) -> None:
    """Dropped, and begun anew by another process, it has the version that this one knows."""
    file = tmp_path / "sessions.db"

    async def scenario(store: SqliteSessions) -> None:
        await store.save("session:a", saved_of(turn(State(), 1)))
        known = await store.load("session:a")
        assert known is not None
        other = SqliteSessions(str(file))
        await other.open()
        await other._in_thread(lambda: other._run("DELETE FROM sessions"))
        await other.save("session:a", saved_of(turn(State(), 2)))
        await other.close()
        with pytest.raises(SessionChangedError):
            await store.save("session:a", known)
        now = await store.load("session:a")
        assert now is not None
        assert [str(entry.path) for entry in now.memory.state.ledger] == ["books.B2"]

    with_store(file, scenario)


OLD = """CREATE TABLE sessions
(name TEXT PRIMARY KEY, version INTEGER NOT NULL, saved TEXT NOT NULL, used REAL NOT NULL)"""


def old_text(state: State) -> str:
    """A session as the version before kept it: all of it in one text."""
    change = change_to(saved_of(state), None)
    data = json.loads(change.head)
    ledger = data["state"]["ledger"]
    for kind, name in (("entry", "entries"), ("write", "writes"), ("utterance", "utterances")):
        ledger[name] = [json.loads(row.body) for row in change.put if row.kind == kind]
    del data["doubtful"]
    return json.dumps({**data, "format": 1})


def test_a_file_of_the_version_before_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "sessions.db"
    state = turn(turn(State(), 1), 2)
    database = sqlite3.connect(file)
    database.execute(OLD)
    row = ("session:a", 7, old_text(state), 4e9)
    database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", row)
    database.commit()
    database.close()

    async def scenario(store: SqliteSessions) -> None:
        for number in (3, 4):
            known = await store.load("session:a")
            assert known is not None
            assert known.version == 4 + number
            assert len(list(known.memory.state.ledger)) == number - 1
            await store.save("session:a", saved_of(turn(known.memory.state, number), known.version))

    with_store(file, scenario)
    assert [row[1:3] for row in rows_in(file)] == [("entry", n) for n in range(4)]


def test_a_session_of_a_later_version_is_told_and_not_misread(tmp_path: Path) -> None:
    file = tmp_path / "sessions.db"
    with_store(file, lambda store: store.save("session:a", saved_of(State())))
    database = sqlite3.connect(file)
    database.execute("""UPDATE sessions SET saved = replace(saved, '"format":2', '"format":3')""")
    database.commit()
    database.close()
    with pytest.raises(SessionStoreError, match="later version"):
        with_store(file, lambda store: store.load("session:a"))


def test_what_is_known_lately_is_bounded() -> None:
    lately = LatelyKept(most_bytes=1_000)
    for number in range(50):
        lately.put(f"s{number}", Stamp(1, "x"), SessionRows(saved_of(State())))
    known = [n for n in range(50) if lately.of(f"s{n}", Stamp(1, "x")) is not None]
    assert known == list(range(40, 50))
    assert lately.of("s49", Stamp(2, "x")) is None and lately.of("s49", Stamp(1, "y")) is None


def test_returns_without_a_record_are_kept_too() -> None:
    read = call("get_book", "b", book_id="B1")
    state = State().observe(Reply(calls=(read,)), LIBRARY)
    state = state.observe(ToolReturn(call_id="b", content="Error: no such book"), LIBRARY)
    change = change_to(saved_of(state), None)
    assert loads(change.head, 0, change.put).saved == saved_of(state._replace(last=None))
