"""Result files, ours or a harness's, read as runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from ledgeragent.bench.results.fields import (
    count_of,
    list_of,
    number_of,
    object_of,
    objects_of,
    text_of,
)
from ledgeragent.bench.results.results import Gold, MadeCall, Run
from ledgeragent.bench.results.spending import Spent, spent_on
from ledgeragent.errors import DataError
from ledgeragent.offline.sources import pieces, records
from ledgeragent.packs import pack_listing
from ledgeragent.types import Json, ToolCall

_PLAIN = {"llm_agent": "fc"}
_UNNAMED = ""


def read_results(
    file: str, domain: str | None = None, tell: Callable[[DataError], None] | None = None
) -> Iterator[Run]:
    """Every scored run of a file or of a harness's folder; DataError where it holds none.

    A run that cannot be read is a DataError too, unless there is somebody to `tell` of it. Runs that
    name no domain are of `domain`; without it, of the pack that alone lists every tool that was called
    in them. Those that name no model have the file's name in its place.
    """
    runs, problems = list[Run](), list[DataError]()
    for run in _scored(file):
        if not isinstance(run, DataError):
            runs.append(run)
        elif tell is None:
            raise run
        else:
            problems.append(run)
    if not runs:
        raise problems[0] if problems else DataError("no scored run", file=file)
    if tell is not None:
        for problem in problems:
            tell(problem)
    unnamed = [run for run in runs if run.domain == _UNNAMED]
    of_these = (domain or _fitting(unnamed)) if unnamed else ""
    for run in runs:
        yield replace(
            run,
            domain=run.domain or of_these,
            model=run.model or PurePath(file).name.partition(".")[0],
        )


def _fitting(runs: Iterable[Run]) -> str:
    """The pack that alone lists all tools of the agent's calls, "?" where none or several do."""
    names = {call.name for run in runs for call in run.calls if not call.own}
    return pack_listing(names) or "?"


def _scored(file: str) -> Iterator[Run | DataError]:
    """Every scored run, and what is wrong with each that cannot be read."""
    for piece in pieces(file):
        for line, value in records(piece):
            if isinstance(value, DataError):
                yield value
                continue
            for run in _runs(value):
                if isinstance(run, ValueError):
                    yield DataError(f"not a run: {run}", file=file, line=line)
                elif run is not None:
                    yield run


def _runs(value: Json, place: str = "") -> Iterator[Run | ValueError | None]:
    """The runs of a value, which may hold several sets of them; None for one without a score."""
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _runs(one, f"[{number}]")
        return
    try:
        records, shared = _set(value)
    except ValueError as problem:
        yield _problem(place, problem)
        return
    for name, record in records:
        try:
            yield _run(record, {**shared, "criteria": _criteria(record, shared)})
        except (ValueError, KeyError) as problem:
            yield _problem(f"{place}{'.' if place and name else ''}{name}", problem)


def _problem(place: str, problem: ValueError | KeyError) -> ValueError:
    words = f"there is no {problem}" if isinstance(problem, KeyError) else str(problem)
    return ValueError(f"{place}: {words}" if place else words)


def _set(value: Json) -> tuple[list[tuple[str, Json]], Mapping[str, Any]]:
    """The records of a set by their places in it, and what it says about all of them."""
    if isinstance(value, Mapping) and isinstance(value.get("simulations"), list):
        tasks = {str(t.get("id")): t for t in objects_of(value.get("tasks"), "tasks")}
        named = [(f"simulations[{n}]", run) for n, run in enumerate(value["simulations"])]
        return named, {**_shared(value), "tasks": tasks}
    record = object_of(value, "run")
    return [] if "settings" in record else [("", record)], {}


def _criteria(record: Json, shared: Mapping[str, Any]) -> Mapping[str, Json]:
    """What a set says of the task that a record is a run of."""
    if not isinstance(record, Mapping):
        raise ValueError("it is no object")
    task = shared.get("tasks", {}).get(str(record.get("task_id")), {})
    return object_of(task.get("evaluation_criteria"), "evaluation_criteria")


def _shared(value: Mapping[str, Json]) -> dict[str, str]:
    info = object_of(value.get("info"), "info")
    agent = object_of(info.get("agent_info"), "agent_info")
    environment = object_of(info.get("environment_info"), "environment_info")
    implementation = str(agent.get("implementation"))
    return {
        "arm": _PLAIN.get(implementation, implementation),
        "model": str(agent.get("llm") or ""),
        "domain": str(environment.get("domain_name") or ""),
        "policy": str(environment.get("policy") or ""),
    }


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
        model=str(record.get("agent_model") or record.get("model") or shared.get("model") or ""),
        domain=shared.get("domain") or str(record.get("domain") or _UNNAMED),
        task=_task(record),
        reward=number_of(reward, "reward"),
        termination=str(record.get("termination_reason") or ""),
        gold=_gold(record, criteria),
        basis=frozenset(map(str, basis)),
        calls=tuple(_made(messages)),
        spent=_spent(record, messages),
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


def _spent(record: Json, messages: Iterable[Mapping[str, Json]]) -> Spent:
    """What the run says that it cost, else what its messages say."""
    if "generations" not in record or not isinstance(usage := record.get("usage"), Mapping):
        return spent_on(messages)
    return Spent(
        prompt=count_of(usage.get("prompt_tokens"), "prompt_tokens"),
        completion=count_of(usage.get("completion_tokens"), "completion_tokens"),
        cached=count_of(usage.get("cached_tokens"), "cached_tokens"),
        generations=count_of(record["generations"], "generations"),
    )
