"""What the gateway adds to a model API, beside a bare forwarder and the LiteLLM proxy in one run: a minute.

One worker each, in front of one local upstream that answers at once. Every request is a retail
conversation of its own: two reads with their returns to fold, and a write to judge. Small ones are the
first words of a conversation, long ones the next words of one that has gone on for a while. LiteLLM
takes part if LITELLM_VENV names a virtual environment with `litellm[proxy]`.

    LITELLM_VENV=/path/to/venv python -m benchmarks.gateway
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import platform
import re
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import fixture

RESULT = Path(__file__).parent / "results" / "gateway.json"
PATH = "/v1/chat/completions"
SECONDS = 0.8
ROUNDS = 5
CROWD = 16
KEY = f"sk-{secrets.token_hex(24)}"
MARK = "0" * 16
SMALL = "I want to return my lamp"
ASKED = "What is your e-mail address?"
SPOKEN = 20
"""Turns of words that a long conversation has behind it when it begins, and that it goes on for."""


def request_body(stream: bool) -> bytes:
    """The request, with `MARK` where each conversation differs."""
    reads = (
        ("find_user_id_by_email", {"email": "ines.okafor1001@example.com"}, fixture.USER_ID),
        ("get_user_details", {"user_id": fixture.USER_ID}, json.dumps(fixture.user())),
        ("get_order_details", {"order_id": fixture.ORDER_ID}, json.dumps(fixture.order())),
    )
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You serve the customers of a shop. " * 40},
        {"role": "user", "content": f"{MARK} I want to return my desk lamp."},
    ]
    for n, (name, arguments, content) in enumerate(reads):
        call = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": f"call_{n}", "type": "function", "function": call}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": content})
    names = [*(name for name, _, _ in reads), "return_delivered_order_items"]
    parameters = {"type": "object", "properties": {}}
    tools = [
        {"type": "function", "function": {"name": name, "parameters": parameters}} for name in names
    ]
    body = {"model": "m", "messages": messages, "tools": tools, "stream": stream}
    return json.dumps(body).encode()


def small_body() -> bytes:
    """A small request: the first words of a conversation, and the same tools."""
    whole = json.loads(request_body(False))
    said = {"role": "user", "content": f"{MARK} {SMALL}."}
    return json.dumps({**whole, "messages": [said]}).encode()


def long_bodies() -> tuple[bytes, ...]:
    """A long conversation's requests, each one turn longer than the one before it."""
    whole = json.loads(request_body(False))
    turn = [{"role": "assistant", "content": ASKED}, {"role": "user", "content": f"{SMALL}."}]
    words = "It stood on my desk for a week, and then its arm would not stay up any more. " * 4
    long_turn = [turn[0], {"role": "user", "content": f"{words}{SMALL}."}]
    spoken = whole["messages"] + long_turn * SPOKEN
    requests = (spoken + turn * turns for turns in range(SPOKEN))
    return tuple(json.dumps({**whole, "messages": said}).encode() for said in requests)


def small_reply() -> bytes:
    """The upstream's answer to words: words."""
    message = {"role": "assistant", "content": ASKED}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": "chatcmpl-1", "created": 1, "model": "m", "object": "chat.completion"}
    return json.dumps({**head, "choices": [choice]}).encode()


