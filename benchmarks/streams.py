"""Streams through what happens to a gateway: a reload, a drain, a kill, each in the middle of all of them.

Every stream is a conversation of its own: words, and a write that the gateway lets through. The model
holds each after its first words until all have begun and the gateway was told to reload, told to stop,
or killed.

    python -m benchmarks.streams [--streams 200]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from ledgeragent.demo.shop.shop import Shop
from ledgeragent.journal import open_store, verify
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.gateway.wires import CHAT
from tests.gateway.world import read_sse

RESULT = Path(__file__).parent / "results" / "streams.json"
PACK = Path("examples/parking/pack.yaml").read_text()
CANCEL = Reply(
    text="One moment, please.",
    calls=(ToolCall(id="c9", name="cancel_order", arguments={"order_id": "G-1010"}),),
)


READS = (
    ToolCall(id="c1", name="find_customer", arguments={"email": "joris@peeters.example"}),
    ToolCall(id="c2", name="get_order", arguments={"order_id": "G-1010"}),
)


def history(number: int) -> tuple[Message, ...]:
    """A conversation of its own, in which the order was read."""
    said = UserMessage(text=f"Cancel G-1010, says number {number}.")
    return (said, Reply(calls=READS), *_answers())


@cache
def _answers() -> tuple[ToolReturn, ...]:
    with Shop() as shop:
        return tuple(
            ToolReturn(call_id=call.id, content=shop.execute(call).content) for call in READS
        )


class Model:
    """Streams the same reply to all, held after its first words until `go` is set."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One stream."""
        await request.read()
        first, *rest = CHAT.events(CANCEL, "r1")[1:]
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(CHAT.events(CANCEL, "r1")[0] + first)
        self.begun += 1
        await self.go.wait()
        with suppress(ConnectionError):  # The gateway that asked may have been killed.
            for event in rest:
                await response.write(event)
        return response


@asynccontextmanager
async def serving(model: Model) -> AsyncIterator[str]:
    """The model on a port."""
    app = web.Application()
    app.router.add_post(CHAT.path, model.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def gateway(folder: Path, upstream: str) -> AsyncIterator[tuple[Process, str]]:
    """A gateway with two routes: the shop's, and a pack in a file that can be changed."""
    pack = folder / "pack.yaml"
    if not pack.exists():
        pack.write_text(PACK)
    config = folder / "gateway.toml"
    config.write_text(
        f'upstream = "{upstream}"\nport = 0\nwatch = 0\n[[routes]]\npath = "/shop"\ndomain = "shop"\n'
        f'journal = "{folder / "journal.jsonl"}"\n'
        f'[[routes]]\npath = "/parking"\ndomain = "{pack}"\n'
    )
    command = [sys.executable, "-m", "ledgeragent", "gateway", "--config", str(config)]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=PIPE, stderr=DEVNULL, env=dict(os.environ)
    )
    assert process.stdout is not None
    try:
        address = re.search(r"http://[^/]+", (await process.stdout.readline()).decode())
        assert address is not None
        yield process, address[0]
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


class Stream:
    """One client's stream: what it got, and whether it ended as it should."""

    def __init__(self, number: int) -> None:
        self.body = json.dumps(CHAT.request(history(number), ("cancel_order",), True))
        self.data = b""
        self.broke = False

    async def run(self, http: aiohttp.ClientSession, url: str) -> None:
        """Asks, and reads to the end."""
        try:
            async with http.post(f"{url}/shop{CHAT.path}", data=self.body) as answer:
                async for chunk in answer.content.iter_any():
                    self.data += chunk
        except (aiohttp.ClientError, ConnectionError):
            self.broke = True

    @property
    def is_whole(self) -> bool:
        """True if words, call and end all came."""
        try:
            events, _ = read_sse(self.data)
            return not self.broke and CHAT.read_events(events) == CANCEL
        except (AssertionError, ValueError, KeyError, IndexError):
            return False

    @property
    def holds_the_call(self) -> bool:
        """True if the call came, whole or in part."""
        return b'"cancel_order"' in self.data


