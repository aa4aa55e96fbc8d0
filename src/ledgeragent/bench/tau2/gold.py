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
from ledgeragent.bench.tau2.scoring import is_judged, score
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
    """What became of one task. `judged`: part of its reward needs a judge, which is not asked here.

    `writes` counts the agent's gold actions that the gate had to judge, `reads` what it asked for.
    """

    task: str
    reward: float
    judged: bool
    writes: int
    reads: int
    rejections: tuple[Rejection, ...]


@dataclass(slots=True)
class _Script:
    """The gold actions still to be done, by whom, and what must be told in the end."""

    actions: list[Wire]
    told: str
    done: int = 0
    writes: int = 0
    reads: int = 0
    tried: set[tuple[str, str]] = field(default_factory=set)
    rejections: list[Rejection] = field(default_factory=list)

    def finish(self) -> None:
        """Moves on; what was read before may have changed, so that it may be read again."""
        self.done += 1
        self.tried.clear()

    def next_of(self, requestor: str) -> Wire | None:
        if self.done < len(self.actions) and self.actions[self.done].requestor == requestor:
            return self.actions[self.done]
        return None


class GoldAgent:
    """What goes in front of an arm's agent: the script in the model's place."""

    script: _Script
    people: Mapping[str, Json]
    environment: Wire

    def generate(self: Any, history: list[Message], context: str, feedback: str) -> Reply:
        """The next read the gate asks for, the next gold action, or words for the customer."""
        self._see()
        draft = self._draft()
        self._turn.drafts.append(draft)
        return of_harness_reply(draft)

    def _draft(self: Any) -> Wire:
        action = self.script.next_of("assistant")
        if action is None:
            over = self.script.done >= len(self.script.actions)
            return _assistant(content=self.script.told if over else _GO_ON)
        call = ToolCall(name=action.name, arguments=action.arguments, id=f"gold{self.script.done}")
        verdict = self.core.gate.judge(call, self.core.state.ledger)
        read = next(_supplies(verdict, self.people, self.core.gate.domain, self.script.tried), None)
        if read is not None:
            self.script.tried.add(read.intent)
            self.script.reads += 1
            return _assistant(
                calls=[ToolCall(name=read.name, arguments=read.arguments, id=_id(self))]
            )
        self.script.finish()
        self.script.writes += self.core.gate.domain.effect(call.name) is Effect.WRITE
        if not verdict.allowed:
            self.script.rejections.append(_rejection(verdict, _changes(self.environment, action)))
        return _assistant(calls=[call])


def _id(agent: Any) -> str:
    return f"read{agent.script.reads}"


def _supplies(
    verdict: Verdict, people: Mapping[str, Json], domain: Any, tried: set[tuple[str, str]]
) -> Iterator[ToolCall]:
    """The reads a verdict asks for, complete, each tried once; lookups filled in from the profile."""
    for finding in verdict.findings:
        if finding.kind is not Kind.EVIDENCE:
            continue
        for read in finding.reads:
            for full in _completed(read, people, domain):
                if full.intent not in tried:
                    yield full


def _completed(read: ToolCall, people: Mapping[str, Json], domain: Any) -> Iterator[ToolCall]:
    routes = domain.routes(read.name)
    if any(isinstance(route, Read) and route.complete(read) for route in routes):
        yield read
        return
    known = {name: people[name] for name in people if name in _asked(read)}
    if known:
        yield ToolCall(name=read.name, arguments={**read.arguments, **known})


def _asked(read: ToolCall) -> set[str]:
    return _LOOKUPS.get(read.name, set()) | set(read.arguments)


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
    made = harness("tau2.data_model.message").ToolCall(
        id="trial", name=action.name, arguments=action.arguments
    )
    trial.get_response(made)
    return bool(trial.get_db_hash() != before)


def _rejection(verdict: Verdict, effective: bool) -> Rejection:
    return Rejection(
        call=str(verdict.call),
        effective=effective,
        decision=verdict.decision.name,
        predicates=tuple(finding.predicate for finding in verdict.findings),
        reason=verdict.feedback,
    )


def _assistant(content: str | None = None, calls: list[ToolCall] | None = None) -> Wire:
    messages = harness("tau2.data_model.message")
    made = [
        messages.ToolCall(id=c.id, name=c.name, arguments=dict(c.arguments)) for c in calls or ()
    ]
    return messages.AssistantMessage(
        role="assistant", content=content, tool_calls=made or None, cost=0.0, usage={}
    )


