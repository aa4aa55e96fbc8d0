"""The demo's three scenes, played by a client that knows only an address and one wire format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from ledgeragent.demo.scenarios import SCENARIOS, Clerk, Scenario
from ledgeragent.demo.shop.shop import TOOLS, Shop
from ledgeragent.gateway.words import VERDICT_HEADER
from ledgeragent.types import Json, Message, Reply, ToolReturn, UserMessage
from tests.gateway.upstream import Upstream
from tests.gateway.wires import Wire
from tests.gateway.world import read_sse


@dataclass
class ScenePlayer:
    """A customer, a shop, and the scripted model behind `upstream`; one scene after the other."""

    upstream: Upstream
    http: aiohttp.ClientSession
    headers: dict[str, str] = field(default_factory=dict)

    async def play(self, url: str, wire: Wire, stream: bool, scenario: Scenario) -> list[str]:
        """The verdicts of each answer; AssertionError if the shop is not as it should be in the end."""
        history: list[Message] = []
        verdicts: list[str] = []
        clerk = Clerk(scenario.turns)
        asked = 0

        def choose(body: dict[str, Any]) -> Reply:
            nonlocal asked
            asked += 1
            return clerk.generate(history, "", "again" if asked > 1 else "")

        self.upstream.choose = choose
        with Shop() as shop:
            for turn in scenario.turns:
                history.append(UserMessage(text=turn.says))
                while not isinstance(history[-1], Reply):
                    asked = 0
                    reply, told = await self.ask(url, wire, stream, history)
                    verdicts.append(told)
                    history.append(reply)
                    history += [executed(shop, reply, n) for n in range(len(reply.calls))]
            for path, value in scenario.right.items():
                assert _at(shop.snapshot(), path) == value, (scenario.title, path)
        return verdicts

    async def ask(
        self, url: str, wire: Wire, stream: bool, history: list[Message]
    ) -> tuple[Reply, str]:
        """The reply to one request, and the verdicts on it."""
        body = json.dumps(wire.request(history, sorted(TOOLS), stream))
        async with self.http.post(f"{url}{wire.path}", data=body, headers=self.headers) as answer:
            data = await answer.read()
            assert answer.status == 200, data
            if not stream:
                return wire.read(json.loads(data)), answer.headers.get(VERDICT_HEADER, "")
            events, comments = read_sse(data)
            told = [c.partition(": ")[2] for c in comments if c.startswith(VERDICT_HEADER)]
            return wire.read_events(events), "".join(told)

    async def play_all(self, url: str, wire: Wire, stream: bool) -> list[list[str]]:
        """All three."""
        return [await self.play(url, wire, stream, scenario) for scenario in SCENARIOS]


def executed(shop: Shop, reply: Reply, number: int) -> ToolReturn:
    """What the shop answered to a call of the reply."""
    call = reply.calls[number]
    returned = shop.execute(call)
    return ToolReturn(call_id=call.id, content=returned.content, error=returned.error)


def _at(value: Any, path: str) -> Json:
    for part in path.split("."):
        value = value[part]
    return value  # type: ignore[no-any-return]
