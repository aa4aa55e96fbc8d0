"""The first tau-bench harness and those with its interface (tau-trait): an agent with `solve`.

    agent = TauBenchAgent(env.tools_info, env.wiki, model="gpt-5.2", provider="openai")
    agent.solve(env, task_index=3)

As that harness has it: one tool call per step, the first of a reply; the run ends when the
environment says so, or after `max_num_steps`; the result's messages begin with the policy; its cost is
that of every generation. One agent may solve several tasks at once. To have the harness's own runner
play with it:

    tau_bench.run.agent_factory = factory
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from ledgeragent.adapters.method import Method
from ledgeragent.agent import LedgerAgent
from ledgeragent.errors import MissingExtraError, UsageError
from ledgeragent.session.contextrole import FORMS, placed
from ledgeragent.session.presenter import Presenter
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

Wire: TypeAlias = dict[str, Any]
Complete: TypeAlias = Callable[[list[Wire], Sequence[Wire]], Wire]
"""`complete(messages, tools)`: the assistant message of one call of the model, as chat APIs have it.

A number under `cost` is what the call cost; it is no part of the message.
"""

RESPOND = "respond"


class TauBenchAgent:
    """An agent of the harness. `complete` stands in for a model of LiteLLM's, by default."""

    def __init__(
        self,
        tools_info: Sequence[Wire],
        wiki: str,
        model: str = "",
        provider: str | None = None,
        temperature: float = 0.0,
        *,
        method: Method | None = None,
        complete: Complete | None = None,
        role: str = "system",
    ) -> None:
        self.tools_info = list(tools_info)
        self.wiki = wiki
        self._method = method or Method()
        if role not in FORMS:
            raise UsageError(f"role is {' or '.join(FORMS)}, not {role!r}")
        self._role = role
        self._complete = complete or _litellm(model, provider, temperature)

    def solve(self, env: Any, task_index: int | None = None, max_num_steps: int = 30) -> Any:
        """Plays one task; the harness's own result, or a plain one where its package has no type."""
        types = _types_of(env)
        run = _Run(self)
        opened = env.reset(task_index=task_index)
        info = dict(_plain(opened.info))
        run.arrive(UserMessage(text=opened.observation), None)
        reward = 0.0
        for _ in range(max_num_steps):
            name, arguments, call = run.act()
            stepped = env.step(_action(types, name, arguments))
            reward, info = stepped.reward, {**info, **_plain(stepped.info)}
            run.receive(call, stepped.observation)
            if stepped.done:
                break
        messages = self.prompt(run.messages, "")
        return _result(types, reward, info, messages, run.cost)

    def prompt(self, messages: list[Wire], tail: str) -> list[Wire]:
        """The messages of a request: policy, history, tail."""
        whole = [{"role": "system", "content": self.wiki}, *messages]
        return [dict(message) for message in placed(whole, tail, self._role)] if tail else whole


def factory(tools_info: Sequence[Wire], wiki: str, config: Any) -> TauBenchAgent:
    """The agent for a run's configuration, in the place of the harness's `agent_factory`."""
    return TauBenchAgent(tools_info, wiki, config.model, config.model_provider, config.temperature)


