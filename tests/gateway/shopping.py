"""A client that runs its calls in the real shop, behind a gateway over the shop's rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ledgeragent.demo.shop.shop import Shop
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.world import Answer, World

ELENA = ToolCall(name="find_customer", arguments={"email": "elena.ricci@example.net"}, id="who")
ORDER = ToolCall(name="get_order", arguments={"order_id": "G-1012"}, id="order")
PARCEL = ToolCall(name="get_parcel", arguments={"parcel_id": "P-33"}, id="parcel")
REFUND = ToolCall(
    name="refund_item",
    arguments={
        "order_id": "G-1012",
        "parcel_id": "P-33",
        "sku": "secateurs",
        "quantity": 2,
        "amount": 49.0,
    },
    id="refund",
)
AGAIN = replace(REFUND, id="again")
READS = Reply(calls=(ELENA, ORDER, PARCEL))
REREADS = Reply(calls=(replace(ORDER, id="order2"), replace(PARCEL, id="parcel2")))


@dataclass
class Shopper:
    """One conversation; `history` is what the client sends with its next request."""

    client: Client
    world: World
    shop: Shop
    headers: dict[str, str] | None = None
    history: list[Message] = field(
        default_factory=lambda: [UserMessage(text="The secateurs are blunt.")]
    )

    async def ask(self) -> Answer:
        """One request; its reply goes into the history."""
        got = await self.client.ask(self.world, *self.history, headers=self.headers)
        assert got.reply is not None, got
        self.history.append(got.reply)
        return got

    async def run(self) -> Answer:
        """One request, whose calls are executed."""
        got = await self.ask()
        assert got.reply is not None
        self.history += [self.shop.execute(call) for call in got.reply.calls]
        return got

    def says(self, text: str) -> None:
        """A turn of the user."""
        self.history.append(UserMessage(text=text))

    def hears(self, call: ToolCall, content: str) -> None:
        """A result that comes from elsewhere than the shop."""
        self.history.append(ToolReturn(call_id=call.id, content=content))

    @property
    def told(self) -> str:
        """What the model was sent last."""
        return self.client.wire.told(self.world.upstream.asked[-1]).replace("\\", "")

    @property
    def paid(self) -> float:
        """What was refunded on the order."""
        return float(self.shop.snapshot()["orders"]["G-1012"]["refunded"])
