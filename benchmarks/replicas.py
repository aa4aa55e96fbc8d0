"""Two gateways behind a load balancer, one database: what is lost when either goes away.

Conversations in all three formats go through HAProxy to whichever gateway is next; sessions and journal
are in one Postgres. After a third of them one gateway is killed (SIGKILL) and begun anew, after two thirds
Postgres is stopped at once and started again. Clients repeat what failed, as SDKs do.

    python -m benchmarks.replicas [--conversations 1000 --runs 3]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.conversations import TOOLS, Conversation, Tally
from benchmarks.server import Server, free_port, started
from ledgeragent.errors import LedgerAgentError
from ledgeragent.journal import Event, open_store, read
from ledgeragent.journal.chains import prove_all
from ledgeragent.journal.postgres import MergedChains
from ledgeragent.journal.signing import make_keys
from ledgeragent.types import Reply
from tests.postgres import PASSWORD, PostgresServer, Unavailable, running

RESULT = Path(__file__).parent / "results" / "replicas.json"
AT_ONCE = 50
ATTEMPTS = 12
CHECKED_EVERY = "200ms"
_MARK = re.compile(r"cv-\d{7}")

BALANCER = """\
global
  maxconn 4000
defaults
  mode http
  timeout connect 1s
  timeout client 60s
  timeout server 60s
  option redispatch
  retries 2
frontend agents
  bind 127.0.0.1:{port}
  default_backend gateways
backend gateways
  balance roundrobin
  option httpchk GET /readyz
  http-check send hdr host localhost
