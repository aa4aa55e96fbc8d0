"""Whoever asks whether a gateway lives is answered however busy it is, and not if it is stuck."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from aiohttp import web

from ledgeragent.gateway import porter
from ledgeragent.gateway.porter import VitalSign
from ledgeragent.gateway.server import Gateway, Settings
from ledgeragent.gateway.serving import serve
from tests.gateway.processes import process
from tests.gateway.upstream import Upstream
from tests.gateway.world import SAY, run
from tests.gateway.world import served as app_served
from tests.lending.domain import LIBRARY

PATIENCE = 20.0
"""Seconds after which a test gives up on what should have come at once."""


class Busy:
    """What is served: one page keeps the loop busy until it is let go, another one says `here`."""

    is_draining = False

    def __init__(self) -> None:
        self.is_busy = threading.Event()
        self.let_go = threading.Event()

    async def open(self) -> None:
        """There is nothing to open."""

    async def close(self) -> None:
        """And nothing to close."""

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path != "/busy":
            name = request.headers.get("x-name", "")
            return web.Response(text=f"here is {request.path} for {name}")
        self.is_busy.set()
        end = time.monotonic() + PATIENCE
        while not self.let_go.is_set() and time.monotonic() < end:
            pass
        return web.Response(text="done" if self.let_go.is_set() else "nobody came")

    def vital(self, path: str, host: str) -> VitalSign | None:
        if path != "/healthz" or host == "evil.example":
            return None
        return VitalSign(503, {"status": "draining"}) if self.is_draining else VitalSign(200, {})


@contextmanager
def served(busy: Busy, notice: float = 0.0) -> Iterator[int]:
    """The port of a server in a thread of its own."""
    ports: list[int] = []
    ready = threading.Event()
    handles: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def work() -> None:
        until = asyncio.Event()
        handles.append((asyncio.get_running_loop(), until))

        def begin(port: int) -> None:
            ports.append(port)
            ready.set()

        await serve(busy, "127.0.0.1", 0, begin, until, notice=notice, drain=1.0)

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield ports[0]
    finally:
        loop, until = handles[0]
        loop.call_soon_threadsafe(until.set)
        thread.join(PATIENCE)
        assert not thread.is_alive()


def got(port: int, path: str, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_a_busy_loop_is_spoken_for() -> None:
    busy = Busy()
    with served(busy) as port:
        answers: list[tuple[int, str]] = []
        asker = threading.Thread(target=lambda: answers.append(got(port, "/busy")))
        asker.start()
        assert busy.is_busy.wait(PATIENCE)
        assert got(port, "/healthz") == (200, "{}")
        busy.let_go.set()
        asker.join(PATIENCE)
        assert answers == [(200, "done")], "the loop was not busy, or nobody answered meanwhile"


def test_a_loop_that_is_stuck_is_not_spoken_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(porter, "STUCK_SECONDS", 0.0)
    with served(Busy()) as port:
        assert got(port, "/healthz") == (200, "here is /healthz for ")


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Upgrade": "h2c"}]
)
def test_what_is_no_plain_question_is_for_the_loop(headers: dict[str, str]) -> None:
    with served(Busy()) as port:
        assert got(port, "/healthz", **headers) == (200, "here is /healthz for ")
        assert got(port, "/else", **headers) == (200, "here is /else for ")


def raw(port: int, *parts: bytes, pause: float = 0.0, ends: bool = False) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while data := connection.recv(1 << 16):
            answer += data
        return answer


@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_a_request_in_pieces_is_whole_for_the_loop(pause: float) -> None:
    parts = (b"GET /else HTTP/1.1\r\nhost: a\r\n", b"x-name: me\r\nconnection: close\r\n\r\n")
    with served(Busy()) as port:
        assert b"here is /else for me" in raw(port, *parts, pause=pause)


def test_two_requests_at_once_are_both_answered() -> None:
    one = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"
    other = b"GET /else HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
    with served(Busy()) as port:
        answer = raw(port, one + other)
        assert answer.count(b"200 OK") == 2


@pytest.mark.parametrize(
    "head", [b"", b"\0" * 5000, b"GET /healthz\r\n\r\n", b"GET / \xff\r\n\r\n"]
)
def test_what_is_no_request_disturbs_nobody(head: bytes) -> None:
    with served(Busy()) as port:
        raw(port, head, ends=True)
        assert got(port, "/healthz") == (200, "{}")


def test_whoever_is_about_to_stop_says_so() -> None:
    busy = Busy()
    with served(busy) as port:
        busy.is_draining = True
        assert got(port, "/healthz") == (503, '{"status": "draining"}')


def test_the_pages_say_the_same_by_either_way() -> None:
    gateway = Gateway(LIBRARY, Settings(upstream="http://localhost:1"))
    for page in ("/healthz", "/livez", "/readyz"):
        sign = gateway.vital(page, "localhost")
        assert sign is not None and sign.status == 200
    assert gateway.vital("/metrics", "localhost") is None
    gateway.is_draining = True
    assert gateway.vital("/readyz", "localhost") == VitalSign(503, {"status": "draining"})
    strict = Settings(upstream="http://localhost:1", hosts=frozenset({"localhost"}))
    assert Gateway(LIBRARY, strict).vital("/healthz", "evil.example") is None


def test_a_request_of_the_largest_size_hides_no_vital_sign() -> None:
    """One client sends as many messages as a body may hold; another asks all the while."""
    said = [{"role": ("user", "assistant")[n % 2], "content": "hi"} for n in range(30_000)]
    body = json.dumps({"model": "m", "messages": said}).encode()

    async def scenario() -> None:
        async with (
            app_served(Upstream(deque([SAY])).app()) as upstream,
            process(upstream, "--max-body", str(len(body))) as (_, url, _),
        ):
            port = int(url.rpartition(":")[2])
            asking = asyncio.create_task(asyncio.to_thread(posted, port, body))
            count = 0
            while not asking.done():
                status, _ = await asyncio.to_thread(got, port, "/healthz")
                assert status == 200
                count += not asking.done()
            assert await asking == 200
            assert count >= 5

    run(scenario())


def posted(port: int, body: bytes) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("POST", "/v1/chat/completions", body)
        return connection.getresponse().status
    finally:
        connection.close()
