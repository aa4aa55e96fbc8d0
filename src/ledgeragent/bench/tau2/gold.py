"""Gold runs: each task's gold actions through an arm, with the reads that its gate asks for.

They show that a gate stands in the way of nothing a task needs: the reward is what the gold actions
earn, and no gold write is rejected.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.adapters.tau2 import Guarded, Wire, harness, of_harness_reply
from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.tau2.agents import agent_of
from ledgeragent.bench.tau2.people import people_of
from ledgeragent.bench.tau2.retrieval import environment_options
from ledgeragent.bench.tau2.scoring import is_judged, score
from ledgeragent.dispatching import DispatchingDomain, inner_call
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect, Read
from ledgeragent.types import Json, Message, Reply, ToolCall
from ledgeragent.verdict import Kind, Verdict

_GO_ON = "Please go on."
_STOP = "###STOP###"
_MOST_STEPS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A gold action that the gate did not let pass, and why.

    `effective` is False where the action changes nothing anyway, since the tool refuses it too.
    """

    call: str
    effective: bool
    decision: str
    predicates: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRun:
    """The outcome of one task. `needs_judge`: a part of its reward does, and none is asked here.

    `writes` counts the agent's gold actions that the gate had to judge, `reads` what it asked for.
    """

    task: str
    reward: float
    needs_judge: bool
    writes: int
    reads: int
    rejections: tuple[Rejection, ...]


@dataclass(slots=True)
class _Script:
    """The gold actions still to be done, by whom, and what must be told in the end."""

    actions: list[Wire]
    last_words: str
    position: int = 0
    writes: int = 0
    reads: int = 0
    tried: set[tuple[str, str]] = field(default_factory=set)
    rejections: list[Rejection] = field(default_factory=list)
    unlocked: set[str] = field(default_factory=set)

    def finish(self) -> None:
        """Moves on; what was read before may have changed, so that it may be read again."""
        self.position += 1
        self.tried.clear()

    def next_of(self, requestor: str) -> Wire | None:
        if self.position < len(self.actions) and self.actions[self.position].requestor == requestor:
            return self.actions[self.position]
        return None


class GoldAgent:
    """The part in front of an arm's agent: the script in the model's place."""

    script: _Script
    people: Mapping[str, Json]
    environment: Wire

    def generate(self: Any, history: list[Message], context: str, feedback: str) -> Reply:
        """The next read the gate asks for, the next gold action, or words for the customer."""
        self._see()
        draft = self._draft()
        self._turn.drafts.append(draft)
        inner: Reply = self._inner(of_harness_reply(draft))
        return inner

    def _draft(self: Any) -> Wire:
        action = self.script.next_of("assistant")
        if action is None:
            over = self.script.position >= len(self.script.actions)
            return _assistant(content=self.script.last_words if over else _GO_ON)
        call = ToolCall(
            name=action.name, arguments=action.arguments, id=f"gold{self.script.position}"
        )
        domain = self.core.gate.domain
        meant = inner_call(call, domain)
        verdict = self.core.gate.judge(meant, self.core.state.ledger)
        request = next(_supplies(verdict, self.people, domain, self.script.tried), None)
        if request is not None:
            return _assistant(calls=[self._reading(request, domain)])
        self.script.finish()
        self.script.writes += domain.effect(meant.name) is Effect.WRITE
        if not verdict.allowed:
            self.script.rejections.append(_rejection(verdict, _changes(self.environment, action)))
        return _assistant(calls=[call])

    def _reading(self: Any, request: ToolCall, domain: Domain) -> ToolCall:
        """The call for a read; that which unlocks its tool, where one has to come first."""
        dispatch = domain.before(request.name) if isinstance(domain, DispatchingDomain) else None
        call = ToolCall(name=request.name, arguments=request.arguments, id=_id(self))
        if dispatch is not None and dispatch.unlock and request.name not in self.script.unlocked:
            self.script.unlocked.add(request.name)
            name = {dispatch.name: request.name}
            return ToolCall(name=dispatch.unlock, arguments=name, id=f"unlock-{request.name}")
        self.script.tried.add(request.intent)
        self.script.reads += 1
        return dispatch.outer(call) if dispatch is not None else call


def _id(agent: Any) -> str:
    return f"read{agent.script.reads}"


def _supplies(
    verdict: Verdict, people: Mapping[str, Json], domain: Any, tried: set[tuple[str, str]]
) -> Iterator[ToolCall]:
    """The reads a verdict asks for, complete, each tried once; lookups filled in from the profile."""
    for finding in verdict.findings:
        if finding.kind is not Kind.EVIDENCE:
            continue
        for request in finding.reads:
            for full in _completed(request, people, domain):
                if full.intent not in tried:
                    yield full


def _completed(request: ToolCall, people: Mapping[str, Json], domain: Any) -> Iterator[ToolCall]:
    routes = domain.routes(request.name)
    if any(isinstance(route, Read) and _has_all(route, request) for route in routes):
        yield request
        return
    profile = {name: people[name] for name in people if name in _asked(request)}
    if profile:
        yield ToolCall(name=request.name, arguments={**request.arguments, **profile})


