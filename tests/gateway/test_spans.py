"""The spans of a request: their tree, what they tell, what they never tell, and how they leave."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode

from ledgeragent.cli.main import main
from ledgeragent.types import Reply, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.processes import ROOT, process
from tests.gateway.recorded import Recorded
from tests.gateway.upstream import Play, Upstream, costing, cut, garbage, status, stepwise
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES, Wire
from tests.gateway.world import (
    HELLO,
    KNOWN,
    LONG,
    MIXED,
    SAY,
    TOOLS,
    UNKNOWN,
    WRITE,
    run,
    served,
    world,
)
from tests.lending.domain import call

TRACE = "0af7651916cd43dd8448eb211c80319c"
ABOVE = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "baggage": "customer=ada"}
SERVICE = {"chat": "openai", "responses": "openai", "messages": "anthropic"}


def told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def span_id(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.span_id:016x}"


async def ended(recorded: Recorded) -> ReadableSpan:
    """The request's span, which ends a moment after the client has read the last byte."""
    while not recorded.of(SpanKind.SERVER):
        await asyncio.sleep(0.01)
    return recorded.request


def test_a_request_is_a_tree_of_spans(client: Client) -> None:
    async def scenario() -> None:
        kept = Recorded()
        async with world(WRITE, spans=kept.spans) as w:
            got = await client.ask(w, *KNOWN, headers=ABOVE)
            assert got.reply == WRITE
            request = await ended(kept)
            sent = w.upstream.headers[0]
        (called,), (judged,) = kept.of(SpanKind.CLIENT), kept.of(SpanKind.INTERNAL)
        assert [span.name for span in (request, called, judged)] == [
            f"POST {client.wire.path}",
            "chat m",
            "judge",
        ]
        assert request.parent is not None
        assert f"{request.parent.trace_id:032x}" == TRACE
        for child in (called, judged):
            assert child.parent is not None
            assert f"{child.parent.span_id:016x}" == span_id(request)
        assert sent["traceparent"] == f"00-{TRACE}-{span_id(called)}-01"
        assert "baggage" not in sent
        assert all(s.status.status_code is StatusCode.UNSET for s in kept.ended)

    run(scenario())


def test_what_a_request_tells(client: Client) -> None:
    async def scenario() -> None:
        kept = Recorded()
        session = {"x-ledgeragent-session": "case-1"}
        async with world(LONG, WRITE, spans=kept.spans) as w:
            await client.release(w, session)
            await ended(kept)
            kept.clear()
            await client.ask(w, *KNOWN, headers=session)
            request = told(await ended(kept))
            port = int(w.gateway.settings.upstream.rpartition(":")[2])
        conversation = request.pop("gen_ai.conversation.id")
        assert conversation.startswith("case-1@")
        assert request == {
            "http.request.method": "POST",
            "http.route": client.wire.path,
            "http.response.status_code": 200,
            "url.path": client.wire.path,
            "url.scheme": "http",
            "gen_ai.request.model": "m",
            "gen_ai.request.stream": client.stream,
            "ledgeragent.dialect": client.wire.name,
            "ledgeragent.domain": "lending",
            "ledgeragent.pack.version": "1",
            "ledgeragent.pack.digest": "",
            "ledgeragent.mode": "enforce",
            "ledgeragent.decision": "ALLOW",
            "ledgeragent.predicates": ("lending/days",),
            "ledgeragent.revisions": 1,
        }
        assert [told(span) for span in kept.of(SpanKind.INTERNAL)] == [
            {
                "ledgeragent.decision": "REVISE",
                "ledgeragent.tools": ("lend_book",),
                "ledgeragent.decisions": ("REVISE",),
                "ledgeragent.predicates": ("lending/days",),
            },
            {
                "ledgeragent.decision": "ALLOW",
                "ledgeragent.tools": ("lend_book",),
                "ledgeragent.decisions": ("ALLOW",),
            },
        ]
        calls = [told(span) for span in kept.of(SpanKind.CLIENT)]
        assert len(calls) == 2
        for asked in calls:
            assert asked["gen_ai.operation.name"] == "chat"
            assert asked["gen_ai.provider.name"] == SERVICE[client.wire.name]
            assert asked["gen_ai.request.model"] == asked["gen_ai.response.model"] == "m"
            assert (asked["server.address"], asked["server.port"]) == ("127.0.0.1", port)
            assert ("gen_ai.response.time_to_first_chunk" in asked) is client.stream
        assert [asked["gen_ai.response.id"] for asked in calls] == ["resp_2", "resp_3"]
        page = (ROOT / "docs" / "how-to" / "gateway.md").read_text()
        for span in kept.ended:
            assert all(f"`{name}`" in page for name in told(span))

    run(scenario())


