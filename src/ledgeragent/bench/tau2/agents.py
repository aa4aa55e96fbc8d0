"""Our arms as agents of the tau2 harness."""

from __future__ import annotations

from typing import Any, TypeAlias

from ledgeragent.adapters.method import pack_for
from ledgeragent.adapters.tau2 import (
    TRACE,
    agent_class,
    complete,
    harness,
    register,
    say,
    spent,
)
from ledgeragent.bench.arms import ARMS, Arm
from ledgeragent.bench.helpers import IRMA, Recipe, Tool, View, blocks, compose, fama
from ledgeragent.types import Json

Wire: TypeAlias = Any

PLAIN = "llm_agent"
"""What the harness calls its own agent, the arm fc."""


def register_arms() -> None:
    """Makes every arm but fc, which the harness has, known to it by its name, once."""
    known = set(harness("tau2.registry").registry.get_agents())
    for arm in ARMS.values():
        if arm.kind != "plain" and arm.name not in known:
            register(arm.name, agent_of(arm))


def agent_of(arm: Arm) -> type[Any]:
    """The harness's agent class for an arm."""
    if arm.kind == "plain":
        plain: type[Any] = harness("tau2.agent.llm_agent").LLMAgent
        return plain
    if arm.kind == "helped":
        base = harness("tau2.agent.llm_agent").LLMAgent
        return type("HelpedAgent", (Helped, base), {"arm": arm})
    return agent_class(arm.method)


class Helped:
    """What goes in front of the harness's agent for IRMA and FAMA.

    Helpers use the agent's own model and options. What they write replaces the newest message of the
    customer in the prompt (IRMA) or stands at its tail (FAMA); older messages stay as they were said.
    `llm_args` may hold `fama_helpers`, a list of names.
    """

    arm: Arm
    tools: list[Wire]
    domain_policy: str
    llm_args: dict[str, Any]

    def __init__(self, *args: Any, llm_args: dict[str, Any] | None = None, **kwargs: Any) -> None:
        options = dict(llm_args or {})
        chosen = options.pop("fama_helpers", None)
        super().__init__(*args, llm_args=options, **kwargs)  # type: ignore[call-arg]
        self._recipe = self._choose(chosen)
        self._begin()

    def _choose(self, chosen: list[str] | None) -> Recipe:
        if self.arm.name == "irma":
            return IRMA
        domain = pack_for([tool.name for tool in self.tools]).name
        return fama(domain, chosen) if chosen else fama(domain)

    def _begin(self) -> None:
        tools = tuple(_tool(tool.openai_schema["function"]) for tool in self.tools)
        self._view = View(policy=self.domain_policy, tools=tools)
        self._calls: list[Wire] = []
        self._composed: dict[int, str] = {}

    @property
    def system_prompt(self) -> str:
        """The harness's system prompt, with what the method adds to it."""
        text: str = super().system_prompt  # type: ignore[misc]
        return f"{text}\n\n{self._recipe.instructions}" if self._recipe.instructions else text

    def get_init_state(self, message_history: list[Wire] | None = None) -> Any:
        """The harness's state; helpers take note of the history."""
        self._begin()
        self._note(message_history or [])
        return super().get_init_state(message_history)  # type: ignore[misc]

    def _note(self, messages: list[Wire]) -> None:
        for message in messages:
            if message.role == "user" and message.content:
                self._view.requests.append(message.content)
            elif message.role == "tool":
                self._view.latest_return = message.content or ""

    def generate_next_message(self, message: Wire, state: Any) -> tuple[Wire, Any]:
        """The message to send, generated once, after the helpers had their say."""
        arrived = getattr(message, "tool_messages", None) or [message]
        state.messages.extend(arrived)
        self._note(arrived)
        self._calls = []
        draft = complete(self, [*state.system_messages, *self._prompt(state.messages)])
        sent = draft.model_copy(update=self._account(draft))
        state.messages.append(sent)
        return sent, state

    def _prompt(self, messages: list[Wire]) -> list[Wire]:
        latest = max((n for n, m in enumerate(messages) if m.role == "user"), default=None)
        if self._recipe.when == "every_step":
            helped = blocks(self._recipe, self._view, self._ask)
            return [*messages, say("system", helped)] if helped else messages
        if latest is None:
            return messages
        if latest not in self._composed:
            helped = blocks(self._recipe, self._view, self._ask)
            self._composed = {latest: compose(helped, messages[latest].content or "")}
        shown = messages[latest].model_copy(update={"content": self._composed[latest]})
        return [*messages[:latest], shown, *messages[latest + 1 :]]

    def _ask(self, instructions: str, question: str) -> str:
        reply = complete(self, [say("system", instructions), say("user", question)], tools=False)
        self._calls.append(reply)
        return reply.content or ""

    def _account(self, draft: Wire) -> dict[str, Json]:
        told = {"generations": 1, "helper_calls": len(self._calls)}
        raw = {**(draft.raw_data or {}), TRACE: told}
        return {**spent([draft, *self._calls]), "raw_data": raw}


def _tool(function: Json) -> Tool:
    names = tuple(function.get("parameters", {}).get("properties", {}))
    return Tool(name=function["name"], description=function["description"], parameters=names)
