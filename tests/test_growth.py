"""What a state holds may grow: a message costs the same, so that n messages cost n times one.

Four times the work takes about four times as long, and sixteen where something is copied at every step.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from ledgeragent.domain import Domain
from ledgeragent.effects import Read, Write, touch
from ledgeragent.gate import Gate
from ledgeragent.paths import PathTemplate
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.rejections import Rejections
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision, Finding, Kind, Verdict

PART = PathTemplate("parts.{id}", dict)


@predicate("store/known", guards="move_part", decision=Decision.BLOCK)
def on_a_listed_shelf(call: dict[str, str], ledger: View) -> Broken | None:
    """A part moves only off a shelf that is listed."""
    part = ledger[PART(call["id"])]
    return violation("no shelf") if part["shelf"] not in part["shelves"] else None


STORE = Domain(
    name="store",
    version="1",
    tools=(
        Read(tool="list_parts", to=PART, records=lambda value, arguments: value),
        Read(tool="get_part", to=PART, parameters=("id",)),
        Write(tool="move_part", arguments=dict, touches=(touch(PART, "moved"),)),
    ),
    predicates=(on_a_listed_shelf,),
)
GATE = Gate(domain=STORE)


def part(number: int) -> dict[str, object]:
    return {"id": str(number), "shelf": "a", "shelves": {"a": 1}, "moved": False}


def answered(state: State, name: str, content: object, **arguments: str) -> State:
    """The state after a call and its return."""
    call = ToolCall(name=name, arguments=arguments, id="c")
    state = state.observe(Reply(calls=(call,)), STORE)
    return state.observe(ToolReturn(call_id="c", content=content), STORE)


def one_return(size: int) -> None:
    """One return of many records."""
    state = answered(State(), "list_parts", [part(number) for number in range(size * 8)])
    assert len(state.ledger) == size * 8


def writes_on_one_record(size: int) -> None:
    """Many writes on a record that nobody reads again."""
    state = answered(State(), "get_part", part(1), id="1")
    for _ in range(size):
        call = ToolCall(name="move_part", arguments={"id": "1"}, id="c")
        state, filtered = state.filter(Reply(calls=(call,)), GATE, "drop")
        assert filtered.execute
        state = state.observe(ToolReturn(call_id="c", content="moved"), STORE)
    assert len(state.ledger.writes) == size


def rejected_writes(size: int) -> None:
    """Many different writes that are rejected."""
    memory = Rejections()
    finding = Finding(Kind.VIOLATION, "store/known", None, Decision.BLOCK, "no shelf")
    for number in range(size * 4):
        call = ToolCall(name="move_part", arguments={"id": str(number)}, id="c")
        memory = memory.add(Verdict(call, Decision.BLOCK, (finding,)))
    assert len(memory.counts) == size * 4


def returns_from_the_last(size: int) -> None:
    """One reply of many calls, the last of which is answered first."""
    numbers = range(size * 2)
    calls = tuple(ToolCall(name="get_part", arguments={"id": f"{n}"}, id=f"{n}") for n in numbers)
    state = State().observe(Reply(calls=calls), STORE)
    for number in reversed(numbers):
        state = state.observe(ToolReturn(call_id=f"{number}", content=part(number)), STORE)
    assert not state.pending and len(state.ledger) == size * 2


def seconds(work: Callable[[int], None], size: int) -> float:
    """The least processor time of three. Garbage is not collected: that goes through all of a process."""
    times = []
    for _ in range(3):
        gc.collect()
        gc.disable()
        try:
            begin = time.process_time()
            work(size)
            times.append(time.process_time() - begin)
        finally:
            gc.enable()
    return min(times)


@pytest.mark.parametrize(
    "work", [one_return, writes_on_one_record, rejected_writes, returns_from_the_last]
)
def test_four_times_the_work_takes_about_four_times_as_long(work: Callable[[int], None]) -> None:
    assert seconds(work, 3_200) < 9 * seconds(work, 800)
