"""One job of an experiment on the tau2 harness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.adapters.method import pack_named
from ledgeragent.adapters.tau2 import Wire, harness
from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.running.joblog import Job
from ledgeragent.bench.tau2.agents import PLAIN
from ledgeragent.bench.tau2.run import signature
from ledgeragent.errors import LedgerAgentError
from ledgeragent.types import Json

_NO_RESULT = ("infrastructure_error", "unexpected_error")


class HarnessError(LedgerAgentError):
    """A run that came to no result, for reasons that are none of the agent's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerModel:
    """A model and its options, for the agent or for the simulated customer."""

    model: str
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Player:
    """Plays jobs with these models. Call it with a job. `methods` has options for arms by name,
    `retrieval` how the policy is searched for, by domain, None where it is not.

    Nothing that a model does not take is dropped in silence: such a request fails.
    """

    agent: PlayerModel
    user: PlayerModel
    methods: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    max_steps: int = 200
    first_seed: int = 300
    retrieval: Mapping[str, str | None] = field(default_factory=dict)
    _tasks: dict[str, dict[str, Wire]] = field(default_factory=dict)

    def tasks(self, domain: str) -> list[str]:
        """The ids of a domain's tasks, in order."""
        return list(self._of(domain))

    def _of(self, domain: str) -> dict[str, Wire]:
        if domain not in self._tasks:
            listed = harness("tau2.registry").registry.get_tasks_loader(domain)("base")
            self._tasks[domain] = {task.id: task for task in listed}
        return self._tasks[domain]

    def check(self, arms: Iterable[str]) -> None:
        """Raises UsageError for an arm that has no pack for a domain, before anything is played."""
        registry = harness("tau2.registry").registry
        for domain, variant in self.retrieval.items():
            options = {} if variant is None else {"retrieval_variant": variant}
            tools = [
                tool.name for tool in registry.get_env_constructor(domain)(**options).get_tools()
            ]
            for arm in arms:
                name = self.methods.get(arm, {}).get("ledger_pack")
                pack = pack_named(None if name is None else str(name))
                if ARMS[arm].kind == "ledger":
                    ARMS[arm].gate_for(tools, pack)
                elif arm == "fama":
                    pack(tools)

    def __call__(self, job: Job) -> Json:
        """The record of a run, scored by the harness."""
        harness("litellm").drop_params = False
        task = self._of(job.domain)[job.task]
        variant = self.retrieval.get(job.domain)
        searched = {} if variant is None else {"retrieval_config": variant}
        simulation = harness("tau2.run").run_task(
            domain=job.domain,
            task=task,
            agent=PLAIN if ARMS[job.arm].kind == "plain" else job.arm,
            user="user_simulator",
            llm_agent=self.agent.model,
            llm_args_agent={**self.agent.options, **self.methods.get(job.arm, {})},
            llm_user=self.user.model,
            llm_args_user=dict(self.user.options),
            max_steps=self.max_steps,
            max_errors=10,
            seed=self.first_seed + job.trial,
            **searched,
        )
        record: dict[str, Any] = simulation.model_dump(mode="json")
        if record["termination_reason"] in _NO_RESULT:
            raise HarnessError(f"the harness ended the run with {record['termination_reason']}")
        criteria = task.model_dump(mode="json").get("evaluation_criteria") or {}
        return {
            **record,
            "reward": record["reward_info"]["reward"],
            "agent_model": self.agent.model,
            "gold_actions": criteria.get("actions") or [],
            "reward_basis": criteria.get("reward_basis") or [],
            "harness": signature(job.domain),
            "seed": self.first_seed + job.trial,
            "tokens": sum(_tokens(message) for message in record["messages"]),
        }


def _tokens(message: Json) -> int:
    usage = message.get("usage") or {}
    return int(usage.get("prompt_tokens") or 0) + int(usage.get("completion_tokens") or 0)
