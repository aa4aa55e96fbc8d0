"""How long things live: the proxy when its host goes, a call when its server dies, a session for ever."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.serverforks import forked
from tests.mcp.test_proxy import ENVIRONMENT, PATIENCE, PROXY, ROOT, free_port, listening

SERVER = "tests.mcp.full_server"
SLOW = [sys.executable, "-m", "tests.mcp.slow_server"]
READS = (
    ("find_customer", {"email": "joris@peeters.example"}),
    ("get_order", {"order_id": "G-1010"}),
)
WRITE = ("cancel_order", {"order_id": "G-1010"})


def send(process: subprocess.Popen[bytes], **message: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def receive(process: subprocess.Popen[bytes]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def shake_hands(process: subprocess.Popen[bytes]) -> None:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    send(process, id=0, method="initialize", params=params)
    receive(process)
    send(process, method="notifications/initialized")


@contextmanager
def proxy(*options: str) -> Iterator[subprocess.Popen[bytes]]:
    """The proxy as a process, after the handshake."""
    process = subprocess.Popen(
        [*PROXY, *options],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        shake_hands(process)
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE)
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        process.stdout.close()


def pid_of_server(process: subprocess.Popen[bytes]) -> int:
    """The server says its own process id, in a call."""
    send(process, id=1, method="tools/call", params={"name": "pid", "arguments": {}})
    return int(receive(process)["result"]["content"][0]["text"])


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_proxy_and_its_server_end_when_the_host_closes_its_end() -> None:
    with proxy("--allow-unknown", "--", *SLOW) as process:
        server = pid_of_server(process)
        began = time.monotonic()
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        took = time.monotonic() - began
        assert not is_alive(server)
        assert took < 5


@pytest.mark.parametrize("with_call", [False, True])
def test_the_proxy_ends_when_its_server_does(with_call: bool) -> None:
    with proxy("--allow-unknown", "--", *SLOW) as process:
        server = pid_of_server(process)
        if with_call:
            send(process, id=2, method="tools/call", params={"name": "sleep", "arguments": {}})
            time.sleep(0.3)
        os.kill(server, signal.SIGKILL)
        if with_call:
            error = receive(process)
            assert error["id"] == 2 and error["error"]["code"] == -32000
        assert process.wait(5) == 0


def test_a_batch_is_answered_with_what_to_do_instead() -> None:
    with proxy("--", *SLOW) as process:
        assert process.stdin is not None
        process.stdin.write(b'[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]\n')
        process.stdin.flush()
        error = receive(process)
        assert error["id"] is None and "in no batch" in error["error"]["message"]
        send(process, id=8, method="ping")
        assert receive(process)["id"] == 8, "and the connection goes on"


@contextmanager
def served(*options: str, server: list[str] | None = None) -> Iterator[str]:
    port = free_port()
    command = [*PROXY, *options, "--transport", "http", "--port", str(port)]
    with listening([*command, "--", *(server or forked(SERVER))], port):
        yield f"http://127.0.0.1:{port}/mcp"


def test_over_http_a_call_fails_at_once_when_the_server_dies() -> None:
    async def play(url: str) -> None:
        async with Client(url, mode="legacy") as client:
            server = int((await client.call_tool("pid", {})).content[0].text)
            asyncio.get_running_loop().call_later(0.3, os.kill, server, signal.SIGKILL)
            with pytest.raises(Exception, match="closed before it answered"):
                await client.call_tool("sleep", {})

    with served("--allow-unknown", server=SLOW) as url:
        asyncio.run(asyncio.wait_for(play(url), 15))


def test_a_stream_that_should_be_resumed_is_refused_and_said_so() -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accept = {"accept": "application/json, text/event-stream"}
    with served() as url:
        session = httpx2.post(url, json=hello, headers=accept, timeout=PATIENCE).headers[
            "mcp-session-id"
        ]
        headers = {**accept, "mcp-session-id": session, "last-event-id": "7"}
        answer = httpx2.get(url, headers=headers, timeout=PATIENCE)
    assert answer.status_code == 405 and "resumed" in answer.text


Wire = Any


@asynccontextmanager
async def connected(target: Any, mode: str, **headers: str) -> Any:
    """A client of its own; `headers` only where there are any."""
    if isinstance(target, str):
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
            Client(streamable_http_client(target, http_client=http), mode=mode) as client,
        ):
            yield client
    else:
        async with Client(target, mode=mode) as client:
            yield client


async def call(target: Any, mode: str, name: str, arguments: Any, **more: Any) -> Any:
    """One call over a connection of its own, as many frameworks make each."""
    meta = more.pop("meta", None)
    async with connected(target, mode, **more) as client:
        return await client.call_tool(name, arguments, meta=meta)


MODES = ("legacy", "2026-07-28")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("option", "mine", "other"),
    [
        ("process", {}, None),
        ("name:case-7", {}, None),
        ("header:X-Case", {"X-Case": "7"}, {"X-Case": "8"}),
        ("meta:example/case", {"meta": {"example/case": "7"}}, {"meta": {"example/case": "8"}}),
    ],
)
def test_a_session_outlives_its_connections(option: str, mine: Any, other: Any, mode: str) -> None:
    async def play(url: str) -> None:
        refused = await call(url, mode, *WRITE, **mine)
        assert refused.is_error and "find_customer" in refused.content[0].text
        for name, arguments in READS:
            assert not (await call(url, mode, name, arguments, **mine)).is_error
        if other is not None:
            assert (await call(url, mode, *WRITE, **other)).is_error, "another's reads don't count"
        assert not (await call(url, mode, *WRITE, **mine)).is_error
        shown = await call(url, mode, "show_ledger", {}, **mine)
        assert "orders.G-1010" in shown.content[0].text

    with served("--session-per", option) as url:
        asyncio.run(asyncio.wait_for(play(url), PATIENCE))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("option", ["header:X-Case", "meta:example/case"])
def test_who_names_no_session_is_told_how(option: str, mode: str) -> None:
    async def play(url: str) -> None:
        with pytest.raises(Exception) as raised:
            await call(url, mode, *READS[0])
        words = str(raised.value) + str(getattr(raised.value, "exceptions", ""))
        assert option.partition(":")[2].lower() in words.lower() or "400" in words

    with served("--session-per", option) as url:
        asyncio.run(asyncio.wait_for(play(url), PATIENCE))


@pytest.mark.parametrize("mode", MODES)
def test_a_session_outlives_the_proxy_where_each_call_starts_one(mode: str, tmp_path: Path) -> None:
    options = ["--session-per", "name:case-7", "--session-store", str(tmp_path / "s.db")]
    command, *rest = [*PROXY, *options, "--", *forked(SERVER)]
    target = StdioServerParameters(command=command, args=rest, env=ENVIRONMENT, cwd=str(ROOT))

    async def play() -> None:
        for name, arguments in READS:
            assert not (await call(target, mode, name, arguments)).is_error
        assert not (await call(target, mode, *WRITE)).is_error

    asyncio.run(asyncio.wait_for(play(), PATIENCE))


@pytest.mark.parametrize("mode", MODES)
def test_over_stdio_a_connection_is_a_session_in_either_form(mode: str) -> None:
    command, *rest = [*PROXY, "--", *forked(SERVER)]
    target = StdioServerParameters(command=command, args=rest, env=ENVIRONMENT, cwd=str(ROOT))

    async def play() -> None:
        async with Client(target, mode=mode) as client:
            assert (await client.call_tool(*WRITE)).is_error
            for name, arguments in READS:
                assert not (await client.call_tool(name, arguments)).is_error
            assert not (await client.call_tool(*WRITE)).is_error
            assert "cancel_order" in [tool.name for tool in (await client.list_tools()).tools]

    asyncio.run(asyncio.wait_for(play(), PATIENCE))


def test_the_stateless_form_is_offered_where_sessions_outlive_connections() -> None:
    async def version(url: str) -> Any:
        async with Client(url, mode="auto") as client:
            return client.protocol_version

    with served("--session-per", "process") as url:
        assert asyncio.run(version(url)) == "2026-07-28"
    with served() as url:
        assert asyncio.run(version(url)) == "2025-11-25"
