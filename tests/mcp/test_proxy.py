"""The proxy as a process between a real client and a real server, over every pair of transports."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

import mcp_types as types
from mcp import Client, StdioServerParameters

from ledgeragent.cli.main import UNUSABLE, main

# Logging and sampling are on their way out of the protocol, but must pass while they are in it.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

ROOT = Path(__file__).parents[2]
SERVER = [sys.executable, "-m", "tests.mcp.full_server"]
PROXY = [sys.executable, "-m", "ledgeragent", "mcp", "--domain", "shop"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
PATIENCE = 60.0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def listening(command: list[str], port: int) -> Iterator[None]:
    """A process, from when it accepts connections."""
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    try:
        ends = time.monotonic() + PATIENCE
        while not _accepts(port):
            assert process.poll() is None and time.monotonic() < ends, "it does not listen"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _accepts(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(params=["stdio to stdio", "stdio to http", "http to stdio", "http to http"])
def proxy(request: pytest.FixtureRequest) -> Iterator[Any]:
    """What a client connects to."""
    near, _, far = request.param.split()
    with _server(far) as server, _proxy(near, server) as target:
        yield target


@contextmanager
def _server(transport: str) -> Iterator[list[str]]:
    if transport == "stdio":
        yield ["--", *SERVER]
        return
    port = free_port()
    with listening([*SERVER, str(port)], port):
        yield ["--url", f"http://127.0.0.1:{port}/mcp"]


@contextmanager
def _proxy(transport: str, server: list[str]) -> Iterator[Any]:
    if transport == "stdio":
        command, *rest = [*PROXY, *server]
        yield StdioServerParameters(command=command, args=rest, env=ENVIRONMENT, cwd=str(ROOT))
        return
    port = free_port()
    with listening([*PROXY, "--transport", "http", "--port", str(port), *server], port):
        yield f"http://127.0.0.1:{port}/mcp"


def text_of(result: Any) -> str:
    return "".join(block.text for block in result.content)


def test_everything_passes_and_only_bad_calls_do_not(proxy: Any) -> None:
    asyncio.run(asyncio.wait_for(_everything(proxy), PATIENCE))


async def _everything(target: Any) -> None:
    logged: list[Any] = []
    progress: list[tuple[float, float | None, str | None]] = []

    async def log(params: Any) -> None:
        logged.append(params.data)

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        text = types.TextContent(type="text", text="Kim")
        return types.CreateMessageResult(role="assistant", content=text, model="scripted")

    async def note(done: float, total: float | None, message: str | None) -> None:
        progress.append((done, total, message))

    async with Client(target, logging_callback=log, sampling_callback=sample) as client:
        assert client.instructions == "Be kind."
        await _listings(client)
        await client.set_logging_level("warning")
        handed = await client.call_tool("hand_over", {"summary": "x"}, progress_callback=note)
        assert text_of(handed) == "Kim"
        assert progress == [(1.0, 3.0, "looking for a colleague")]
        assert logged == ["nobody is free"]
        await _judged(client)


async def _listings(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools["get_order"].annotations.read_only_hint is True
    assert tools["cancel_order"].annotations.read_only_hint is False
    assert tools["get_order"].meta == {"shop/aisle": "7"}
    assert "show_ledger" in tools
    resources = [str(r.uri) for r in (await client.list_resources()).resources]
    assert resources == ["shop://hours", "ledger://state"]
    assert (await client.read_resource("shop://hours")).contents[0].text == "nine to five"
    assert [p.name for p in (await client.list_prompts()).prompts] == ["greet"]
    prompt = await client.get_prompt("greet", {"who": "Ada"})
    assert prompt.messages[0].content.text == "Greet Ada."
    reference = types.PromptReference(type="ref/prompt", name="greet")
    completed = await client.complete(reference, {"name": "who", "value": "Ad"})
    assert completed.completion.values == ["Ada"]


async def _judged(client: Client) -> None:
    early = await client.call_tool("cancel_order", {"order_id": "G-1010"})
    assert early.is_error and "find_customer" in text_of(early)
    await client.call_tool("find_customer", {"email": "joris@peeters.example"})
    await client.call_tool("get_order", {"order_id": "G-1010"})
    await client.call_tool("get_order", {"order_id": "G-1011"})
    shown = text_of(await client.call_tool("show_ledger", {}))
    assert "orders.G-1010" in shown and "orders.G-1011" in shown
    blocked = await client.call_tool("cancel_order", {"order_id": "G-1011"})
    assert blocked.is_error and "dispatched" in text_of(blocked)
    assert not (await client.call_tool("cancel_order", {"order_id": "G-1010"})).is_error
    state = (await client.read_resource("ledger://state")).contents[0].text
    assert "STALE" in state
    order = text_of(await client.call_tool("get_order", {"order_id": "G-1011"}))
    assert "dispatched" in order


def test_cancelling_reaches_the_server(proxy: Any) -> None:
    asyncio.run(asyncio.wait_for(_cancelled(proxy), PATIENCE))


async def _cancelled(target: Any) -> None:
    begun = asyncio.Event()

    async def note(*_: Any) -> None:
        begun.set()

    async with Client(target) as client:
        await client.list_tools()
        call = client.call_tool("hand_over", {"summary": "wait"}, progress_callback=note)
        task = asyncio.create_task(call)
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not (await client.call_tool("get_order", {"order_id": "G-1010"})).is_error


def test_two_clients_over_http_have_two_ledgers() -> None:
    with _proxy("http", ["--", *SERVER]) as target:
        asyncio.run(asyncio.wait_for(_two(target), PATIENCE))


async def _two(target: Any) -> None:
    async with Client(target) as one, Client(target) as other:
        await one.call_tool("get_order", {"order_id": "G-1010"})
        assert "G-1010" in text_of(await one.call_tool("show_ledger", {}))
        assert "G-1010" not in text_of(await other.call_tool("show_ledger", {}))


@pytest.mark.parametrize("arguments", [[], ["--url", "http://x", "--", "python"]])
def test_exactly_one_server_is_named(arguments: list[str], capsys: Any) -> None:
    assert main(["mcp", "--domain", "shop", *arguments]) == UNUSABLE
    assert "either as a command" in capsys.readouterr().err


def test_a_server_that_cannot_be_started_is_one_line(capfd: Any) -> None:
    assert main(["mcp", "--domain", "shop", "--", "no-such-program-anywhere"]) == UNUSABLE
    error = capfd.readouterr().err
    assert "no-such-program-anywhere" in error and len(error.splitlines()) == 1
