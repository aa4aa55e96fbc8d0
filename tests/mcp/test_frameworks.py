"""Agents as their frameworks make them, with their tools behind the proxy and a model on a real port.

The shop's server is a process of its own, which writes down each call that it executes.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

from ledgeragent.gateway.dialects.chat import ChatDialect
from ledgeragent.gateway.dialects.responses import ResponsesDialect
from ledgeragent.journal import open_store, read, verify
from ledgeragent.types import ToolReturn
from tests.conformance.scene import Scene, Situation
from tests.conformance.situations import SITUATIONS
from tests.conformance.upstream import Upstream
from tests.gateway.wires import WIRES
from tests.mcp.serverforks import forked
from tests.mcp.test_proxy import ENVIRONMENT, PATIENCE, PROXY, ROOT, free_port, listening

# The clients that frameworks make are theirs to close.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
PLAYED = (
    ("a write before any read, revised, then accepted", "stdio"),
    ("a write before any read, revised, then accepted", "http"),
    ("a write that policy forbids", "http"),
    ("a wrong amount, mended from the feedback", "stdio"),
)
READERS = {reader.path: reader for reader in (ChatDialect(), ResponsesDialect())}


class Provider(Upstream):
    """The scripted model of one scene, in the format that it is asked in."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.scene = scene

    def respond(self, path: str, headers: Mapping[str, str], body: Any) -> tuple[str, bytes]:
        """The scene's next reply, and its content type."""
        shown = READERS[path].conversation(body).messages
        reply = self.scene.next(shown, "")
        # As providers do: an agent that nobody guards takes a call with a known id for done.
        number = len(self.scene.prompts)
        calls = (replace(c, id=f"call_{number}_{n}") for n, c in enumerate(reply.calls))
        reply = replace(reply, calls=tuple(calls))
        wire = next(wire for wire in WIRES if wire.path == path)
        answer = wire.answer(reply, f"resp_{number}")
        return "application/json", json.dumps(answer).encode()


class Agent(ABC):
    """One agent, told how the proxy is started or where it listens."""

    distribution: str

    @abstractmethod
    async def run(self, says: str, proxy: list[str] | str) -> None:
        """One turn of the customer, until the agent has answered."""


class OpenAIAgents(Agent):
    """The OpenAI Agents SDK."""

    distribution = "agents"

    async def run(self, says: str, proxy: list[str] | str) -> None:
        import agents
        from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

        server: Any
        if isinstance(proxy, str):
            server = MCPServerStreamableHttp(
                {"url": proxy}, client_session_timeout_seconds=PATIENCE
            )
        else:
            start: Any = {"command": proxy[0], "args": proxy[1:], "env": ENVIRONMENT, "cwd": ROOT}
            server = MCPServerStdio(start, client_session_timeout_seconds=PATIENCE)
        async with server:
            agent = agents.Agent(name="support", mcp_servers=[server])
            await agents.Runner.run(agent, says)


class PydanticAI(Agent):
    """Pydantic AI."""

    distribution = "fastmcp"

    async def run(self, says: str, proxy: list[str] | str) -> None:
        import pydantic_ai
        from fastmcp.client.transports import StdioTransport
        from pydantic_ai.mcp import MCPToolset

        target: Any = proxy
        if not isinstance(proxy, str):
            target = StdioTransport(proxy[0], proxy[1:], env=ENVIRONMENT, cwd=str(ROOT))
        toolset: Any = MCPToolset(target, init_timeout=PATIENCE)
        agent: Any = pydantic_ai.Agent("openai-chat:gpt-4.1", toolsets=[toolset])
        async with agent:
            await agent.run(says)


@contextmanager
def proxied(transport: str, folder: Path, *options: str) -> Iterator[list[str] | str]:
    """The proxy before a shop of its own, as a command to start or as an address."""
    server = forked("tests.conformance.shop_server", str(folder / "executed"))
    command = [*PROXY, "--journal", str(folder / "journal.jsonl"), *options]
    if transport == "stdio":
        yield [*command, "--", *server]
        return
    port = free_port()
    with listening([*command, "--transport", "http", "--port", str(port), "--", *server], port):
        yield f"http://127.0.0.1:{port}/mcp"


@asynccontextmanager
async def provided(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The scripted model, where the environment says that the model is."""
    provider = Provider(scene)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    try:
        yield
    finally:
        provider.close()


async def converse(agent: Agent, scene: Scene, proxy: Any, monkeypatch: Any) -> None:
    async with provided(scene, monkeypatch):
        for turn in scene.situation.turns:
            await asyncio.wait_for(agent.run(turn.says, proxy), PATIENCE)
    loop: Any = asyncio.get_running_loop()
    for transport in list(loop._transports.values()):
        transport.abort()
    await asyncio.sleep(0.01)


def executed(folder: Path) -> list[str]:
    """What the server executed."""
    return sorted((folder / "executed").read_text().splitlines())


def judged(folder: Path) -> list[tuple[str, str, bool]]:
    """Tool, decision and `shadow` of every verdict in the proxy's journal."""
    store = open_store(folder / "journal.jsonl")
    assert verify(store).intact
    records = [record for record in read(store) if record["event"] == "judged"]
    store.close()
    return [(v["call"]["name"], v["decision"], r["shadow"]) for r in records for v in r["verdicts"]]


def expected(situation: Situation, *, shadow: bool) -> list[tuple[str, str, bool]]:
    """The verdicts that the script expects, in order."""
    return [(*verdict, shadow) for verdicts in situation.verdicts for verdict in verdicts]


@pytest.fixture(params=[OpenAIAgents, PydanticAI], ids=lambda make: make.__name__)
def agent(request: pytest.FixtureRequest) -> Agent:
    make: type[Agent] = request.param
    pytest.importorskip(make.distribution, reason=f"{make.distribution} is not installed")
    return make()


def played(
    agent: Agent, situation: Situation, transport: str, folder: Path, patch: Any, *options: str
) -> Scene:
    scene = Scene(situation)
    try:
        with proxied(transport, folder, *options) as proxy:
            asyncio.run(converse(agent, scene, proxy, patch))
    finally:
        scene.close()
    return scene


@pytest.mark.parametrize(("name", "transport"), PLAYED)
def test_an_unmodified_agent_behind_the_proxy(
    agent: Agent, name: str, transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    situation = next(s for s in SITUATIONS if s.name == name)
    scene = played(agent, situation, transport, tmp_path, monkeypatch)
    assert executed(tmp_path) == situation.allowed
    assert sorted(judged(tmp_path)) == sorted(expected(situation, shadow=False))
    last = (message for message in scene.prompts[-1] if isinstance(message, ToolReturn))
    seen = "\n".join(str(message.content) for message in last)
    assert all(words in seen for words in situation.told), "the model sees why"


def test_in_shadow_mode_the_agent_does_as_it_likes(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    situation = next(s for s in SITUATIONS if s.name == "a write that policy forbids")
    played(agent, situation, "stdio", tmp_path, monkeypatch, "--mode", "shadow")
    assert any(call.startswith("cancel_order") for call in executed(tmp_path))
    assert sorted(judged(tmp_path)) == sorted(expected(situation, shadow=True))
