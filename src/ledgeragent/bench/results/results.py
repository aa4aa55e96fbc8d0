"""Result files, ours or a harness's, as runs: what was called, what should have been, what it cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ledgeragent.errors import DataError
from ledgeragent.offline.sources import pieces, records
from ledgeragent.types import Json, ToolCall, canonical

_INFRASTRUCTURE = ("infrastructure_error", "unexpected_error")
_PLAIN = {"llm_agent": "fc"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCall:
    """A call that was made, by the agent or by the customer (`own`), and whether it failed."""

    name: str
    arguments: Mapping[str, Json]
    own: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """An action of the reference solution. `compare` are the arguments that count, None for all."""

    name: str
    arguments: Mapping[str, Json]
    own: bool = False
    compare: tuple[str, ...] | None = None

    def is_met_by(self, call: MadeCall) -> bool:
        """True as the tau2 evaluator has it: only arguments that the call gives are compared."""
        if call.name != self.name:
            return False
        names = call.arguments if self.compare is None else self.compare
        actual = {n: call.arguments[n] for n in names if n in call.arguments}
        expected = {n: self.arguments[n] for n in names if n in self.arguments}
        return actual == expected


class HelperCost(NamedTuple):
    """The calls, tokens and seconds that one helper took in a run."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    seconds: float = 0.0

    def plus(self, entry: Json) -> HelperCost:
        """This and what one message tells of the helper."""
        return HelperCost(
            calls=self.calls + int(entry.get("calls") or 0),
            prompt=self.prompt + int(entry.get("prompt_tokens") or 0),
            completion=self.completion + int(entry.get("completion_tokens") or 0),
            seconds=self.seconds + float(entry.get("seconds") or 0.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The cost of a run: tokens, generations of the agent, calls of helpers. 0 where not recorded.

    The tokens of helpers, told by helper in `by_helper`, are part of all tokens.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    generations: int = 0
    helpers: int = 0
    by_helper: Mapping[str, HelperCost] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt + self.completion

    @property
    def calls(self) -> int:
        """All calls of a model for the agent's side."""
        return self.generations + self.helpers

    @property
    def helper_tokens(self) -> int:
        """The tokens of helpers alone."""
        return sum(cost.prompt + cost.completion for cost in self.by_helper.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One trial of one task. `gold` is None where the file does not say what was expected.

    `policy` is what the agent was told to follow, "" where the file does not have it.
    """

    arm: str
    model: str
    domain: str
    task: str
    reward: float
    termination: str
    gold: tuple[Gold, ...] | None
    basis: frozenset[str]
    calls: tuple[MadeCall, ...]
    spent: Spent
    breakdown: Mapping[str, float]
    messages: Json
    policy: str = ""

    @property
    def success(self) -> bool:
        """True for a reward of 1, within a rounding error."""
        return abs(self.reward - 1.0) <= 1e-6

    @property
    def invalid(self) -> bool:
        """True if the harness failed, not the agent: such a run counts nowhere."""
        return self.termination in _INFRASTRUCTURE


def read_results(file: str) -> Iterator[Run]:
    """Every scored run of a file; DataError where it holds none."""
    any_run = False
    for piece in pieces(file):
        for line, value in records(piece):
            if isinstance(value, DataError):
                raise value
            for record, shared in _runs(value):
                try:
                    run = _run(record, shared)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    problem = f"not a run: {type(error).__name__}: {error}"
                    raise DataError(problem, file=file, line=line) from None
                if run is not None:
                    any_run = True
                    yield run
    if not any_run:
        raise DataError("no scored run", file=file)


def _runs(value: Json) -> Iterator[tuple[Json, Mapping[str, Any]]]:
    """Records with what their file says about all of them."""
    if isinstance(value, dict) and isinstance(value.get("simulations"), list):
        info = value.get("info") or {}
        agent = info.get("agent_info") or {}
        tasks = {str(t.get("id")): t for t in value.get("tasks") or ()}
        implementation = str(agent.get("implementation"))
        shared = {
            "arm": _PLAIN.get(implementation, implementation),
            "model": str(agent.get("llm")),
            "domain": str((info.get("environment_info") or {}).get("domain_name")),
            "policy": str((info.get("environment_info") or {}).get("policy") or ""),
        }
        for run in value["simulations"]:
            criteria = (tasks.get(str(run.get("task_id"))) or {}).get("evaluation_criteria") or {}
            yield run, {**shared, "criteria": criteria}
    else:
        for run in value if isinstance(value, list) else [value]:
            if "settings" not in run:
                yield run, {}


def _run(record: Json, shared: Mapping[str, Any]) -> Run | None:
    rewarded = record.get("reward_info") or {}
    reward = rewarded.get("reward", record.get("reward"))
    if reward is None:
        return None
    messages = record.get("messages") or record.get("traj") or []
    criteria = shared.get("criteria") or {}
    basis = criteria.get("reward_basis") or record.get("reward_basis") or ()
    return Run(
        arm=shared.get("arm") or record.get("arm") or "fc",
        model=shared.get("model") or str(record.get("agent_model") or record.get("model") or "?"),
        domain=shared.get("domain") or str(record.get("domain") or "?"),
        task=_task(record),
        reward=float(reward),
        termination=str(record.get("termination_reason") or ""),
        gold=_gold(record, criteria),
        basis=frozenset(map(str, basis)),
        calls=tuple(_made(messages)),
        spent=_spent(messages),
        breakdown=_breakdown(rewarded, record),
        messages=messages,
        policy=shared.get("policy") or "",
    )


def _task(record: Json) -> str:
    """The task's id, apart from the same id of another benchmark's task."""
    benchmark = record.get("benchmark")
    task_id = str(record["task_id"])
    return (
        task_id if benchmark in (None, "tau2", record.get("domain")) else f"{benchmark}/{task_id}"
    )


def _breakdown(rewarded: Json, record: Json) -> dict[str, float]:
    parts = rewarded.get("reward_breakdown") or record.get("reward_breakdown") or {}
    return {str(kind): float(value) for kind, value in parts.items() if value is not None}


def _gold(record: Json, criteria: Json) -> tuple[Gold, ...] | None:
    listed = criteria.get("actions") if criteria else record.get("gold_actions")
    if listed is None:
        listed = ((record.get("info") or {}).get("task") or {}).get("actions")
    if listed is None:
        return () if criteria else None
    return tuple(
        Gold(
            name=action["name"],
            arguments=action.get("arguments") or action.get("kwargs") or {},
            own=action.get("requestor") == "user",
            compare=None if action.get("compare_args") is None else tuple(action["compare_args"]),
        )
        for action in listed
    )


def _made(messages: Iterable[Json]) -> Iterator[MadeCall]:
    open_calls: list[tuple[str, MadeCall]] = []
    for message in messages:
        if message.get("role") == "tool":
            for one in message.get("tool_messages") or [message]:
                yield from _answered(open_calls, one)
            continue
        # What was asked and never answered was made all the same, and failed.
        yield from (_failed(open_call) for _, open_call in open_calls)
        open_calls = [_call(call, message) for call in message.get("tool_calls") or ()]
    yield from (_failed(open_call) for _, open_call in open_calls)


def _call(call: Json, message: Json) -> tuple[str, MadeCall]:
    function = call.get("function") or call
    arguments = function.get("arguments")
    own = message.get("role") == "user" or call.get("requestor") == "user"
    return str(call.get("id")), MadeCall(
        name=function["name"], arguments=_object(arguments), own=own
    )


def _object(arguments: Json) -> Mapping[str, Json]:
    if isinstance(arguments, str):
        return ToolCall.parse(name="", arguments=arguments).arguments
    return arguments or {}


def _answered(open_calls: list[tuple[str, MadeCall]], message: Json) -> Iterator[MadeCall]:
    key = str(message.get("tool_call_id") or message.get("id"))
    for position, (call_id, call) in enumerate(open_calls):
        if call_id == key:
            del open_calls[position]
            content = message.get("content")
            error = bool(message.get("error")) or str(content).startswith("Error")
            yield _failed(call) if error else call
            return


def _failed(call: MadeCall) -> MadeCall:
    return MadeCall(name=call.name, arguments=call.arguments, own=call.own, failed=True)


def _spent(messages: Iterable[Json]) -> Spent:
    prompt = completion = cached = generations = helpers = 0
    by_helper: dict[str, HelperCost] = defaultdict(HelperCost)
    for message in messages:
        if message.get("role") != "assistant" or "usage" not in message:
            continue
        usage = message.get("usage") or {}
        trace = (message.get("raw_data") or {}).get("ledgeragent") or {}
        if not usage and not trace and not message.get("raw_data"):
            continue
        prompt += int(usage.get("prompt_tokens") or 0)
        completion += int(usage.get("completion_tokens") or 0)
        details = usage.get("prompt_tokens_details") or {}
        cached += int(usage.get("cached_tokens") or details.get("cached_tokens") or 0)
        generations += int(trace.get("generations") or 1)
        helpers += int(trace.get("helper_calls") or 0)
        for name, cost in (trace.get("helpers") or {}).items():
            by_helper[name] = by_helper[name].plus(cost)
    return Spent(
        prompt=prompt,
        completion=completion,
        cached=cached,
        generations=generations,
        helpers=helpers,
        by_helper=dict(by_helper),
    )


def intent(call: MadeCall) -> str:
    """The content of a call, as text that equal calls share."""
    return f"{call.name} {canonical(dict(call.arguments))}"
