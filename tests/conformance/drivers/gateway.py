"""The gateway on a real port, in front of the scripted model: each wire format, streamed and not."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from queue import Queue
from typing import Any, ClassVar

from ledgeragent.journal import Journal
from ledgeragent.journal.recorder import Mode
from ledgeragent.paths import Path
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.conformance.drivers.base import FUNCTIONS, Driver
from tests.conformance.scene import CONTROLS, PATIENCE, Scene
from tests.conformance.upstream import Upstream, read_chat, read_messages
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES, Wire

TOOLS = tuple(str(function["name"]) for function in FUNCTIONS)


class GatewayUpstream(Upstream):
    """The scripted model in every format that the gateway speaks, streamed if it is asked to."""

    def respond(self, path: str, headers: Mapping[str, str], body: Any) -> tuple[str, bytes]:
        """The scene's next reply, and its content type."""
        scene = self.scenes[headers["Authorization"].removeprefix("Bearer ")]
        wire = next(wire for wire in (CHAT, MESSAGES, RESPONSES) if wire.path == path)
        return self.reply(scene, wire, shown(wire, body, shadow=scene.shadow), body["stream"])

    def reply(
        self, scene: Scene, wire: Wire, prompt: tuple[list[Message], str], stream: bool
    ) -> tuple[str, bytes]:
        """The scene's next reply to these messages and this ledger block, and its content type."""
        messages, tail = prompt
        scene.feedback += (str(m.content) for m in messages if isinstance(m, ToolReturn))
        scene.feedback.append(tail.partition("</ledger>")[2])
        reply = scene.next(distinct(messages), tail)
        name = f"resp_{scene.key}_{len(scene.prompts)}"
        if stream:
            return "text/event-stream", b"".join(wire.events(reply, name))
        return "application/json", json.dumps(wire.answer(reply, name)).encode()


def shown(wire: Wire, body: Any, *, shadow: bool = False) -> tuple[list[Message], str]:
    """The messages of a request, and the text of the ledger block behind them."""
    if wire is MESSAGES:
        return read_messages(body["messages"], shadow=shadow)
    if wire is CHAT:
        return read_chat(body["messages"][1:], shadow=shadow)
    if shadow:
        return list(read_items(body["input"])), ""
    *items, tail = body["input"]
    assert tail["role"] == "system", "the ledger block comes last"
    return list(read_items(items)), tail["content"]


def read_items(items: Sequence[Any]) -> Iterator[Message]:
    """The messages that the items of a Responses request are."""
    said = Reply()
    for item in [*items, {"role": "end"}]:
        kind = item.get("type", "message")
        if kind == "function_call":
            call = ToolCall.parse(
                name=item["name"], arguments=item["arguments"], id=item["call_id"]
            )
            said = replace(said, calls=(*said.calls, call))
        elif item.get("role") == "assistant":
            said = replace(said, text=said.text + item["content"][0]["text"])
        else:
            if said != Reply():
                yield said
                said = Reply()
            if kind == "function_call_output":
                yield ToolReturn(call_id=item["call_id"], content=item["output"])
            elif item["role"] == "user":
                yield UserMessage(text=item["content"])


def distinct(messages: Sequence[Message]) -> list[Message]:
    """The messages with ids of our own: a provider that repeats ids gets its own ones back.

    Answers belong to the calls of one id in their order; one that belongs to none keeps its id.
    """
    found: list[Message] = []
    waiting: list[tuple[str, str]] = []
    for at, message in enumerate(messages):
        if isinstance(message, Reply):
            named = [(call.id, f"{at}-{n}") for n, call in enumerate(message.calls)]
            waiting += named
            calls = (replace(c, id=new) for c, (_, new) in zip(message.calls, named, strict=True))
            message = replace(message, calls=tuple(calls))
        elif isinstance(message, ToolReturn):
            pair = next((p for p in waiting if p[0] == message.call_id), None)
            if pair is not None:
                waiting.remove(pair)
                message = replace(message, call_id=pair[1])
        found.append(message)
    return found


@dataclass(frozen=True, eq=False)
class Shown:
    """What of a conversation's ledger can be seen from outside: the records in a prompt."""

    ledger: dict[Path[Any], str]

    @classmethod
    def read(cls, tail: str) -> Shown:
        """The records in a ledger block."""
        lines = (line.partition(" = ") for line in tail.splitlines())
        return cls({Path.parse(path): value for path, equals, value in lines if equals})


