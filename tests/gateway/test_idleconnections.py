"""Connections between two requests."""

from __future__ import annotations

import asyncio
import socket
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from aiohttp.connector import Connection
from yarl import URL

from ledgeragent.gateway import idleconnections
from ledgeragent.gateway.idleconnections import CleanConnector, IdleConnections


class FakeTransport:
    """Knows whom it tells of what comes, and has no socket."""

    def __init__(self) -> None:
        self.listeners: list[Any] = []

    def set_protocol(self, protocol: Any) -> None:
        self.listeners.append(protocol)

    def get_extra_info(self, name: str) -> None:
        return None


class FakeConnection:
    def __init__(self, *, should_close: bool = False) -> None:
        self.protocol = SimpleNamespace(should_close=should_close)
        self.transport = FakeTransport()
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


def test_one_on_which_anything_came_at_all_is_closed() -> None:
    async def scenario() -> None:
        idle = IdleConnections()
        odd, quiet = connection(), connection()
        idle.keep(odd)
        idle.keep(quiet)
        odd.transport.listeners[-1].data_received(b"H")
        assert idle.take() is quiet and odd.was_closed
        assert quiet.transport.listeners[-1] is quiet.protocol
        idle.close()

    asyncio.run(scenario())


class Pool:
    """What keeps connections to a server: the post office's own, or the client library's."""

    def __init__(self, kind: str, server: socket.socket) -> None:
        self._idle = IdleConnections() if kind == "office" else None
        self._connector = CleanConnector()
        self._address = aiohttp.ClientRequest(
            "POST", URL(f"http://127.0.0.1:{server.getsockname()[1]}")
        )

    async def connect(self) -> Connection:
        return await self._connector.connect(self._address, [], aiohttp.ClientTimeout(total=5))

    def keep(self, connection: Connection) -> None:
        if self._idle is not None:
            self._idle.keep(connection)
        else:
            connection.release()

    async def take(self) -> Connection | None:
        return self._idle.take() if self._idle is not None else await self.connect()

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.close()
        await self._connector.close()


STRAY = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


@pytest.mark.parametrize("stray", [STRAY, STRAY[:9], b""], ids=["answer", "part", "end"])
@pytest.mark.parametrize("kind", ["office", "library"])
def test_one_on_which_something_lies_that_the_loop_has_not_read_is_closed(
    stray: bytes, kind: str
) -> None:
    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            pool = Pool(kind, server)
            first = await pool.connect()
            accepted, _ = server.accept()
            protocol = first.protocol
            assert protocol is not None
            protocol.set_response_params()
            pool.keep(first)
            await asyncio.sleep(0)
            accepted.sendall(stray) if stray else accepted.close()
            second = await pool.take()
            assert (second is None) == (kind == "office")
            if second is not None:
                assert second.protocol is not protocol
                second.close()
            accepted.close()
            await pool.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", ["office", "library"])
def test_one_on_which_nothing_lies_is_taken_again(kind: str) -> None:
    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            pool = Pool(kind, server)
            first = await pool.connect()
            protocol = first.protocol
            pool.keep(first)
            again = await pool.take()
            assert again is not None and again.protocol is protocol
            again.close()
            await pool.close()

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
