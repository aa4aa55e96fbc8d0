"""Teacher-forced probes: recorded runs up to a write that was right, and what a model would write there.

A probe is a write of a successful run that equals one of its task's gold actions. The model gets the
conversation up to it, plain or in a render mode, and its proposal is compared with the recorded call.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from ledgeragent.bench.running.endpoint import Endpoint
from ledgeragent.bench.tokens.transcript import transcript
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect, Write
from ledgeragent.offline.traces import Trace
from ledgeragent.session.presenter import MODES, Presenter, RenderMode
from ledgeragent.state import State
from ledgeragent.types import Json, Message, Reply, ToolCall

PLAIN = "plain"
ARMS = (PLAIN, *MODES)
_ASK = "The agent's next tool call, as JSON with its name and its arguments:"
_RESAMPLES = 2000
_SOLVED = 1 - 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A place in a run: before the message number `at`, in which the agent wrote `call`."""

    trace: Trace
    domain: Domain
    at: int
    call: ToolCall

    @property
    def id(self) -> str:
        """Names it among all probes."""
        return f"{self.trace.run}@{self.at}"


def probes(trace: Trace, domain: Domain, gold: Iterable[ToolCall]) -> Iterator[Probe]:
    """The probes of a run; none unless it was successful. One per message of the agent."""
    if trace.reward is None or trace.reward < _SOLVED:
        return
    actions = list(gold)
    for at, message in enumerate(trace.messages):
        if not isinstance(message, Reply):
            continue
        for call in message.calls:
            is_write = domain.effect(call.name) is Effect.WRITE
            if is_write and any(is_same(call, action) for action in actions):
                yield Probe(trace=trace, domain=domain, at=at, call=call)
                break


def is_same(one: ToolCall, other: ToolCall) -> bool:
    """The same tool with equal arguments; 5 equals 5.0."""
    return one.name == other.name and dict(one.arguments) == dict(other.arguments)


def prompt(probe: Probe, arm: str) -> str:
    """The conversation up to the probe as a transcript, with the ledger block where the arm has one."""
    before = probe.trace.messages[: probe.at]
    messages, block = _presented(before, probe.domain, arm) if arm != PLAIN else (before, "")
    parts = [
        "The conversation so far:",
        transcript(messages),
        *([block] if block else []),
        "",
        _ASK,
    ]
    return "\n".join(parts)


def _presented(
    messages: Sequence[Message], domain: Domain, mode: str
) -> tuple[Sequence[Message], str]:
    presenter, state = Presenter(mode=_mode(mode)), State()
    for message in messages:
        state = state.observe(message, domain)
        presenter.saw(message, state)
    return presenter.messages, presenter.tail(state.ledger)


def _mode(name: str) -> RenderMode:
    return next(mode for mode in MODES if mode == name)


class Proposer(NamedTuple):
    """A model that is asked for a call: by `chat` with a JSON schema, else by `completion`.

    A completion is given the recorded tool and asked for the arguments alone: small models that
    cannot pick a tool can still be compared.
    """

    endpoint: Endpoint
    kind: str

    def propose(
        self, probe: Probe, arm: str, instructions: str, schema: Json = None
    ) -> ToolCall | None:
        """The call it would make, None where what it says is none.

        `schema` is what the answer is held to: by completion that of the recorded tool's arguments, by
        chat that of a call. Without one, a completion is free, and a chat bound to the names of writes.
        """
        question = prompt(probe, arm)
        text = (
            self._chat(instructions, question, schema or _schema(probe.domain))
            if self.kind == "chat"
            else self._completion(f"{instructions}\n\n{question}\n", probe.call.name, schema)
        )
        return read_call(text)

    def _chat(self, instructions: str, question: str, schema: Json) -> str:
        messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": question},
        ]
        form = {"type": "json_schema", "json_schema": {"name": "call", "schema": schema}}
        body = {"messages": messages, "response_format": form}
        message = self.endpoint.ask("chat/completions", body)["choices"][0].get("message", {})
        return str(message.get("content") or "")

    def _completion(self, question: str, tool: str, schema: Json) -> str:
        forced = f'{{"name": {json.dumps(tool)}, "arguments":'
        constraint = {} if schema is None else {"json_schema": schema}
        answer = self.endpoint.ask("completions", {"prompt": question + forced, **constraint})
        # Held to the schema of the arguments, a model can't close the object around them.
        return f"{forced}{answer['choices'][0].get('text') or ''}{'}' if constraint else ''}"


def _schema(domain: Domain) -> Json:
    names = [t.tool for t in domain.tools if isinstance(t, Write) and domain.has(t.tool)]
    properties = {"name": {"type": "string", "enum": names}, "arguments": {"type": "object"}}
    return {"type": "object", "properties": properties, "required": ["name", "arguments"]}


def read_call(text: str) -> ToolCall | None:
    """The call that a text begins with, whatever follows it."""
    start = text.find("{")
    try:
        value = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("arguments"), dict):
        return None
    return ToolCall(name=str(value.get("name")), arguments=value["arguments"])


def score(proposed: ToolCall | None, recorded: ToolCall) -> dict[str, float]:
    """`tool`, `exact` and `arguments` (the share of recorded arguments that are right), each 0 to 1."""
    if proposed is None or proposed.name != recorded.name:
        return {"tool": 0.0, "exact": 0.0, "arguments": 0.0}
    arguments = recorded.arguments
    right = [
        name in proposed.arguments and proposed.arguments[name] == arguments[name]
        for name in arguments
    ]
    exact = float(is_same(proposed, recorded))
    return {"tool": 1.0, "exact": exact, "arguments": fmean(right) if right else exact}


def summary(rows: Iterable[Mapping[str, Any]]) -> Json:
    """Per arm: means, and wins and losses against plain with a 95% interval of the difference.

    Only probes that every arm was asked count. The interval resamples tasks, since the probes of one
    task are no independent trials.
    """
    by_probe: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for row in rows:
        by_probe[row["probe"]][row["arm"]] = row
    whole = [answers for answers in by_probe.values() if set(ARMS) <= answers.keys()]
    if not whole:
        return {"probes": 0, "arms": {}}
    return {"probes": len(whole), "arms": {arm: _arm(arm, whole) for arm in ARMS}}


def _arm(arm: str, answers: Sequence[Mapping[str, Mapping[str, Any]]]) -> Json:
    means: dict[str, Json] = {
        name: fmean(one[arm][name] for one in answers) for name in ("tool", "exact", "arguments")
    }
    if arm == PLAIN:
        return means
    differences: dict[str, list[float]] = defaultdict(list)
    for one in answers:
        differences[one[arm]["task"]].append(one[arm]["exact"] - one[PLAIN]["exact"])
    flat = [d for task in differences.values() for d in task]
    return {
        **means,
        "wins": sum(d > 0 for d in flat),
        "losses": sum(d < 0 for d in flat),
        "difference": fmean(flat),
        "interval": _interval(list(differences.values())),
    }


def _interval(tasks: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The middle 95% of the mean over resampled tasks; the same for the same rows."""
    draw = random.Random(0)
    means = sorted(
        fmean(d for task in draw.choices(tasks, k=len(tasks)) for d in task)
        for _ in range(_RESAMPLES)
    )
    edge = round(0.025 * _RESAMPLES)
    return means[edge], means[-edge - 1]
