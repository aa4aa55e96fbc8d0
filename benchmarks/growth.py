"""How cost grows: records, history, rules, conversations, runs, workers. Under 15 minutes on two cores.

Processor time, the least of three where it is not a server's, and the exponent between the last two points:
1 where twice as much costs twice as much.

    python -m benchmarks.growth [--parts records,history,... --most-runs 1000000]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import math
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks import fixture
from benchmarks.gateway import (
    PATH,
    Load,
    Server,
    free_port,
    gateway_command,
    request_body,
    small_body,
    started,
)
from benchmarks.queueing import Service, capacity
from ledgeragent import Domain, PathTemplate, Read, Write, load_domain, predicate, touch, violation
from ledgeragent.gate import Gate
from ledgeragent.gateway.ledgertail import ledger_tail
from ledgeragent.gateway.settings import MAX_LEDGER
from ledgeragent.journal import Journal, open_store, verify
from ledgeragent.journal.checkpoints import Checkpoints
from ledgeragent.journal.resuming import resumed
from ledgeragent.offline.replay import replay
from ledgeragent.predicates import Broken, View
from ledgeragent.state import State
from ledgeragent.stores.base import SavedSession, SessionStore
from ledgeragent.stores.choose import open_session_store
from ledgeragent.stores.memory import Memory
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage

RESULT = Path(__file__).parent / "results" / "growth.json"
REQUESTS_A_CONVERSATION = 12
"""Of a recorded run of the retail benchmark, about: the calls of the model."""

P99 = 0.25
"""Seconds that a request may wait in the simulation, in the worst of a hundred."""

DATABASE_SERVERS = 8

STEEPEST = 1.15
"""The largest exponent that is allowed."""

PART = PathTemplate("parts.{id}", dict)
STORE = Domain(
    name="store",
    version="1",
    tools=(
        Read(tool="list_parts", to=PART, records=lambda value, arguments: value),
        Read(tool="get_part", to=PART, parameters=("id",)),
        Write(tool="move_part", arguments=dict, touches=(touch(PART, "moved"),)),
    ),
)


MOVE = ToolCall(name="move_part", arguments={"id": "0"}, id="w")


def part(number: int) -> dict[str, Any]:
    """A record of some 200 bytes."""
    return {"id": str(number), "shelf": "a", "moved": False, "text": "Lorem ipsum dolor. " * 7}


def least(work: Callable[[], object], times: int = 3) -> float:
    """The least processor time of this process, in seconds."""
    spent = []
    for _ in range(times):
        gc.collect()
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def repeated(work: Callable[[], object], least_seconds: float = 0.02) -> float:
    """The processor time of one of many, in seconds."""
    count = 1
    while (spent := least(partial(_again, work, count))) < least_seconds:
        count *= 4
    return spent / count


def _again(work: Callable[[], object], count: int) -> None:
    for _ in range(count):
        work()


class Curve:
    """What something costs at several sizes."""

    def __init__(self, name: str, unit: str) -> None:
        self.name = name
        self.unit = unit
        self.points: list[tuple[int, float]] = []

    def add(self, size: int, seconds: float) -> None:
        """One more point."""
        self.points.append((size, seconds))
        print(f"  {self.name}: {size:,} {self.unit}: {seconds * 1e3:,.3f} ms", flush=True)

    @property
    def exponent(self) -> float:
        """How the cost grows between the last two points."""
        (n, cost), (m, later) = self.points[-2:]
        return math.log(max(later, 1e-9) / max(cost, 1e-9)) / math.log(m / n)

    def report(self) -> dict[str, Any]:
        """The curve as the result file has it."""
        return {
            "what": self.name,
            "of": self.unit,
            "milliseconds": {str(n): round(s * 1e3, 4) for n, s in self.points},
            "exponent": round(self.exponent, 2),
        }


# ── In one process ──────────────────────────────────────────────────────────────────────────────


def returned(state: State, name: str, content: object, domain: Domain, **words: str) -> State:
    """The state after a call and its return."""
    call = ToolCall(name=name, arguments=words, id="c")
    state = state.observe(Reply(calls=(call,)), domain)
    return state.observe(ToolReturn(call_id="c", content=content), domain)


def records() -> list[Curve]:
    """One return of n records: taken in, decided by, shown."""
    curves = [
        Curve("a return is taken in", "records"),
        Curve("a write is judged", "records"),
        Curve("the ledger is shown to the model", "records"),
    ]
    gate = Gate(domain=_with_rules(7))
    for size in (1, 10, 100, 1_000, 10_000, 32_000, 64_000, 100_000):
        content = [part(number) for number in range(size)]
        state = returned(State(), "list_parts", content, STORE)
        curves[0].add(size, least(partial(returned, State(), "list_parts", content, STORE)))
        curves[1].add(size, repeated(partial(gate.judge, MOVE, state.ledger)))
        curves[2].add(size, least(partial(ledger_tail, state.ledger, MAX_LEDGER)))
    return curves


def _with_rules(count: int) -> Domain:
    def rule(number: int) -> Any:
        @predicate(f"store/rule-{number}", guards="move_part")
        def on_a_shelf(call: dict[str, str], ledger: View) -> Broken | None:
            """A part stands on a shelf."""
            shelf = ledger[PART(call["id"])]["shelf"]
            return None if shelf != f"{number}" else violation("it is on {shelf}", shelf=shelf)

        return on_a_shelf

    return Domain(
        name="store",
        version="1",
        tools=STORE.tools,
        predicates=tuple(rule(number) for number in range(count)),
    )


def rules() -> list[Curve]:
    """A write that n rules judge."""
    curves = [Curve("a write is judged, all allow", "rules"), Curve("a domain is made", "rules")]
    state = returned(State(), "list_parts", [part(0)], STORE)
    for size in (10, 100, 300, 1_000):
        domain = _with_rules(size)
        gate = Gate(domain=domain)
        curves[0].add(size, repeated(partial(gate.judge, MOVE, state.ledger)))
        curves[1].add(size, repeated(partial(_with_rules, size)))
    return curves


def sessions() -> list[Curve]:
    """A turn of a session that holds n records, on disk: loaded, one more record read, kept."""
    curve = Curve("a turn of a session in SQLite", "records")
    with tempfile.TemporaryDirectory() as folder:
        for size in (10, 100, 1_000, 10_000):
            asyncio.run(_turns(open_session_store(f"{folder}/{size}.db"), size, curve))
    return [curve]


async def _turns(store: SessionStore, size: int, curve: Curve) -> None:
    await store.open()
    state = returned(State(), "list_parts", [part(n) for n in range(size)], STORE)
    await store.save("session:a", SavedSession(memory=Memory(session="a", state=state)))
    spent = []
    for turn in range(5):
        gc.collect()
        began = time.process_time()
        saved = await store.load("session:a")
        assert saved is not None
        state = saved.memory.state.observe(UserMessage(text="And?"), STORE)
        state = returned(state, "get_part", part(turn), STORE, id=str(turn))
        memory = Memory(session="a", state=state)
        await store.save("session:a", SavedSession(memory=memory, version=saved.version))
        spent.append(time.process_time() - began)
    curve.add(size, min(spent))
    await store.close()


def journals() -> list[Curve]:
    """A journal of n records: written, opened again, proven."""
    curves = [
        Curve("a journal is written", "records"),
        Curve("a journal is opened again", "records"),
        Curve("a journal is proven", "records"),
    ]
    quiet = Checkpoints(sync="never")
    with tempfile.TemporaryDirectory() as folder:
        for size in (1_000, 10_000, 100_000):
            file = Path(folder, f"{size}.jsonl")
            with Journal.open(file, STORE, checkpoints=quiet) as journal:
                curves[0].add(size, least(partial(_written, journal, size), 1))
            store = open_store(file)
            curves[1].add(size, least(partial(resumed, store)))
            curves[2].add(size, least(partial(verify, store), 1))
            store.close()
    return curves


def _written(journal: Journal, count: int) -> None:
    for number in range(count):
        journal.heard("s", UserMessage(text=f"message {number}: {'Lorem ipsum. ' * 8}"))


def runs(most: int) -> list[Curve]:
    """n runs are judged again in one process. They are made up of one conversation with other keys."""
    curve = Curve("runs are judged again", "runs")
    body = json.loads(request_body(False))
    text = json.dumps({"id": "0000000", "messages": body["messages"], "domain": "retail"})
    with tempfile.TemporaryDirectory() as folder:
        for size in (1_000, 10_000, 100_000, 1_000_000):
            if size > most:
                break
            file = Path(folder, "runs.jsonl")
            with file.open("w") as stream:
                for number in range(size):
                    line = text.replace(fixture.ORDER_ID, f"#W{number:07}")
                    stream.write(line.replace("0000000", f"{number:07}", 1) + "\n")
            began = time.process_time()
            result = replay([str(file)], "retail")
            assert result.runs == size, result
            curve.add(size, time.process_time() - began)
    return [curve]


# ── Through a port ──────────────────────────────────────────────────────────────────────────────


def spent(server: Server) -> float:
    """The processor time of a server, in seconds, to the nanosecond."""
    tasks = Path(f"/proc/{server.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


async def _servers(work: Callable[[Server], Any], *options: str) -> Any:
    upstream, port = free_port(), free_port()
    serve = [sys.executable, "-m", "benchmarks.gateway", "--serve", str(upstream)]
    async with (
        started(upstream, serve),
        started(port, [*gateway_command(port, upstream), *options]) as gateway,
    ):
        await Load(port, False).run(1, 0.5)
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

    asyncio.run(_servers(measure))
    return curves


def _talk(size: int, name: str) -> list[dict[str, Any]]:
    said = [{"role": "user", "content": f"{name}: I want to return my lamp."}]
    order = json.dumps(fixture.order())
    for number in range((size - 1) // 2):
        arguments = json.dumps({"order_id": fixture.ORDER_ID})
        function = {"name": "get_order_details", "arguments": arguments}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        said.append({"role": "assistant", "content": None, "tool_calls": [call]})
        said.append({"role": "tool", "tool_call_id": f"call_{number}", "content": order})
    said.append({"role": "user", "content": "I want to return my lamp."})
    return said


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
        load, start = Load(gateway.port, False), _resident(gateway)
        total = 0.0
        for size in (10, 100, 1_000, 5_000, 10_000, 20_000):
            before = spent(gateway)
            await _so_many(load, size)
            total += spent(gateway) - before
            curve.add(size, total)
            memory.add(size, max(_resident(gateway) - start, 1) / 1e6)

    asyncio.run(_servers(measure, "--max-remembered", str(1 << 34)))
    return [curve, memory]


async def _so_many(load: Load, count: int) -> None:
    """Asks until so many conversations were begun in all."""
    while (left := count - load._asked) > 0:
        await load.run(1, max(min(left * 0.0004, 5.0), 0.001))


def _resident(server: Server) -> float:
    status = Path(f"/proc/{server.pid}/status").read_text()
    return float(status.partition("VmRSS:")[2].split()[0])


def workers() -> dict[str, Any]:
    """What a request costs a worker and the database, and how many requests workers then take."""
    samples: list[float] = []

    async def measure(gateway: Server) -> None:
        load = Load(gateway.port, False)
        for _ in range(60):
            before, asked = spent(gateway), load._asked
            await load.run(1, 0.03)
            samples.append((spent(gateway) - before) / (load._asked - asked))

    asyncio.run(_servers(measure))
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
            rates[str(count)] = asyncio.run(_servers(_rate, *options))
    return rates


async def _rate(gateway: Server) -> float:
    loads = [Load(gateway.port, False) for _ in range(3)]
    rates = []
    for load in loads:
        began = time.perf_counter()
        await load.run(16, 2.0)
        rates.append(len(load.milliseconds) / (time.perf_counter() - began))
    return round(max(rates), 1)


# ── The report ──────────────────────────────────────────────────────────────────────────────────


def cost(report: dict[str, Any]) -> dict[str, Any]:
    """Core-hours for a million conversations, from what was measured."""
    parts = report["parts"]
    gateway = parts["workers"]["gateway_ms_a_request"] * REQUESTS_A_CONVERSATION
    base = parts["workers"]["database_ms_a_request"] * REQUESTS_A_CONVERSATION
    size, again = list(parts["runs"][0]["milliseconds"].items())[-1]
    hours = 1_000_000 / 3_600_000
    return {
        "requests_a_conversation": REQUESTS_A_CONVERSATION,
        "gateway_core_hours": round(gateway * hours, 2),
        "database_core_hours": round(base * hours, 2),
        "judged_again_core_hours": round(again / int(size) * hours, 3),
    }


PARTS = ("records", "rules", "history", "conversations", "sessions", "journals", "runs", "workers")


def measured(name: str, most_runs: int) -> Any:
    """The curves of a part, or what workers do."""
    plain: dict[str, Callable[[], Sequence[Curve]]] = {
        "records": records,
        "rules": rules,
        "history": history,
        "conversations": conversations,
        "sessions": sessions,
        "journals": journals,
        "runs": lambda: runs(most_runs),
    }
    return workers() if name == "workers" else [curve.report() for curve in plain[name]()]


def written(parts: dict[str, Any]) -> None:
    """Writes the result of what has been measured by now."""
    report = {
        "command": "make bench-growth",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "parts": {name: parts[name] for name in PARTS if name in parts},
    }
    if {"runs", "workers"} <= parts.keys():
        report["a_million_conversations"] = cost(report)
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


def steep(parts: dict[str, Any]) -> list[str]:
    """What grows faster than it may."""
    return [
        f"{curve['what']}: {curve['exponent']}"
        for name, curves in parts.items()
        if name != "workers"
        for curve in curves
        if curve["exponent"] > STEEPEST
    ]


def main() -> int:
    """Measures, prints, and writes the result; 1 where something grows faster than it may."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="some of: " + ", ".join(PARTS))
    parser.add_argument("--most-runs", type=int, default=100_000)
    args = parser.parse_args()
    names = args.parts.split(",")
    if unknown := set(names) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    load_domain("retail")
    parts = json.loads(RESULT.read_text())["parts"] if RESULT.exists() else {}
    for name in names:
        print(name, flush=True)
        began = time.perf_counter()
        parts[name] = measured(name, args.most_runs)
        written(parts)
        print(f"  ({time.perf_counter() - began:.0f} s)", flush=True)
    print("\n".join(f"too steep: {line}" for line in steep(parts)) or "nothing is too steep")
    return 1 if steep(parts) else 0


if __name__ == "__main__":
    sys.exit(main())
