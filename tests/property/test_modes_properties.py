"""Render modes: whatever happens, every latest value is in the prompt, and what is stale is marked."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.ledger import Entry
from ledgeragent.session.presenter import MODES, Prompt, RenderMode, present
from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage, canonical
from tests.property.world import DOMAIN, Step, searched, steps


class Talk(NamedTuple):
    """A conversation, the state after each message, and the place of each return by its call."""

    messages: tuple[Message, ...]
    states: tuple[State, ...]
    returns: tuple[tuple[ToolCall, int], ...]

    def place(self, call: ToolCall) -> int:
        """Where the return of this very call is."""
        return next(place for made, place in self.returns if made is call)


def _talk(taken: list[tuple[Step, bool]]) -> Talk:
    messages: list[Message] = []
    states: list[State] = []
    returns: list[tuple[ToolCall, int]] = []
    state = State()
    for step, then_heard in taken:
        call = ToolCall(name=step.call.name, arguments=step.call.arguments, id=step.call.id)
        returns.append((call, len(messages) + 1))
        said: list[Message] = [Reply(calls=(call,)), step.returned]
        for message in [*said, UserMessage(text="and?")] if then_heard else said:
            state = state.observe(message, DOMAIN)
            messages.append(message)
            states.append(state)
    return Talk(tuple(messages), tuple(states), tuple(returns))


talks = st.lists(st.tuples(steps, st.booleans()), max_size=10).map(_talk)
modes = st.sampled_from(MODES)


def _is_shown(entry: Entry, fields: tuple[str, ...], talk: Talk, prompt: Prompt) -> bool:
    """In the block, or in the return that the value came from."""
    if f"{entry.path} = {entry.shown}" in prompt.tail.splitlines()[2:] or any(
        line.startswith(f"{entry.path} = {entry.shown}") for line in prompt.tail.splitlines()
    ):
        return True
    place = talk.place(entry.origin(fields).source)
    before, after = talk.messages[place], prompt.messages[place]
    assert isinstance(before, ToolReturn) and isinstance(after, ToolReturn)
    text = before.content if isinstance(before.content, str) else canonical(before.content)
    return text in str(after.content)


@given(talks, modes)
@searched
def test_every_latest_value_is_in_the_prompt(talk: Talk, mode: RenderMode) -> None:
    prompt = present(talk.messages, talk.states, mode)
    for entry in talk.states[-1].ledger if talk.states else ():
        names = entry.value if isinstance(entry.value, dict) and entry.typed else ()
        for fields in [(name,) for name in names] or [()]:
            assert _is_shown(entry, fields, talk, prompt), (entry.path, fields)


@given(talks, modes)
@searched
def test_every_stale_part_is_marked_in_the_block(talk: Talk, mode: RenderMode) -> None:
    prompt = present(talk.messages, talk.states, mode)
    for entry in talk.states[-1].ledger if talk.states else ():
        lines = [line for line in prompt.tail.splitlines() if line.startswith(f"{entry.path} ")]
        for mark in entry.stale:
            assert any(
                "STALE" in line and (mark.by is None or mark.by.name in line) for line in lines
            )


@given(talks, modes)
@searched
def test_what_was_shown_is_never_changed_afterwards(talk: Talk, mode: RenderMode) -> None:
    whole = present(talk.messages, talk.states, mode).messages
    for length in range(len(talk.messages) + 1):
        assert (
            present(talk.messages[:length], talk.states[:length], mode).messages == whole[:length]
        )


@given(talks, modes)
@searched
def test_the_block_is_one_block(talk: Talk, mode: RenderMode) -> None:
    tail = present(talk.messages, talk.states, mode).tail
    assert tail.count("</ledger>") == tail.count("<ledger>") == (1 if tail else 0)
    assert not tail or tail.endswith("\n</ledger>")
