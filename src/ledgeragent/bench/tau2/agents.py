"""Our arms as agents of the tau2 harness."""

from __future__ import annotations

import json
from collections import defaultdict
from time import monotonic
from typing import Any, NamedTuple

from ledgeragent.adapters.method import pack_named
from ledgeragent.adapters.tau2 import (
    TRACE,
    Wire,
    agent_class,
    complete,
    complete_with,
    harness,
    register,
    role_of,
    say,
    spent,
)
from ledgeragent.bench.arms.arms import ARMS, Arm
from ledgeragent.bench.arms.fama.choice import chosen
from ledgeragent.bench.arms.helpers import Ask, Helper, HelperView, ToolText
from ledgeragent.bench.arms.recipes import Recipe, blocks, compose, fama, irma, objections
from ledgeragent.types import Json

PLAIN = "llm_agent"
"""The harness's name for its own agent, the arm fc."""


def register_arms() -> None:
    """Makes every arm but fc, which the harness has, known to it by its name, once."""
    registered = set(harness("tau2.registry").registry.get_agents())
    for arm in ARMS.values():
        if arm.kind != "plain" and arm.name not in registered:
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


class Asked(NamedTuple):
    """One call of a helper."""

    helper: str
    reply: Wire
    seconds: float


class Helped:
    """The part in front of the harness's agent for IRMA and FAMA.

    Helpers use the agent's own model and options. What they write replaces the newest message of the
    customer in the prompt (IRMA) or stands at its tail (FAMA). FAMA's verifier sees a draft first; if
    it objects, the agent generates again. `llm_args` may hold `irma`, the options of `recipes.irma`;
    `fama_helpers`, names; `fama_choice`, a file of `ledgeragent bench fama`; and `ledger_role`, the
    role of the message at the tail. None of them reaches the model's API.
    """

    arm: Arm
    tools: list[Wire]
    domain_policy: str
    llm: str
    llm_args: dict[str, Any]

    def __init__(self, *args: Any, llm_args: dict[str, Any] | None = None, **kwargs: Any) -> None:
        options = dict(llm_args or {})
        methods = {
            name: options.pop(name, None) for name in ("irma", "fama_helpers", "fama_choice")
        }
        self._pack = pack_named(options.pop("ledger_pack", None))
        self._role = role_of(options)
        super().__init__(*args, llm_args=options, **kwargs)  # type: ignore[call-arg]
        self._recipe = self._choose(methods)
        self._begin()

    def _choose(self, methods: dict[str, Any]) -> Recipe:
        if self.arm.name == "irma":
            return irma(methods["irma"])
        domain = self._pack([tool.name for tool in self.tools]).name
        if methods["fama_choice"]:
            return fama(domain, chosen(methods["fama_choice"], self.llm, domain))
        return fama(domain, methods["fama_helpers"]) if methods["fama_helpers"] else fama(domain)

    def _begin(self) -> None:
        tools = tuple(_tool(tool.openai_schema["function"]) for tool in self.tools)
        whole = self._recipe.when == "every_step"
        self._view = HelperView(policy=self.domain_policy, tools=tools, whole=whole)
        self._asked: list[Asked] = []
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
            elif message.role == "assistant":
                self._view.calls += _calls(message)
        returned = [message.content or "" for message in messages if message.role == "tool"]
        if returned:
            self._view.latest_return = "\n".join(returned)

    def generate_next_message(self, message: Wire, state: Any) -> tuple[Wire, Any]:
        """The message to send, after the helpers had their say."""
        arrived = getattr(message, "tool_messages", None) or [message]
        state.messages.extend(arrived)
        self._note(arrived)
        self._asked = []
        drafts = self._drafts([*state.system_messages, *self._as_rewritten(state.messages)])
        final = drafts[-1].model_copy(update=self._account(drafts))
        self._note([final])
        state.messages.append(final)
        return final, state

    def _drafts(self, prompt: list[Wire]) -> list[Wire]:
        """The drafts, the last of them to be sent: a second one if the verifier objects to the first."""
        helped = "" if self._recipe.rewrites else blocks(self._recipe, self._view, self._asking)
        draft = complete_with(self, prompt, helped, self._role)
        self._view.pending = "; ".join(filter(None, (draft.content, *_calls(draft))))
        objected = objections(self._recipe, self._view, self._asking)
        if not objected:
            return [draft]
        tail = "\n\n".join(filter(None, (helped, objected)))
        return [draft, complete_with(self, prompt, tail, self._role)]

    def _as_rewritten(self, messages: list[Wire]) -> list[Wire]:
        """The messages, the customer's latest with what helpers say, where they rewrite it."""
        if not self._recipe.rewrites:
            return messages
        latest = max((n for n, m in enumerate(messages) if m.role == "user"), default=None)
        if latest is not None:
            self._rewrite(latest, messages[latest].content or "")
        return [
            m.model_copy(update={"content": self._composed[n]}) if n in self._composed else m
            for n, m in enumerate(messages)
        ]

    def _rewrite(self, place: int, words: str) -> None:
        """Sees to it that the customer's latest message is shown with what the helpers say now."""
        if place not in self._composed and not self._recipe.keeps:
            self._composed = {}
        if place not in self._composed or self._recipe.when == "every_step":
            helped = blocks(self._recipe, self._view, self._asking)
            self._composed[place] = compose(helped, words)

    def _asking(self, helper: Helper) -> Ask:
        """How this helper asks the model."""

        def ask(instructions: str, question: str) -> str:
            started = monotonic()
            prompt = [say("system", instructions), say("user", question)]
            reply = complete(self, prompt, tools=False)
            self._asked.append(Asked(helper.name, reply, monotonic() - started))
            return reply.content or ""

        return ask

    def _account(self, drafts: list[Wire]) -> dict[str, Json]:
        """The cost of all that, and in `raw_data` what of it each helper took."""
        trace: dict[str, Json] = {"generations": len(drafts), "helper_calls": len(self._asked)}
        trace["helpers"] = _by_helper(self._asked)
        raw = {**(drafts[-1].raw_data or {}), TRACE: trace}
        return {**spent([*drafts, *(one.reply for one in self._asked)]), "raw_data": raw}


def _by_helper(calls: list[Asked]) -> dict[str, dict[str, float]]:
    costs: dict[str, dict[str, float]] = defaultdict(
        lambda: {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "seconds": 0.0}
    )
    for one in calls:
        usage = one.reply.usage or {}
        cost = costs[one.helper]
        cost["calls"] += 1
        cost["prompt_tokens"] += usage.get("prompt_tokens", 0)
        cost["completion_tokens"] += usage.get("completion_tokens", 0)
        cost["seconds"] = round(cost["seconds"] + one.seconds, 3)
    return dict(costs)


def _calls(message: Wire) -> list[str]:
    return list(map(_call, message.tool_calls or ()))


def _call(call: Wire) -> str:
    return f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}"


def _tool(function: Json) -> ToolText:
    names = tuple(function.get("parameters", {}).get("properties", {}))
    return ToolText(name=function["name"], description=function["description"], parameters=names)