def _has_all(route: Read[Any], request: ToolCall) -> bool:
    """True if a request can be made as it is: a rule may name a read that its path does not tell."""
    return route.complete(request) or (
        bool(route.parameters) and all(name in request.arguments for name in route.parameters)
    )


def _asked(request: ToolCall) -> set[str]:
    return _LOOKUPS.get(request.name, set()) | set(request.arguments)


_LOOKUPS = {
    "find_user_id_by_email": {"email"},
    "find_user_id_by_name_zip": {"first_name", "last_name", "zip"},
    "get_customer_by_phone": {"phone_number"},
    "get_customer_by_id": {"customer_id"},
    "get_customer_by_name": {"full_name", "dob"},
    "find_patient_by_email": {"email"},
    "find_patient_by_name_dob": {"first_name", "last_name", "date_of_birth"},
}


def _changes(environment: Wire, action: Wire) -> bool:
    """True if the action would change the records as they are now."""
    trial = copy.deepcopy(environment)
    before = trial.get_db_hash()
    call = harness("tau2.data_model.message").ToolCall(
        id="trial", name=action.name, arguments=action.arguments
    )
    trial.get_response(call)
    return bool(trial.get_db_hash() != before)


def _rejection(verdict: Verdict, effective: bool) -> Rejection:
    return Rejection(
        call=str(verdict.call),
        effective=effective,
        decision=verdict.decision.name,
        predicates=tuple(finding.predicate for finding in verdict.findings),
        reason=verdict.objection,
    )


def _assistant(content: str | None = None, calls: list[ToolCall] | None = None) -> Wire:
    messages = harness("tau2.data_model.message")
    harness_calls = [
        messages.ToolCall(id=c.id, name=c.name, arguments=dict(c.arguments)) for c in calls or ()
    ]
    return messages.AssistantMessage(
        role="assistant", content=content, tool_calls=harness_calls or None, cost=0.0, usage={}
    )


class GoldUser:
    """The part in front of the harness's user: does the gold actions that are the customer's."""

    script: _Script

    def generate_next_message(self, message: Wire, state: Any) -> tuple[Wire, Any]:
        """The next action of the customer, or words; the last word stops the run."""
        messages = harness("tau2.data_model.message")
        action = self.script.next_of("user")
        if action is not None:
            self.script.finish()
            call = messages.ToolCall(
                id=f"own{self.script.position}",
                name=action.name,
                arguments=action.arguments,
                requestor="user",
            )
            reply = messages.UserMessage(role="user", tool_calls=[call], cost=0.0, usage={})
        else:
            over = self.script.position >= len(self.script.actions) and self._was_told(message)
            text = _STOP if over else "Yes, please."
            reply = messages.UserMessage(role="user", content=text, cost=0.0, usage={})
        return reply, state

    def _was_told(self, message: Wire) -> bool:
        return getattr(message, "content", None) == self.script.last_words


def play(
    domain: str, task: Wire, arm: str = "ledgeragent", retrieval: str | None = None
) -> GoldRun:
    """One task's gold actions through an arm, scored by the harness.

    `retrieval` is how the policy is searched for, in a domain where it is.
    """
    options = environment_options(domain, retrieval, task)
    environment = harness("tau2.registry").registry.get_env_constructor(domain)(**options)
    criteria = task.evaluation_criteria
    actions = list((criteria.actions if criteria else None) or [])
    info = (criteria.communicate_info if criteria else None) or []
    script = _Script(actions=actions, last_words=" ".join(["All done.", *info]))
    agent = _agent(arm, environment, script, people_of(environment, actions, task))
    user = _user(environment, script)
    orchestrator = harness("tau2.orchestrator.orchestrator").Orchestrator(
        domain=domain,
        agent=agent,
        user=user,
        environment=environment,
        task=task,
        max_steps=_MOST_STEPS,
        max_errors=_MOST_STEPS,
    )
    simulation = orchestrator.run()
    scored = score(domain, task, simulation, judge=False, environment=options)
    return GoldRun(
        task=task.id,
        reward=scored.reward,
        needs_judge=is_judged(task),
        writes=script.writes,
        reads=script.reads,
        rejections=tuple(script.rejections),
    )


def _agent(arm: str, environment: Wire, script: _Script, people: Mapping[str, Json]) -> Wire:
    base = agent_of(ARMS[arm])
    assert issubclass(base, Guarded), f"the arm {arm} has no gate"
    parts = {"script": script, "people": people, "environment": environment}
    agent_type = type("GoldAgent", (GoldAgent, base), parts)
    return agent_type(
        tools=environment.get_tools(),
        domain_policy=environment.get_policy(),
        llm="none",
        llm_args={},
    )


def _user(environment: Wire, script: _Script) -> Wire:
    simulator = harness("tau2.user.user_simulator").UserSimulator
    user_type = type("GoldUser", (GoldUser, simulator), {"script": script})
    try:
        tools = environment.get_user_tools()
    except ValueError:
        tools = None
    return user_type(tools=tools, instructions="", llm="none", llm_args={})
