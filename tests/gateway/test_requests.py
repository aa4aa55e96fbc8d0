"""Requests that the gateway turns away, its keys, its limits, and what it says about itself."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.gateway.inbound import SESSION_HEADER
from ledgeragent.journal import Journal, open_store
from tests.gateway.conftest import Client
from tests.gateway.upstream import stepwise
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES, Wire
from tests.gateway.world import HELLO, KNOWN, LONG, SAY, TOOLS, WRITE, run, world
from tests.lending.domain import LIBRARY

HOSTED = {
    "chat": [{"type": "custom", "custom": {"name": "x"}}, {"type": "web_search"}, 3],
    "messages": [{"type": "web_search_20250305", "name": "web_search"}, {"type": "x"}, "y"],
    "responses": [{"type": "mcp", "server_url": "http://x"}, {"type": "code_interpreter"}, None],
}
FIELD = {"chat": "messages", "messages": "messages", "responses": "input"}


def error_of(wire: Wire, body: Any) -> str:
    """The message of an error in the form of its API."""
    if wire.name == "messages":
        assert body["type"] == "error"
    assert body["error"]["type"]
    message: str = body["error"]["message"]
    return message


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tools_that_run_upstream_are_refused(client: Client, n: int) -> None:
    async def scenario() -> None:
        async with world(WRITE) as w:
            body = client.wire.request(KNOWN, TOOLS, client.stream)
            body["tools"].append(HOSTED[client.wire.name][n])
            got = await w.post(client.wire, json.dumps(body).encode())
            assert got.status == 400
            assert f"tools[{len(TOOLS)}]" in error_of(client.wire, got.body)
            assert w.upstream.asked == []

    run(scenario())


@pytest.mark.parametrize(
    ("wire", "field", "value"),
    [
        (CHAT, "functions", [{"name": "x"}]),
        (CHAT, "web_search_options", {"a": 1}),
        (MESSAGES, "mcp_servers", [{"url": "http://x"}]),
        (RESPONSES, "conversation", "conv_1"),
        (RESPONSES, "prompt", {"id": "pmpt_1"}),
        (RESPONSES, "background", True),
        (RESPONSES, "previous_response_id", "resp_never"),
        (CHAT, "stream", "yes"),
        (MESSAGES, "messages", []),
        (RESPONSES, "input", []),
        (CHAT, "tools", {}),
    ],
    ids=lambda v: getattr(v, "name", v if isinstance(v, str) else ""),
)
def test_what_cannot_be_judged_is_named(wire: Wire, field: str, value: Any) -> None:
    async def scenario() -> None:
        async with world() as w:
            body = {**wire.request(KNOWN, TOOLS, False), field: value}
            got = await w.post(wire, json.dumps(body).encode())
            assert got.status == 400
            assert error_of(wire, got.body).startswith(field)

    run(scenario())


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"a": NaN}', b'{"a":' * 9999, b"9" * 5000],
    ids=range(8),
)
def test_a_body_that_is_no_json_object(wire: Wire, raw: bytes) -> None:
    async def scenario() -> None:
        async with world() as w:
            got = await w.post(wire, raw)
            assert got.status == 400
            assert error_of(wire, got.body)

    run(scenario())


PACKED = gzip.compress(b"{}")


@pytest.mark.parametrize("is_cut", [False, True], ids=["whole", "in pieces"])
@pytest.mark.parametrize("raw", [b"{}" * 100, PACKED + b"xx"], ids=["no gzip", "more behind it"])
def test_a_body_that_is_not_packed_as_it_says(
    wire: Wire, raw: bytes, is_cut: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It is the client's mistake: told, logged nowhere, and nothing behind it is read."""

    async def scenario() -> None:
        async with world() as w:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(w.url.split(":")[2]))
            head = f"content-encoding: gzip\r\ncontent-length: {len(raw)}\r\n\r\n"
            writer.write(f"POST {wire.path} HTTP/1.1\r\nhost: localhost\r\n{head}".encode())
            first = int(is_cut)
            writer.write(raw[:first])
            await asyncio.sleep(0.05 * first)
            writer.write(raw[first:] + b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            told = await asyncio.wait_for(reader.read(), 20)
            writer.close()
            await writer.wait_closed()
            assert told.startswith(b"HTTP/1.1 400 ") and told.count(b"HTTP/1.1") == 1
            assert error_of(wire, json.loads(told.split(b"\r\n\r\n")[1])).startswith("the body")

    run(scenario())
    assert not caplog.records


def test_two_names_of_one_session(client: Client) -> None:
    async def scenario() -> None:
        async with world() as w:
            body = client.wire.request(KNOWN, TOOLS, client.stream)
            headers = [(SESSION_HEADER, "a"), (SESSION_HEADER, "b")]
            address = f"{w.url}{client.wire.path}"
            async with w.http.post(address, data=json.dumps(body), headers=headers) as got:
                assert got.status == 400
                assert SESSION_HEADER in error_of(client.wire, await got.json())

    run(scenario())


def test_a_message_that_cannot_be_read_is_named(wire: Wire) -> None:
    async def scenario() -> None:
        async with world() as w:
            name = FIELD[wire.name]
            for broken in (3, {"role": "judge", "content": "x"}, {"role": "user", "content": 3}):
                body = wire.request((HELLO,), TOOLS, False)
                body[name] = [*body[name], broken]
                got = await w.post(wire, json.dumps(body).encode())
                assert got.status == 400
                assert f"{name}[{len(body[name]) - 1}]" in error_of(wire, got.body)

    run(scenario())


def test_a_body_over_the_limit(client: Client) -> None:
    async def scenario() -> None:
        async with world(max_body=2_000) as w:
            got = await client.ask(w, *KNOWN, padding="x" * 2_000)
            assert got.status == 413
            assert "2000 bytes" in error_of(client.wire, got.body)

    run(scenario())


def test_more_at_once_than_the_limit(client: Client) -> None:
    async def scenario() -> None:
        steps = asyncio.Semaphore(0)
        async with world(stepwise(SAY, steps), SAY, max_concurrent=1) as w:
            first = asyncio.create_task(w.ask(client.wire, KNOWN, stream=True))
            while not w.upstream.asked:
                await asyncio.sleep(0.01)
            turned_away = await client.ask(w, *KNOWN)
            assert turned_away.status == 503
            assert turned_away.headers["retry-after"] == "1"
            for _ in range(40):
                steps.release()
            assert (await first).reply == SAY
            assert (await client.ask(w, *KNOWN)).reply == SAY

    run(scenario())


def test_own_keys(client: Client) -> None:
    async def scenario() -> None:
        keys = {"keys": frozenset({"mine"}), "upstream_key": "theirs"}
        async with world(SAY, SAY, **keys) as w:
            assert (await client.ask(w, HELLO)).status == 401
            wrong = await client.ask(w, HELLO, headers={"authorization": "Bearer other"})
            assert wrong.status == 401
            assert "other" not in error_of(client.wire, wrong.body)
            for header in ({"authorization": "Bearer mine"}, {"x-api-key": "mine"}):
                assert (await client.ask(w, HELLO, headers=header)).reply == SAY
            for sent in w.upstream.headers:
                assert "mine" not in str(sent)
                assert "theirs" in str(sent)

    run(scenario())


def test_the_clients_key_passes_and_is_written_nowhere(client: Client, tmp_path: Path) -> None:
    async def scenario() -> None:
        file = tmp_path / "journal.jsonl"
        journal = Journal(open_store(file, writable=True), LIBRARY)
        secret = {
            "authorization": "Bearer sk-secret-1",
            "x-api-key": "sk-secret-2",
            "anthropic-version": "2023-06-01",
            "openai-organization": "org-1",
            "cookie": "c=1",
        }
        async with world(LONG, SAY, journal=journal) as w:
            await client.ask(w, *KNOWN, headers=secret)
            (sent, _) = w.upstream.headers
            lower = {name.lower(): value for name, value in sent.items()}
            for name, value in secret.items():
                assert lower.get(name) == (value if name != "cookie" else None)
            async with w.http.get(f"{w.url}/metrics") as response:
                metrics = await response.text()
            assert "sk-secret" not in metrics
        journal.close()
        assert "sk-secret" not in file.read_text()
        assert "lend_book" in file.read_text()

    run(scenario())


def test_metrics_and_health() -> None:
    async def scenario() -> None:
        async with world(LONG, SAY) as w:
            await w.ask(CHAT, KNOWN)
            async with w.http.get(f"{w.url}/metrics") as response:
                told = await response.text()
            path = 'path="/v1/chat/completions"'
            assert f'ledgeragent_requests_total{{{path},status="200"}} 1' in told
            assert 'ledgeragent_decisions_total{tool="lend_book",decision="REVISE"} 1' in told
            assert "ledgeragent_upstream_calls_total 2" in told
            assert "ledgeragent_request_seconds_count 1" in told
            async with w.http.get(f"{w.url}/healthz") as response:
                assert (await response.json())["domain"] == "lending"
            async with w.http.get(f"{w.url}/v1/models") as response:
                assert await response.json() == {"object": "list", "data": []}

    run(scenario())


def test_a_made_up_tool_name_makes_no_header_and_no_label(client: Client) -> None:
    from ledgeragent.types import Reply
    from tests.lending.domain import call

    async def scenario() -> None:
        odd = Reply(calls=(call('a\r\nset-cookie: x=1\u20ac"}', "odd"),))
        async with world(odd, max_revisions=0) as w:
            got = await client.ask(w, HELLO)
            assert got.called == []
            assert got.verdicts == "a??set-cookie??x?1???=REVISE"
            assert set(w.gateway.metrics.decisions) == {("other", "REVISE")}

    run(scenario())


def test_a_body_of_any_depth_is_forwarded_or_refused(client: Client) -> None:
    """Where it can just be read, it may be too deep to be written from further within."""

    async def scenario() -> None:
        async with world() as w:
            w.upstream.choose = lambda _: SAY
            for depth in (250, 500, *range(900, 1010), 5_000):
                raw = json.dumps(client.wire.request((HELLO,), TOOLS, client.stream)).encode()
                deep = raw[:-1] + b', "x": ' + b"[" * depth + b"]" * depth + b"}"
                got = await w.post(client.wire, deep)
                assert got.status in (200, 400), (depth, got)

    run(scenario())
