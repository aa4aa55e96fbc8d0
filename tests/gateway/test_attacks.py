"""The attack matrix: whatever is not judged is not passed, in each format, streamed and not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from tests.gateway.attacks import (
    ARGUMENTS,
    FORBIDDEN,
    FRAMES,
    KINDS,
    NAMES,
    SPELLINGS,
    beside,
    of_kind,
    with_call,
)
from tests.gateway.conftest import Client
from tests.gateway.damages import faults_of
from tests.gateway.upstream import Respond
from tests.gateway.wires import RESPONSES, WIRES, Wire
from tests.gateway.world import KNOWN, SAY, TOOLS, World, run, world


def playing(data: bytes) -> Respond:
    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        kind = "text/event-stream" if body.get("stream") else "application/json"
        return web.Response(body=data, content_type=kind)

    return respond


async def attempt(w: World, client: Client, data: bytes, **more: Any) -> list[str]:
    """What of an answer like this gets through that should not."""
    w.upstream.choose = lambda _: playing(data)
    body = {**client.wire.request(KNOWN, TOOLS, client.stream), **more}
    async with w.http.post(f"{w.url}{client.wire.path}", data=json.dumps(body)) as got:
        return list(faults_of(got.status, got.content_type, await got.read()))


def all_held(client: Client, attacks: dict[str, bytes], **more: Any) -> None:
    async def scenario() -> None:
        async with world() as w:
            faults = {
                name: await attempt(w, client, data, **more) for name, data in attacks.items()
            }
        assert {name: found for name, found in faults.items() if found} == {}

    run(scenario())


def test_names_that_look_like_a_write(client: Client) -> None:
    calls = {ascii(name): replace(FORBIDDEN, name=name) for name in NAMES}
    all_held(client, {n: with_call(client.wire, c, client.stream) for n, c in calls.items()})


def test_arguments_that_can_be_read_in_two_ways(client: Client) -> None:
    calls = {name: replace(FORBIDDEN, malformed=text) for name, text in ARGUMENTS.items()}
    all_held(client, {n: with_call(client.wire, c, client.stream) for n, c in calls.items()})


def test_calls_of_other_kinds(client: Client) -> None:
    kinds = KINDS[client.wire.name]
    all_held(client, {kind: of_kind(client.wire, kind, client.stream) for kind in kinds})


def test_odd_frames(client: Client) -> None:
    frames = FRAMES[client.wire.name]
    plain = {name: data for name, data in frames.items() if data.startswith(b"{")}
    chosen = {n: d for n, d in frames.items() if (n in plain) is not client.stream}
    all_held(client, chosen, **({"n": 2} if plain and not client.stream else {}))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_calls_in_fields_that_no_format_has(client: Client, spelling: str) -> None:
    async def scenario() -> None:
        async with world() as w:
            data = beside(client.wire, SPELLINGS[spelling], client.stream)
            w.upstream.choose = lambda _: playing(data)
            body = client.wire.request(KNOWN, TOOLS, client.stream)
            async with w.http.post(f"{w.url}{client.wire.path}", data=json.dumps(body)) as got:
                told = await got.read()
                assert b"error" in told and b"days" not in told

    run(scenario())


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
def test_the_matrix_has_its_size(wire: Wire) -> None:
    each = (NAMES, ARGUMENTS, KINDS[wire.name], FRAMES[wire.name])
    assert sum(map(len, each)) >= 60


HOSTED: dict[str, list[dict[str, Any]]] = {
    "chat": [
        {"tools": [{"type": "mcp", "server_url": "https://x"}]},
        {"tools": [{"type": "custom", "custom": {"name": "lend_book"}}]},
        {"tools": [{"type": "web_search"}]},
        {"tools": [{"type": "code_interpreter"}]},
        {"web_search_options": {}},
        {"functions": [{"name": "lend_book"}]},
    ],
    "messages": [
        {"mcp_servers": [{"type": "url", "url": "https://x", "name": "x"}]},
        {"container": "c"},
        *(
            {"tools": [{"type": kind, "name": "x"}]}
            for kind in (
                "web_search_20250305",
                "web_fetch_20250910",
                "code_execution_20250825",
                "computer_20250124",
                "mcp_toolset",
                "tool_search_tool_regex_20251119",
            )
        ),
    ],
    "responses": [
        {"background": True},
        {"conversation": "conv_1"},
        {"conversation": {"id": "conv_1"}},
        {"prompt": {"id": "pmpt_1"}},
        {"previous_response_id": "resp_unknown"},
        {"input": [{"type": "item_reference", "id": "fc_1"}]},
        *(
            {"tools": [{"type": kind, "name": "x"}]}
            for kind in (
                "mcp",
                "computer",
                "computer_use_preview",
                "code_interpreter",
                "file_search",
                "web_search",
                "image_generation",
                "local_shell",
                "shell",
                "apply_patch",
                "custom",
                "namespace",
                "tool_search",
            )
        ),
    ],
}
"""What would have a provider run something, or keep what nobody here has read."""


def test_what_runs_or_is_kept_elsewhere_is_refused_before_it_is_asked_for(client: Client) -> None:
    async def scenario() -> None:
        async with world() as w:
            w.upstream.choose = lambda _: SAY
            passed = []
            for fields in HOSTED[client.wire.name]:
                got = await client.ask(w, *KNOWN, **fields)
                passed += [fields] if got.status != 400 else []
            assert passed == [] and w.upstream.asked == []

    run(scenario())


PATHS = (
    ("GET", "/v1/responses/resp_1"),
    ("GET", "/v1/responses/resp_1?stream=true"),
    ("GET", "/v1/responses/resp_1/input_items"),
    ("POST", "/v1/responses/resp_1/cancel"),
    ("POST", "/v1/responses/compact"),
    ("GET", "/v1/chat/completions"),
    ("GET", "/v1/chat/completions/c1"),
    ("GET", "/v1/chat/completions/c1/messages"),
    ("POST", "/v1/completions"),
    ("POST", "/v1/complete"),
    ("POST", "/v1/batches"),
    ("GET", "/v1/batches/b1"),
    ("POST", "/v1/messages/batches"),
    ("GET", "/v1/messages/batches/b1/results"),
    ("POST", "/v1/files"),
    ("GET", "/v1/files/f1/content"),
    ("POST", "/v1/conversations"),
    ("GET", "/v1/conversations/c1/items"),
    ("POST", "/v1/threads/runs"),
    ("POST", "/v1/threads/t1/runs/r1/submit_tool_outputs"),
    ("POST", "/v1/assistants"),
    ("POST", "/v1/realtime/client_secrets"),
    ("POST", "/v1/realtime/calls"),
    ("GET", "/v1/realtime"),
    ("GET", "/v1/responses"),
    ("POST", "/v1/models/m"),
    ("POST", "/v1beta/models/m:generateContent"),
    ("POST", "/v1/agents"),
    ("POST", "/v1/sessions"),
    ("POST", "/v1/containers"),
)


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_a_path_that_nobody_judges_is_not_served(method: str, path: str) -> None:
    async def scenario() -> None:
        async with world() as w:
            async with w.http.request(method, f"{w.url}{path}", json={"model": "m"}) as got:
                assert got.status in (404, 405)
            assert w.upstream.asked == []

    run(scenario())


@pytest.mark.parametrize("path", ["/v1/realtime", "/v1/responses", "/v1/chat/completions"])
def test_no_socket_is_opened(path: str) -> None:
    upgrade = {
        "connection": "upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }

    async def scenario() -> None:
        async with world() as w, w.http.get(f"{w.url}{path}", headers=upgrade) as got:
            assert got.status in (404, 405)

    run(scenario())


STATES: dict[str, Callable[[Any], Any]] = {
    "queued": lambda body: {**body, "status": "queued"},
    "in progress": lambda body: {**body, "status": "in_progress"},
    "cancelled": lambda body: {**body, "status": "cancelled"},
    "in the background": lambda body: {**body, "background": True},
}


@pytest.mark.parametrize("state", STATES, ids=STATES.keys())
def test_a_response_that_is_not_done_holds_no_write(state: str) -> None:
    body = json.loads(with_call(RESPONSES, FORBIDDEN, stream=False))

    async def scenario() -> None:
        async with world() as w:
            client = Client(RESPONSES, stream=False)
            assert await attempt(w, client, json.dumps(STATES[state](body)).encode()) == []

    run(scenario())
