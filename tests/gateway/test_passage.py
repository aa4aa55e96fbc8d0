"""In shadow mode nothing that the judge cannot do reaches the client."""

from __future__ import annotations

import asyncio
import errno
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientSession, web

from ledgeragent.gateway.server import SESSION_HEADER, Gateway
from ledgeragent.journal import Journal
from ledgeragent.stores.base import ProcessStore
from ledgeragent.types import Reply
from tests.gateway.conftest import Client
from tests.gateway.upstream import stepwise
from tests.gateway.wires import CHAT, Wire
from tests.gateway.world import HELLO, KNOWN, LONG, SAY, TOOLS, WRITE, World, run, served, world
from tests.lending.domain import LIBRARY


class Full:
    """A journal's store on a disk that is full; `after` so many records have gone in."""

    waits = False

    def __init__(self, after: int) -> None:
        self.left = after

    def recent(self, count: int) -> Iterator[str]:
        return iter(())

    def append(self, line: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    def lines(self) -> Iterator[str]:
        return iter(())

    def torn(self) -> bytes:
        return b""

    def drop_torn(self) -> None: ...

    def sync(self) -> None: ...

    def make_replaceable(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize("after", range(6))
def test_a_full_disk_changes_nothing(client: Client, after: int) -> None:
    async def scenario() -> None:
        journal = Journal(Full(after), LIBRARY)
        async with world(WRITE, mode="shadow", journal=journal) as w:
            assert (await client.ask(w, HELLO)).reply == WRITE
            assert w.gateway.metrics.unjudged == (after < 3)

    run(scenario())


class Faulty(ProcessStore):
    """A session store that fails in one way."""

    def __init__(self, name: str, fault: Callable[[], Any]) -> None:
        super().__init__()
        setattr(self, name, self._failing)
        self._fault = fault

    async def _failing(self, *_: object) -> Any:
        value = self._fault()
        return await value if asyncio.iscoroutine(value) else value


def broken() -> None:
    raise RuntimeError("a fault of ours")


async def hung() -> None:
    await asyncio.sleep(3600)


@pytest.mark.parametrize("name", ["load", "save"])
@pytest.mark.parametrize("fault", [broken, hung], ids=["broken", "hung"])
def test_a_store_that_fails_or_hangs_changes_nothing(
    client: Client, name: str, fault: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgeragent.gateway.passage.PATIENCE", 0.2)

    async def scenario() -> None:
        async with world(WRITE, mode="shadow", store=Faulty(name, fault)) as w:
            got = await client.ask(w, *KNOWN, headers={SESSION_HEADER: "case-1"})
            assert got.reply == WRITE
            assert w.gateway.metrics.unjudged == 1

    run(scenario())


async def exchanged(w: World, wire: Wire, raw: bytes, **options: Any) -> tuple[int, bytes, Any]:
    async with w.http.post(f"{w.url}{wire.path}", data=raw, **options) as response:
        return response.status, await response.read(), response.headers


UNREADABLE = {
    "hosted": lambda body: {**body, "tools": [{"type": "web_search"}]},
    "empty": lambda body: {**body, "messages": [], "input": []},
    "conversation": lambda body: {**body, "previous_response_id": "resp_x"},
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_stream_that_cannot_be_judged_streams_all_the_same(wire: Wire, kind: str) -> None:
    """Word by word, not when all is there."""

    async def scenario() -> None:
        steps = asyncio.Semaphore(0)
        async with world(stepwise(SAY, steps), mode="shadow") as w:
            body = UNREADABLE[kind](wire.request((HELLO,), TOOLS, True))
            steps.release()
            async with w.http.post(f"{w.url}{wire.path}", data=json.dumps(body)) as response:
                first = await asyncio.wait_for(response.content.readany(), 10)
                assert first == wire.events(SAY, "resp_slow")[0]
                for _ in range(40):
                    steps.release()
                rest = await response.read()
            assert first + rest == b"".join(wire.events(SAY, "resp_slow"))

    run(scenario())


@pytest.mark.parametrize("size", [1, 9 << 20])
def test_a_reply_of_any_size_passes(client: Client, size: int) -> None:
    async def scenario() -> None:
        long = Reply(text="x" * size)
        async with world(long, mode="shadow") as w:
            assert (await client.ask(w, *KNOWN)).reply == long
            assert w.gateway.metrics.unjudged == (size > 1 << 20)

    run(scenario())


def test_a_request_of_any_size_passes(client: Client) -> None:
    async def scenario() -> None:
        async with world(SAY, mode="shadow", max_body=10_000) as w:
            got = await client.ask(w, *KNOWN, padding="x" * 100_000)
            assert got.reply == SAY
            assert len(w.upstream.asked[0]["padding"]) == 100_000
            assert w.gateway.metrics.unjudged == 1

    run(scenario())


PLAIN = {
    "content-type": "application/vnd.mine+json",
    "x-mine": "1",
    "etag": '"7"',
    "retry-after": "3",
}


@pytest.mark.parametrize("code", [200, 201, 206, 307, 404, 429, 503])
@pytest.mark.parametrize("packed", [False, True])
def test_status_headers_and_bytes_are_the_upstreams(wire: Wire, code: int, packed: bool) -> None:
    seen: list[str] = []

    async def respond(request: web.Request, of: Wire, body: Any) -> web.Response:
        seen.append(request.path_qs)
        data = json.dumps(of.answer(LONG, "r")).encode()
        coding = {"content-encoding": "gzip"} if packed else {}
        return web.Response(
            status=code, body=gzip.compress(data) if packed else data, headers={**PLAIN, **coding}
        )

    async def scenario() -> None:
        async with world(respond, mode="shadow") as w:
            raw = json.dumps(wire.request(KNOWN, TOOLS, False)).encode()
            url = f"{w.url}{wire.path}?beta=true"
            async with w.http.post(url, data=raw, allow_redirects=False) as response:
                assert response.status == code
                assert PLAIN.items() <= dict(response.headers).items() | {
                    (name.lower(), value) for name, value in response.headers.items()
                }
                assert json.loads(await response.read()) == wire.answer(LONG, "r")
            assert seen == [f"{wire.path}?beta=true"]
            decisions = w.gateway.metrics.decisions["lend_book", "REVISE"]
            assert decisions == (code < 300)

    run(scenario())


def test_a_coding_that_the_judge_does_not_know_is_not_asked_for() -> None:
    async def scenario() -> None:
        async with world(SAY, SAY, mode="shadow") as w:
            raw = json.dumps(CHAT.request(KNOWN, TOOLS, False)).encode()
            for accepts, wanted in (("br, zstd, gzip", "gzip"), ("br", "identity")):
                await exchanged(w, CHAT, raw, headers={"accept-encoding": accepts})
                assert w.upstream.headers[-1]["accept-encoding"] == wanted

    run(scenario())


def test_routes_of_no_format_pass_too() -> None:
    async def files(request: web.Request) -> web.Response:
        return web.Response(body=request.method.encode() + await request.read(), status=201)

    async def scenario() -> None:
        from tests.gateway.world import served

        app = web.Application()
        app.router.add_route("*", "/v1/files/{name:.*}", files)
        async with served(app) as behind, world(mode="shadow") as w:
            from ledgeragent.gateway.endpoints import ApiAddress

            w.gateway._upstream.address = ApiAddress(behind)
            for method in ("GET", "POST", "DELETE"):
                data = None if method == "GET" else b" file"
                async with w.http.request(method, f"{w.url}/v1/files/f1", data=data) as response:
                    assert response.status == 201
                    assert await response.read() == method.encode() + (data or b"")

    run(scenario())


PACKINGS = {
    "no gzip": ("gzip", b"{}" * 100),
    "more behind it": ("gzip", gzip.compress(b"{}") + b"xx"),
    "cut off": ("gzip", gzip.compress(b"{}")[:-4]),
    "no deflate": ("deflate", b"{}"),
    "not known": ("br", b"\x0b\x02\x80{}\x03"),
    "two of them": ("gzip, gzip", gzip.compress(gzip.compress(b"{}"))),
}


@pytest.mark.parametrize("path", [CHAT.path, "/v1/embeddings", "/anything"])
@pytest.mark.parametrize("kind", PACKINGS)
def test_a_body_that_is_not_packed_as_it_says_passes_as_it_came(path: str, kind: str) -> None:
    """Both ways."""
    coding, raw = PACKINGS[kind]
    seen: list[tuple[bytes, str | None]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((await request.read(), request.headers.get("content-encoding")))
        return web.Response(body=raw, headers={"content-encoding": coding})

    async def scenario() -> None:
        app = web.Application()
        app.router.add_post(path, answer)
        async with world(mode="shadow") as w, served(app, auto_decompress=False) as behind:
            gateway = Gateway(LIBRARY, replace(w.gateway.settings, upstream=behind))
            async with (
                served(gateway.app(), auto_decompress=False) as url,
                ClientSession(auto_decompress=False) as http,
                http.post(
                    f"{url}{path}", data=raw, headers={"content-encoding": coding}
                ) as response,
            ):
                assert (response.status, await response.read()) == (200, raw)
                assert response.headers["content-encoding"] == coding
            assert seen == [(raw, coding)]
            assert gateway.metrics.unjudged == (path == CHAT.path)

    run(scenario())


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
def test_a_body_that_is_packed_as_it_says_is_judged(client: Client, mode: str, pack: Any) -> None:
    async def scenario() -> None:
        async with world(LONG, SAY, mode=mode) as w:
            body = client.wire.request(KNOWN, TOOLS, client.stream)
            headers = {"content-encoding": "gzip" if pack is gzip.compress else "deflate"}
            got = await w.post(client.wire, pack(json.dumps(body).encode()), headers)
            assert got.called == ([] if mode == "enforce" else ["lend_book"])
            assert w.gateway.metrics.decisions["lend_book", "REVISE"] == 1

    run(scenario())


def test_a_body_that_is_small_only_while_it_is_packed_is_refused(wire: Wire) -> None:
    async def scenario() -> None:
        async with world(max_body=100_000) as w:
            bomb = gzip.compress(b" " * (50 << 20))
            got = await w.post(wire, bomb, {"content-encoding": "gzip"})
            assert got.status == 413
            assert w.upstream.asked == []

    run(scenario())