USAGE: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "chat": (
        {
            "prompt_tokens": 900,
            "completion_tokens": 40,
            "total_tokens": 940,
            "prompt_tokens_details": {"cached_tokens": 700},
        },
        {"input_tokens": 900, "output_tokens": 40, "cache_read.input_tokens": 700},
    ),
    "messages": (
        {
            "input_tokens": 100,
            "cache_read_input_tokens": 700,
            "cache_creation_input_tokens": 100,
            "output_tokens": 40,
        },
        {"input_tokens": 900, "output_tokens": 40, "cache_read.input_tokens": 700},
    ),
    "responses": (
        {
            "input_tokens": 900,
            "output_tokens": 40,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 12},
        },
        {"input_tokens": 900, "output_tokens": 40, "cache_read.input_tokens": 0},
    ),
}


@pytest.mark.parametrize("wire", [CHAT, MESSAGES, RESPONSES], ids=lambda wire: wire.name)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_tokens_are_counted_as_the_convention_counts_them(wire: Wire, stream: bool) -> None:
    usage, expected = USAGE[wire.name]

    async def scenario() -> None:
        kept = Recorded()
        async with world(costing(SAY, usage), spans=kept.spans) as w:
            got = await w.ask(wire, [HELLO], stream=stream)
            assert got.reply == SAY
            await ended(kept)
        (called,) = kept.of(SpanKind.CLIENT)
        counted = {n: v for n, v in told(called).items() if n.startswith("gen_ai.usage.")}
        assert counted == {f"gen_ai.usage.{name}": n for name, n in expected.items()}

    run(scenario())


def test_nothing_that_was_said_is_told(client: Client) -> None:
    """Words, arguments, results, keys, and names of tools that a model made up."""

    async def scenario() -> None:
        kept = Recorded()
        secret = Reply(
            text="SAID-BY-MODEL",
            calls=(
                call("lend_book", "IDENTIFIER", member_id="ARGUMENT", book_id="B1", days=1),
                call("TOOL-NAME", "other", member_id="ARGUMENT"),
            ),
        )
        keys = {"authorization": "Bearer KEY", "x-api-key": "KEY", "x-ledgeragent-session": "s"}
        async with world(secret, secret, spans=kept.spans) as w:
            heard = UserMessage(text="SAID-BY-CUSTOMER")
            await client.ask(w, heard, *KNOWN[1:], headers=keys)
            await ended(kept)
        everything = "\n".join(span.to_json() for span in kept.ended)
        assert "lend_book" in everything
        assert '"other"' in everything
        for secret_word in ("SAID", "ARGUMENT", "TOOL-NAME", "KEY", "IDENTIFIER", "M1", "Ferns"):
            assert secret_word not in everything

    run(scenario())


def test_whatever_client_and_upstream_say_can_be_exported(client: Client) -> None:
    """One span that cannot be encoded would take its whole batch along."""

    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        usage = {"input_tokens": 1 << 90, "prompt_tokens": "many", "output_tokens": True}
        odd = {"usage": usage, "model": "\udc00", "id": "\ud800"}
        if client.stream:
            data = json.dumps({"type": "ping", "choices": [], **odd})
            events = wire.events(SAY, "r")
            events.insert(1, f"event: ping\ndata: {data}\n\n".encode())
            return web.Response(body=b"".join(events), content_type="text/event-stream")
        return web.json_response({**wire.answer(SAY, "r"), **odd})

    async def scenario() -> None:
        kept = Recorded()
        async with world(respond, spans=kept.spans) as w:
            await client.ask(w, HELLO, model="\ud83d" * 3)
            await ended(kept)
        assert len(encode_spans(kept.ended).SerializeToString()) > 0

    run(scenario())


