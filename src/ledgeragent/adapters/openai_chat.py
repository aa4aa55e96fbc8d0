"""A plain loop over OpenAI's Chat Completions: the prompt's tail, the judged reply, valid tool messages.

chat = GuardedChat("shop", tools=TOOLS, run=execute)
chat.hear("Cancel my order, please.")
while (message := chat.step(client, model="gpt-5.2")).tool_calls:
    pass
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ledgeragent.adapters.common import Policy, PolicyLike, Undecided, named, refuse, require
from ledgeragent.adapters.execution import AsyncRunCall, CallResult, RunCall, aexecute, execute
from ledgeragent.journal.recorder import Mode
from ledgeragent.session.controls import control_tool
from ledgeragent.session.conversation import Watch
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

require("openai", "2.0", "openai")

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI
    from openai.types.chat import ChatCompletionMessage

    from ledgeragent.journal import Journal

Wire: TypeAlias = dict[str, Any]


class GuardedChat:
    """One conversation. `messages` is the transcript, valid for the API after every step.

    `tools` are the schemas given to the model, `role` is that of the message with the ledger block,
    `history` what was said before. All that happens is written to `journal`. In mode "shadow"
    everything is judged and recorded, and nothing changed. `neutrals` names tools that the policy
    does not list and that change none of its records; those of frameworks are known. `aliases` says
    which of the policy's a tool is, by the tool's name, where no prefix tells it.
    """

    def __init__(
        self,
        policy: PolicyLike,
        *,
        tools: Sequence[Mapping[str, Any]],
        run: RunCall | AsyncRunCall,
        history: Iterable[Wire] = (),
        role: str = "system",
        watch: Watch | None = None,
        journal: Journal | None = None,
        mode: Mode = "enforce",
        undecided: Undecided = "block",
        neutrals: Collection[str] = (),
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.messages: list[Wire] = [dict(message) for message in history]
        self._tools = list(tools)
        self._run = run
        self._role = role
        names = [_tool_name(tool, shadow=mode == "shadow") for tool in tools]
        guard = Policy(policy, watch, journal, mode, undecided, named(aliases, neutrals))
        controls = [name for tool, name in zip(tools, names, strict=True) if _is_control(tool)]
        self.conversation = guard.open(names, map_history(self.messages), controls)

    def hear(self, text: str) -> None:
        """Adds a message of the user."""
        self.conversation.heard(text)
        self.messages.append({"role": "user", "content": text})

    def prompt(self) -> list[Wire]:
        """The messages for the next request: the transcript, then the ledger block."""
        if self.conversation.shadow:
            return list(self.messages)
        return [*self.messages, {"role": self._role, "content": self.conversation.context()}]

    def step(self, client: OpenAI, **options: Any) -> ChatCompletionMessage:
        """One request, with its tool calls judged and answered; more follow while it has any."""
        create: Any = client.chat.completions.create
        reply = create(messages=self.prompt(), **self._options(options)).choices[0].message
        self.answer(reply)
        message: ChatCompletionMessage = reply
        return message

    async def astep(self, client: AsyncOpenAI, **options: Any) -> ChatCompletionMessage:
        """The same with an asynchronous client and an asynchronous `run`."""
        create: Any = client.chat.completions.create
        answer = await create(messages=self.prompt(), **self._options(options))
        reply: ChatCompletionMessage = answer.choices[0].message
        await self.aanswer(reply)
        return reply

    def _options(self, options: Wire) -> Wire:
        if options.get("stream"):
            raise refuse("a streamed reply", "collect it and give it to `answer`")
        return {"tools": self._tools, **options} if self._tools else options

    def answer(self, reply: ChatCompletionMessage | Wire) -> None:
        """Judges a reply, executes what is allowed, and adds it with all its answers."""
        answers: list[CallResult] = []
        calls = self._judged(reply)
        try:
            execute(self.conversation, calls, self._run, answers)
        finally:
            self.messages += map(_tool_message, answers)

    async def aanswer(self, reply: ChatCompletionMessage | Wire) -> None:
        """The same with an asynchronous `run`."""
        answers: list[CallResult] = []
        calls = self._judged(reply)
        try:
            await aexecute(self.conversation, calls, cast("AsyncRunCall", self._run), answers)
        finally:
            self.messages += map(_tool_message, answers)

    def _judged(self, reply: ChatCompletionMessage | Wire) -> tuple[ToolCall, ...]:
        message = self._wire(reply)
        calls = tuple(_call(raw) for raw in message.get("tool_calls") or ())
        self.conversation.judge(Reply(text=message.get("content") or "", calls=calls))
        self.messages.append(message)
        return calls

    def _wire(self, reply: ChatCompletionMessage | Wire) -> Wire:
        message = dict(reply) if isinstance(reply, dict) else reply.model_dump(exclude_none=True)
        calls = [dict(raw) for raw in message.get("tool_calls") or ()]
        for raw, name in zip(
            calls, self.conversation.ids([c.get("id") for c in calls]), strict=True
        ):
            raw["id"] = name
        if calls:
            return {**message, "tool_calls": calls}
        return {**message, "content": message.get("content") or ""}


def _tool_message(answer: CallResult) -> Wire:
    return {"role": "tool", "tool_call_id": answer.call.id, "content": answer.content}


def _tool_name(tool: Mapping[str, Any], *, shadow: bool) -> str:
    if tool.get("type") != "function":
        if shadow:
            return str(tool.get("type"))
        raise refuse(f"a tool of type {tool.get('type')!r}", "only function tools can be")
    return str(tool["function"]["name"])


def _is_control(tool: Mapping[str, Any]) -> bool:
    function = tool.get("function") or {"name": ""}
    parameters = (function.get("parameters") or {}).get("properties") or {}
    return control_tool(function["name"], parameters, function.get("description") or "") is not None


def _call(raw: Wire) -> ToolCall:
    if raw.get("type", "function") != "function":
        name = str((raw.get("custom") or {}).get("name", "custom"))
        return ToolCall(name=name, id=raw["id"], malformed=str(raw))
    function = raw["function"]
    return ToolCall.parse(name=function["name"], arguments=function.get("arguments"), id=raw["id"])


def map_history(messages: Iterable[Wire]) -> Iterator[Message]:
    """A transcript of this API as messages of the core."""
    for message in messages:
        content = message.get("content")
        text = content if isinstance(content, str) else _joined(content)
        match message.get("role"):
            case "user":
                yield UserMessage(text=text)
            case "assistant":
                calls = tuple(_call(raw) for raw in message.get("tool_calls") or ())
                yield Reply(text=text, calls=calls)
            case "tool":
                yield ToolReturn(call_id=message["tool_call_id"], content=content or "")


def _joined(parts: Any) -> str:
    return "".join(p.get("text") or "" for p in parts or () if isinstance(p, dict))
