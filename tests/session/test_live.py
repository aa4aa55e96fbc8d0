"""The live state of a reply of many calls: each answer costs the same, however many are open."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgeragent.gate import Gate
from ledgeragent.gateway.releases import restated
from ledgeragent.journal.recorder import Recorder
from ledgeragent.journal.threads import Thread, Threads
from ledgeragent.session.live import LiveState
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall
from tests.test_growth import STORE, part, seconds


def live() -> LiveState:
    return LiveState(Gate(domain=STORE), Thread(recorder=Recorder(STORE), sessions=Threads()))


def calls_of(size: int) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name="get_part", arguments={"id": f"{n}"}, id=f"{n}") for n in range(size)
    )


def answers_from_the_last(size: int) -> None:
    """One reply of many calls, the last of which is answered first."""
    state, calls = live(), calls_of(size)
    state.judge(Reply(calls=calls))
    for call in reversed(calls):
        state.answer(call, part(int(call.id)))
    assert not state.state.pending and len(state.state.ledger) == size


def interruptions(size: int) -> None:
    """One reply of many calls, none of which is answered."""
    state, calls = live(), calls_of(size)
    state.judge(Reply(calls=calls))
    for call in reversed(calls):
        state.interrupt(call)
    assert not state.state.pending


def a_reply_given_back(size: int) -> None:
    """One reply of many calls, which a client gives back in another order."""
    calls = calls_of(size * 2)
    again = restated(State()._replace(pending=calls), Reply(calls=calls[::-1]), STORE)
    assert tuple(again.state.pending) == calls[::-1] and not again.claims


@pytest.mark.parametrize("work", [answers_from_the_last, interruptions, a_reply_given_back])
def test_four_times_the_calls_take_about_four_times_as_long(work: Callable[[int], None]) -> None:
    assert seconds(work, 3_200) < 9 * seconds(work, 800)


def test_an_answer_is_for_the_very_call_though_ids_repeat() -> None:
    """Where verdicts change nothing, a model may use one id twice."""
    state = live()
    one, other = (ToolCall(name="get_part", arguments={"id": n}, id="c") for n in "12")
    state.judge(Reply(calls=(one, other)))
    state.answer(other, part(2))
    assert [str(entry.path) for entry in state.state.ledger] == ["parts.2"]
    assert list(state.state.pending) == [one]
    state.interrupt(one)
    assert not state.state.pending
