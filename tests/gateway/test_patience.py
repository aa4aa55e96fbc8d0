"""How long an answer of the upstream is waited for, with a clock that the test turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ledgeragent.gateway.patience import Patience
from tests.gateway.upstream import stepwise
from tests.gateway.wires import CHAT
from tests.gateway.world import HELLO, SAY, run, world


class Clock:
    """A loop's clock and timers."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, work: Callable[[], None]) -> Any:
        self._due.append((self.now + seconds, work))

    def turn(self, seconds: float) -> None:
        end = self.now + seconds
        while self._due and min(due for due, _ in self._due) <= end:
            self._due.sort(key=lambda due: due[0])
            self.now, work = self._due.pop(0)
            work()
        self.now = end


class Answer:
    def __init__(self) -> None:
        self.progress: int | None = 0
        self.is_given_up = False

    def give_up(self) -> None:
        self.is_given_up = True


def patience(
    monkeypatch: pytest.MonkeyPatch, silence: float, longest: float | None
) -> tuple[Patience, Clock]:
    clock = Clock()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: clock)
    return Patience(silence, longest), clock


@pytest.mark.parametrize("silence", [0.3, 5.0, 600.0])
def test_silence_is_given_up_in_its_time(monkeypatch: pytest.MonkeyPatch, silence: float) -> None:
    waiting, clock = patience(monkeypatch, silence, None)
    answer = Answer()
    waiting.begin(answer)
    clock.turn(silence * 0.95)
    assert not answer.is_given_up
    clock.turn(silence * 0.3)
    assert answer.is_given_up


def test_bytes_that_come_begin_the_silence_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, clock = patience(monkeypatch, 10.0, None)
    answer = Answer()
    waiting.begin(answer)
    for count in range(20):
        answer.progress = count
        clock.turn(9.0)
    assert not answer.is_given_up
    clock.turn(12.0)
    assert answer.is_given_up


def test_an_answer_that_we_do_not_read_on_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, clock = patience(monkeypatch, 10.0, None)
    answer = Answer()
    waiting.begin(answer)
    answer.progress = None
    clock.turn(100.0)
    assert not answer.is_given_up
    answer.progress = 7
    clock.turn(12.0)
    assert answer.is_given_up


def test_the_longest_time_counts_however_much_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, clock = patience(monkeypatch, 10.0, 60.0)
    answer = Answer()
    waiting.begin(answer)
    for count in range(59):
        answer.progress = count
        clock.turn(1.0)
    assert not answer.is_given_up
    answer.progress = None
    clock.turn(2.5)
    assert answer.is_given_up


def test_one_that_is_over_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, clock = patience(monkeypatch, 1.0, None)
    over, other = Answer(), Answer()
    waiting.begin(over)
    waiting.begin(other)
    waiting.end(over)
    clock.turn(5.0)
    assert not over.is_given_up
    assert other.is_given_up
    again = Answer()
    waiting.begin(again)
    clock.turn(5.0)
    assert again.is_given_up


def test_no_time_at_all_is_no_limit() -> None:
    async def scenario() -> None:
        steps = asyncio.Semaphore(0)
        async with world(stepwise(SAY, steps), timeout=0, reply_timeout=0) as w:
            asked = asyncio.create_task(w.ask(CHAT, (HELLO,), stream=True))
            for _ in range(20):
                await asyncio.sleep(0.01)
                steps.release()
            assert (await asked).reply == SAY

    run(scenario())
