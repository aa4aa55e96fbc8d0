"""The agent for the first tau-bench interface, in an environment of our own with that interface."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ledgeragent.adapters.method import Method
from ledgeragent.adapters.tau_bench import TauBenchAgent, factory
from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.telehealth.clinic import Episode
from tests.bench.telehealth.clinic import clinic

TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {}}}
    for name in (
        "find_patient_by_email",
        "get_appointment_details",
        "cancel_appointment",
        "transfer_to_human_support",
    )
]
GOLD = [{"name": "cancel_appointment", "kwargs": {"appointment_id": "APPT001"}}]


class Env:
    """The interface: reset, step, and what they give back."""

    def __init__(self) -> None:
        task = {"actions": GOLD, "outputs": []}
        self.episode = Episode(task=task, fresh=clinic, user=lambda said: "###STOP###")
        self.actions: list[str] = []
        self.kinds: set[type] = set()

    def reset(self, task_index: int | None = None) -> Any:
        return SimpleNamespace(observation="I am ann@mail. Cancel APPT001.", info={"task": 0})

    def step(self, action: Any) -> Any:
        self.actions.append(action.name)
        self.kinds.add(type(action))
        step = self.episode.step(action.name, action.kwargs)
        return SimpleNamespace(
            observation=step.observation, reward=step.reward, done=step.over, info={}
        )


def call(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }


class Model:
    """A scripted model that keeps its prompts."""

    def __init__(self, *replies: dict[str, Any]) -> None:
        self.replies = list(replies)
        self.prompts: list[list[dict[str, Any]]] = []

    def __call__(self, messages: list[dict[str, Any]], tools: Any) -> dict[str, Any]:
        self.prompts.append(messages)
        return self.replies.pop(0)


CANCEL = call("cancel_appointment", appointment_id="APPT001")
FIND = call("find_patient_by_email", email="ann@mail")
READ = call("get_appointment_details", appointment_id="APPT001")
DONE = {"role": "assistant", "content": "Done."}


def solve(method: Method | None, *replies: dict[str, Any]) -> tuple[Any, Env, Model]:
    env, model = Env(), Model(*replies)
    agent = TauBenchAgent(TOOLS, "the policy", method=method, complete=model)
    return agent.solve(env, task_index=0), env, model


def test_an_unfounded_write_is_held_back_until_it_was_looked_up() -> None:
    result, env, model = solve(None, CANCEL, FIND, READ, CANCEL, DONE)
    assert env.actions == [
        "find_patient_by_email",
        "get_appointment_details",
        "cancel_appointment",
        "respond",
    ]
    assert result.reward == 1.0
    assert "did not run" in model.prompts[1][-1]["content"]
    assert model.prompts[3][-1]["content"].startswith("<ledger>")
    assert result.info["task"] == 0


def test_without_a_gate_it_runs_at_once() -> None:
    result, env, _ = solve(ARMS["ledger-only"].method, CANCEL, DONE)
    assert env.actions == ["cancel_appointment", "respond"]
    assert result.reward == 1.0


def test_the_transcript_is_valid_for_a_chat_api() -> None:
    result, _, _ = solve(None, FIND, READ, CANCEL, DONE)
    roles = [message["role"] for message in result.messages]
    assert roles == ["system", "user", *["assistant", "tool"] * 3, "assistant", "user"]
    assert result.messages[0]["content"] == "the policy"
    for asked, answered in zip(result.messages, result.messages[1:], strict=False):
        if answered["role"] == "tool":
            assert asked["tool_calls"][0]["id"] == answered["tool_call_id"]


def test_of_several_calls_the_first_counts() -> None:
    both = {**FIND, "tool_calls": [*FIND["tool_calls"], *CANCEL["tool_calls"]]}
    result, env, _ = solve(None, both, DONE)
    assert env.actions == ["find_patient_by_email", "respond"]
    assert len(result.messages[2]["tool_calls"]) == 1


def test_every_generation_is_paid_for_and_the_price_is_no_part_of_a_message() -> None:
    result, _, _ = solve(None, {**CANCEL, "cost": 0.5}, {**FIND, "cost": 0.25}, DONE)
    assert result.total_cost == 0.75
    assert not any("cost" in message for message in result.messages)


def test_arguments_that_are_no_json_are_sent_back_to_the_model() -> None:
    function = {"name": "cancel_appointment", "arguments": "{oops"}
    broken = {**CANCEL, "tool_calls": [{"id": "x", "type": "function", "function": function}]}
    _, env, _ = solve(None, broken, DONE)
    assert env.actions == ["respond"]


def test_one_agent_solves_several_tasks_at_once() -> None:
    def complete(messages: list[dict[str, Any]], tools: Any) -> dict[str, Any]:
        mine = [m for m in messages if m["role"] == "tool"]
        return [FIND, READ, CANCEL, DONE][len(mine)]

    agent = TauBenchAgent(TOOLS, "the policy", complete=complete)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda n: agent.solve(Env(), n), range(8)))
    assert [result.reward for result in results] == [1.0] * 8


def test_the_harnesss_runner_makes_it_from_its_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, Any]] = []

    def completion(**options: Any) -> Any:
        asked.append(options)
        message = SimpleNamespace(model_dump=lambda: dict(DONE))
        choices = [SimpleNamespace(message=message)]
        return SimpleNamespace(choices=choices, _hidden_params={"response_cost": 0.125})

    monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace(completion=completion))
    config = SimpleNamespace(model="m", model_provider="openai", temperature=0.5)
    result = factory(TOOLS, "the policy", config).solve(Env(), task_index=0)
    assert result.total_cost == 0.125
    [one] = asked
    assert (one["model"], one["custom_llm_provider"], one["temperature"]) == ("m", "openai", 0.5)


def test_compact_mode_shows_a_return_once() -> None:
    _, _, model = solve(Method(mode="compact"), FIND, READ, DONE)
    returned = [m["content"] for m in model.prompts[2] if m["role"] == "tool"]
    assert returned[0] == "(in the ledger: auth.patient_id, auth.located)"
    assert returned[1].startswith("Appointment Details")
    assert "appointments.APPT001 =" not in model.prompts[2][-1]["content"]


def test_actions_and_results_are_the_harnesss_own_where_it_has_types(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Action(SimpleNamespace):
        pass

    class SolveResult(SimpleNamespace):
        pass

    types = SimpleNamespace(Action=Action, SolveResult=SolveResult)
    monkeypatch.setitem(sys.modules, "some_harness", ModuleType("some_harness"))
    monkeypatch.setitem(sys.modules, "some_harness.types", types)
    monkeypatch.setattr(Env, "__module__", "some_harness.envs")
    result, env, _ = solve(None, FIND, DONE)
    assert isinstance(result, SolveResult)
    assert env.kinds == {Action}


def test_steps_are_limited() -> None:
    env, model = Env(), Model(*[FIND] * 5)
    result = TauBenchAgent(TOOLS, "p", complete=model).solve(env, max_num_steps=3)
    assert len(env.actions) == 3
    assert result.reward == 0.0
