"""Any session that a conversation can lead to comes back from its text as it was."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.gate import Gate
from ledgeragent.gateway.dialects.base import PendingAnswer
from ledgeragent.gateway.memory import Memory
from ledgeragent.gateway.stores.base import SavedSession
from ledgeragent.gateway.stores.codec import dumps, loads
from ledgeragent.render import render
from ledgeragent.state import State
from ledgeragent.types import Reply, UserMessage
from tests.lending.domain import ADA, BOOK_OUT, GET_BOOK, GET_MEMBER, LEND, LIBRARY, answer
from tests.property.world import DOMAIN, searched, steps


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
        feedback="\ud800",
        upstream="r",
        owed=(PendingAnswer("a", "b"),),
        size=7,
    )
    text = dumps(SavedSession(memory=memory, folded=("a", "b"), taken=True, version=3))
    text.encode("ascii")
    back = loads(text, 4)
    assert back == SavedSession(
        memory=replace(memory, state=state._replace(last=None)),
        folded=("a", "b"),
        taken=True,
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
    back = loads(dumps(SavedSession(memory=Memory(session="s", state=state))), 1).memory.state
    assert back == state
    assert json.loads(dumps(SavedSession(memory=Memory(session="s", state=back))))["format"] == 1
