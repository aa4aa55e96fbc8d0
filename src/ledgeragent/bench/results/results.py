"""Result files, ours or a harness's, as runs: what was called, what should have been, what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ledgeragent.bench.results.fields import list_of, number_of, object_of, objects_of, text_of
from ledgeragent.bench.results.spending import Spent, spent_on
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
            try:
                runs = [_run(record, shared) for record, shared in _runs(value)]
            except KeyError as error:
                raise DataError(f"not a run: there is no {error}", file=file, line=line) from None
            except ValueError as error:
                raise DataError(f"not a run: {error}", file=file, line=line) from None
            for run in runs:
                if run is not None:
                    any_run = True
                    yield run
    if not any_run:
        raise DataError("no scored run", file=file)


def _runs(value: Json) -> Iterator[tuple[Json, Mapping[str, Any]]]:
    """Records with what their file says about all of them."""
    if isinstance(value, dict) and isinstance(value.get("simulations"), list):
        info = object_of(value.get("info"), "info")
        agent = object_of(info.get("agent_info"), "agent_info")
        around = object_of(info.get("environment_info"), "environment_info")
        tasks = {str(t.get("id")): t for t in objects_of(value.get("tasks"), "tasks")}
        implementation = str(agent.get("implementation"))
        shared = {
            "arm": _PLAIN.get(implementation, implementation),
            "model": str(agent.get("llm")),
            "domain": str(around.get("domain_name")),
            "policy": str(around.get("policy") or ""),
        }
        for run in objects_of(value["simulations"], "simulations"):
            task = tasks.get(str(run.get("task_id")), {})
            criteria = object_of(task.get("evaluation_criteria"), "evaluation_criteria")
            yield run, {**shared, "criteria": criteria}
    else:
        for run in objects_of(value if isinstance(value, list) else [value], "runs"):
            if "settings" not in run:
                yield run, {}


def _run(record: Json, shared: Mapping[str, Any]) -> Run | None:
    rewarded = object_of(record.get("reward_info"), "reward_info")
    reward = rewarded.get("reward", record.get("reward"))
    if reward is None:
        return None
    messages = objects_of(record.get("messages") or record.get("traj"), "messages")
    criteria = shared.get("criteria") or {}
    basis = list_of(criteria.get("reward_basis") or record.get("reward_basis"), "reward_basis")
    return Run(
        arm=shared.get("arm") or str(record.get("arm") or "fc"),
        model=shared.get("model") or str(record.get("agent_model") or record.get("model") or "?"),
        domain=shared.get("domain") or str(record.get("domain") or "?"),
        task=_task(record),
        reward=number_of(reward, "reward"),
        termination=str(record.get("termination_reason") or ""),
        gold=_gold(record, criteria),
        basis=frozenset(map(str, basis)),
        calls=tuple(_made(messages)),
        spent=spent_on(messages),
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
    parts = object_of(
        rewarded.get("reward_breakdown") or record.get("reward_breakdown"), "reward_breakdown"
    )
    return {kind: number_of(value, kind) for kind, value in parts.items() if value is not None}


def _gold(record: Json, criteria: Json) -> tuple[Gold, ...] | None:
    listed = criteria.get("actions") if criteria else record.get("gold_actions")
    if listed is None:
        task = object_of(object_of(record.get("info"), "info").get("task"), "task")
        listed = task.get("actions")
    if listed is None:
        return () if criteria else None
    return tuple(
        Gold(
            name=text_of(action.get("name"), "name"),
            arguments=object_of(action.get("arguments") or action.get("kwargs"), "arguments"),
            own=action.get("requestor") == "user",
            compare=None
            if action.get("compare_args") is None
            else tuple(map(str, list_of(action["compare_args"], "compare_args"))),
        )
        for action in objects_of(listed, "actions")
    )


def _made(messages: Iterable[Json]) -> Iterator[MadeCall]:
    open_calls: list[tuple[str, MadeCall]] = []
    for message in messages:
        if message.get("role") == "tool":
            for one in objects_of(message.get("tool_messages") or [message], "tool_messages"):
                yield from _answered(open_calls, one)
            continue
        # What was asked and never answered was made all the same, and failed.
        yield from (_failed(open_call) for _, open_call in open_calls)
        open_calls = [
            _call(call, message) for call in objects_of(message.get("tool_calls"), "tool_calls")
        ]
    yield from (_failed(open_call) for _, open_call in open_calls)


def _call(call: Json, message: Json) -> tuple[str, MadeCall]:
    function = object_of(call.get("function"), "function") or call
    arguments = function.get("arguments")
    own = message.get("role") == "user" or call.get("requestor") == "user"
    return str(call.get("id")), MadeCall(
        name=text_of(function.get("name"), "name"), arguments=_object(arguments), own=own
    )


def _object(arguments: Json) -> Mapping[str, Json]:
    if isinstance(arguments, str):
        return ToolCall.parse(name="", arguments=arguments).arguments
    return object_of(arguments, "arguments")


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


def intent(call: MadeCall) -> str:
    """The content of a call, as text that equal calls share."""
    return f"{call.name} {canonical(dict(call.arguments))}"
