"""What is remembered of histories, and that it stays within its bounds."""

from __future__ import annotations

from ledgeragent.gateway.memory import Histories, digest
from ledgeragent.rejections import Rejections
from ledgeragent.state import State
from ledgeragent.stores.memory import Memory
from ledgeragent.types import Message, Reply, UserMessage
from tests.lending.domain import GET_BOOK, LEND

HELLO = UserMessage(text="Hello.")


def visit(memories: Histories, *messages: Message, size: int = 100) -> Memory:
    """One request with this history, answered with "Yes."."""
    found = memories.find(messages)
    memories.begin(found, found.memory, size)
    memories.settle(found.key, digest(found.key, Reply(text="Yes.")), found.memory, size)
    return found.memory


def test_it_stays_within_its_bounds() -> None:
    memories = Histories(limit=10_000)
    for n in range(1_000):
        visit(memories, UserMessage(text=str(n)))
    assert len(memories) == 100
    assert memories.find([UserMessage(text="999")]).new == []
    assert memories.find([UserMessage(text="0")]).new != []


def test_a_long_conversation_holds_no_more_than_its_last_turns() -> None:
    memories = Histories()
    history: list[Message] = []
    sessions = set()
    for n in range(50):
        history.append(UserMessage(text=str(n)))
        sessions.add(visit(memories, *history).session)
        history.append(Reply(text="Yes."))
    assert len(memories) <= 4
    assert len(sessions) == 1


def test_one_history_larger_than_the_bound_is_kept_alone() -> None:
    memories = Histories(limit=10)
    visit(memories, HELLO)
    assert len(memories) == 1


def test_scopes_share_nothing() -> None:
    memories = Histories()
    found = memories.find([HELLO], "one")
    memories.begin(found, found.memory, 1)
    assert memories.find([HELLO], "one").new == []
    assert memories.find([HELLO], "other").new == [HELLO]


def test_spaces_in_what_was_said_do_not_matter() -> None:
    memories = Histories()
    visit(memories, HELLO)
    assert memories.find([HELLO, Reply(text=" Yes.\n"), HELLO]).new == [HELLO]
    assert len(memories.find([HELLO, Reply(text="No."), HELLO]).new) == 2


def test_histories_that_end_alike_keep_what_both_know() -> None:
    memories = Histories()
    counts = (
        {LEND.intent: {"r": 2, "s": 1}, GET_BOOK.intent: {"r": 1}},
        {LEND.intent: {"r": 1}},
    )
    for known in counts:
        found = memories.find([HELLO])
        memories.begin(found, found.memory, 1)
        state = State(rejections=Rejections(counts=known))
        memory = found.memory._replace(state=state, warnings=(f"told {len(known)}",))
        memories.settle(found.key, digest(found.key, Reply(text="No.")), memory, 1)
    shared = memories.find([HELLO, Reply(text="No."), HELLO]).memory
    assert shared.state.rejections.counts == {LEND.intent: {"r": 1}}
    assert shared.warnings == ()
