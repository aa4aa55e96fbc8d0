"""A scripted model behind a real port, in every wire format, and the shop whose tools agents call."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from ledgeragent.demo.shop.shop import TOOLS, Shop
from ledgeragent.types import Reply, ToolCall
from tests.gateway.upstream import Upstream, sent
from tests.gateway.wires import Wire

Body = dict[str, Any]
Step = tuple[str, dict[str, Any]] | str
OWN_TOOL: Step = ("a tool of the framework's own", {})
_DEFERRED = re.compile(r"mcp__shop__[a-z_]+")
Writer = Callable[[Step, Body], Reply]


@dataclass
class Provider(Upstream):
    """Plays the steps in order: calls under the names that a request offers, or words.

    A request without a tool of the shop gets words, and takes no step, unless `writer` writes calls
    as text, as frameworks want that offer no tools. `executed` is what agents had the shop do.
    """

    steps: deque[Step] = field(default_factory=deque)
    writer: Writer | None = None
    shop: Shop = field(default_factory=Shop)
    executed: list[Step] = field(default_factory=list)
    number: int = 0

    def app(self) -> web.Application:
        """The routes of the model API and of the shop."""
        self.choose = lambda body: self._respond
        app = super().app()
        app.router.add_post("/shop/{tool}", self._execute)
        return app

    def begin(self, steps: list[Step], writer: Writer | None) -> None:
        """A new conversation in a new shop."""
        self.steps, self.writer, self.shop = deque(steps), writer, Shop()
        self.executed.clear()
        self.asked.clear()

    async def _execute(self, request: web.Request) -> web.Response:
        name, arguments = request.match_info["tool"], await request.json()
        self.executed.append((name, arguments))
        content = self.shop.execute(ToolCall(name=name, arguments=arguments, id="call")).content
        return web.Response(text=str(content))

    async def _respond(self, request: web.Request, wire: Wire, body: Body) -> web.StreamResponse:
        self.number += 1
        reply, name = self._reply(body), f"resp_{self.number}"
        if not body.get("stream"):
            text = json.dumps(wire.answer(reply, name))
            return web.Response(text=self._own(text), content_type="application/json")
        return await sent(
            request, [self._own(e.decode()).encode() for e in wire.events(reply, name)]
        )

    def _own(self, text: str) -> str:
        """An answer whose message has an id of its own."""
        return text.replace('"msg_1"', f'"msg_{self.number}"')

    def _reply(self, body: Body) -> Reply:
        if self.writer is not None:
            return self.writer(self._next(), body)
        offered = offered_tools(body)
        if (forced := forced_tool(body)) is not None:
            return self._call(forced, {"amount": 24.5})
        if not any(name.endswith("find_customer") for name in offered):
            return self._search(offered, body)
        step = self._next()
        if isinstance(step, str):
            ends = "final_answer" in offered
            return self._call("final_answer", {"answer": step}) if ends else Reply(text=step)
        if step == OWN_TOOL:
            return self._call_own(body)
        name, arguments = step
        wire_name = next((n for n in offered if n.endswith(name)), name)
        return self._call(wire_name, arguments)

    def _search(self, offered: list[str], body: Body) -> Reply:
        """Has tools loaded that a request only names, as a model does; else words."""
        deferred = sorted(set(_DEFERRED.findall(json.dumps(body))))
        if "ToolSearch" not in offered or not deferred:
            return Reply(text="A garden shop.")
        return self._call("ToolSearch", {"query": f"select:{','.join(deferred)}"})

    def _call_own(self, body: Body) -> Reply:
        """A call of the tool that is none of the shop's, with the amount if it wants one."""
        (own,) = (name for name in offered_tools(body) if name not in TOOLS)
        wants = '"amount"' in json.dumps([t for t in body["tools"] if own in json.dumps(t)])
        return self._call(own, {"amount": 24.5} if wants else {})

    def _next(self) -> Step:
        return self.steps.popleft() if self.steps else "That is all."

    def _call(self, name: str, arguments: dict[str, Any]) -> Reply:
        return Reply(calls=(ToolCall(name=name, arguments=arguments, id=f"call_{self.number}"),))


def offered_tools(body: Body) -> list[str]:
    """The names of a request's tools."""
    tools = (tool.get("function", tool) for tool in body.get("tools") or ())
    return [str(tool.get("name")) for tool in tools]


def forced_tool(body: Body) -> str | None:
    """The one tool that a request wants called, None if it leaves a choice."""
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        return None
    name = choice.get("function", choice).get("name")
    return None if name is None else str(name)
