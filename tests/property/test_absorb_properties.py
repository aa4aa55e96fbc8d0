"""Absorb and the ledger: latest observation wins, nothing else writes a value, marks are exact."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from ledgeragent.absorb import absorb
from ledgeragent.effects import lost_on_the_way
from ledgeragent.ledger import Entry, Ledger, Touch
from ledgeragent.paths import Path
from ledgeragent.render import render
from ledgeragent.types import Json, ToolCall

from .world import (
    DOMAIN,
    TOUCHED,
    USER,
    Step,
    after,
    failures,
    ledgers,
    others,
    reads,
    searched,
    unreadable,
    users,
    writes,
)

FIELDS = ("name", "email", "tags", "home", "phone")


def values_of(ledger: Ledger) -> dict[Path[Json], Json]:
    return {entry.path: entry.value for entry in ledger}


def without_marks(ledger: Ledger) -> dict[Path[Json], Entry]:
    return {entry.path: entry.having(entry.value, (), entry.inherited) for entry in ledger}


@searched
@given(ledgers, reads)
def test_reading_again_changes_nothing_more(ledger: Ledger, read: Step) -> None:
    once = after(ledger, read)
    twice = after(once, read)
    assert once == twice
    assert render(once) == render(twice)


@searched
@given(ledgers, reads, reads)
def test_unrelated_reads_commute(ledger: Ledger, one: Step, other: Step) -> None:
    stored = [set(absorb(ledger, s.call, s.returned, DOMAIN).stored) for s in (one, other)]
    assume(not stored[0] & stored[1])
    forth, back = after(ledger, one, other), after(ledger, other, one)
    assert forth == back
    assert render(forth) == render(back)


@searched
@given(ledgers, reads)
def test_a_read_touches_the_paths_it_stores_and_no_other(ledger: Ledger, read: Step) -> None:
    absorbed = absorb(ledger, read.call, read.returned, DOMAIN)
    for entry in ledger:
        if entry.path not in absorbed.stored:
            assert absorbed.ledger.get(entry.path) == entry
    assert len(absorbed.ledger) == len({e.path for e in ledger} | set(absorbed.stored))


@searched
@given(ledgers, reads)
def test_a_whole_read_leaves_nothing_unknown(ledger: Ledger, read: Step) -> None:
    assume(read.call.name != "get_contact")
    absorbed = absorb(ledger, read.call, read.returned, DOMAIN)
    for path in absorbed.stored:
        entry = absorbed.ledger.get(path)
        assert entry is not None
        assert (entry.stale, entry.source, entry.turn) == ((), read.call, ledger.turn)


@searched
@given(ledgers, st.one_of(failures, others, writes))
def test_only_a_successful_known_read_changes_a_value(ledger: Ledger, step: Step) -> None:
    absorbed = absorb(ledger, step.call, step.returned, DOMAIN)
    assert absorbed.stored == ()
    assert absorbed.skipped
    assert values_of(absorbed.ledger) == values_of(ledger)
    assert without_marks(absorbed.ledger) == without_marks(ledger)


@searched
@given(ledgers, failures)
def test_a_failed_call_leaves_no_trace(ledger: Ledger, step: Step) -> None:
    answer = str(step.returned.content)
    assume(answer.strip() and not lost_on_the_way(answer))
    assert after(ledger, step) == ledger


@searched
@given(ledgers, unreadable)
def test_an_unreadable_answer_is_evidence_of_nothing(ledger: Ledger, step: Step) -> None:
    absorbed = absorb(ledger, step.call, step.returned, DOMAIN)
    assert absorbed.stored == () and absorbed.skipped and absorbed.problems
    for entry in absorbed.ledger:
        assert entry == ledger.get(entry.path) or (not entry.typed and entry.source == step.call)


@searched
@given(ledgers, writes)
def test_a_write_marks_the_declared_fields_of_its_record_only(ledger: Ledger, step: Step) -> None:
    written = after(ledger, step)
    assert written.writes == (*ledger.writes, step.call)
    root = "parcels" if step.call.name == "ship" else "users"
    for before in ledger:
        now = written.get(before.path)
        assert now is not None
        added = {mark.fields for mark in now.stale[len(before.stale) :]}
        named = before.path == (root, step.call.arguments["user_id"])
        assert added == (TOUCHED[step.call.name] if named else set())
        assert now.stale[: len(before.stale)] == before.stale


@searched
@given(
    known=users,
    touched=st.lists(
        st.sampled_from([(), *((name,) for name in FIELDS), ("home", "city")]), max_size=3
    ),
    update=users,
)
def test_a_merge_keeps_what_it_does_not_supply(
    known: dict[str, Json], touched: list[tuple[str, ...]], update: dict[str, Json]
) -> None:
    path = USER("#1")
    first, second = ToolCall(name="get_user"), ToolCall(name="get_contact")
    ledger = Ledger().put(Entry(path=path, value=known, source=first, turn=0)).heard()
    ledger = ledger.wrote(ToolCall(name="move"), [Touch(path, fields) for fields in touched])
    before = ledger.get(path)
    now = ledger.merge(Entry(path=path, value=update, source=second, turn=1)).get(path)
    assert before is not None
    assert now is not None
    assert set(now.value) == set(known) | set(update)
    for name in update:
        assert now.value[name] == update[name]
        assert now.stale_at((name,)) is None
        assert now.stale_at((name, "city")) is None
        assert now.origin((name,)) == (second, 1)
    for name in set(known) - set(update):
        assert now.value[name] == known[name]
        assert (now.stale_at((name,)) is None) == (before.stale_at((name,)) is None)
        assert (now.stale_at((name, "city")) is None) == (before.stale_at((name, "city")) is None)
        assert now.origin((name,)) == (first, 0)


@searched
@given(ledgers)
def test_every_entry_is_found_where_it_says_it_lives(ledger: Ledger) -> None:
    assert all(ledger.get(entry.path) is entry for entry in ledger)
    assert len(list(ledger)) == len(ledger) == len(values_of(ledger))