def test_what_is_not_sampled_is_not_told(client: Client) -> None:
    async def scenario() -> None:
        kept = Recorded(sampler=ALWAYS_OFF)
        async with world(WRITE, spans=kept.spans) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply == WRITE
            flags = w.upstream.headers[0]["traceparent"].rpartition("-")[2]
            assert int(flags, 16) & 1 == 0
        assert kept.ended == []

    run(scenario())


@pytest.mark.parametrize(
    ("play", "on_call", "on_request"),
    [
        (status(429, {"retry-after": "7"}), "429", None),
        (status(500), "500", "500"),
        (cut(WRITE, keep=0.5, reset=True), "BadReplyError", "BadReplyError"),
        (cut(WRITE, keep=0.5, stall=True), "timeout", "timeout"),
        (garbage(), None, "502"),
    ],
    ids=["429", "500", "resets", "stalls", "garbage"],
)
def test_failures_are_told(
    client: Client, play: Play, on_call: str | None, on_request: str | None
) -> None:
    async def scenario() -> None:
        kept = Recorded()
        async with world(play, spans=kept.spans, timeout=0.3) as w:
            got = await client.ask(w, *KNOWN)
            request = await ended(kept)
        (called,) = kept.of(SpanKind.CLIENT)
        failed = told(called).get("error.type")
        assert failed == on_call or (client.stream and on_call is None)
        assert told(request)["http.response.status_code"] == got.status
        if on_request is None:
            assert request.status.status_code is StatusCode.UNSET
        else:
            assert request.status.status_code is StatusCode.ERROR
            passed = got.status == 200
            assert told(request)["error.type"] == (on_request if passed else str(got.status))
        assert all(not span.events for span in kept.ended)

    run(scenario())


def test_a_client_that_goes_away(client: Client) -> None:
    async def scenario() -> None:
        kept = Recorded()
        never = asyncio.Semaphore(2)
        async with world(stepwise(SAY, never), spans=kept.spans) as w:
            asking = asyncio.create_task(client.ask(w, HELLO))
            while not w.upstream.asked:
                await asyncio.sleep(0.01)
            asking.cancel()
            request = await ended(kept)
        (called,) = kept.of(SpanKind.CLIENT)
        assert told(called)["error.type"] == told(request)["error.type"] == "cancelled"

    run(scenario())


def test_a_span_ends_with_its_stream(wire: Wire) -> None:
    async def scenario() -> None:
        kept = Recorded()
        steps = asyncio.Semaphore(0)
        async with world(stepwise(MIXED, steps), spans=kept.spans) as w:
            total = len(wire.events(MIXED, "resp_slow"))
            body = json.dumps(wire.request(KNOWN, TOOLS, True))
            for _ in range(total - 1):
                steps.release()
            async with w.http.post(f"{w.url}{wire.path}", data=body) as response:
                early = b""
                while b"get_book" not in early:
                    early += await response.content.readany()
                assert kept.ended == []
                steps.release()
                await response.content.read()
            request = await ended(kept)
        assert request.end_time is not None
        assert all((span.end_time or 0) <= request.end_time for span in kept.ended)

    run(scenario())


def test_shadow_mode_is_told_too(client: Client) -> None:
    async def scenario() -> None:
        kept = Recorded("shadow")
        async with world(UNKNOWN, spans=kept.spans, mode="shadow") as w:
            got = await client.ask(w, *KNOWN, headers=ABOVE)
            assert got.reply == UNKNOWN
            request = told(await ended(kept))
            sent = w.upstream.headers[0]
        (judged,), (called,) = kept.of(SpanKind.INTERNAL), kept.of(SpanKind.CLIENT)
        assert sent["traceparent"] == f"00-{TRACE}-{span_id(called)}-01"
        assert request["ledgeragent.mode"] == "shadow"
        assert request["ledgeragent.decision"] == told(judged)["ledgeragent.decision"] == "REVISE"
        assert request["ledgeragent.predicates"] == ("gate/unknown-tool",)
        assert told(judged)["ledgeragent.tools"] == ("other",)

    run(scenario())


