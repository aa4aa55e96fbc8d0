"""Every scenario runs over each wire format, streamed and not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from ledgeragent.types import Message, Reply
from tests.gateway.wires import WIRES, Wire
from tests.gateway.world import READ, Answer, World


@dataclass(frozen=True)
class Client:
    """Speaks one format, streamed or not."""

    wire: Wire
    stream: bool

    async def ask(self, world: World, *messages: Message, **options: Any) -> Answer:
        return await world.ask(self.wire, messages, stream=self.stream, **options)

    async def release(self, world: World, headers: dict[str, str], reply: Reply = READ) -> None:
        await world.release(self.wire, headers, reply=reply, stream=self.stream)


@pytest.fixture(
    params=[(w, s) for w in WIRES for s in (False, True)],
    ids=lambda p: f"{p[0].name}-{'stream' if p[1] else 'whole'}",
)
def client(request: pytest.FixtureRequest) -> Client:
    return Client(*request.param)


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest) -> Wire:
    chosen: Wire = request.param
    return chosen
