"""What was said: rules of a domain that listens see every text, those of another see none."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.domain import Domain
from ledgeragent.effects import Neutral, Read, Write, touch
from ledgeragent.gate import Gate
from ledgeragent.paths import PathTemplate
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage


class Box(TypedDict):
    """A box."""

    box_id: str


BOX = PathTemplate("boxes.{box_id}", Box)
HEARD: list[tuple[tuple[str, ...], tuple[str, ...]]] = []


@predicate("box/announced", guards=("open", "leave"))
def announced(call: object, view: View) -> Broken | None:
    """A box is opened only after the agent has said so."""
    HEARD.append((view.said("agent"), view.said("user")))
    return None if any("open" in text for text in view.said("agent")) else violation("say so first")


DOMAIN = Domain(
    name="box",
    version="1",
    tools=(
        Read(tool="look", to=BOX, parameters=("box_id",)),
        Write(tool="open", arguments=Box, touches=(touch(BOX),)),
        Neutral(tool="leave"),
    ),
    predicates=(announced,),
    listens=True,
)
GATE = Gate(domain=DOMAIN)
OPEN = ToolCall(name="open", arguments={"box_id": "b"}, id="1")
LOOK = ToolCall(name="look", arguments={"box_id": "b"}, id="1")

texts = st.text(max_size=12)
messages = st.one_of(
    st.builds(lambda text: UserMessage(text=text), texts),
    st.builds(lambda text: Reply(text=text), texts),
    st.builds(lambda text: Reply(text=text, calls=(LOOK,)), texts),
    st.builds(
        lambda text: ToolReturn(call_id="1", content=text),
        st.sampled_from(['{"box_id": "b"}', "Error: no", "I want to open it"]),
    ),
)


def after(conversation: list[Message], domain: Domain = DOMAIN) -> State:
    state = State()
    for message in conversation:
        state = state.observe(message, domain)
    return state


def view(state: State) -> View:
    return View(state.ledger, {})


@settings(max_examples=200, deadline=None)
@given(st.lists(messages, max_size=12))
def test_every_text_is_heard_once_in_order_and_no_answer_of_a_tool(
    conversation: list[Message],
) -> None:
    heard = view(after(conversation))
    assert heard.said("user") == tuple(m.text for m in conversation if isinstance(m, UserMessage))
    spoken = tuple(m.text for m in conversation if isinstance(m, Reply) and m.text)
    assert heard.said("agent") == spoken


@settings(max_examples=100, deadline=None)
@given(st.lists(messages, max_size=12))
def test_a_domain_that_does_not_listen_keeps_nothing(conversation: list[Message]) -> None:
    deaf = after(conversation, replace(DOMAIN, listens=False))
    assert view(deaf).said("user") == view(deaf).said("agent") == ()
    heard = after(conversation)
    assert list(deaf.ledger) == list(heard.ledger)
    assert deaf.ledger.turn == heard.ledger.turn


@settings(max_examples=100, deadline=None)
@given(st.lists(messages, max_size=8), texts)
def test_what_is_read_and_written_between_loses_no_text(
    conversation: list[Message], text: str
) -> None:
    state = after([*conversation, UserMessage(text=text)])
    for message in (
        Reply(calls=(LOOK,)),
        ToolReturn(call_id="1", content='{"box_id": "b"}'),
        Reply(calls=(OPEN,)),
        ToolReturn(call_id="1", content="opened"),
    ):
        state = state.observe(message, DOMAIN)
    assert view(state).said("user")[-1] == text
    assert len(state.ledger.writes) == 1


@settings(max_examples=50, deadline=None)
@given(st.lists(messages, max_size=6))
def test_the_text_of_the_judged_reply_counts_for_its_own_calls(
    conversation: list[Message],
) -> None:
    state = after(conversation)
    _, told = state.filter(Reply(text="I will open it.", calls=(OPEN,)), GATE, "drop")
    assert told.execute == (OPEN,)


def test_a_rejected_reply_with_a_text_was_heard_and_is_heard_once() -> None:
    state, filtered = State().filter(Reply(text="A moment.", calls=(OPEN,)), GATE, "drop")
    assert filtered.execute == ()
    assert view(state).said("agent") == ("A moment.",)
    state, filtered = state.filter(Reply(text="I open it now.", calls=(OPEN,)), GATE, "drop")
    assert filtered.execute == (OPEN,)
    assert view(state).said("agent") == ("A moment.", "I open it now.")


def test_a_neutral_call_is_judged_by_what_was_said_too() -> None:
    leave = ToolCall(name="leave", arguments={}, id="1")
    said = State().observe(UserMessage(text="open it"), DOMAIN)
    assert not GATE.judge(leave, said.ledger).allowed
    spoken = said.observe(Reply(text="it is open"), DOMAIN)
    assert GATE.judge(leave, spoken.ledger).allowed
    assert HEARD[-1] == (("it is open",), ("open it",))
