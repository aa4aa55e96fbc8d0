"""The tau2 adapter against stand-ins for the harness, in the form of its official line (factories)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ledgeragent.adapters import tau2
from ledgeragent.adapters.method import Method
from ledgeragent.errors import UsageError
from ledgeragent.gate import Gate
from ledgeragent.packs import load_domain

TOOLS = [SimpleNamespace(name=tool.tool) for tool in load_domain("shop").tools]


class Message(SimpleNamespace):
    """A message with what the harness's have."""

    def model_copy(self, update: dict[str, Any]) -> Message:
        return Message(**{**self.__dict__, **update})


class LLMAgent:
    """The harness's agent, as far as ours builds on it."""

    def __init__(self, tools: Any, domain_policy: str, llm: Any, llm_args: Any = None) -> None:
        self.tools, self.domain_policy, self.llm = tools, domain_policy, llm
        self.llm_args = llm_args or {}

    def get_init_state(self, message_history: Any = None) -> Any:
        system = Message(role="system", content=self.domain_policy)
        return SimpleNamespace(system_messages=[system], messages=list(message_history or []))


class Registry:
    def __init__(self) -> None:
        self.factories: dict[str, Any] = {}

    def register_agent_factory(self, factory: Any, name: str) -> None:
        self.factories[name] = factory


class Harness:
    """Modules by name; `generate` replies from a list and keeps its prompts."""

    def __init__(self, *replies: Message) -> None:
        self.replies = list(replies)
        self.prompts: list[list[Message]] = []
        self.options: list[dict[str, Any]] = []
        self.registry = Registry()

    def generate(
        self, model: Any, messages: Any, tools: Any = None, call_name: Any = None, **options: Any
    ) -> Message:
        self.prompts.append(messages)
        self.options.append({"call_name": call_name, **options})
        return self.replies.pop(0)

    def __call__(self, module: str) -> Any:
        return {
            "tau2.registry": SimpleNamespace(registry=self.registry),
            "tau2.agent.llm_agent": SimpleNamespace(LLMAgent=LLMAgent),
            "tau2.utils.llm_utils": SimpleNamespace(generate=self.generate),
            "tau2.data_model.message": SimpleNamespace(SystemMessage=Message, UserMessage=Message),
        }[module]


def said(content: str | None = None, *calls: Any) -> Message:
    return Message(
        role="assistant",
        content=content,
        tool_calls=list(calls) or None,
        usage={"prompt_tokens": 5},
        cost=0.5,
        raw_data=None,
    )


def call(name: str, **arguments: Any) -> Any:
    return SimpleNamespace(id=name, name=name, arguments=arguments)


CANCEL = call("cancel_order", order_id="S-1", reason="x")
READ = call("get_order", order_id="S-1")
USER = Message(role="user", content="Cancel S-1.")


def started(monkeypatch: pytest.MonkeyPatch, harness: Harness, **llm_args: Any) -> tuple[Any, Any]:
    monkeypatch.setattr(tau2, "harness", harness)
    tau2._generate.cache_clear()

    def gate(tools: Any) -> Gate:
        return Gate(domain=load_domain("shop", tools=tools))

    tau2.register("ours", tau2.agent_class(Method(gate=gate)))
    agent = harness.registry.factories["ours"](
        TOOLS, "policy", llm="m", llm_args=llm_args, task="unused"
    )
    return agent, agent.get_init_state([said("Hi!")])


def test_a_factory_builds_the_agent_and_a_rejected_call_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = Harness(said(None, CANCEL), said(None, READ))
    agent, state = started(monkeypatch, harness, temperature=0.0)
    sent, state = agent.generate_next_message(USER, state)
    assert [c.name for c in sent.tool_calls] == ["get_order"]
    assert sent.usage == {"prompt_tokens": 10}
    assert sent.cost == 1.0
    assert sent.raw_data["ledgeragent"]["generations"] == 2
    assert state.messages[-1] is sent
    assert [m.role for m in harness.prompts[0]] == ["system", "assistant", "user"]
    assert "did not run" in harness.prompts[1][-1].content
    assert harness.options[0] == {"call_name": "agent_response", "temperature": 0.0}


def test_a_call_that_cannot_be_right_leaves_the_message_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = Harness(said(None, READ, CANCEL))
    agent, state = started(monkeypatch, harness)
    sent, _ = agent.generate_next_message(USER, state)
    assert [c.name for c in sent.tool_calls] == ["get_order"]
    assert sent.raw_data["ledgeragent"]["verdicts"][0]["call"]["name"] == "cancel_order"


def test_never_an_empty_message_after_a_rejection(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = Harness(*[said(None, CANCEL)] * 3)
    agent, state = started(monkeypatch, harness)
    sent, _ = agent.generate_next_message(USER, state)
    assert sent.tool_calls is None
    assert sent.content


def test_the_ledger_comes_with_the_role_and_mode_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = Harness(said(None, READ), said("Done."))
    agent, state = started(monkeypatch, harness, ledger_role="user", ledger_mode="index")
    agent.generate_next_message(USER, state)
    returned = Message(role="tool", id="get_order", content='{"order_id": "S-1"}', error=False)
    bundle = SimpleNamespace(tool_messages=[returned])
    agent.generate_next_message(bundle, state)
    *_, shown, tail = harness.prompts[1]
    assert shown.content.endswith('{"order_id": "S-1"}')
    assert (tail.role, tail.content.startswith("<ledger>")) == ("user", True)
    assert "ledger_role" not in harness.options[1]


def test_options_that_do_not_exist_are_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="ledger_mode"):
        started(monkeypatch, Harness(), ledger_mode="loud")
