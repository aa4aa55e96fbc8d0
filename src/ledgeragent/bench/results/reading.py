"""Result files, ours or a harness's, read as runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from ledgeragent.bench.results.results import Gold, HelperCost, MadeCall, Run, Spent
from ledgeragent.errors import DataError
from ledgeragent.offline.sources import pieces, records
from ledgeragent.packs import pack_listing
from ledgeragent.types import Json, ToolCall

_PLAIN = {"llm_agent": "fc"}
_UNNAMED = ""


def read_results(file: str, domain: str | None = None) -> Iterator[Run]:
    """Every scored run of a file or of a harness's folder; DataError where it holds none.

    Runs that name no domain are of `domain`; without it, of the pack that alone lists every tool that
    was called in them. Those that name no model have the file's name in its place.
    """
    runs = list(_scored(file))
    if not runs:
        raise DataError("no scored run", file=file)
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


def _scored(file: str) -> Iterator[Run]:
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
                    yield run


def _runs(value: Json) -> Iterator[tuple[Json, Mapping[str, Any]]]:
    """Records with what their file says about all of them; a file may hold several such sets."""
    if isinstance(value, list):
        for one in value:
            yield from _runs(one)
    elif isinstance(value, dict) and isinstance(value.get("simulations"), list):
        shared = _shared(value)
        tasks = {str(t.get("id")): t for t in value.get("tasks") or ()}
        for run in value["simulations"]:
            criteria = (tasks.get(str(run.get("task_id"))) or {}).get("evaluation_criteria") or {}
            yield run, {**shared, "criteria": criteria}
    elif not isinstance(value, dict) or "settings" not in value:
        yield value, {}


def _shared(value: Json) -> dict[str, str]:
    info = value.get("info") or {}
    agent, environment = info.get("agent_info") or {}, info.get("environment_info") or {}
    implementation = str(agent.get("implementation"))
    return {
        "arm": _PLAIN.get(implementation, implementation),
        "model": str(agent.get("llm") or ""),
        "domain": str(environment.get("domain_name") or ""),
        "policy": str(environment.get("policy") or ""),
    }


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
        model=str(record.get("agent_model") or record.get("model") or shared.get("model") or ""),
        domain=shared.get("domain") or str(record.get("domain") or _UNNAMED),
        task=_task(record),
        reward=float(reward),
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


def _spent(record: Json, messages: Iterable[Json]) -> Spent:
    """What the run says that it cost, else what its messages say."""
    if "generations" in record and isinstance(usage := record.get("usage"), dict):
        return Spent(
            prompt=int(usage.get("prompt_tokens") or 0),
            completion=int(usage.get("completion_tokens") or 0),
            cached=int(usage.get("cached_tokens") or 0),
            generations=int(record["generations"]),
        )
    return _of_messages(messages)


def _of_messages(messages: Iterable[Json]) -> Spent:
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
