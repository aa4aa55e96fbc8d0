"""Many conversations at once through one gateway process: errors, cross-talk, and memory.

Each has records of its own, in one of the three formats, streamed or not, and sends its whole history,
or what is new under a session's name, or what is new after the id of the last reply. The model is
scripted and tells in its answers whose words and whose ledger it was shown. Of two neighbours each has
read its own order and tries to cancel the other's, which only a ledger that leaked would let it.

With `--console` the gateway has its console on, a page watches it, and the figures are kept beside those
without.

    python -m benchmarks.conversations [--seconds 60 --conversations 1000] [--console]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import secrets
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from benchmarks.server import Server, free_port, started
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.gateway.wires import RESPONSES, WIRES, Wire
from tests.gateway.world import read_sse

RESULT = Path(__file__).parent / "results" / "conversations.json"
TOOLS = ("find_customer", "get_order", "cancel_order")
BOUNDS = {"--max-remembered": 8 << 20, "--max-sessions": 2_000}
"""What the gateway may keep of past conversations: little enough to be reached in a minute."""

MODES = ("history", "session", "history", "reply")
"""How the gateway finds a conversation again; `reply` is by the id of the last one."""

_MARK = re.compile(r"cv-\d{7}")
_WISH = re.compile(r"(look up|cancel|meddle) (\d{7})")
_RETURNS = ('"role": "tool"', '"role":"tool"', '"tool_result"', '"function_call_output"')


# ── The model ───────────────────────────────────────────────────────────────────────────────────


def reply_to(told: str) -> Reply:
    """What the scripted model answers to a request: the calls that are wished, or what it was shown."""
    wishes = list(_WISH.finditer(told))
    answered = max(told.rfind(mark) for mark in _RETURNS)
    if not wishes or answered > wishes[-1].start():
        ledger = told.partition("<ledger>")[2].rpartition("</ledger>")[0]
        shown, known = sorted(set(_MARK.findall(told))), sorted(set(_MARK.findall(ledger)))
        return Reply(text=f"Shown {shown}, known {known}.")
    wish, number = wishes[-1].groups()
    return Reply(calls=_calls(wish, int(number)))


def _calls(wish: str, number: int) -> tuple[ToolCall, ...]:
    order = {"order_id": f"G-{number:07}"}
    if wish != "look up":
        return (ToolCall(name="cancel_order", arguments=order, id=f"call_{number}_2"),)
    email = {"email": f"cv-{number:07}@example.com"}
    return (
        ToolCall(name="find_customer", arguments=email, id=f"call_{number}_0"),
        ToolCall(name="get_order", arguments=order, id=f"call_{number}_1"),
    )


async def serve_model(port: int) -> None:
    """Serves until killed."""
    app = web.Application(client_max_size=1 << 26)
    for wire in WIRES:
        app.router.add_post(wire.path, _answering(wire))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=2048).start()
    await asyncio.Event().wait()


def _answering(wire: Wire) -> Any:
    async def answer(request: web.Request) -> web.Response:
        told = await request.text()
        reply, name = reply_to(told), f"resp_{time.perf_counter_ns()}"
        if '"stream":true' in told or '"stream": true' in told:
            body, kind = b"".join(wire.events(reply, name)), "text/event-stream"
        else:
            body, kind = json.dumps(wire.answer(reply, name)).encode(), "application/json"
        # No two messages of a provider have the same id.
        return web.Response(body=body.replace(b"msg_1", f"msg_{name}".encode()), content_type=kind)

    return answer


# ── The clients ─────────────────────────────────────────────────────────────────────────────────


@dataclass
class Tally:
    """What came of the conversations."""

    finished: int = 0
    milliseconds: list[float] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Conversation:
    """One customer, whose words and records bear its mark."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.mark = f"cv-{number:07}"
        self.wire: Wire = WIRES[number // 2 % 3]
        self.stream = bool(number // 6 % 2)
        mode = MODES[number // 12 % 4]
        self.mode = "history" if mode == "reply" and self.wire is not RESPONSES else mode
        self._messages: list[Message] = []
        self._after: str | None = None
        self._told = ""

    async def run(self, http: aiohttp.ClientSession, url: str, tally: Tally) -> None:
        """Plays it; whatever is not as it must be is noted."""
        allowed = "find_customer=ALLOW,get_order=ALLOW"
        self._says("look up", self.number)
        await self._ask(http, url, tally, allowed, ["find_customer", "get_order"])
        self._returns(json.dumps(f"C-{self.number}"), json.dumps(self._order()))
        await self._ask(http, url, tally, "", [])
        self._says("cancel", self.number)
        await self._ask(http, url, tally, "cancel_order=ALLOW", ["cancel_order"])
        self._returns(json.dumps({"order_id": f"G-{self.number:07}", "done": "order cancelled"}))
        await self._ask(http, url, tally, "", [])
        self._says("meddle", self.number ^ 1)
        await self._ask(http, url, tally, "cancel_order=REVISE", [])
        tally.finished += 1
        tally.kinds[f"{self.wire.name}, {'stream' if self.stream else 'whole'}, {self.mode}"] += 1

    def _order(self) -> dict[str, Any]:
        street = f"Long Lane {self.mark}"
        address = {"street": street, "postcode": "9000", "city": "Gent", "country": "BE"}
        line = {"name": "Rosemary", "kind": "plant", "quantity": 1, "unit_price": 7.5}
        return {
            "order_id": f"G-{self.number:07}",
            "customer_id": f"C-{self.number}",
            "status": "open",
            "placed_on": "2026-05-19",
            "lines": {"rosemary": line},
            "delivery": {"fee": 4.5, "address": address},
            "vouchers": {},
            "total": 12.0,
            "due": 12.0,
            "refunded": 0.0,
            "parcel_ids": [],
        }

    def _says(self, wish: str, number: int) -> None:
        self._add(UserMessage(text=f"I am {self.mark}. Please {wish} {number:07}."))

    def _returns(self, *contents: str) -> None:
        """Answers the calls of the last reply; a client that sends only what is new forgets the rest."""
        said = self._last
        self._add(
            *(
                ToolReturn(call_id=c.id, content=t)
                for c, t in zip(said.calls, contents, strict=True)
            )
        )

    def _add(self, *messages: Message) -> None:
        if self.mode == "history":
            self._messages += messages
        else:
            self._messages = list(messages)

    async def _ask(
        self,
        http: aiohttp.ClientSession,
        url: str,
        tally: Tally,
        verdicts: str,
        calls: Sequence[str],
    ) -> None:
        body = self.wire.request(self._messages, TOOLS, self.stream)
        if self._after is not None:
            body["previous_response_id"] = self._after
        headers = {"x-ledgeragent-session": self.mark} if self.mode == "session" else {}
        began = time.perf_counter()
        async with http.post(
            f"{url}{self.wire.path}", data=json.dumps(body), headers=headers
        ) as response:
            data = await response.read()
            if response.status != 200:
                raise ValueError(f"{response.status} {data[:200]!r}")
            told = response.headers.get("x-ledgeragent-verdict", "")
        tally.milliseconds.append((time.perf_counter() - began) * 1e3)
        self._last, told = self._read(data, told)
        if self.mode == "history":
            self._messages.append(self._last)
        if problem := self.problem(self._last, told, verdicts, calls):
            tally.wrong.append(problem)

    def _read(self, data: bytes, told: str) -> tuple[Reply, str]:
        """The reply and its verdicts."""
        if self.stream:
            events, comments = read_sse(data)
            told = "".join(comment.partition(": ")[2] for comment in comments)
            reply, last = self.wire.read_events(events), events[-1]
        else:
            last = json.loads(data)
            reply = self.wire.read(last)
        if self.mode == "reply":
            self._after = last["response"]["id"] if self.stream else last["id"]
        return reply, told

    def problem(self, reply: Reply, told: str, verdicts: str, calls: Sequence[str]) -> str:
        """What is wrong with an answer, "" if nothing is."""
        if told != verdicts:
            return f"{self.mark}: verdicts {told!r} instead of {verdicts!r}"
        if [call.name for call in reply.calls] != list(calls):
            return f"{self.mark}: calls {reply.calls} instead of {calls}"
        expected = "" if calls else f"Shown {[self.mark]}, known {[self.mark]}."
        return "" if reply.text == expected else f"{self.mark}: was told {reply.text!r}"


async def load(url: str, seconds: float, conversations: int) -> Tally:
    """So many conversations at once for so long, each followed by a new one; all are finished."""
    tally = Tally()
    end = time.perf_counter() + seconds
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as http:
        slots = (_slot(http, url, tally, n, conversations, end) for n in range(conversations))
        await asyncio.gather(*slots)
    return tally


async def _slot(
    http: aiohttp.ClientSession, url: str, tally: Tally, number: int, step: int, end: float
) -> None:
    while True:
        try:
            await Conversation(number).run(http, url, tally)
        except (aiohttp.ClientError, TimeoutError, AssertionError, LookupError, ValueError) as e:
            tally.errors.append(f"cv-{number:07}: {type(e).__name__}: {e}")
        number += step
        if time.perf_counter() >= end:
            return


# ── The measurement ─────────────────────────────────────────────────────────────────────────────


def resident(server: Server, kind: str = "VmRSS") -> float:
    """The memory of a process in MiB; VmHWM is the most it ever was."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    found = re.search(rf"{kind}:\s+(\d+) kB", status)
    assert found is not None
    return round(int(found[1]) / 1024, 1)


async def watch(url: str, key: str) -> int:
    """Watches the console as its page does, and now and then asks for all that it shows."""
    headers, events = {"authorization": f"Bearer {key}"}, 0
    timeout = aiohttp.ClientTimeout(total=None)
    async with (
        aiohttp.ClientSession(headers=headers, timeout=timeout) as http,
        http.get(f"{url}/console/events") as stream,
    ):
        async for line in stream.content:
            events += line.startswith(b"data:")
            if events % 1_000 == 1:
                async with http.get(f"{url}/console/state") as state:
                    await state.read()
    return events


async def measured(seconds: float, conversations: int, *, console: bool = False) -> dict[str, Any]:
    """The figures of one run, with servers of its own."""
    key = secrets.token_hex(16)
    model, port = free_port(), free_port()
    serve = [sys.executable, "-m", "benchmarks.conversations", "--serve", str(model)]
    upstream = ["--upstream", f"http://127.0.0.1:{model}", "--port", str(port)]
    upstream += [str(part) for bound in BOUNDS.items() for part in bound]
    if console:
        upstream += ["--console-key-env", "CONSOLE_KEY"]
    command = [sys.executable, "-m", "ledgeragent", "gateway", "--domain", "shop", *upstream]
    environment = {**os.environ, "CONSOLE_KEY": key}
    async with (
        started(model, serve),
        started(port, command, env=environment) as gateway,
        asyncio.TaskGroup() as group,
    ):
        url = f"http://127.0.0.1:{port}"
        watching = group.create_task(watch(url, key)) if console else None
        memory = {"ready": resident(gateway)}
        began = time.perf_counter()
        playing = asyncio.create_task(load(url, seconds, conversations))
        for quarter in (1, 2, 3, 4):
            await asyncio.sleep(seconds / 4)
            memory[f"after_{seconds * quarter / 4:g}_s"] = resident(gateway)
        tally = await playing
        took = time.perf_counter() - began
        memory["at_the_end"] = resident(gateway)
        memory["most"] = resident(gateway, "VmHWM")
        if watching is not None:
            watching.cancel()
    return {
        "requests": len(tally.milliseconds),
        "conversations_finished": tally.finished,
        "errors": len(tally.errors),
        "wrong_or_crossed": len(tally.wrong),
        "examples": [*tally.errors[:3], *tally.wrong[:3]],
        "requests_per_second": round(len(tally.milliseconds) / took, 1),
        "p50_ms": round(statistics.median(tally.milliseconds), 1),
        "p99_ms": round(statistics.quantiles(tally.milliseconds, n=100)[98], 1),
        "gateway_memory_mib": memory,
        "kinds": dict(sorted(tally.kinds.items())),
    }


def main() -> int:
    """Measures, prints, and writes the result; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--console", action="store_true")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve is not None:
        asyncio.run(serve_model(args.serve))
    figures = asyncio.run(measured(args.seconds, args.conversations, console=args.console))
    command = (
        f"python -m benchmarks.conversations --seconds {args.seconds:g} "
        f"--conversations {args.conversations}"
    )
    if args.console:
        report = json.loads(RESULT.read_text())
        report |= {"console_command": f"{command} --console", "console_figures": figures}
        return _written(report, figures)
    report = {
        "what": "concurrent conversations through one gateway process with the shop's pack; "
        "gateway, scripted model and clients share one machine, so latency is that of a full queue",
        "command": command,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "gateway_options": BOUNDS,
        "figures": figures,
    }
    return _written(report, figures)


def _written(report: dict[str, Any], figures: dict[str, Any]) -> int:
    """Prints and keeps a report; 1 if anything in these figures is wrong."""
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    return 1 if figures["errors"] or figures["wrong_or_crossed"] else 0


if __name__ == "__main__":
    sys.exit(main())