class Serving:
    """A gateway over the shop, serving in a thread of its own; `journal` is told of what it does."""

    def __init__(
        self, upstream: str, journal: Journal | None = None, mode: Mode = "enforce"
    ) -> None:
        self._upstream = upstream
        self._journal = journal
        self._mode: Mode = mode
        self._ready: Queue[int] = Queue()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._ready.get(timeout=PATIENCE)}"

    async def _serve(self) -> None:
        from ledgeragent.gateway.server import Gateway, Settings, serve
        from ledgeragent.packs import load_domain

        self._loop, self._until = asyncio.get_running_loop(), asyncio.Event()
        settings = Settings(upstream=self._upstream, mode=self._mode)
        gateway = Gateway(load_domain("shop"), settings, journal=self._journal)
        await serve(gateway, "127.0.0.1", 0, self._ready.put, self._until)

    def close(self) -> None:
        """Stops serving."""
        self._loop.call_soon_threadsafe(self._until.set)
        self._thread.join(PATIENCE)


class GatewayDriver(Driver):
    """A client that runs whatever calls it is given, and goes on talking when it is refused some."""

    libraries = ("aiohttp",)
    waits = False
    prefixes = True
    wire: ClassVar[Wire]
    stream: ClassVar[bool] = False

    def __init__(self, *, journal: Journal | None = None, mode: Mode = "enforce") -> None:
        super().__init__(journal=journal, mode=mode)
        self.upstream = GatewayUpstream()
        self.serving = Serving(self.upstream.url, journal, mode)
        self.url = self.serving.url

    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene."""
        import aiohttp

        self.upstream.scenes[scene.key] = scene
        history: list[Message] = []
        played = 0
        async with aiohttp.ClientSession() as http:
            for turn in scene.situation.turns:
                played += len(turn.steps)
                history.append(UserMessage(text=turn.says))
                while len(scene.prompts) < played:
                    reply = await self.ask(http, scene, history)
                    history.append(reply)
                    for call in reply.calls:
                        content = await scene.aexecute(call)
                        history.append(ToolReturn(call_id=call.id, content=content))
                    if not reply.calls and len(scene.prompts) < played:
                        scene.feedback.append(reply.text)
                        history.append(UserMessage(text="Go on."))
        scene.transcript = distinct(history)
        scene.ledger = Shown.read(scene.tails[-1])

    async def ask(self, http: Any, scene: Scene, history: Sequence[Message]) -> Reply:
        """What the client gets; the verdicts that it is told are noted for each reply of the model."""
        from tests.gateway.world import Answer, read_sse

        first = len(scene.prompts)
        body = self.wire.request(history, _tools(scene), self.stream)
        body["model"] = self.model(scene)
        url, headers = f"{self.url}{self.wire.path}", self.headers(scene)
        async with http.post(url, data=json.dumps(body), headers=headers) as response:
            data, told = await response.read(), {n.lower(): v for n, v in response.headers.items()}
        assert response.status == 200, data
        if self.stream:
            events, comments = read_sse(data)
            reply = self.wire.read_events(events)
        else:
            comments = ()
            reply = self.wire.read(json.loads(data))
        answer = Answer(response.status, told, None, (), comments, reply)
        _note(scene, first, answer.verdicts)
        return reply

    def headers(self, scene: Scene) -> dict[str, str]:
        """What the client sends: a key by which the provider finds the scene."""
        return {"Authorization": f"Bearer {scene.key}"}

    def model(self, scene: Scene) -> str:
        """The model that the client asks for."""
        return "m"

    def close(self) -> None:
        """Stops the gateway and the server."""
        self.serving.close()
        self.upstream.close()


def _tools(scene: Scene) -> list[str]:
    """The tools as the client offers them: the shop's with what stands before their names."""
    prefix = scene.situation.prefix
    return [name if name in CONTROLS else f"{prefix}{name}" for name in TOOLS]


def _note(scene: Scene, first: int, told: str) -> None:
    """Splits the verdicts on several replies by the number of calls in each."""
    verdicts = [
        (name, decision) for name, _, decision in (v.partition("=") for v in told.split(","))
    ]
    steps = [step for turn in scene.situation.turns for step in turn.steps]
    for step in steps[first : len(scene.prompts)]:
        scene.noted.append(verdicts[: len(step.calls)])
        verdicts = verdicts[len(step.calls) :]
    assert not any(name for name, _ in verdicts), f"verdicts on no call: {told}"


class GatewayChat(GatewayDriver):
    """Chat Completions."""

    name = "gateway, chat"
    wire = CHAT


class GatewayChatStreamed(GatewayChat):
    """Chat Completions, streamed."""

    name = "gateway, chat, streamed"
    stream = True


class GatewayMessages(GatewayDriver):
    """Messages, whose input arrives as an object unless it streams."""

    name = "gateway, messages"
    lacks = frozenset({"argument text"})
    wire = MESSAGES


class GatewayMessagesStreamed(GatewayMessages):
    """Messages, streamed."""

    name = "gateway, messages, streamed"
    lacks = frozenset()
    stream = True


class GatewayResponses(GatewayDriver):
    """Responses, with the whole input in each request."""

    name = "gateway, responses"
    wire = RESPONSES


class GatewayResponsesStreamed(GatewayResponses):
    """Responses, streamed."""

    name = "gateway, responses, streamed"
    stream = True
