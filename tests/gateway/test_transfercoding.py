"""Bodies packed for the way: `chunked` alone is undone, anything else is refused, on both sides."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from ledgeragent.gateway.passage import _coding
from ledgeragent.gateway.server import Gateway
from ledgeragent.gateway.settings import Settings
from tests.gateway.wires import Wire
from tests.gateway.world import HELLO, SAY, TOOLS, ported, run
from tests.lending.domain import LIBRARY

FOREIGN = [
    ["gzip, chunked"],
    ["gzip", "chunked"],
    ["chunked, gzip"],
    ["chunked", "chunked"],
    ["chunked, chunked"],
    ["identity"],
    ["identity, chunked"],
    ["gzip"],
    ["br, chunked"],
    ["bogus"],
    ["xchunked"],
    ["chunked;q=1"],
    ['"chunked"'],
    ["chunked,"],
    [", chunked"],
    [""],
]


def in_chunks(data: bytes) -> bytes:
    pieces = [data[i : i + 40] for i in range(0, len(data), 40)]
    return b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


def message(first: str, codings: Sequence[str], data: bytes, *headers: str) -> bytes:
    lines = [first, "content-type: application/json", *headers]
    lines += [f"transfer-encoding: {coding}" for coding in codings]
    return "\r\n".join([*lines, "", ""]).encode() + in_chunks(data)


@asynccontextmanager
async def raw_upstream(answer: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """An upstream that sends these bytes whatever it is asked, and what it was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        (length,) = (h for h in head.split(b"\r\n") if h.startswith(b"content-length"))
        asked.append(await reader.readexactly(int(length.split(b":")[1])))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def exchanged(url: str, request: bytes) -> tuple[int, bytes]:
    """Status and body of what a port answers before it closes the connection."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    async with asyncio.timeout(10):
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body


def request_of(wire: Wire) -> bytes:
    return json.dumps(wire.request((HELLO,), TOOLS, False)).encode()


def asking(wire: Wire, *codings: str, data: bytes | None = None, version: str = "1.1") -> bytes:
    first = f"POST {wire.path} HTTP/{version}"
    body = request_of(wire) if data is None else data
    return message(first, codings, body, "host: localhost", "connection: close")


@asynccontextmanager
async def facing(answer: bytes, mode: str) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A gateway in front of such an upstream."""
    async with (
        raw_upstream(answer) as (behind, asked),
        ported(Gateway(LIBRARY, Settings(upstream=behind, mode=mode))) as url,
    ):
        yield url, asked


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("codings", FOREIGN, ids=str)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_an_answer_transferred_otherwise_is_not_handed_on(
    wire: Wire, codings: list[str], mode: str, pack: Callable[[bytes], bytes]
) -> None:
    data = pack(json.dumps(wire.answer(SAY, "r")).encode())

    async def scenario() -> None:
        answer = message("HTTP/1.1 200 OK", codings, data)
        async with facing(answer, mode) as (url, _):
            status, body = await exchanged(url, asking(wire, "chunked"))
            assert status == 502
            assert SAY.text.encode() not in body

    run(scenario())


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("codings", FOREIGN, ids=str)
def test_a_request_transferred_otherwise_never_gets_upstream(
    wire: Wire, codings: list[str], mode: str
) -> None:
    async def scenario() -> None:
        answer = message("HTTP/1.1 200 OK", ["chunked"], json.dumps(wire.answer(SAY, "r")).encode())
        async with facing(answer, mode) as (url, asked):
            for data in (request_of(wire), gzip.compress(request_of(wire))):
                status, _ = await exchanged(url, asking(wire, *codings, data=data))
                assert status in (400, 501)
            status, _ = await exchanged(url, asking(wire, "chunked", version="1.0"))
            assert status == 400, "HTTP/1.0 knows no transfer coding"
            assert not asked
            assert (await exchanged(url, asking(wire, "Chunked")))[0] == 200
            assert len(asked) == 1

    run(scenario())


@pytest.mark.parametrize(
    ("codings", "status"),
    [
        (["gzip", "gzip"], 400),
        (["gzip, gzip"], 400),
        (["gzip", "br"], 400),
        (["identity", "gzip"], 200),
        (["gzip, identity"], 200),
        (["", "gzip,"], 200),
    ],
    ids=str,
)
def test_a_content_coding_is_all_that_its_headers_say(
    wire: Wire, codings: list[str], status: int
) -> None:
    """The first of several headers alone would be another coding than the one that was sent."""
    headers = [f"content-encoding: {coding}" for coding in codings]
    data = gzip.compress(request_of(wire))
    reply = gzip.compress(json.dumps(wire.answer(SAY, "r")).encode())

    async def scenario() -> None:
        answer = message("HTTP/1.1 200 OK", ["chunked"], reply, *headers)
        async with facing(answer, "enforce") as (url, _):
            first = f"POST {wire.path} HTTP/1.1"
            packed = message(first, ["chunked"], data, "host: x", "connection: close", *headers)
            plain = asking(wire, "chunked")
            assert (await exchanged(url, plain))[0] == (200 if status == 200 else 502)
            assert (await exchanged(url, packed.replace(b": x", b": localhost")))[0] == status

    run(scenario())


@pytest.mark.parametrize(
    ("accepts", "asked"),
    [
        (["gzip;q=0"], "identity"),
        (["br;q=1, gzip; q=0.0"], "identity"),
        (["br", "gzip;q=0.5"], "gzip"),
        (["GZIP"], "gzip"),
        (["x-gzip"], "identity"),
    ],
    ids=str,
)
def test_in_shadow_no_coding_is_asked_for_that_the_client_refuses(
    accepts: list[str], asked: str
) -> None:
    headers = CIMultiDict([("accept-encoding", line) for line in accepts])
    assert _coding(CIMultiDictProxy(headers)) == {"accept-encoding": asked}


def test_what_cannot_be_read_is_not_quoted(wire: Wire) -> None:
    """The words of an answer would come into the log, and into the error, by way of an exception."""

    async def scenario() -> None:
        secret = b"Mr. Secret\xff"
        answer = message("HTTP/1.1 200 OK", ["chunked"], secret)
        async with facing(answer, "enforce") as (url, _):
            status, body = await exchanged(url, asking(wire, "chunked"))
            assert status == 502
            assert b"Secret" not in body

    run(scenario())
