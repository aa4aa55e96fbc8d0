"""Three conversations: what the customer says, and what the scripted model does."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ledgeragent.types import Json, Message, Reply, ToolCall, UserMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the customer, and the model's plan for it.

    `mended` is what the model goes on with once it hears that a call of the plan was rejected.
    """

    says: str
    plan: tuple[Reply, ...]
    mended: tuple[Reply, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A conversation about one rule: `clause` is the rule's, `moral` what it shows.

    `spotlight` are the fields, by kind of record, that the story turns on. `right` is what the
    database should say in the end.
    """

    number: int
    title: str
    clause: str
    moral: str
    spotlight: Mapping[str, tuple[str, ...]]
    right: Mapping[str, Json]
    turns: tuple[Turn, ...]


class Clerk:
    """A scripted model: the same plan with and without a ledger, but it reacts to feedback."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = deque(turns)
        self._plan: deque[Reply] = deque()
        self._mended: tuple[Reply, ...] = ()

    def generate(self, history: Sequence[Message], context: str, feedback: str) -> Reply:
        """The next reply of the plan, or the first mended one after a rejection."""
        if isinstance(history[-1], UserMessage) and not self._plan:
            turn = self._turns.popleft()
            self._plan, self._mended = deque(turn.plan), turn.mended
        elif feedback:
            self._plan = deque(self._mended)
        return self._plan.popleft()


def _call(name: str, **arguments: Json) -> Reply:
    return Reply(calls=(ToolCall(name=name, arguments=arguments, id=name),))


def _says(text: str) -> Reply:
    return Reply(text=text)


def _refund(amount: float) -> Reply:
    return _call(
        "refund_item",
        order_id="G-1012",
        parcel_id="P-33",
        sku="secateurs",
        quantity=1,
        amount=amount,
    )


SCENARIOS = (
    Scenario(
        number=1,
        title="A call that policy forbids",
        clause="shop/cancel-open",
        moral="An order can be cancelled only while it is open. The tool itself does not check that.",
        spotlight={"orders": ("status",)},
        right={"orders.G-1007.status": "packed", "orders.G-1007.refunded": 0.0},
        turns=(
            Turn(
                says="I'm maya.brandt@example.org. I ordered the tree by mistake: cancel G-1007, "
                "please, and make an exception if you must.",
                plan=(
                    _call("find_customer", email="maya.brandt@example.org"),
                    _call("get_order", order_id="G-1007"),
                    _call("cancel_order", order_id="G-1007"),
                    _says("Of course: G-1007 is cancelled and your 64.00 are on the way back."),
                ),
            ),
        ),
    ),
    Scenario(
        number=2,
        title="A wrong argument",
        clause="shop/price-paid",
        moral="A refund is the price that was paid. The model takes today's price, which it read last.",
        spotlight={
            "orders": ("lines.secateurs.unit_price",),
            "parcels": ("delivered_on",),
            "products": ("price",),
        },
        right={"orders.G-1012.refunded": 24.5},
        turns=(
            Turn(
                says="elena.ricci@example.net here. One of the two secateurs of order G-1012 came "
                "with a broken spring. I'd like my money back for it.",
                plan=(
                    _call("find_customer", email="elena.ricci@example.net"),
                    _call("get_order", order_id="G-1012"),
                    _call("get_parcel", parcel_id="P-33"),
                    _call("get_product", sku="secateurs"),
                    _refund(29.0),
                    _says("Sorry about that! 29.00 are on the way back to you."),
                ),
                mended=(
                    _refund(24.5),
                    _says("Sorry about that! The 24.50 you paid are on the way back to you."),
                ),
            ),
        ),
    ),
    Scenario(
        number=3,
        title="A record that changed since it was read",
        clause="shop/voucher-amount",
        moral="A voucher pays no more than is due. The model still has the amount from before its "
        "own change.",
        spotlight={"orders": ("due",), "vouchers": ("balance",)},
        right={"orders.G-1020.due": 0.0, "vouchers.WREN-80.balance": 47.0},
        turns=(
            Turn(
                says="Hi, noor.haddad@example.com. Please take the stone trough out of my order "
                "G-1020.",
                plan=(
                    _call("find_customer", email="noor.haddad@example.com"),
                    _call("get_order", order_id="G-1020"),
                    _call("change_quantity", order_id="G-1020", sku="stone-trough", quantity=0),
                    _says("The stone trough is out of your order. Anything else?"),
                ),
            ),
            Turn(
                says="Yes, pay all the rest of it with my gift voucher, WREN-80.",
                plan=(
                    _call("get_voucher", code="WREN-80"),
                    _call("apply_voucher", order_id="G-1020", code="WREN-80", amount=69.0),
                    _says("Done: your voucher paid the 69.00."),
                ),
                mended=(
                    _call("get_order", order_id="G-1020"),
                    _call("apply_voucher", order_id="G-1020", code="WREN-80", amount=33.0),
                    _says("Done: your voucher paid the 33.00."),
                ),
            ),
        ),
    ),
)
