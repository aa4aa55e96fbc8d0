"""Paths, queries and headers, as the clients and the providers have them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from ledgeragent.errors import UsageError
from ledgeragent.gateway.endpoints import ApiAddress
from ledgeragent.gateway.proxies import proxy_for
from ledgeragent.gateway.server import Gateway, Settings
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES
from tests.gateway.world import (
    HELLO,
    KNOWN,
    LONG,
    READ,
    SAY,
    TOOLS,
    WRITE,
    Wire,
    run,
    served,
    world,
)
from tests.lending.domain import LIBRARY

ADDRESSES = [
    ("https://api.openai.com", None, "/v1/chat/completions", "/v1/chat/completions"),
    ("https://api.openai.com/v1", None, "/v1/chat/completions", "/v1/chat/completions"),
    ("https://api.openai.com/v1/", None, "/v1/responses", "/v1/responses"),
    ("https://x/anthropic", None, "/v1/messages", "/anthropic/v1/messages"),
    ("https://x/anthropic", None, "/anthropic/v1/messages", "/anthropic/v1/messages"),
    ("https://g/v1beta/openai", None, "/v1/chat/completions", "/v1beta/openai/chat/completions"),
    ("https://g/v1beta/openai", None, "/v1beta/openai/models", "/v1beta/openai/models"),
    ("https://g", None, "/v1beta/openai/chat/completions", "/v1beta/openai/chat/completions"),
    ("https://z/api/paas/v4", None, "/v1/chat/completions", "/api/paas/v4/chat/completions"),
    ("https://p", "/", "/v1/chat/completions", "/chat/completions"),
    ("https://p/a", "b/c", "/v1/chat/completions", "/a/b/c/chat/completions"),
    ("https://r", None, "/openai/v1/responses", "/openai/v1/responses"),
    ("https://r/openai/v1", None, "/v1/responses", "/openai/v1/responses"),
    ("https://r/openai/v1", None, "/openai/v1/responses", "/openai/v1/responses"),
    (
        "https://r",
        None,
        "/openai/deployments/gpt-4.1/chat/completions",
        "/openai/deployments/gpt-4.1/chat/completions",
    ),
]


@pytest.mark.parametrize(("url", "base", "path", "target"), ADDRESSES)
def test_a_clients_path_at_its_provider(url: str, base: str | None, path: str, target: str) -> None:
    address = ApiAddress(url, base)
    endpoint = address.endpoint(path)
    assert endpoint is not None
    host = url.split("/")[2]
    assert address.url_of(endpoint, "api-version=1") == f"https://{host}{target}?api-version=1"


@pytest.mark.parametrize(
    "path",
    [
        "/chat/completions",
        "/v2/chat/completions",
        "/v1",
        "/openai/deployments/../chat/completions",
        "/openai/deployments//chat/completions",
        "//v1/chat/completions",
        "/x/v1/messages",
    ],
)
def test_other_paths_are_nobodys(path: str) -> None:
    endpoint = ApiAddress("https://x").endpoint(path)
    assert endpoint is None or endpoint.route not in ("/chat/completions", "/messages")


@dataclass
class Recorder:
    """An upstream that notes the address of each request, and plays a forbidden write at all of them."""

    addresses: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        self.addresses.append(request.raw_path)
        self.bodies.append(await request.read())
        wires = (w for w in (CHAT, MESSAGES, RESPONSES) if request.path.endswith(w.path[3:]))
        for wire in wires:
            return web.json_response(wire.answer(LONG, "r"))
        return web.json_response({"object": "list"}, headers={"x-ratelimit-limit": "9"})


@asynccontextmanager
async def recording(**settings: Any) -> AsyncIterator[tuple[Recorder, aiohttp.ClientSession]]:
    recorder = Recorder()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", recorder.handle)
    async with served(app) as behind:
        gateway = Gateway(LIBRARY, Settings(upstream=behind, max_revisions=0, **settings))
        async with served(gateway.app()) as url, aiohttp.ClientSession(url) as http:
            yield recorder, http


@pytest.mark.parametrize(
    "path",
    [
        "/v1/chat/completions?beta=true",
        "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
        "/v1beta/openai/chat/completions",
        "/openai/v1/responses?api-version=preview",
        "/v1/messages?beta=true&x=%2F%20",
    ],
)
def test_every_path_of_a_format_is_judged_and_its_query_goes_upstream(path: str) -> None:
    async def scenario() -> None:
        async with recording() as (recorder, http):
            wire = next(w for w in (CHAT, MESSAGES, RESPONSES) if w.path[3:] in path)
            async with http.post(
                _raw(http, path), json=wire.request(KNOWN, TOOLS, False)
            ) as response:
                assert response.headers["x-ledgeragent-verdict"] == "lend_book=REVISE"
                assert wire.read(await response.json()).calls == ()
            assert recorder.addresses == [path]

    run(scenario())


def _raw(http: aiohttp.ClientSession, path: str) -> Any:
    from yarl import URL

    return URL(f"{http._base_url}".rstrip("/") + path, encoded=True)


READ_ONLY = [
    ("GET", "/v1/models?limit=2"),
    ("GET", "/v1/models/meta-llama/Llama-3.3"),
    ("POST", "/v1/embeddings"),
    ("POST", "/v1/messages/count_tokens?beta=true"),
    ("POST", "/v1/responses/input_tokens"),
    ("POST", "/v1/moderations"),
]


@pytest.mark.parametrize(("method", "path"), READ_ONLY)
def test_routes_that_hold_no_call_are_passed_on(method: str, path: str) -> None:
    async def scenario() -> None:
        async with recording() as (recorder, http):
            body = b'{"input": "x"}' if method == "POST" else b""
            async with http.request(method, _raw(http, path), data=body or None) as response:
                assert response.status == 200
                assert response.headers["x-ratelimit-limit"] == "9"
            assert recorder.addresses == [path]
            assert recorder.bodies == [body]

    run(scenario())


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/v1/responses/resp_1", 404),
        ("GET", "/v1/chat/completions", 405),
        ("POST", "/v1/completions", 404),
        ("POST", "/v1/batches", 404),
        ("POST", "/v1/models", 404),
        ("DELETE", "/v1/models/mine", 404),
        ("GET", "/v1/models/../responses/resp_1", 404),
        ("POST", "/v1/messages/batches", 404),
    ],
)
def test_what_could_hold_a_call_is_not(method: str, path: str, code: int) -> None:
    async def scenario() -> None:
        async with recording() as (recorder, http), http.request(method, path) as response:
            assert response.status == code
            assert response.content_type == "application/json"
            assert (await response.json())["error"]["message"]
            assert recorder.addresses == []

    run(scenario())


SENT = {
    "openai-beta": "responses=v1",
    "idempotency-key": "once",
    "anthropic-beta": "a,b",
    "x-stainless-lang": "python",
    "x-title": "Desk",
}
DROPPED = {
    "cookie": "c=1",
    "x-forwarded-for": "10.0.0.1",
    "connection": "x-mine",
    "x-mine": "1",
    "te": "trailers",
    "x-ledgeragent-session": "s",
    "proxy-authorization": "Basic x",
}
RETURNED = {
    "request-id": "req_1",
    "x-request-id": "req_2",
    "x-ratelimit-remaining-tokens": "7",
    "anthropic-ratelimit-requests-reset": "soon",
    "openai-processing-ms": "3",
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_headers_go_through_both_ways(wire: Wire, mode: str, stream: bool) -> None:
    async def respond(request: web.Request, of: Wire, body: Any) -> web.StreamResponse:
        headers = {**RETURNED, "set-cookie": "a=b", "alt-svc": "h3"}
        if not stream:
            return web.json_response(of.answer(SAY, "r"), headers=headers)
        data = b"".join(of.events(SAY, "r"))
        return web.Response(body=data, headers={**headers, "content-type": "text/event-stream"})

    async def scenario() -> None:
        async with world(respond, mode=mode) as w:
            got = await w.ask(wire, KNOWN, stream=stream, headers={**SENT, **DROPPED})
            assert got.reply == SAY
            assert RETURNED.items() <= got.headers.items()
            assert not {"set-cookie", "alt-svc"} & got.headers.keys()
            (sent,) = w.upstream.headers
            assert SENT.items() <= sent.items()
            assert not (DROPPED.keys() - {"connection"}) & sent.keys()

    run(scenario())


def test_another_call_of_one_answer_is_another_request(wire: Wire) -> None:
    """Else a provider would give the first call's reply once more, or refuse."""

    async def scenario() -> None:
        async with world(WRITE, READ) as w:
            await w.ask(wire, (HELLO,), headers={"idempotency-key": "once"})
            assert [sent["idempotency-key"] for sent in w.upstream.headers] == ["once", "once-2"]

    run(scenario())


def test_proxies_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "internal.example")
    assert proxy_for("https://api.openai.com/v1") == "http://proxy:3128"
    assert proxy_for("http://api.openai.com") is None
    assert proxy_for("https://internal.example") is None
    assert proxy_for("https://127.0.0.1:9") is None
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy:1080")
    with pytest.raises(UsageError, match="HTTPS_PROXY"):
        proxy_for("https://api.openai.com/v1")


def test_the_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    @web.middleware
    async def proxied(request: web.Request, handler: Any) -> web.Response:
        assert (request.host, request.path) == ("model.example", CHAT.path)
        return web.json_response(CHAT.answer(SAY, "r"))

    async def scenario() -> None:
        app = web.Application(middlewares=[proxied])
        async with served(app) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy)
            gateway = Gateway(LIBRARY, Settings(upstream="http://model.example"))
            async with served(gateway.app()) as url, aiohttp.ClientSession() as http:
                body = json.dumps(CHAT.request((HELLO,), TOOLS, False))
                async with http.post(f"{url}{CHAT.path}", data=body) as response:
                    assert CHAT.read(await response.json()) == SAY

    run(scenario())
