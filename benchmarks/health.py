"""How long a sign of life takes while one client, or the upstream, sends the largest body allowed.

A process of its own sends the bodies, and is the upstream; this one does nothing but ask `/healthz`,
from when a body is sent until it is answered.

    python -m benchmarks.health [--only WORD]
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import os
import platform
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.bodies import WIRES, Wire
from benchmarks.server import free_port, gateway_command, started

RESULT = Path(__file__).parent / "results" / "health.json"
LONGEST = 100.0
"""Milliseconds that a sign of life may take."""

_MODES = ("enforce", "shadow")


class Attack(NamedTuple):
    """What is sent: a request, and the answer to it; `by` is the one of them that is hostile."""

    by: str
    path: str
    body: bytes
    answer: bytes
    kind: str


def attacks(wire: Wire) -> Iterator[tuple[str, Callable[[], Attack]]]:
    """All that one format is attacked with, by name, each made when it is wanted."""

    def of(by: str, body: str, answer: str, kind: str = "application/json") -> Attack:
        return Attack(by, wire.path, body.encode(), answer.encode(), kind)

    for name, make in wire.requests().items():
        yield name, lambda make=make: of("a request", make(), wire.reply())
    for name, make in wire.replies().items():
        yield name, lambda make=make: of("a reply", wire.asks(), make())
    for name, make in wire.streams().items():
        yield (
            name,
            lambda make=make: of("a stream", wire.asks(stream=True), make(), "text/event-stream"),
        )


def attacker(here: Connection, model: int, port: int) -> None:
    """Sends what it is told to, and answers as the model; a process of its own."""
    current: list[Attack] = []
    threading.Thread(target=_serve, args=(model, current), daemon=True).start()
    here.send(None)
    while (attack := here.recv()) is not None:
        current[:] = [attack]
        began = time.perf_counter()
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        client.request("POST", attack.path, attack.body)
        answer = client.getresponse()
        answer.read()
        client.close()
        here.send((answer.status, time.perf_counter() - began))


def _serve(port: int, current: list[Attack]) -> None:
    with socket.create_server(("127.0.0.1", port)) as listening:
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=_answer, args=(connection, current), daemon=True).start()


def _answer(connection: socket.socket, current: list[Attack]) -> None:
    with connection, connection.makefile("rb") as stream:
        while stream.readline():
            length = 0
            while (line := stream.readline()).strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            stream.read(length)
            attack = current[0]
            head = f"HTTP/1.1 200 OK\r\ncontent-type: {attack.kind}\r\n"
            connection.sendall(f"{head}content-length: {len(attack.answer)}\r\n\r\n".encode())
            connection.sendall(attack.answer)


def asked(port: int) -> float:
    """Milliseconds until the gateway said that it is well."""
    began = time.perf_counter()
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    client.request("GET", "/healthz")
    answer = client.getresponse()
    answer.read()
    client.close()
    assert answer.status == 200, answer.status
    return (time.perf_counter() - began) * 1e3


def watched(port: int, there: Connection, attack: Attack) -> dict[str, Any]:
    """What a sign of life took while an attack was under way."""
    there.send(attack)
    times = [asked(port)]
    while not there.poll():
        times.append(asked(port))
    status, seconds = there.recv()
    return {
        "by": attack.by,
        "bytes": max(len(attack.body), len(attack.answer)),
        "status": status,
        "seconds": round(seconds, 2),
        "probes": len(times),
        "p50_ms": round(statistics.median(times), 2),
        "most_ms": round(max(times), 1),
    }


async def measured(only: str, mode: str, wire: Wire) -> list[dict[str, Any]]:
    """Every attack of a format, on a gateway of its own."""
    model, port = free_port(), free_port()
    context = multiprocessing.get_context("spawn")
    there, here = context.Pipe()
    process = context.Process(target=attacker, args=(here, model, port), daemon=True)
    process.start()
    there.recv()
    rows = []
    command = [*gateway_command(port, model), "--mode", mode, "--max-refusals", "0"]
    async with started(port, command):
        for name, make in attacks(wire):
            if only in name:
                row = watched(port, there, make())
                rows.append({"mode": mode, "format": wire.name, "attack": name, **row})
                print(rows[-1], flush=True)
    there.send(None)
    process.join()
    return rows


def main() -> int:
    """Measures, prints, and writes the result; 1 where a sign of life took too long."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="attacks with this in their name, unwritten")
    args = parser.parse_args()
    rows = [
        row
        for mode in _MODES
        for wire in WIRES
        for row in asyncio.run(measured(args.only, mode, wire))
    ]
    late = [row for row in rows if row["most_ms"] > LONGEST]
    for row in late:
        print("late:", row)
    if not args.only:
        report = {
            "command": "python -m benchmarks.health",
            "python": platform.python_version(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
        }
        rows_text = ",\n".join(json.dumps(row) for row in rows)
        head = json.dumps(report)[:-1]
        RESULT.write_text(f'{head}, "attacks": [\n{rows_text}\n]}}\n')
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