def reply_bytes(stream: bool) -> bytes:
    """The upstream's answer to everything: a sentence, and a return that is allowed."""
    made = fixture.return_call(fixture.CARD)
    function = {"name": made.name, "arguments": json.dumps(made.arguments)}
    call = {"index": 0, "id": "call_9", "type": "function", "function": function}
    head = {"id": "chatcmpl-1", "created": 1, "model": "m"}
    if not stream:
        message = {"role": "assistant", "content": "One moment.", "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}
        whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        return json.dumps(whole).encode()
    deltas = [{"role": "assistant", "content": ""}, {"content": "One "}, {"content": "moment."}]
    chunks = [*((delta, None) for delta in (*deltas, {"tool_calls": [call]})), ({}, "tool_calls")]
    events = []
    for delta, reason in chunks:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        events.append(json.dumps({**head, "object": "chat.completion.chunk", "choices": [choice]}))
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


class Upstream(asyncio.Protocol):
    """Just enough of a server to never be what is measured."""

    def __init__(self) -> None:
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answers every whole request."""
        self._rest += data
        while (end := self._rest.find(b"\r\n\r\n")) >= 0:
            found = re.search(rb"content-length: *(\d+)", self._rest[:end], re.IGNORECASE)
            size = end + 4 + (int(found[1]) if found else 0)
            if len(self._rest) < size:
                return
            body, self._rest = self._rest[end + 4 : size], self._rest[size:]
            if SMALL.encode() in body:
                self._transport.write(SMALL_ANSWER)
                continue
            streams = re.search(rb'"stream": ?true', body) is not None
            self._transport.write(ANSWERS[streams])


def _answer(stream: bool, body: bytes) -> bytes:
    kind = b"text/event-stream" if stream else b"application/json"
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n"
    return head % (kind, len(body)) + body


ANSWERS = {stream: _answer(stream, reply_bytes(stream)) for stream in (False, True)}
SMALL_ANSWER = _answer(False, small_reply())


async def serve_upstream(port: int) -> None:
    """Serves until killed."""
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port)
    await server.serve_forever()


JUDGED = b"return_delivered_order_items"
KINDS: dict[str, tuple[Sequence[bytes], bytes]] = {
    "whole": ((request_body(False),), JUDGED),
    "streamed": ((request_body(True),), JUDGED),
    "small": ((small_body(),), ASKED.encode()),
    "long": (long_bodies(), ASKED.encode()),
}
"""The requests of each kind, in their order, and what stands in every answer to one."""


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

    The cost is processor time, which hardly depends on what else the machine does.
    """

    def __init__(self, server: Server, kind: str = "whole") -> None:
        self.server = server
        self.kind = kind
        self._alone: list[float] = []
        self._rates: list[float] = []
        self._spent = 0.0
        self._asked = 0

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
        self._spent += self.server.cpu_seconds() - spent
        self._asked += len(crowd.milliseconds)
        self._alone += alone.milliseconds

    def report(self) -> dict[str, float]:
        """Latency of one client alone, requests a second of a crowd (median round), cost of each."""
        return {
            "p50_ms": round(statistics.median(self._alone), 3),
            "p99_ms": round(statistics.quantiles(self._alone, n=100)[98], 3),
            "requests_per_second": round(statistics.median(self._rates), 1),
            "cpu_ms_per_request": round(self._spent * 1e3 / self._asked, 4),
        }


class Server(NamedTuple):
    """A server of one process."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """The processor time that its threads have used, to the nanosecond: a round has few ticks."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in threads) / 1e9


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@asynccontextmanager
async def started(port: int, command: list[str], **options: Any) -> AsyncIterator[Server]:
    """A server as a process of its own, once it takes connections."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, **options) as process:
        try:
            for _ in range(400):
                if process.poll() is not None:
                    raise SystemExit(f"{command[:4]} ended with {process.returncode}")
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except OSError:
                    await asyncio.sleep(0.1)
            yield Server(port, process.pid)
        finally:
            process.kill()


def gateway_command(port: int, upstream: int) -> list[str]:
    """One gateway process with the retail pack."""
    address = f"http://127.0.0.1:{upstream}"
    options = ["--domain", "retail", "--upstream", address, "--port", str(port)]
    return [sys.executable, "-m", "ledgeragent", "gateway", *options]


def forwarder_command(port: int, upstream: int) -> list[str]:
    """A process that only hands on, made of the same library."""
    address = f"http://127.0.0.1:{upstream}"
    return [sys.executable, "-m", "benchmarks.forwarder", str(port), address]


@contextmanager
def litellm(venv: str, port: int, upstream: int) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """The command and options for one LiteLLM proxy process."""
    params = {
        "model": "openai/m",
        "api_base": f"http://127.0.0.1:{upstream}/v1",
        "api_key": "sk-x",
    }
    config = {"model_list": [{"model_name": "m", "litellm_params": params}]}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "config.yaml")
        file.write_text(json.dumps(config))
        options = ["--config", str(file), "--port", str(port), "--host", "127.0.0.1"]
        command = [str(Path(venv, "bin", "litellm")), *options, "--num_workers", "1"]
        known = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
        yield command, {"env": {**os.environ, **known}, "cwd": folder}


async def measured() -> dict[str, Any]:
    """Every figure: all servers are up at once and take turns."""
    upstream, port, traced_port, peer, bare_port = (free_port() for _ in range(5))
    serve = [sys.executable, "-m", "benchmarks.gateway", "--serve", str(upstream)]
    venv = os.environ.get("LITELLM_VENV")
    async with AsyncExitStack() as stack:
        behind = await stack.enter_async_context(started(upstream, serve))
        ours = await stack.enter_async_context(started(port, gateway_command(port, upstream)))
        # The upstream answers everything, spans included.
        spans = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{upstream}"}
        command = [*gateway_command(traced_port, upstream), "--otel"]
        traced = await stack.enter_async_context(started(traced_port, command, env=spans))
        bare = await stack.enter_async_context(
            started(bare_port, forwarder_command(bare_port, upstream))
        )
        targets = {
            "upstream": Figures(behind),
            "forwarder": Figures(bare),
            "forwarder_streamed": Figures(bare, "streamed"),
            "forwarder_small": Figures(bare, "small"),
            "forwarder_long": Figures(bare, "long"),
            "gateway_small": Figures(ours, "small"),
            "gateway": Figures(ours),
            "gateway_streamed": Figures(ours, "streamed"),
            "gateway_long": Figures(ours, "long"),
            "gateway_traced": Figures(traced),
        }
        if venv:
            command, options = stack.enter_context(litellm(venv, peer, upstream))
            theirs = await stack.enter_async_context(started(peer, command, **options))
            targets["litellm"] = Figures(theirs)
        for target in targets.values():
            await target.load().run(2, 0.5)
        for _ in range(ROUNDS):
            for target in targets.values():
                await target.round()
    return {name: target.report() for name, target in targets.items()}


def compared(figures: dict[str, Any]) -> dict[str, float]:
    """The figures that should hold on any machine."""
    direct, gateway, peer = (figures.get(n) for n in ("upstream", "gateway", "litellm"))
    bare, bare_streamed = figures["forwarder"], figures["forwarder_streamed"]
    streamed = figures["gateway_streamed"]
    assert direct is not None and gateway is not None
    told = {
        "gateway_added_p50_ms": gateway["p50_ms"] - direct["p50_ms"],
        "gateway_added_p99_ms": gateway["p99_ms"] - direct["p99_ms"],
    }
    told["forwarder_added_p50_ms"] = bare["p50_ms"] - direct["p50_ms"]
    pairs = {
        "cpu_beside_forwarder": (gateway, bare),
        "cpu_beside_forwarder_streamed": (streamed, bare_streamed),
        "cpu_beside_forwarder_small": (figures["gateway_small"], figures["forwarder_small"]),
        "cpu_beside_forwarder_long": (figures["gateway_long"], figures["forwarder_long"]),
    }
    for name, (one, other) in pairs.items():
        told[name] = one["cpu_ms_per_request"] / other["cpu_ms_per_request"]
    if peer is not None:
        told["litellm_added_p50_ms"] = peer["p50_ms"] - direct["p50_ms"]
        told["litellm_added_p99_ms"] = peer["p99_ms"] - direct["p99_ms"]
        told["requests_per_second_ratio"] = (
            gateway["requests_per_second"] / peer["requests_per_second"]
        )
        told["cpu_ratio"] = peer["cpu_ms_per_request"] / gateway["cpu_ms_per_request"]
    return {name: round(value, 3) for name, value in told.items()}


def main() -> int:
    """Measures, prints, and writes the result."""
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(serve_upstream(int(sys.argv[2])))
    figures = asyncio.run(measured())
    report = {
        "command": "python -m benchmarks.gateway",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "connections": {"latency": 1, "requests_per_second": CROWD},
        "figures": figures,
        "compared": compared(figures),
    }
    RESULT.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
