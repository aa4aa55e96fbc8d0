"""Connections between two requests."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from ledgeragent.gateway import idleconnections
from ledgeragent.gateway.idleconnections import IdleConnections


class FakeConnection:
    def __init__(self, *, should_close: bool = False) -> None:
        self.protocol = SimpleNamespace(should_close=should_close)
        self.closed = self.was_closed = False

    def close(self) -> None:
        self.was_closed = True


def connection(**kind: bool) -> Any:
    return FakeConnection(**kind)


def test_the_one_that_has_waited_longest_is_taken_first() -> None:
    async def scenario() -> None:
        idle = IdleConnections()
        first, second = connection(), connection()
        idle.keep(first)
        idle.keep(second)
        assert [idle.take(), idle.take(), idle.take()] == [first, second, None]
        assert not first.was_closed and not second.was_closed
        idle.close()

    asyncio.run(scenario())


def test_one_that_was_hung_up_on_is_passed_over() -> None:
    async def scenario() -> None:
        idle = IdleConnections()
        gone, here = connection(), connection()
        idle.keep(gone)
        idle.keep(here)
        gone.closed = True
        assert idle.take() is here and gone.was_closed
        idle.close()

    asyncio.run(scenario())


def test_one_that_an_answer_left_unusable_is_closed_at_once() -> None:
    async def scenario() -> None:
        idle = IdleConnections()
        odd = connection(should_close=True)
        idle.keep(odd)
        assert odd.was_closed and idle.take() is None

    asyncio.run(scenario())


def test_one_on_which_something_came_unasked_is_closed() -> None:
    async def scenario() -> None:
        idle = IdleConnections()
        odd = connection()
        idle.keep(odd)
        odd.protocol.should_close = True
        assert idle.take() is None and odd.was_closed
        idle.close()

    asyncio.run(scenario())


def test_one_whose_time_is_over_is_closed_without_being_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(idleconnections, "KEPT", 0.0)
        idle = IdleConnections()
        old = connection()
        idle.keep(old)
        assert idle.take() is None and old.was_closed
        other = connection()
        idle.keep(other)
        while not other.was_closed:
            await asyncio.sleep(0)
        idle.close()

    asyncio.run(scenario())


def test_all_are_closed_in_the_end() -> None:
    async def scenario() -> None:
        idle = IdleConnections()
        left = [connection(), connection()]
        for one in left:
            idle.keep(one)
        idle.close()
        assert all(one.was_closed for one in left) and idle.take() is None

    asyncio.run(scenario())
