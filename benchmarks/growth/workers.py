"""Workers: what a request costs one and the database, and what many of them could take."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.growth.port import serving, spent
from benchmarks.growth.store import STORE, part, returned
from benchmarks.load import Load
from benchmarks.queueing import Service, capacity
from benchmarks.server import Server
from ledgeragent.state import State
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.choose import open_session_store
from ledgeragent.stores.memory import Memory

P99 = 0.25
"""Seconds that a request may wait in the simulation, in the worst of a hundred."""

DATABASE_SERVERS = 8


def workers() -> dict[str, Any]:
    """What a request costs a worker and the database, and how many requests workers then take."""
    samples: list[float] = []

    async def measure(gateway: Server) -> None:
        load = Load(gateway.port)
        for _ in range(60):
            before, asked = spent(gateway), load.asked
            await load.run(1, 0.03)
            samples.append((spent(gateway) - before) / (load.asked - asked))

    asyncio.run(serving(measure))
    base = _database_samples()
    service = Service(samples, base)
    points = {
        str(count): round(capacity(service, count, DATABASE_SERVERS, P99), 0)
        for count in (1, 2, 4, 8, 16, 32, 64)
    }
    for count, rate in points.items():
        print(f"  {count} workers: {rate:,.0f} requests a second", flush=True)
    return {
        "gateway_ms_a_request": round(statistics.mean(samples) * 1e3, 3),
        "database_ms_a_request": round(statistics.mean(base) * 1e3, 3),
        "database_servers": DATABASE_SERVERS,
        "p99_seconds": P99,
        "requests_a_second": points,
        "measured_requests_a_second": measured_workers(),
    }


def _database_samples() -> list[float]:
    """What a request costs Postgres: five records of the journal, a session loaded and kept (s)."""
    from ledgeragent.journal.database import JournalDatabase
    from ledgeragent.journal.postgres import PostgresStore
    from tests.postgres import running

    session = SavedSession(memory=Memory(session="a", state=returned(
        State(), "list_parts", [part(n) for n in range(10)], STORE)))  # fmt: skip
    with running() as postgres:
        address = postgres.fresh_database()
        store = PostgresStore.of_writer(JournalDatabase(address))

        async def keep(times: int) -> list[float]:
            sessions = open_session_store(address)
            await sessions.open()
            costs = []
            for number in range(times):
                began = _children(postgres.process)
                for _ in range(10):
                    for _ in range(5):
                        store.append("x" * 600)
                    name = f"session:{number}"
                    saved = await sessions.load(name)
                    version = saved.version if saved is not None else 0
                    await sessions.save(name, SavedSession(memory=session.memory, version=version))
                costs.append((_children(postgres.process) - began) / 10)
            await sessions.close()
            return costs

        costs = asyncio.run(keep(30))
        store.close()
    return costs


def _children(process: int) -> float:
    """The processor time of all processes of a Postgres server, in seconds."""
    total = 0
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    for child in (str(process), *children):
        total += int(Path(f"/proc/{child}/schedstat").read_text().split()[0])
    return total / 1e9


def measured_workers() -> dict[str, float]:
    """Requests a second that one worker and two take here, where clients and upstream take their share."""
    rates = {}
    for count in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            options = ["--workers", str(count), "--session-store", f"{folder}/s.db"]
            rates[str(count)] = asyncio.run(serving(_rate, *options))
    return rates


async def _rate(gateway: Server) -> float:
    loads = [Load(gateway.port) for _ in range(3)]
    rates = []
    for load in loads:
        began = time.perf_counter()
        await load.run(16, 2.0)
        rates.append(len(load.milliseconds) / (time.perf_counter() - began))
    return round(max(rates), 1)
