"""Readers of recorded conversations: each becomes a `Trace`, whatever harness wrote it.

The form is told from the content: our trajectories, plain OpenAI messages, tau-bench results, tau2
results. What the user calls on a device of their own is the user's turn, not the agent's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ledgeragent.errors import DataError
from ledgeragent.offline.sources import Piece, pieces, records
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage

_INSTRUCTIONS = ("system", "developer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One recorded conversation.

    `run` names it. `benchmark`, `domain`, `task_id` and `reward` are as recorded, None where they
    are not. `tools` are the agent's tools if the record lists them, `nonstandard` those that the
    record says its benchmark does not have. `gold` are the agent's calls in the task's reference
    solution, None where the record has none.
    """

    run: str
    messages: tuple[Message, ...]
    benchmark: str | None = None
    domain: str | None = None
    task_id: str | None = None
    reward: float | None = None
    tools: frozenset[str] | None = None
    nonstandard: frozenset[str] = frozenset()
    gold: tuple[ToolCall, ...] | None = None


def read_traces(file: str) -> Iterator[Trace | DataError]:
    """Every conversation of a file (`-` is stdin); a broken one is given as what is wrong with it.

    Holds one conversation at a time of JSON Lines, the whole of a JSON document.
    """
    for piece in pieces(file):
        yield from traces_of(piece)


def traces_of(
    piece: Piece, accepts: Callable[[Trace], bool] = lambda head: True
) -> Iterator[Trace | DataError]:
    """The conversations of one piece of a file.

    Those that nobody `accepts`, by what the record says apart from its messages, come without them.
    """
    for line, value in records(piece):
        if isinstance(value, DataError):
            yield value
            continue
        for place, record in _conversations(value, line):
            try:
                yield _trace(record, f"{piece.file}:{place}", accepts)
            except ValueError as problem:
                yield DataError(f"{_inside(place)}{problem}", file=piece.file, line=line)


def read_messages(messages: Json) -> tuple[Message, ...]:
    """The messages of a conversation; raises ValueError where one cannot be read."""
    if not isinstance(messages, list):
        raise ValueError("the messages are not a list")
    conversation: list[Message] = []
    for number, message in enumerate(messages, 1):
        try:
            role = message["role"]
            if role == "assistant":
                conversation.append(_reply(message))
            elif role == "tool":
                _add_returns(message, conversation)
            elif role == "user":
                conversation.append(UserMessage(text=_text(message.get("content"))))
            elif role not in _INSTRUCTIONS:
                raise ValueError(f"unknown role {role!r:.80}")
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            raise ValueError(f"message {number}: {_shown(problem)}") from None
    return tuple(conversation)


def tool_names(listed: Json) -> frozenset[str]:
    """The names in a list of tools, given as names or as chat-API schemas; ValueError for others."""
    if not isinstance(listed, list):
        raise ValueError("the tools are not a list")
    names = []
    for tool in listed:
        described = tool.get("function", tool) if isinstance(tool, dict) else {"name": tool}
        name = described.get("name") if isinstance(described, dict) else None
        if not isinstance(name, str):
            raise ValueError("a tool has no name")
        names.append(name)
    return frozenset(names)


def _conversations(value: Json, line: int) -> Iterator[tuple[str, Json]]:
    """The records inside one JSON value, each with its place: a line, or line and number."""
    if isinstance(value, dict) and _is_filled(value.get("simulations")):
        shared = {"benchmark": "tau2", "domain": _domain_of(value.get("info"))}
        gold = _gold_of_tasks(value.get("tasks"))
        for number, run in enumerate(value["simulations"], 1):
            if isinstance(run, dict):
                run = {"gold_actions": gold.get(_optional(run.get("task_id"))), **run, **shared}
            yield f"{line}#{number}", run
    elif isinstance(value, list) and not _is_conversation(value):
        for number, item in enumerate(value, 1):
            inside = {"messages": item} if _is_filled(item) else item
            yield f"{line}#{number}", inside
    elif not _is_heading(value):
        yield str(line), {"messages": value} if _is_filled(value) else value


def _is_heading(value: Json) -> bool:
    """True for the line before the runs of a result file of ours, which says how they were made."""
    return isinstance(value, dict) and value.keys() == {"settings"}


def _is_filled(value: Json) -> bool:
    return isinstance(value, list) and bool(value)


def _is_conversation(value: list[Json]) -> bool:
    return not value or (isinstance(value[0], dict) and "role" in value[0])


def _domain_of(info: Json) -> Json:
    return _inner(info, "environment_info", "domain_name")