class GoldUser:
    """What goes in front of the harness's user: does the gold actions that are the customer's."""

    script: _Script

    def generate_next_message(self, message: Wire, state: Any) -> tuple[Wire, Any]:
        """The next action of the customer, or words; the last word stops the run."""
        messages = harness("tau2.data_model.message")
        action = self.script.next_of("user")
        if action is not None:
            self.script.finish()
            call = messages.ToolCall(
                id=f"own{self.script.done}",
                name=action.name,
                arguments=action.arguments,
                requestor="user",
            )
            said = messages.UserMessage(role="user", tool_calls=[call], cost=0.0, usage={})
        else:
            over = self.script.done >= len(self.script.actions) and self._was_told(message)
            text = _STOP if over else "Yes, please."
            said = messages.UserMessage(role="user", content=text, cost=0.0, usage={})
        return said, state

    def _was_told(self, message: Wire) -> bool:
        return getattr(message, "content", None) == self.script.told


def play(domain: str, task: Wire, arm: str = "ledgeragent") -> GoldRun:
    """One task's gold actions through an arm, scored by the harness."""
    environment = harness("tau2.registry").registry.get_env_constructor(domain)()
    criteria = task.evaluation_criteria
    actions = list((criteria.actions if criteria else None) or [])
    info = (criteria.communicate_info if criteria else None) or []
    script = _Script(actions=actions, told=" ".join(["All done.", *info]))
    agent = _agent(arm, environment, script, _people(environment, actions, task))
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
    scored = score(domain, task, simulation, judge=False)
    return GoldRun(
        task=task.id,
        reward=scored.reward,
        judged=is_judged(task),
        writes=script.writes,
        reads=script.reads,
        rejections=tuple(script.rejections),
    )


def _agent(arm: str, environment: Wire, script: _Script, people: Mapping[str, Json]) -> Wire:
    base = agent_of(ARMS[arm])
    assert issubclass(base, Guarded), f"the arm {arm} has no gate"
    parts = {"script": script, "people": people, "environment": environment}
    made = type("GoldAgent", (GoldAgent, base), parts)
    return made(
        tools=environment.get_tools(),
        domain_policy=environment.get_policy(),
        llm="none",
        llm_args={},
    )


def _user(environment: Wire, script: _Script) -> Wire:
    simulator = harness("tau2.user.user_simulator").UserSimulator
    made = type("GoldUser", (GoldUser, simulator), {"script": script})
    try:
        tools = environment.get_user_tools()
    except ValueError:
        tools = None
    return made(tools=tools, instructions="", llm="none", llm_args={})


def _people(environment: Wire, actions: list[Wire], task: Wire) -> dict[str, Json]:
    """What the customer of a task would say when asked who they are."""
    records = environment.tools.db.model_dump(mode="json")
    tables = {name: _rows(table) for name, table in records.items()}
    given = {str(value) for action in actions for value in action.arguments.values()}
    named = {*given, *_owners(tables, given)}
    scenario = str(task.user_scenario)
    for kind in ("users", "customers", "patients"):
        for row in tables.get(kind, {}).values():
            about = _about(row)
            if any(str(own) in named or str(own) in scenario for own in about["ids"]):
                return dict(about["known"])
    return {}


def _rows(table: Json) -> dict[str, Json]:
    rows = table if isinstance(table, dict) else dict(enumerate(table or ()))
    return {str(key): row for key, row in rows.items() if isinstance(row, dict)}


def _owners(tables: Mapping[str, dict[str, Json]], ids: set[str]) -> set[str]:
    """Whose the records with these ids are."""
    found = (rows[key] for rows in tables.values() for key in ids & rows.keys())
    return {row[owner] for row in found for owner in ("user_id", "patient_id") if owner in row}


def _about(row: Json) -> Json:
    """A customer's ids, and what lookups ask for, from a record of any of the domains."""
    name = row.get("name") or {}
    own = row.get("demographics") or row
    known = {
        "email": own.get("email"),
        "first_name": name.get("first_name"),
        "last_name": name.get("last_name"),
        "zip": (row.get("address") or {}).get("zip"),
        "date_of_birth": own.get("date_of_birth"),
        "customer_id": row.get("customer_id"),
        "phone_number": row.get("phone_number"),
        "full_name": row.get("full_name"),
        "dob": row.get("date_of_birth"),
    }
    ids = [row.get(k) for k in ("user_id", "customer_id", "patient_id", "phone_number")]
    return {
        "ids": [value for value in ids if value],
        "known": {key: value for key, value in known.items() if value},
    }