class _Run:
    """One task: the transcript, and the agent of the paper inside."""

    def __init__(self, agent: TauBenchAgent) -> None:
        names = [tool["function"]["name"] for tool in agent.tools_info]
        self.messages: list[Wire] = []
        self.cost = 0.0
        self._agent = agent
        self._method = agent._method
        self._core = LedgerAgent(
            gate=self._method.gate(names), model=self, keeps_turn=self._method.keeps_turn
        )
        self._presenter = Presenter(mode=self._method.mode)
        self._arrived: Message = UserMessage()
        self._shown: list[Wire] = []
        self._draft: Wire = {}

    def arrive(self, message: Message, wire: Wire | None) -> None:
        """Takes note of what the next step answers to."""
        self._arrived = message
        text = message.text if isinstance(message, UserMessage) else ""
        self.messages.append(wire or {"role": "user", "content": text})

    def act(self) -> tuple[str, Wire, ToolCall | None]:
        """The next action: its name, its arguments, and the call if it is one."""
        reply = self._core.step(self._arrived)
        if not reply.calls:
            self.messages.append({"role": "assistant", "content": reply.text})
            return RESPOND, {"content": reply.text}, None
        call = reply.calls[0]
        raw = (self._draft.get("tool_calls") or [])[:1]
        self.messages.append({**self._draft, "tool_calls": raw})
        return call.name, dict(call.arguments), call

    def receive(self, call: ToolCall | None, observation: str) -> None:
        """Takes in what the action led to."""
        if call is None:
            self.arrive(UserMessage(text=observation), None)
            return
        wire = {
            "role": "tool",
            "tool_call_id": call.id,
            "name": call.name,
            "content": observation,
        }
        self.arrive(ToolReturn(call_id=call.id, content=observation), wire)

    def generate(self, history: Sequence[Message], context: str, feedback: str) -> Reply:
        """One call of the model; of several tool calls the first counts."""
        for message in self._core.history[len(self._presenter.messages) :]:
            self._presenter.saw(message, self._core.state)
        tail = self._method.tail(self._presenter, self._core.state.ledger, feedback)
        prompt = self._agent.prompt(self._as_shown(), tail)
        answer = dict(self._agent._complete(prompt, self._agent.tools_info))
        self.cost += answer.pop("cost", None) or 0.0
        self._draft = {**answer, "role": "assistant"}
        return _reply(self._draft)

    def _as_shown(self) -> list[Wire]:
        """The transcript with each return as the render mode shows it."""
        messages = list(self.messages)
        for position, message in enumerate(self._presenter.messages):
            if isinstance(message, ToolReturn):
                messages[position] = {**messages[position], "content": message.content}
        return messages


def _reply(message: Wire) -> Reply:
    calls = (
        ToolCall.parse(
            name=raw["function"]["name"],
            arguments=raw["function"].get("arguments"),
            id=raw.get("id") or "call",
        )
        for raw in (message.get("tool_calls") or [])[:1]
    )
    return Reply(text=message.get("content") or "", calls=tuple(calls))


def _types_of(env: Any) -> Any:
    """The module with the harness's own values, next to where the environment's class comes from."""
    for kind in type(env).__mro__:
        package = kind.__module__.partition(".")[0]
        try:
            return import_module(f"{package}.types")
        except ImportError:
            continue
    return None


def _action(types: Any, name: str, arguments: Wire) -> Any:
    if hasattr(types, "Action"):
        return types.Action(name=name, kwargs=arguments)
    return _Value(name=name, kwargs=arguments)


def _result(types: Any, reward: float, info: Wire, messages: list[Wire], cost: float) -> Any:
    values = {"reward": reward, "info": info, "messages": messages, "total_cost": cost}
    return types.SolveResult(**values) if hasattr(types, "SolveResult") else _Value(**values)


class _Value:
    """Named values, where the harness brings no type for them."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def _plain(info: Any) -> Mapping[str, Any]:
    dumped = info.model_dump() if hasattr(info, "model_dump") else info
    return dumped if isinstance(dumped, Mapping) else {}


def _litellm(model: str, provider: str | None, temperature: float) -> Complete:
    """The harness's own way to its model."""

    def complete(messages: list[Wire], tools: Sequence[Wire]) -> Wire:
        try:
            completion = import_module("litellm").completion
        except ImportError:
            raise MissingExtraError("litellm", "tau2") from None
        answer = completion(
            model=model,
            custom_llm_provider=provider,
            messages=messages,
            tools=list(tools),
            temperature=temperature,
        )
        message: Wire = answer.choices[0].message.model_dump()
        spent = getattr(answer, "_hidden_params", {}).get("response_cost")
        return {**message, "cost": spent}

    return complete
