"""What every agent's script shares. Only Python's library: it runs in the framework's environment."""

import asyncio
import json
import sys
import traceback
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any, get_type_hints

KEY = "sk-nobody"
POLICY = "You serve customers of a garden shop. Use your tools."
_TYPES = {str: "string", int: "integer", float: "number"}


class Task:
    """The cell that is played: where the gateway is, and which format, way and tools are asked for."""

    gateway: str
    shop: str
    wire: str
    stream: bool
    dicts: bool
    turns: list[str]
    control: bool = False

    @property
    def openai(self) -> str:
        """The base URL of clients of OpenAI's formats."""
        return f"{self.gateway}/v1"

    @property
    def model(self) -> str:
        """A name that clients of this format know."""
        return "claude-sonnet-4-5" if self.wire == "messages" else "gpt-4.1"

    @property
    def tools(self) -> list[Callable[..., Any]]:
        """The shop's tools, which return JSON text or dicts."""
        return shop_tools(dict[str, Any] if self.dicts else str)

    @property
    def schemas(self) -> list[Any]:
        """The tools as Chat Completions takes them."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.__name__,
                    "description": tool.__doc__,
                    "parameters": schema(tool),
                },
            }
            for tool in self.tools
        ]

    def execute(self, name: str, arguments: str) -> str:
        """What a loop of one's own sends back for a call."""
        (tool,) = (tool for tool in self.tools if tool.__name__ == name)
        result = tool(**json.loads(arguments))
        return result if isinstance(result, str) else json.dumps(result)

    def run(self, tool: str, **arguments: Any) -> Any:
        """What a tool of the shop returns: JSON text, or what is in it."""
        request = urllib.request.Request(
            f"{self.shop}/shop/{tool}", json.dumps(arguments).encode(), method="POST"
        )
        with urllib.request.urlopen(request) as response:
            text = response.read().decode()
        return json.loads(text) if self.dicts else text


task = Task()


def shop_tools(Result: Any) -> list[Callable[..., Any]]:  # noqa: N803
    """Functions whose annotations say what they return, as frameworks read them."""

    def find_customer(email: str) -> Result:
        """Finds a customer by email address."""
        return task.run("find_customer", email=email)

    def get_order(order_id: str) -> Result:
        """Looks an order up."""
        return task.run("get_order", order_id=order_id)

    def get_parcel(parcel_id: str) -> Result:
        """Looks a parcel up."""
        return task.run("get_parcel", parcel_id=parcel_id)

    def refund_item(
        order_id: str, parcel_id: str, sku: str, quantity: int, amount: float
    ) -> Result:
        """Refunds a quantity of an item that came in a parcel."""
        call = {"order_id": order_id, "parcel_id": parcel_id, "sku": sku}
        return task.run("refund_item", **call, quantity=quantity, amount=amount)

    def cancel_order(order_id: str) -> Result:
        """Cancels an order."""
        return task.run("cancel_order", order_id=order_id)

    return [find_customer, get_order, get_parcel, refund_item, cancel_order]


def schema(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    hints = {name: t for name, t in get_type_hints(function).items() if name != "return"}
    properties = {name: {"type": _TYPES[hint]} for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


def main(talk: Callable[[list[str]], Awaitable[Any]]) -> None:
    """Plays a cell for each line of input, and prints what the agent said last as a line of JSON."""
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            vars(task).update(json.loads(line))
            try:
                said = str(runner.run(talk(task.turns)))
                print("\nSAID " + json.dumps(said), flush=True)
            except Exception as problem:
                traceback.print_exc()
                words = f"{type(problem).__name__}: {problem}"
                print("\nFAILED " + json.dumps(words), flush=True)
