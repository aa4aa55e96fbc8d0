"""Whatever the upstream answers with: what could be taken for a reply is judged, or does not pass."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from aiohttp import web

from tests.gateway.conftest import Client
from tests.gateway.upstream import Respond
from tests.gateway.wires import Wire
from tests.gateway.world import HELLO, KNOWN, LONG, SAY, WRITE, run, world

OTHERS = [*range(201, 208), 226, 299, *range(300, 305), 307, 308, 399, 600, 999]


def raw(wire: Wire, body: dict[str, object]) -> bytes:
    if body.get("stream"):
        return b"".join(wire.events(LONG, "r"))
    return json.dumps(wire.answer(LONG, "r")).encode()


def answering(code: int) -> Respond:
    """A forbidden write, with this status."""

    async def respond(request: web.Request, wire: Wire, body: dict[str, object]) -> web.Response:
        kind = "text/event-stream" if body.get("stream") else "application/json"
        headers = {"location": "https://elsewhere.example/v1", "content-type": kind}
        return web.Response(status=code, body=raw(wire, body), headers=headers)

    return respond


@pytest.mark.parametrize("code", OTHERS)
def test_only_a_200_is_an_answer(client: Client, code: int) -> None:
    async def scenario() -> None:
        async with world(answering(code)) as w:
            got = await client.ask(w, *KNOWN)
            assert got.status == 502
            assert "location" not in got.headers
            assert "lend_book" not in json.dumps(got.body)
            assert str(code) in got.body["error"]["message"]

    run(scenario())


def packing(coding: str, data: bytes | None = None) -> Respond:
    async def respond(request: web.Request, wire: Wire, body: dict[str, object]) -> web.Response:
        assert request.headers["accept-encoding"] == "gzip"
        plain = raw(wire, body)
        packed = {"gzip": gzip.compress(plain), "deflate": zlib.compress(plain)}
        kind = "text/event-stream" if body.get("stream") else "application/json"
        headers = {"content-encoding": coding, "content-type": kind}
        return web.Response(
            body=packed.get(coding, plain) if data is None else data, headers=headers
        )

    return respond


@pytest.mark.parametrize("coding", ["gzip", "deflate", "identity"])
def test_what_is_packed_is_judged(client: Client, coding: str) -> None:
    async def scenario() -> None:
        async with world(packing(coding), SAY) as w:
            got = await client.ask(w, *KNOWN)
            assert got.verdicts == "lend_book=REVISE"
            assert "content-encoding" not in got.headers
            assert got.called == []

    run(scenario())


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "gzip"])
def test_what_cannot_be_unpacked_does_not_pass(client: Client, coding: str) -> None:
    async def scenario() -> None:
        async with world(packing(coding, b"no such thing")) as w:
            assert (await client.ask(w, *KNOWN)).status == 502

    run(scenario())


BOMB = gzip.compress(b" " * (300 << 20), 9)


@pytest.mark.parametrize("code", [200, 400, 500])
def test_a_bomb_is_never_unpacked_whole(client: Client, code: int) -> None:
    import resource

    async def burst(request: web.Request, wire: Wire, body: object) -> web.Response:
        headers = {"content-encoding": "gzip", "content-type": "application/json"}
        return web.Response(status=code, body=BOMB, headers=headers)

    async def scenario() -> None:
        async with world(burst) as w:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            got = await client.ask(w, HELLO)
            assert got.status == (502 if code == 200 else code)
            assert got.body["error"]["message"]
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000

    run(scenario())


@pytest.mark.parametrize("size", [1 << 16, 3 << 20])
def test_an_error_keeps_its_status_however_long_it_is(client: Client, size: int) -> None:
    text = "x" * size

    async def respond(request: web.Request, wire: Wire, body: object) -> web.Response:
        return web.json_response({"error": {"message": text}}, status=529)

    async def scenario() -> None:
        async with world(respond, WRITE) as w:
            got = await client.ask(w, *KNOWN)
            assert got.status == 529
            assert (got.body["error"]["message"] == text) == (size < 1 << 20)

    run(scenario())
