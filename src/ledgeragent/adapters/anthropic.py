"""A plain loop over Anthropic's Messages API: the prompt's tail, the judged reply, valid tool results.

chat = GuardedMessages("shop", tools=TOOLS, run=execute)
chat.hear("Cancel my order, please.")
while chat.step(client, model="claude-opus-5", max_tokens=1000).stop_reason == "tool_use":
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

require("anthropic", "1.0", "anthropic")

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message as AnthropicMessage

    from ledgeragent.journal import Journal

Wire: TypeAlias = dict[str, Any]


class GuardedMessages:
    """One conversation. `messages` is the transcript, valid for the API after every step.

    `tools` are the definitions given to the model; tools that run on the provider's side are
    refused. `history` is what was said before. All that happens is written to `journal`. In mode
    "shadow" everything is judged and recorded, and nothing changed. `neutrals` names tools that the
    policy does not list and that change none of its records; those of frameworks are known.
    `aliases` says which of the policy's a tool is, by the tool's name, where no prefix tells it.
    """

    def __init__(
        self,
        policy: PolicyLike,
        *,
        tools: Sequence[Mapping[str, Any]],
        run: RunCall | AsyncRunCall,
        history: Iterable[Wire] = (),
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
        names = [_tool_name(tool, shadow=mode == "shadow") for tool in tools]
        guard = Policy(policy, watch, journal, mode, undecided, named(aliases, neutrals))
        controls = [name for tool, name in zip(tools, names, strict=True) if _is_control(tool)]
        self.conversation = guard.open(names, map_history(self.messages), controls)

    def hear(self, text: str) -> None:
        """Adds a message of the user."""
        self.conversation.heard(text)
        self.messages.append({"role": "user", "content": [_text(text)]})

    def prompt(self) -> list[Wire]:
        """The messages for the next request: the transcript, the ledger block in its last turn."""
        if self.conversation.shadow:
            return list(self.messages)
        block = _text(self.conversation.context())
        if self.messages and self.messages[-1]["role"] == "user":
            last = self.messages[-1]
            return [*self.messages[:-1], {**last, "content": [*_blocks(last["content"]), block]}]
        return [*self.messages, {"role": "user", "content": [block]}]

    def step(self, client: anthropic.Anthropic, **options: Any) -> AnthropicMessage:
        """One request, with its tool calls judged and answered; more follow while it has any."""
        create: Any = client.messages.create
        reply: AnthropicMessage = create(messages=self.prompt(), **self._options(options))
        self.answer(reply)
        return reply

    async def astep(self, client: anthropic.AsyncAnthropic, **options: Any) -> AnthropicMessage:
        """The same with an asynchronous client and an asynchronous `run`."""
        create: Any = client.messages.create
        reply: AnthropicMessage = await create(messages=self.prompt(), **self._options(options))
        await self.aanswer(reply)
        return reply

    def _options(self, options: Wire) -> Wire:
        if options.get("stream"):
            raise refuse("a streamed reply", "collect it and give it to `answer`")
        if options.get("mcp_servers") and not self.conversation.shadow:
            raise refuse("a server's tools run by the provider", "put `ledgeragent mcp` before it")
        return {"tools": self._tools, **options} if self._tools else options

    def answer(self, reply: AnthropicMessage | Wire) -> None:
        """Judges a reply, executes what is allowed, and adds it with all its answers."""
        answers: list[CallResult] = []
        calls = self._judged(reply)
        try:
            execute(self.conversation, calls, self._run, answers)
        finally:
            self._say(answers)

    async def aanswer(self, reply: AnthropicMessage | Wire) -> None:
        """The same with an asynchronous `run`."""
        answers: list[CallResult] = []
        calls = self._judged(reply)
        try:
            await aexecute(self.conversation, calls, cast("AsyncRunCall", self._run), answers)
        finally:
            self._say(answers)

    def _judged(self, reply: AnthropicMessage | Wire) -> tuple[ToolCall, ...]:
        blocks = self._wire(reply)
        calls = tuple(_call(b) for b in blocks if b["type"] == "tool_use")
        self.conversation.judge(Reply(text=_said(blocks), calls=calls))
        if blocks:
            self.messages.append({"role": "assistant", "content": blocks})
        return calls

    def _say(self, answers: Sequence[CallResult]) -> None:
        if answers:
            self.messages.append({"role": "user", "content": [*map(_result, answers)]})

    def _wire(self, reply: AnthropicMessage | Wire) -> list[Wire]:
        message = reply if isinstance(reply, dict) else reply.model_dump(exclude_none=True)
        blocks = [dict(block) for block in _blocks(message["content"])]
        uses = [block for block in blocks if block["type"] == "tool_use"]
        for block, name in zip(uses, self.conversation.ids([b["id"] for b in uses]), strict=True):
            block["id"] = name
        return [b for b in blocks if b["type"] != "text" or b["text"]]


def _tool_name(tool: Mapping[str, Any], *, shadow: bool) -> str:
    if tool.get("type", "custom") != "custom" and not shadow:
        raise refuse(f"a tool of type {tool['type']!r}", "only tools that you execute can be")
    return str(tool["name"])


def _is_control(tool: Mapping[str, Any]) -> bool:
    parameters = (tool.get("input_schema") or {}).get("properties") or {}
    return control_tool(tool["name"], parameters, tool.get("description") or "") is not None


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _blocks(content: Any) -> list[Wire]:
    return [_text(content)] if isinstance(content, str) else list(content or ())


def _result(answer: CallResult) -> Wire:
    result = {"type": "tool_result", "tool_use_id": answer.call.id, "content": answer.content}
    return {**result, "is_error": True} if answer.error else result


def _call(block: Wire) -> ToolCall:
    return ToolCall.parse(name=block["name"], arguments=block.get("input"), id=block["id"])


def _said(blocks: Iterable[Wire]) -> str:
    return "".join(b.get("text") or "" for b in blocks if b.get("type") == "text")


def map_history(messages: Iterable[Wire]) -> Iterator[Message]:
    """A transcript of this API as messages of the core."""
    for message in messages:
        blocks = _blocks(message["content"])
        if message["role"] == "assistant":
            calls = tuple(_call(b) for b in blocks if b["type"] == "tool_use")
            yield Reply(text=_said(blocks), calls=calls)
            continue
        yield from (_return(b) for b in blocks if b["type"] == "tool_result")
        if any(b["type"] != "tool_result" for b in blocks):
            yield UserMessage(text=_said(blocks))


def _return(block: Wire) -> ToolReturn:
    content, failed = block.get("content"), bool(block.get("is_error"))
    return ToolReturn(call_id=block["tool_use_id"], content=content or "", error=failed)