async def begun(
    model: Model, http: aiohttp.ClientSession, url: str, count: int
) -> tuple[list[Stream], list[asyncio.Task[None]]]:
    """So many streams, each with its first words."""
    model.go.clear()
    model.begun = 0
    streams = [Stream(number) for number in range(count)]
    tasks = [asyncio.create_task(stream.run(http, url)) for stream in streams]
    while model.begun < count or not all(stream.data for stream in streams):
        await asyncio.sleep(0.01)
    return streams, tasks


async def version(http: aiohttp.ClientSession, url: str) -> str:
    """The version of the pack in a file, as the gateway serves it."""
    async with http.get(f"{url}/parking/healthz") as answer:
        told: str = (await answer.json())["version"]
        return told


async def reloaded(folder: Path, count: int) -> dict[str, Any]:
    """A new version of a pack is taken up in the middle."""
    model = Model()
    async with _scene(model, folder) as (process, url, http):
        streams, tasks = await begun(model, http, url, count)
        (folder / "pack.yaml").write_text(PACK.replace('"1"', '"2"', 1))
        process.send_signal(signal.SIGHUP)
        while await version(http, url) != "2":
            await asyncio.sleep(0.02)
        model.go.set()
        await asyncio.gather(*tasks)
        after = Stream(count)
        await after.run(http, url)
        return {"whole": sum(s.is_whole for s in streams), "served_after": after.is_whole}


async def drained(folder: Path, count: int) -> dict[str, Any]:
    """The gateway is told to stop in the middle."""
    model = Model()
    async with _scene(model, folder) as (process, url, http):
        streams, tasks = await begun(model, http, url, count)
        process.send_signal(signal.SIGTERM)
        while await _takes(url):
            await asyncio.sleep(0.02)
        model.go.set()
        await asyncio.gather(*tasks)
        return {
            "whole": sum(s.is_whole for s in streams),
            "exit_code": await process.wait(),
        }


async def killed(folder: Path, count: int) -> dict[str, Any]:
    """The gateway is killed in the middle, and begun anew."""
    model = Model()
    async with _scene(model, folder) as (process, url, http):
        streams, tasks = await begun(model, http, url, count)
        process.kill()
        await asyncio.gather(*tasks)
    store = open_store(folder / "journal.jsonl")
    intact = verify(store).intact
    store.close()
    model.go.set()
    async with _scene(model, folder) as (_, url, http):
        again = [Stream(number) for number in range(count)]
        await asyncio.gather(*(stream.run(http, url) for stream in again))
    return {
        "told_as_broken": sum(s.broke for s in streams),
        "with_a_call_that_nobody_recorded": sum(s.holds_the_call for s in streams),
        "journal_intact": intact,
        "whole_when_asked_again": sum(s.is_whole for s in again),
    }


async def _takes(url: str) -> bool:
    """True while new connections are taken."""
    host, port = url.removeprefix("http://").split(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return False
    writer.close()
    return True


@asynccontextmanager
async def _scene(
    model: Model, folder: Path
) -> AsyncIterator[tuple[Process, str, aiohttp.ClientSession]]:
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        serving(model) as upstream,
        gateway(folder, upstream) as (process, url),
        aiohttp.ClientSession(connector=connector) as http,
    ):
        yield process, url, http


async def measured(count: int) -> dict[str, Any]:
    """What became of the streams in each case."""
    figures: dict[str, Any] = {"streams": count}
    for case in (reloaded, drained, killed):
        with tempfile.TemporaryDirectory() as folder:
            figures[case.__name__] = await case(Path(folder), count)
    return figures


def main() -> int:
    """Plays all three, prints, and writes the result."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams")
    parser.add_argument("--streams", type=int, default=200)
    options = parser.parse_args()
    report = {
        "command": f"python -m benchmarks.streams --streams {options.streams}",
        "python": platform.python_version(),
        "figures": asyncio.run(measured(options.streams)),
    }
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
