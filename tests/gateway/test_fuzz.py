"""Bodies that nobody would send, both ways: never a 500, and never the call that is forbidden."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from ledgeragent.gateway.switchboard import COMMON_PAGES
from ledgeragent.types import Reply
from tests.gateway.upstream import Upstream, sent
from tests.gateway.wires import WIRES, Wire, sse
from tests.gateway.world import KNOWN, TOOLS, UNKNOWN, World, read_sse, run, world
from tests.lending.domain import GET_BOOK

FORBIDDEN = Reply(text="Yes.", calls=(GET_BOOK, *UNKNOWN.calls))
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["assistant", "tool", "function", "burn_book", "\ud800", "get_book"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)
fuzzed = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a JSON value."""
    yield at
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*at, key))


@st.composite
def spoiled(draw: st.DrawFn, value: Any) -> Any:
    """A value with up to three parts replaced, removed or doubled."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        found = [place for place in places(value) if place]
        if not found:
            break
        *above, key = draw(st.sampled_from(found))
        parent = value
        for step in above:
            parent = parent[step]
        match draw(st.sampled_from(["replace", "remove", "double"])):
            case "replace":
                parent[key] = draw(JSON_VALUES)
            case "remove":
                del parent[key]
            case "double" if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[key]))
    return value


def calls_in(value: Any) -> set[str]:
    """Every name that stands where a call's would."""
    names: set[str] = set()
    for place in places(value):
        part = value
        for step in place:
            part = part[step]
        if place and place[-1] == "name" and isinstance(part, str):
            names.add(part)
    return names


async def harmless(w: World, wire: Wire, body: Any) -> None:
    """Asks, and looks for the forbidden call anywhere in what comes back."""
    raw = json.dumps(body).encode()
    async with w.http.post(f"{w.url}{wire.path}", data=raw) as response:
        data = await response.read()
        assert response.status in (200, 400, 502), data
        if response.content_type == "text/event-stream":
            got: Any = list(read_sse(data)[0])
        else:
            got = json.loads(data)
    assert "burn_book" not in calls_in(got)
    assert (await (await w.http.get(f"{w.url}/healthz")).json())["status"] == "ok"


def explore(wire: Wire, strategy: st.SearchStrategy[Any], prepare: Any) -> None:
    """Runs all examples in one world."""
    loop = asyncio.new_event_loop()
    opened = world()
    w = loop.run_until_complete(opened.__aenter__())
    try:

        @fuzzed
        @given(strategy)
        def example(value: Any) -> None:
            body = prepare(w.upstream, value)
            loop.run_until_complete(asyncio.wait_for(harmless(w, wire, body), 20))

        example()
    finally:
        loop.run_until_complete(opened.__aexit__(None, None, None))
        loop.close()


def test_requests(wire: Wire) -> None:
    def prepare(upstream: Upstream, body: Any) -> Any:
        upstream.choose = lambda _: FORBIDDEN
        return body

    bodies = st.booleans().flatmap(lambda s: spoiled(wire.request(KNOWN, TOOLS, s)))
    explore(wire, bodies | JSON_VALUES, prepare)


def test_answers(wire: Wire) -> None:
    def prepare(upstream: Upstream, answer: Any) -> Any:
        async def respond(request: Any, wire: Wire, body: Any) -> Any:
            from aiohttp import web

            return web.Response(body=json.dumps(answer).encode(), content_type="application/json")

        upstream.choose = lambda _: respond
        return wire.request(KNOWN, TOOLS, False)

    explore(wire, spoiled(wire.answer(FORBIDDEN, "resp_1")) | JSON_VALUES, prepare)


def test_events(wire: Wire) -> None:
    def prepare(upstream: Upstream, events: Any) -> Any:
        async def respond(request: Any, wire: Wire, body: Any) -> Any:
            return await sent(request, [sse(event) for event in events])

        upstream.choose = lambda _: respond
        return wire.request(KNOWN, TOOLS, True)

    whole = list(read_sse(b"".join(wire.events(FORBIDDEN, "resp_1")))[0])
    explore(wire, spoiled(whole), prepare)


def test_events_of_a_revision(wire: Wire) -> None:
    """Where the words of a rejected reply are compared with those that come next."""
    first = Reply(text="Let me see.", calls=UNKNOWN.calls)
    again = Reply(text="Let me see. It is in.", calls=FORBIDDEN.calls)

    def prepare(upstream: Upstream, events: Any) -> Any:
        async def respond(request: Any, wire: Wire, body: Any) -> Any:
            return await sent(request, [sse(event) for event in events])

        plays = iter([first, respond])
        upstream.choose = lambda _: next(plays)
        return wire.request(KNOWN, TOOLS, True)

    whole = list(read_sse(b"".join(wire.events(again, "resp_2")))[0])
    explore(wire, spoiled(whole), prepare)


def test_the_description_names_every_route() -> None:
    async def scenario() -> None:
        async with world() as w:
            async with w.http.get(f"{w.url}/openapi.json") as response:
                told = await response.json()
            judged = {wire.path for wire in WIRES}
            assert set(told["paths"]) == {*COMMON_PAGES, *judged, "/v1/models"} - {"/openapi.json"}
            for path in set(told["paths"]) - judged:
                async with w.http.get(f"{w.url}{path}") as response:
                    assert response.status != 404

    run(scenario())


@pytest.fixture(scope="module")
def published() -> Iterator[Any]:
    """What a gateway says of itself at `/openapi.json`; the model behind it wants the forbidden."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    opened = world()
    w = asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result(20)
    w.upstream.choose = lambda _: FORBIDDEN
    yield schemathesis.openapi.from_url(f"{w.url}/openapi.json")
    asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result(20)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


SHOWN = ("/v1/models", "/healthz", "/metrics")


@pytest.mark.parametrize(
    ("path", "mode"),
    [(wire.path, mode) for wire in WIRES for mode in GenerationMode]
    + [(path, GenerationMode.POSITIVE) for path in SHOWN],
)
def test_the_published_description(published: Any, path: str, mode: GenerationMode) -> None:
    """Answers are as described, requests that are not are refused, nothing is a 5xx."""
    (operation,) = published[path].values()

    @settings(fuzzed, max_examples=40)
    @given(operation.as_strategy(generation_mode=mode))
    def example(case: schemathesis.Case) -> None:
        response = case.call()
        named = isinstance(case.body, dict) and case.body.get("previous_response_id") is not None
        case.validate_response(response, excluded_checks=[positive_data_acceptance] * named)
        (kind,) = response.headers["content-type"]
        if kind.startswith("text/event-stream"):
            assert "burn_book" not in calls_in(list(read_sse(response.content)[0]))
        elif kind.startswith("application/json"):
            assert "burn_book" not in calls_in(response.json())

    example()
