"""The plain loops, with the real clients of OpenAI and Anthropic against a server on a real port."""

from __future__ import annotations

from typing import Any

from ledgeragent.journal import Journal
from ledgeragent.journal.recorder import Mode
from tests.conformance.drivers.base import Driver, functions
from tests.conformance.scene import Scene
from tests.conformance.upstream import Upstream


class OpenAILoop(Driver):
    """`GuardedChat.astep` with the client of `openai`."""

    name = "openai loop"
    libraries = ("openai",)
    prefixes = True
    tells = True

    def __init__(self, *, journal: Journal | None = None, mode: Mode = "enforce") -> None:
        super().__init__(journal=journal, mode=mode)
        self.upstream = Upstream()

    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene."""
        from openai import AsyncOpenAI

        from ledgeragent.adapters.openai_chat import GuardedChat, map_history

        self.upstream.scenes[scene.key] = scene
        chat = GuardedChat(
            "shop",
            tools=[{"type": "function", "function": f} for f in functions(scene.situation.prefix)],
            run=scene.aexecute,
            watch=scene.watch,
            journal=self.journal,
            mode=self.mode,
        )
        url = f"{self.upstream.url}/v1"
        async with AsyncOpenAI(api_key=scene.key, base_url=url, max_retries=0) as client:
            for turn in scene.situation.turns:
                chat.hear(turn.says)
                while (await chat.astep(client, model="scripted")).tool_calls:
                    pass
        scene.transcript = list(map_history(chat.messages))

    def close(self) -> None:
        """Stops the server."""
        self.upstream.close()


class AnthropicLoop(Driver):
    """`GuardedMessages.astep` with the client of `anthropic`."""

    name = "anthropic loop"
    libraries = ("anthropic",)
    lacks = frozenset({"argument text"})
    prefixes = True
    tells = True

    def __init__(self, *, journal: Journal | None = None, mode: Mode = "enforce") -> None:
        super().__init__(journal=journal, mode=mode)
        self.upstream = Upstream()

    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene."""
        from anthropic import AsyncAnthropic

        from ledgeragent.adapters.anthropic import GuardedMessages, map_history

        self.upstream.scenes[scene.key] = scene
        tools: list[Any] = [
            {"name": f["name"], "description": f["description"], "input_schema": f["parameters"]}
            for f in functions(scene.situation.prefix)
        ]
        chat = GuardedMessages(
            "shop",
            tools=tools,
            run=scene.aexecute,
            watch=scene.watch,
            journal=self.journal,
            mode=self.mode,
        )
        options = {"model": "scripted", "max_tokens": 100}
        url = self.upstream.url
        async with AsyncAnthropic(api_key=scene.key, base_url=url, max_retries=0) as client:
            for turn in scene.situation.turns:
                chat.hear(turn.says)
                while (await chat.astep(client, **options)).stop_reason == "tool_use":
                    pass
        scene.transcript = list(map_history(chat.messages))

    def close(self) -> None:
        """Stops the server."""
        self.upstream.close()
