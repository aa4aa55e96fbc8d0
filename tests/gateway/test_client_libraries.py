"""The shop's three scenes by the providers' own client libraries, each by its provider's paths."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from ledgeragent.demo.scenarios import SCENARIOS
from ledgeragent.demo.shop.shop import TOOLS
from ledgeragent.gateway.server import Gateway
from ledgeragent.gateway.settings import Settings
from ledgeragent.gateway.words import VERDICT_HEADER
from ledgeragent.packs import load_domain
from ledgeragent.types import Message, Reply
from tests.gateway.shopscenes import ScenePlayer
from tests.gateway.test_placement import TEMPLATES, Server
from tests.gateway.upstream import Upstream
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES, WIRES, Wire
from tests.gateway.world import ported, run, served

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

KEY = "sk-customer"


def _plain(url: str) -> Any:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)


def _gemini(url: str) -> Any:
    return openai.AsyncOpenAI(base_url=f"{url}/v1beta/openai/", api_key=KEY, max_retries=0)


def _azure(url: str) -> Any:
    return openai.AsyncAzureOpenAI(
        azure_endpoint=url, api_version="2024-10-21", api_key=KEY, max_retries=0
    )


def _azure_now(url: str) -> Any:
    return openai.AsyncOpenAI(base_url=f"{url}/openai/v1/", api_key=KEY, max_retries=0)


def _anthropic(url: str) -> Any:
    return anthropic.AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0)


@dataclass(frozen=True)
class Library:
    """A client library as its provider documents it: `paths` are those that the provider has."""

    client: Callable[[str], Any]
    wire: Wire
    paths: tuple[str, ...]
    base: str = ""
    key: str = "authorization"


LIBRARIES = {
    "openai, chat": Library(_plain, CHAT, ("/v1/chat/completions",)),
    "openai, responses": Library(_plain, RESPONSES, ("/v1/responses",)),
    "azure, deployments": Library(
        _azure, CHAT, ("/openai/deployments/m/chat/completions",), key="api-key"
    ),
    "azure, responses": Library(_azure, RESPONSES, ("/openai/responses",), key="api-key"),
    "azure, v1": Library(_azure_now, CHAT, ("/openai/v1/chat/completions",)),
    "azure, v1 responses": Library(_azure_now, RESPONSES, ("/openai/v1/responses",)),
    "gemini": Library(_gemini, CHAT, ("/v1beta/openai/chat/completions",)),
    "gemini behind its base": Library(
        _plain, CHAT, ("/v1beta/openai/chat/completions",), base="/v1beta/openai"
    ),
    "anthropic": Library(_anthropic, MESSAGES, ("/v1/messages",)),
}


class LibraryPlayer(ScenePlayer):
    """A customer whose client is a library; `client` is it."""

    client: Any = None

    async def ask(
        self, url: str, wire: Wire, stream: bool, history: list[Message]
    ) -> tuple[Reply, str]:
        """The reply to one request as the library reads it, and the verdicts on it."""
        body = wire.request(history, sorted(TOOLS), stream)
        api = {"chat": "chat.completions", "messages": "messages"}.get(wire.name, "responses")
        place = self.client
        for name in api.split("."):
            place = getattr(place, name)
        raw = await place.with_raw_response.create(**body)
        answer = raw.parse()
        if inspect.isawaitable(answer):
            answer = await answer
        if not stream:
            told = raw.headers.get(VERDICT_HEADER, "")
            return wire.read(answer.model_dump(exclude_unset=True)), told
        events = [event.model_dump(exclude_unset=True) async for event in answer]
        return wire.read_events([*events, "[DONE]"] if wire is CHAT else events), ""


@asynccontextmanager
async def shop(upstream: Upstream, base: str = "") -> AsyncIterator[tuple[str, list[str]]]:
    """A gateway over the shop's rules on a port, and the paths that its upstream is asked for."""
    paths: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        wire = next(w for w in WIRES if request.path.endswith(w.path.removeprefix("/v1")))
        return await upstream._handler(wire)(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with served(app) as behind:
        settings = Settings(upstream=f"{behind}{base}")
        async with ported(Gateway(load_domain("shop"), settings)) as url:
            yield url, paths


async def played(library: Library, upstream: Upstream, *, stream: bool) -> list[str]:
    """Plays the three scenes; the paths that the upstream was asked for."""
    async with (
        shop(upstream, library.base) as (url, paths),
        aiohttp.ClientSession() as http,
        library.client(url) as client,
    ):
        player = LibraryPlayer(upstream, http)
        player.client = client
        verdicts = await player.play_all(url, library.wire, stream)
        assert len(verdicts) == len(SCENARIOS)
        assert stream or any("REVISE" in told for scene in verdicts for told in scene)
        assert KEY in upstream.headers[0].get(library.key, ""), upstream.headers[0]
        return paths


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_client_library_finishes_the_three_scenes(name: str, stream: bool) -> None:
    library = LIBRARIES[name]

    async def scenario() -> None:
        assert tuple(set(await played(library, Upstream(), stream=stream))) == library.paths

    run(scenario())


class Templated(Upstream):
    """A server of open models, whose template takes what it is asked or does not."""

    template: str = ""
    refused: int = 0

    def _handler(self, wire: Wire) -> Any:
        choose = self.choose

        def rendering(body: dict[str, Any]) -> Any:
            rendered = Server(self.template, Reply())(body)
            if isinstance(rendered, Reply):
                assert choose is not None
                return choose(body)
            self.refused += 1
            return rendered

        return replace_choice(self, rendering)._handler(wire)


def replace_choice(upstream: Upstream, choose: Callable[[dict[str, Any]], Any]) -> Upstream:
    """The same upstream with another choice of replies."""
    return Upstream(choose=choose, asked=upstream.asked, headers=upstream.headers, raw=upstream.raw)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", ["openai, chat", "openai, responses"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_so_it_does_before_a_server_with_a_chat_template(
    template: str, name: str, stream: bool
) -> None:
    async def scenario() -> None:
        upstream = Templated()
        upstream.template = TEMPLATES[template][0]
        await played(LIBRARIES[name], upstream, stream=stream)
        assert upstream.refused <= 2, "the place is found out once"

    run(scenario())
