"""The curves of what a gateway does behind its port: history and conversations."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks import fixture
from benchmarks.dialogue import small_body
from benchmarks.growth.curve import Curve
from benchmarks.load import PATH, Load
from benchmarks.server import Server, free_port, gateway_command, started


def spent(server: Server) -> float:
    """The processor time of a server, in seconds, to the nanosecond."""
    tasks = Path(f"/proc/{server.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


async def serving(work: Callable[[Server], Any], *options: str) -> Any:
    upstream, port = free_port(), free_port()
    serve = [sys.executable, "-m", "benchmarks.gateway", "--serve", str(upstream)]
    async with (
        started(upstream, serve),
        started(port, [*gateway_command(port, upstream), *options]) as gateway,
    ):
        await Load(port).run(1, 0.5)
        return await work(gateway)


def history() -> list[Curve]:
    """A request of a conversation of n messages, of which all but the last two were sent before."""
    curves = [
        Curve("a request of a known conversation", "messages"),
        Curve("a request of a conversation never seen", "messages"),
    ]

    async def measure(gateway: Server) -> None:
        async with aiohttp.ClientSession() as http:
            for size in (10, 100, 1_000, 2_500, 5_000):
                known, new = [], []
                for turn in range(3):
                    talk = _talk(size, f"{size}-{turn}")
                    new.append(await _asked(http, gateway, talk))
                    for _ in range(3):
                        talk += [
                            {"role": "assistant", "content": "What is your e-mail address?"},
                            {"role": "user", "content": "I want to return my lamp, as I said."},
                        ]
                        known.append(await _asked(http, gateway, talk))
                curves[0].add(size, min(known))
                curves[1].add(size, min(new))

    asyncio.run(serving(measure))
    return curves


def _talk(size: int, name: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": f"{name}: I want to return my lamp."}
    ]
    order = json.dumps(fixture.order())
    for number in range((size - 1) // 2):
        arguments = json.dumps({"order_id": fixture.ORDER_ID})
        function = {"name": "get_order_details", "arguments": arguments}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": order})
    messages.append({"role": "user", "content": "I want to return my lamp."})
    return messages


async def _asked(
    http: aiohttp.ClientSession, gateway: Server, messages: list[dict[str, Any]]
) -> float:
    body = json.dumps({**json.loads(small_body()), "messages": messages}).encode()
    before = spent(gateway)
    async with http.post(f"http://127.0.0.1:{gateway.port}{PATH}", data=body) as response:
        data = await response.read()
        assert response.status == 200, data
    return spent(gateway) - before


def conversations() -> list[Curve]:
    """n conversations that are remembered at once: all of their requests, and memory."""
    curve = Curve("conversations that are remembered, a request each", "conversations")
    memory = Curve(
        "memory of the gateway above that at its start (MB in place of ms)", "conversations"
    )

    async def measure(gateway: Server) -> None:
        load, start = Load(gateway.port), _resident(gateway)
        total = 0.0
        for size in (10, 100, 1_000, 5_000, 10_000, 20_000):
            before = spent(gateway)
            await _so_many(load, size)
            total += spent(gateway) - before
            curve.add(size, total)
            memory.add(size, max(_resident(gateway) - start, 1) / 1e6)

    asyncio.run(serving(measure, "--max-remembered", str(1 << 34)))
    return [curve, memory]


async def _so_many(load: Load, count: int) -> None:
    """Asks until so many conversations were begun in all."""
    while (left := count - load.asked) > 0:
        await load.run(1, max(min(left * 0.0004, 5.0), 0.001))


def _resident(server: Server) -> float:
    status = Path(f"/proc/{server.pid}/status").read_text()
    return float(status.partition("VmRSS:")[2].split()[0])
