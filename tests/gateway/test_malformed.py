"""Requests that are no HTTP: refused, and told in the log without a word of them."""

from __future__ import annotations

import asyncio

from tests.gateway.processes import process
from tests.gateway.world import run

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
MALFORMED = (
    HEAD + b"authorization: Bearer sk-secret\x01\r\n\r\n",
    HEAD + b"authorization : Bearer sk-secret\r\n\r\n",
    HEAD + b"x-api-key: sk-secret\n y: z\r\n\r\n",
    HEAD + b"transfer-encoding: chunked\r\n\r\n4\r\nsk-secret\r\n0\r\n\r\n",
    HEAD + b"transfer-encoding: chunked\r\n\r\nsk-secret\r\n",
    HEAD + b"content-length: sk-secret\r\n\r\n",
    HEAD + b"x: " + b"sk-secret" * 2_000 + b"\r\n\r\n",
    b"POST /v1?key=sk-secret\xff HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
    b"POST /sk-secret HTTP/7.0\r\n\r\n",
    b"sk-secret\r\n\r\n",
)


def test_neither_keys_nor_words_come_into_the_log() -> None:
    async def scenario() -> None:
        async with process("http://127.0.0.1:1") as (gateway, url, _):
            host, _, port = url.removeprefix("http://").partition(":")
            for data in MALFORMED:
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.write(data)
                assert b" 400 " in await reader.readline(), data
                writer.close()
            gateway.terminate()
            assert gateway.stderr is not None
            told = (await gateway.stderr.read()).decode()
            assert "sk-secret" not in told and "Traceback" not in told
            assert told.count("a request that is no HTTP was refused") >= len(MALFORMED) - 2

    run(scenario())