def _gold_of_tasks(tasks: Json) -> dict[str | None, Json]:
    """The reference solution of each task that a tau2 result file lists."""
    listed = [task for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
    return {_optional(t.get("id")): _inner(t, "evaluation_criteria", "actions") for t in listed}


def _inner(value: Json, *names: str) -> Json:
    """The value inside objects under these names, None where it is absent."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _trace(record: Json, place: str, accepts: Callable[[Trace], bool]) -> Trace:
    if record == []:
        raise ValueError("no conversation: the list is empty")
    if not isinstance(record, dict):
        raise ValueError("a recorded conversation is a JSON object or a list of messages")
    taubench = record.get("traj") is not None
    messages = record.get("traj" if taubench else "messages")
    if not _is_filled(messages):
        raise ValueError(f"no conversation: {_lacking(record)}")
    tools = record.get("tools")
    head = Trace(
        run=_run_id(record, place),
        messages=(),
        benchmark=_optional(record.get("benchmark")) or ("tau" if taubench else None),
        domain=_optional(record.get("domain")),
        task_id=_optional(record.get("task_id")),
        reward=_reward(record),
        tools=tool_names(tools) if tools else None,
        nonstandard=tool_names(record.get("nonstandard_tools") or []),
        gold=_gold(record),
    )
    return replace(head, messages=read_messages(messages)) if accepts(head) else head


def _lacking(record: Mapping[str, Json]) -> str:
    """Why a record without messages has none."""
    for name in ("traj", "messages", "simulations"):
        if record.get(name) is not None and not _is_filled(record[name]):
            return f'"{name}" is {"empty" if record[name] == [] else "no list"}'
    return 'expected a list under "messages" or "traj"'


def _run_id(record: Mapping[str, Json], place: str) -> str:
    recorded = _optional(record.get("id"))
    if recorded:
        return recorded
    task, trial = (_optional(record.get(name)) for name in ("task_id", "trial"))
    if task is None:
        return place
    return f"{place}/{task}" if trial is None else f"{place}/{task}.{trial}"


def _optional(value: Json) -> str | None:
    return None if value is None else str(value)


def _reward(record: Mapping[str, Json]) -> float | None:
    info = record.get("reward_info")
    reward = info.get("reward") if isinstance(info, dict) else record.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        return None
    return float(reward)


def _gold(record: Mapping[str, Json]) -> tuple[ToolCall, ...] | None:
    """The agent's calls in the reference solution; None where it is absent or something else."""
    actions = record.get("gold_actions")
    if actions is None:
        actions = _inner(record, "info", "task", "actions")
    if not isinstance(actions, list) or not all(isinstance(a, dict) for a in actions):
        return None
    return tuple(
        ToolCall.parse(name=str(a.get("name")), arguments=a.get("arguments", a.get("kwargs", {})))
        for a in actions
        if a.get("requestor") != "user"
    )


def _reply(message: Mapping[str, Any]) -> Reply:
    calls, text = message.get("tool_calls"), _text(message.get("content"))
    if not calls:
        return Reply(text=text)
    return Reply(text=text, calls=tuple([_call(c) for c in calls if c.get("requestor") != "user"]))


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function") or call
    name, key = function["name"], call.get("id")
    if type(name) is not str:
        raise ValueError("a tool call's name is not text")
    return ToolCall.parse(
        name=name, arguments=function.get("arguments"), id=key if type(key) is str else _key(key)
    )


def _add_returns(message: Mapping[str, Any], conversation: list[Message]) -> None:
    bundle = message.get("tool_messages")
    if bundle is not None:
        for single in bundle:
            _add_returns(single, conversation)
    elif message.get("requestor") != "user":
        key = message.get("tool_call_id")
        if key is None:
            key = message.get("id")
        content = message.get("content")
        conversation.append(
            ToolReturn(
                call_id=key if type(key) is str else _key(key),
                content="" if content is None else content,
                error=bool(message.get("error")),
            )
        )


def _key(id: Json) -> str:
    return "" if id is None else str(id)


def _text(content: Json) -> str:
    if content is None or type(content) is str:
        return content or ""
    value = _content(content)
    return value if isinstance(value, str) else str(value)


def _content(content: Json) -> Json:
    """A message's value: text parts joined, null as no text, anything decoded as it is."""
    if content is None:
        return ""
    if not isinstance(content, list) or not content:
        return content
    parts = [part.get("text") for part in content if _is_part(part)]
    return "".join(map(str, parts)) if len(parts) == len(content) else content


def _is_part(part: Json) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and "text" in part


def _inside(place: str) -> str:
    _, mark, number = place.partition("#")
    return f"record {number}: " if mark else ""


def _shown(problem: Exception) -> str:
    if isinstance(problem, KeyError):
        return f"it has no {problem}"
    return "it is no message object" if not isinstance(problem, ValueError) else str(problem)