"""


class ClosedError(Exception):
    """An answer was lost, so that nobody knows whether its write was made: the next one asks for a read."""


@dataclass
class Outcome(Tally):
    """What clients saw: `failures` by what they were, `heard` verdicts and `released` calls by record."""

    failures: Counter[str] = field(default_factory=Counter)
    retried: int = 0
    closed: int = 0
    heard: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    released: Counter[tuple[str, str]] = field(default_factory=Counter)
    longest_wait: float = 0.0


class Customer(Conversation):
    """One that repeats a request until it is answered."""

    async def _ask(
        self,
        http: aiohttp.ClientSession,
        url: str,
        tally: Tally,
        verdicts: str,
        calls: Sequence[str],
    ) -> None:
        assert isinstance(tally, Outcome)
        began = time.perf_counter()
        for attempt in range(ATTEMPTS):
            try:
                reply, words = await self._once(http, url)
                break
            except (aiohttp.ClientError, TimeoutError, _Failed) as problem:
                tally.failures[_kind(problem)] += 1
                await asyncio.sleep(min(0.05 * 2**attempt, 1.0))
        else:
            raise ValueError(f"not answered in {ATTEMPTS} attempts")
        wait = time.perf_counter() - began
        tally.milliseconds.append(wait * 1e3)
        tally.retried += attempt > 0
        tally.longest_wait = max(tally.longest_wait, wait)
        self._last = reply
        if self.mode == "history":
            self._messages.append(reply)
        self._note(tally, reply, words)
        if words.startswith("cancel_order=REVISE") and "ALLOW" in verdicts and attempt:
            raise ClosedError
        if problem_text := self.problem(reply, words, verdicts, calls):
            tally.wrong.append(f"{problem_text} (attempt {attempt + 1}, {self.mode})")

    async def _once(self, http: aiohttp.ClientSession, url: str) -> tuple[Reply, str]:
        body = self.wire.request(self._messages, TOOLS, self.stream)
        if self._after is not None:
            body["previous_response_id"] = self._after
        headers = {"x-ledgeragent-session": self.mark} if self.mode == "session" else {}
        async with http.post(
            f"{url}{self.wire.path}", data=json.dumps(body), headers=headers
        ) as response:
            data = await response.read()
            if response.status != 200:
                raise _Failed(f"status {response.status}")
            words = response.headers.get("x-ledgeragent-verdict", "")
        after = self._after
        try:
            return self._read(data, words)
        except (AssertionError, LookupError, ValueError, TypeError):
            self._after = after
            raise _Failed("a stream that ended in an error") from None

    def _note(self, tally: Outcome, reply: Reply, words: str) -> None:
        # Each request names one record, whichever tools are called on it.
        for verdict in filter(None, words.replace(" ", "").split(",")):
            tool, word = verdict.split("=")
            tally.heard[self._record(tool), tool, word] += 1
        for call in reply.calls:
            tally.released[self._record(call.name), call.name] += 1

    def _record(self, tool: str) -> str:
        if tool == "find_customer":
            return f"cv-{self.number:07}@example.com"
        wish = str(self._messages[-1])
        number = self.number ^ 1 if "meddle" in wish else self.number
        return f"G-{number:07}"


class _Failed(Exception):
    """A request that was answered with an error."""


def _kind(problem: Exception) -> str:
    return str(problem) if isinstance(problem, _Failed) else type(problem).__name__


async def play(url: str, count: int, outcome: Outcome) -> None:
    """So many conversations, some at once."""
    connector = aiohttp.TCPConnector(limit=0, force_close=False)
    timeout = aiohttp.ClientTimeout(total=30)
    numbers = iter(range(count))
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as http:

        async def slot() -> None:
            for number in numbers:
                try:
                    await Customer(number).run(http, url, outcome)
                except ClosedError:
                    outcome.closed += 1
                except (AssertionError, LookupError, ValueError) as e:
                    outcome.errors.append(f"cv-{number:07}: {type(e).__name__}: {e}")

        await asyncio.gather(*(slot() for _ in range(AT_ONCE)))


async def disturb(
    outcome: Outcome, count: int, gateways: Sequence[_Gateway], postgres: PostgresServer
) -> dict[str, float]:
    """Kills one gateway and begins it anew, then restarts the database; how long each was away (s)."""
    away = {}
    await _until(outcome, count // 3)
    began = time.perf_counter()
    await gateways[0].kill()
    await asyncio.sleep(1.0)
    await gateways[0].begin()
    away["gateway_away_seconds"] = time.perf_counter() - began
    await _until(outcome, 2 * count // 3)
    began = time.perf_counter()
    await asyncio.to_thread(postgres.stop)
    await asyncio.sleep(0.5)
    await asyncio.to_thread(postgres.start)
    away["database_away_seconds"] = time.perf_counter() - began
    return away


async def _until(outcome: Outcome, count: int) -> None:
    while outcome.finished + outcome.closed + len(outcome.errors) < count:
        await asyncio.sleep(0.01)


class _Gateway:
    """One gateway process on a port of its own, which can be killed and begun anew."""

    def __init__(self, stack: AsyncExitStack, model: int, options: Sequence[str], env: Any) -> None:
        self._stack = stack
        self.port = free_port()
        upstream = ["--upstream", f"http://127.0.0.1:{model}", "--port", str(self.port)]
        command = [sys.executable, "-m", "ledgeragent", "gateway", "--domain", "shop", *upstream]
        self._command = [*command, *options]
        self._env = env
        self.server: Server | None = None

    async def begin(self) -> None:
        """Begins it; returns once it is ready, its journal opened."""
        self.server = await self._stack.enter_async_context(
            started(self.port, self._command, env=self._env)
        )
        async with aiohttp.ClientSession() as http:
            while True:
                with suppress(aiohttp.ClientError):
                    async with http.get(f"http://127.0.0.1:{self.port}/readyz") as response:
                        if response.status == 200:
                            return
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """Ends it without a word."""
        assert self.server is not None
        os.kill(self.server.pid, signal.SIGKILL)


async def measured(count: int, folder: Path, postgres: PostgresServer) -> dict[str, Any]:
    """The figures of one run."""
    database = postgres.fresh_database()
    key = folder / "key"
    if not key.exists():
        make_keys(key)
    model, port = free_port(), free_port()
    serve = [sys.executable, "-m", "benchmarks.conversations", "--serve", str(model)]
    # In the environment, since every user of a machine may read the commands of others.
    env = {**os.environ, "LEDGERAGENT_SESSION_STORE": database, "LEDGERAGENT_JOURNAL": database}
    options = ["--journal-key", str(key), "--watch", "0"]
    outcome = Outcome()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(started(model, serve))
        gateways = [_Gateway(stack, model, options, env) for _ in range(2)]
        for gateway in gateways:
            await gateway.begin()
        await stack.enter_async_context(balancer(port, gateways, folder))
        disturbing = asyncio.create_task(disturb(outcome, count, gateways, postgres))
        began = time.perf_counter()
        await play(f"http://127.0.0.1:{port}", count, outcome)
        seconds = time.perf_counter() - began
        away = await disturbing
        for gateway in gateways:
            assert gateway.server is not None
            os.kill(gateway.server.pid, signal.SIGTERM)
            await _gone(gateway.server.pid)
    return {**told(outcome, seconds, away), **journalled(outcome, database, str(key))}


async def _gone(process: int) -> None:
    for _ in range(1_200):  # seconds, on a machine with other work
        with suppress(ChildProcessError):
            if os.waitpid(process, os.WNOHANG) != (0, 0):
                return
        await asyncio.sleep(0.05)


def balancer(port: int, gateways: Sequence[_Gateway], folder: Path) -> Any:
    """HAProxy in front of the gateways, which asks each whether it is ready."""
    haproxy = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if haproxy is None:
        raise Unavailable("HAProxy is not installed")
    lines = [
        f"  server g{n} 127.0.0.1:{g.port} check inter {CHECKED_EVERY} fall 1 rise 1"
        for n, g in enumerate(gateways)
    ]
    file = folder / f"haproxy-{port}.cfg"
    file.write_text(BALANCER.format(port=port) + "\n".join(lines) + "\n")
    return started(port, [haproxy, "-db", "-f", str(file)])


def told(outcome: Outcome, seconds: float, away: dict[str, float]) -> dict[str, Any]:
    """What the clients saw."""
    return {
        "conversations_finished": outcome.finished,
        "conversations_ended_by_a_lost_answer": outcome.closed,
        "conversations_failed": len(outcome.errors),
        "requests_answered": len(outcome.milliseconds),
        "requests_repeated_until_answered": outcome.retried,
        "failures_seen": dict(sorted(outcome.failures.items())),
        "longest_wait_seconds": round(outcome.longest_wait, 2),
        "seconds": round(seconds, 1),
        **{name: round(value, 2) for name, value in away.items()},
        "wrong_or_crossed": len(outcome.wrong),
        "examples": [*outcome.errors[:3], *outcome.wrong[:3]],
    }


def journalled(outcome: Outcome, database: str, key: str) -> dict[str, Any]:
    """What the journal says of it: whether it is whole, and holds every verdict that a client heard."""
    store = open_store(database)
    assert isinstance(store, MergedChains)
    try:
        proof = prove_all(store, key=f"{key}.pub")
        records = list(read(store))
    finally:
        store.close()
    verdicts = Counter(_verdicts(records))
    lost = outcome.heard - verdicts
    allowed = Counter({(r, t): n for (r, t, w), n in verdicts.items() if w == "ALLOW"})
    unjudged = outcome.released - allowed
    return {
        "journal_chains": len(proof.proofs),
        "journal_records": len(records),
        "journal_holds": proof.holds,
        "journal_faults": [*proof.faults, *(f for p in proof.proofs.values() for f in p.faults)][
            :3
        ],
        "verdicts_heard": outcome.heard.total(),
        "verdicts_recorded": verdicts.total(),
        "verdicts_lost": lost.total(),
        "calls_released": outcome.released.total(),
        "calls_released_unjudged": unjudged.total(),
        "sessions_with_words_of_two_customers": _crossed(records),
    }


def _verdicts(records: Iterable[Event]) -> Iterable[tuple[str, str, str]]:
    for record in records:
        for verdict in record.get("verdicts", ()):
            call = verdict["call"]
            name = str(next(iter(call["arguments"].values())))
            yield name, call["name"], verdict.get("word", verdict["decision"])


def _crossed(records: Iterable[Event]) -> int:
    words: dict[str, set[str]] = {}
    for record in records:
        if record["event"] == "heard":
            marks = _MARK.findall(json.dumps(record["text"]))
            words.setdefault(record["session"], set()).update(marks)
    return sum(len(marks) > 1 for marks in words.values())


def is_sound(figures: dict[str, Any]) -> bool:
    """True if nothing was lost, unjudged or crossed, and every conversation came to an end."""
    nothing = (
        "conversations_failed",
        "wrong_or_crossed",
        "verdicts_lost",
        "calls_released_unjudged",
        "sessions_with_words_of_two_customers",
    )
    return not any(figures[name] for name in nothing) and bool(figures["journal_holds"])


def run(count: int, runs: int) -> list[dict[str, Any]]:
    """The figures of so many runs, each with processes and a database of its own."""
    with running("-c max_connections=50") as postgres, tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        return [asyncio.run(measured(count, place, postgres)) for _ in range(runs)]


def main() -> int:
    """Measures, prints, and writes the result; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    try:
        results = run(args.conversations, args.runs)
    except (Unavailable, LedgerAgentError, subprocess.SubprocessError) as problem:
        raise SystemExit(f"not measured: {problem}") from None
    report = {
        "what": "conversations through two gateways behind HAProxy, no sticky sessions, sessions and "
        "journal in one Postgres; one gateway killed and begun anew after a third, Postgres stopped at "
        "once and started again after two thirds",
        "command": f"python -m benchmarks.replicas --conversations {args.conversations} "
        f"--runs {args.runs}",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "at_once": AT_ONCE,
        "attempts": ATTEMPTS,
        "runs": results,
    }
    text = json.dumps(report, indent=1)
    assert PASSWORD not in text
    RESULT.write_text(text + "\n")
    print(text)
    return 0 if all(map(is_sound, results)) else 1


if __name__ == "__main__":
    sys.exit(main())
