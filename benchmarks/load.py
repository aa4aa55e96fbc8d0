"""Load: clients that ask a server as fast as it answers, and what that took."""

from __future__ import annotations

import asyncio
import itertools
import re
import statistics
import time
from typing import Any

from benchmarks.dialogue import KINDS, MARK
from benchmarks.server import KEY, Server

PATH = "/v1/chat/completions"
SECONDS = 0.8
CROWD = 16


class Load:
    """Connections that ask one after the other, each as soon as it was answered."""

    def __init__(self, port: int, kind: str = "whole") -> None:
        self._port = port
        bodies, self._proof = KINDS[kind]
        self._requests = [_head(len(body)) + body for body in bodies]
        self.milliseconds: list[float] = []

    @property
    def asked(self) -> int:
        """How many requests were answered."""
        return len(self.milliseconds)

    async def run(self, connections: int, seconds: float) -> None:
        """Asks for so long."""
        self._end = time.perf_counter() + seconds
        await asyncio.gather(*(self._connection() for _ in range(connections)))

    async def _connection(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        while time.perf_counter() < self._end:
            mark = f"{next(CONVERSATIONS):0{len(MARK)}}".encode()
            for request in self._requests:
                started = time.perf_counter()
                writer.write(request.replace(MARK.encode(), mark))
                answer = await _response(reader)
                self.milliseconds.append((time.perf_counter() - started) * 1e3)
                if self._proof not in answer:
                    raise SystemExit(f"not the model's answer: {answer[:500]!r}")
        writer.close()


CONVERSATIONS = itertools.count(1)
"""Their numbers: none begins like an earlier one."""


def _head(size: int) -> bytes:
    head = (
        f"POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer {KEY}\r\ncontent-length: {size}\r\n\r\n"
    )
    return head.encode()


async def _response(reader: asyncio.StreamReader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if not head.startswith(b"http/1.1 200"):
        raise SystemExit(f"not answered: {head!r} {await reader.read(500)!r}")
    found = re.search(rb"content-length: *(\d+)", head)
    if found:
        return await reader.readexactly(int(found[1]))
    parts = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readexactly(2)
    return b"".join(parts)


class Figures:
    """What was measured of one target, in rounds that alternate with those of the others.

    The cost is processor time. That depends on what else the machine does too, if less than the time by
    the clock: what is to be compared is measured one after the other, and compared round by round.
    """

    def __init__(self, server: Server, kind: str = "whole") -> None:
        self.server = server
        self.kind = kind
        self._alone: list[float] = []
        self._rates: list[float] = []
        self._costs: list[float] = []

    def load(self) -> Load:
        """Requests of this kind."""
        return Load(self.server.port, self.kind)

    async def round(self) -> None:
        """Some time of one client alone, then of a crowd."""
        alone, crowd = (self.load() for _ in range(2))
        await alone.run(1, SECONDS)
        started, spent = time.perf_counter(), self.server.cpu_seconds()
        await crowd.run(CROWD, SECONDS)
        self._rates.append(len(crowd.milliseconds) / (time.perf_counter() - started))
        self._costs.append((self.server.cpu_seconds() - spent) * 1e3 / len(crowd.milliseconds))
        self._alone += alone.milliseconds

    def report(self) -> dict[str, Any]:
        """Latency of one client alone, requests a second and cost of each of a crowd: median rounds."""
        return {
            "p50_ms": round(statistics.median(self._alone), 3),
            "p99_ms": round(statistics.quantiles(self._alone, n=100)[98], 3),
            "requests_per_second": round(statistics.median(self._rates), 1),
            "cpu_ms_per_request": round(statistics.median(self._costs), 4),
            "cpu_ms_by_round": [round(cost, 4) for cost in self._costs],
        }