def test_a_request_that_is_turned_away(wire: Wire) -> None:
    async def scenario() -> None:
        kept = Recorded()
        async with world(spans=kept.spans, keys=frozenset({"k"})) as w:
            await w.ask(wire, [HELLO])
            request = await ended(kept)
        assert told(request)["http.response.status_code"] == 401
        assert len(kept.ended) == 1

    run(scenario())


def test_the_command_exports_to_a_collector() -> None:
    """A process with the standard variables; the collector decodes what it is sent."""

    async def scenario() -> None:
        got: list[ExportTraceServiceRequest] = []

        async def collect(request: web.Request) -> web.Response:
            assert request.content_type == "application/x-protobuf"
            assert request.headers["x-tenant"] == "7"
            got.append(ExportTraceServiceRequest.FromString(await request.read()))
            return web.Response(content_type="application/x-protobuf")

        collector = web.Application()
        collector.router.add_post("/v1/traces", collect)
        upstream = Upstream()
        upstream.script.extend([WRITE, SAY])
        async with served(upstream.app()) as behind, served(collector) as sink:
            env = {
                "OTEL_EXPORTER_OTLP_ENDPOINT": sink,
                "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=7",
                "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
            }
            async with (
                process(behind, "--otel", env=env) as (gateway, url, _),
                aiohttp.ClientSession(headers=ABOVE) as http,
            ):
                for stream in (False, True):
                    body = json.dumps(CHAT.request(KNOWN, TOOLS, stream))
                    async with http.post(f"{url}{CHAT.path}", data=body) as response:
                        await response.read()
                gateway.terminate()
                assert await asyncio.wait_for(gateway.wait(), 20) == 0
        resources = [r for request in got for r in request.resource_spans]
        about = {a.key: a.value.string_value for a in resources[0].resource.attributes}
        assert about["service.name"] == "ledgeragent-gateway"
        assert about["deployment.environment.name"] == "test"
        spans = [s for r in resources for scope in r.scope_spans for s in scope.spans]
        assert sorted(span.name for span in spans) == sorted(
            [f"POST {CHAT.path}", "chat m", "judge"] * 2
        )
        assert {span.trace_id.hex() for span in spans} == {TRACE}

    run(scenario())


def test_a_collector_that_is_not_there_stops_nothing() -> None:
    async def scenario() -> None:
        upstream = Upstream()
        upstream.script.append(WRITE)
        env = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
            "OTEL_SERVICE_NAME": "front",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        }
        async with (
            served(upstream.app()) as behind,
            process(behind, "--otel", env=env) as (gateway, url, _),
            aiohttp.ClientSession() as http,
        ):
            body = json.dumps(CHAT.request(KNOWN, TOOLS, False))
            async with http.post(f"{url}{CHAT.path}", data=body) as response:
                assert CHAT.read(await response.json()) == WRITE
            gateway.terminate()
            assert await asyncio.wait_for(gateway.wait(), 20) == 0

    run(scenario())


def test_the_service_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from ledgeragent.gateway.spans import exporting

    for name, value in {"": "ledgeragent-gateway", "front": "front"}.items():
        monkeypatch.setenv("OTEL_SERVICE_NAME", value if name else "")
        provider = exporting()
        assert provider.resource.attributes["service.name"] == value
        provider.shutdown()


def test_the_extra_is_named_where_the_library_is_absent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "ledgeragent.gateway.spans", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    assert main(["gateway", "--domain", "shop", "--upstream", "http://x", "--otel"]) == 2
    assert "run: pip install 'ledgeragent[otel]'" in capsys.readouterr().err


def test_without_the_switch_the_library_is_not_loaded() -> None:
    program = (
        "import sys\n"
        "from ledgeragent.gateway.server import Gateway, Settings\n"
        "from ledgeragent.packs import load_domain\n"
        "Gateway(load_domain('shop'), Settings(upstream='http://x')).app()\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
