"""Serving: a port that is listened on until it is time to stop, and how that is done without a loss."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.malformed import http_log
from ledgeragent.gateway.porter import Porter, VitalSign

try:
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

DRAIN_SECONDS = 30.0
"""How long requests that are under way may take to finish once the gateway is to stop."""


SILENT_SECONDS = 75.0
"""How long a connection may be open without a request, before the first one and between two."""


class Served(Protocol):
    """What is served."""

    is_draining: bool

    async def open(self) -> None:
        """Opens what it needs."""
        ...

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to any request."""
        ...

    async def close(self) -> None:
        """Closes what it has opened."""
        ...

    def vital(self, path: str, host: str) -> VitalSign | None:
        """What a page says of its health; None for what is no such page."""
        ...


async def serve(
    gateway: Served,
    host: str,
    port: int,
    ready: Callable[[int], None],
    until: asyncio.Event,
    *,
    drain: float = DRAIN_SECONDS,
    notice: float = 0.0,
    sock: socket.socket | None = None,
    silence: float = SILENT_SECONDS,
) -> None:
    """Serves until `until` is set; then no new request is taken and those under way are finished.

    Before that, the gateway says for `notice` seconds that it is not ready any more, and still serves.
    Those under way get `drain` seconds. `sock` listens already, in place of `host` and `port`. A
    connection on which no request has come, with all its headers, in `silence` seconds is closed.
    """
    runner = runner_of(gateway, drain, silence)
    await gateway.open()
    await runner.setup()
    listening = sock if sock is not None else socket.create_server((host, port), backlog=1024)
    porter = Porter(listening, gateway.vital, _taking(runner))
    try:
        porter.begin()
        ready(listening.getsockname()[1])
        await until.wait()
        gateway.is_draining = True
        await asyncio.sleep(notice)
    finally:
        await porter.stop()
        await runner.cleanup()
        await gateway.close()


def runner_of(gateway: Served, drain: float, silence: float) -> web.ServerRunner:
    """What speaks HTTP with clients: without the library's router, of whose routes there is one.

    What comes packed is unpacked by the gateway itself, and in shadow goes on as it came.
    """
    server = web.Server(
        gateway.handle,
        handler_cancellation=True,
        access_log=None,
        logger=http_log(),
        keepalive_timeout=silence,
        auto_decompress=False,
    )
    return web.ServerRunner(server, shutdown_timeout=drain)


def _taking(runner: web.ServerRunner) -> Callable[[socket.socket], None]:
    """What serves a connection that somebody else has taken."""
    loop, tasks = asyncio.get_running_loop(), set[asyncio.Task[None]]()

    async def serve_it(connection: socket.socket) -> None:
        assert runner.server is not None
        try:
            await loop.connect_accepted_socket(runner.server, connection)
        except OSError:
            connection.close()

    def take(connection: socket.socket) -> None:
        task = loop.create_task(serve_it(connection))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return take


@contextmanager
def on_signals(loop: asyncio.AbstractEventLoop, **actions: Callable[[], None]) -> Iterator[None]:
    """For as long as the block lasts, each signal (by name) does what it is to do, in the loop.

    Names that the system does not have are passed over. Works on Windows too, where loops know none.
    """
    before = {}
    for name, action in actions.items():
        number = getattr(signal, name, None)
        if number is not None:
            before[number] = signal.signal(number, _in_loop(loop, action))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_loop(
    loop: asyncio.AbstractEventLoop, action: Callable[[], None]
) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, frame: FrameType | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(action)

    return handle
