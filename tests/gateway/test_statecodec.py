"""Any session that a conversation can lead to comes back from its text as it was."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.gate import Gate
from ledgeragent.render import render
from ledgeragent.state import State
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.codec import loads
from ledgeragent.stores.memory import Memory, Unsent
from ledgeragent.stores.rows import change_to
from ledgeragent.types import Reply, ToolReturn, UserMessage
from tests.lending.domain import ADA, BOOK_OUT, GET_BOOK, GET_MEMBER, LEND, LIBRARY, answer
from tests.property.world import DOMAIN, searched, steps


def again(saved: SavedSession, version: int = 1) -> SavedSession:
    """The session as it comes back."""
    change = change_to(saved, None)
    for text in (change.head, *(row.body for row in change.put)):
        text.encode("ascii")
    return loads(change.head, version, change.put).saved


@searched
@given(st.lists(steps, max_size=8), st.booleans())
def test_round_trip(taken: list, hears: bool) -> None:  # type: ignore[type-arg]
    state = State()
    for step in taken:
        state = state.observe(Reply(calls=(step.call, step.call)), DOMAIN)
        state = state.observe(step.returned, DOMAIN)
        if hears:
            state = state.observe(UserMessage(text="x"), DOMAIN)
    memory = Memory(
        session="s",
        state=state,
        unsent=(Unsent(LEND, "\ud800", "x", None), Unsent(LEND, "", "", 2)),
        warnings=("\ud800",),
        upstream="r",
        size=7,
    )
    back = again(SavedSession(memory=memory, folded=("a", "b"), is_continued=True, version=3), 4)
    assert back == SavedSession(
        memory=memory._replace(state=state._replace(last=None)),
        folded=("a", "b"),
        is_continued=True,
        version=4,
    )
    assert render(back.memory.state.ledger) == render(state.ledger)
    assert list(map(str, back.memory.state.ledger)) == list(map(str, state.ledger))


def test_what_was_rejected_comes_back() -> None:
    gate = Gate(domain=LIBRARY)
    state = State().observe(Reply(calls=(GET_MEMBER, GET_BOOK)), LIBRARY)
    state = state.observe(answer(GET_MEMBER, ADA), LIBRARY)
    state = state.observe(answer(GET_BOOK, BOOK_OUT), LIBRARY)
    state, _ = state.filter(Reply(calls=(LEND,)), gate, "drop")
    assert state.rejections.counts
    back = again(SavedSession(memory=Memory(session="s", state=state))).memory.state
    assert back == state


@searched
@given(st.lists(st.tuples(steps, st.sampled_from(["answered", "lost", "open"])), max_size=6))
def test_writes_that_may_have_happened_come_back(taken: list) -> None:  # type: ignore[type-arg]
    """A session at rest goes on as one that was never put away."""
    state = State()
    for number, (step, fate) in enumerate(taken):
        call = replace(step.call, id=f"c{number}")
        returned = replace(step.returned, call_id=call.id, lost=fate == "lost")
        state = state.observe(Reply(calls=(call,)), DOMAIN)
        if fate != "open":
            state = state.observe(returned, DOMAIN)
    state = state._replace(last=None, raced=state.pending)
    back = again(SavedSession(memory=Memory(session="s", state=state))).memory.state
    assert back == state
    late = [ToolReturn(call_id=f"c{number}", content="{}") for number in range(len(taken))]
    for message in (Reply(), *late):
        state, back = state.observe(message, DOMAIN), back.observe(message, DOMAIN)
        assert back._replace(last=None) == state._replace(last=None)
        assert _doubtful_marks(back) == _doubtful_marks(state)


def _doubtful_marks(state: State) -> list[bool]:
    """Of each mark, whether the write that made it is one that may have happened."""
    doubts = [id(doubt.call) for doubt in state.ledger.unconfirmed]
    return [id(mark.by) in doubts for entry in state.ledger for mark in entry.stale]


def test_what_was_said_comes_back() -> None:
    listening = replace(LIBRARY, listens=True)
    state = State().observe(UserMessage(text="Hello"), listening)
    state = state.observe(Reply(text="Good morning"), listening)
    back = again(SavedSession(memory=Memory(session="s", state=state))).memory.state
    assert back.ledger.utterances == state.ledger.utterances
    assert len(back.ledger.utterances) == 2
