"""What a record says of its run apart from the messages: name, task, reward, tools, reference solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ledgeragent.offline.forms.form import inside
from ledgeragent.types import Json, Message, Reply, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One recorded conversation.

    `run` names it. `benchmark`, `domain`, `task_id` and `reward` are as recorded, None where they
    are not. `tools` are the agent's tools if the record lists them, `nonstandard` those that the
    record says its benchmark does not have. `solution` is what the agent does in the task's reference
    solution, None where the record has none. `parameters` is what a journal says of the values of
    the pack's. `extras` is what else the record says of the run: its
    time, labels and metadata.
    """

    run: str
    messages: tuple[Message, ...]
    benchmark: str | None = None
    domain: str | None = None
    task_id: str | None = None
    reward: float | None = None
    tools: frozenset[str] | None = None
    nonstandard: frozenset[str] = frozenset()
    solution: tuple[Mapping[str, Json], ...] | None = None
    form: str = field(default="", compare=False)
    parameters: Json = None
    extras: Mapping[str, Json] = field(default_factory=dict, compare=False, repr=False)
    left_out: tuple[tuple[str, int], ...] = field(default=(), compare=False)
    unfit: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    _calls: list[ToolCall] | None = field(default=None, init=False, repr=False, compare=False)
    _by_tool: dict[str, int] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def calls(self) -> list[ToolCall]:
        """The agent's calls, in their order; whoever counts something asks for them."""
        calls = self._calls
        if calls is None:
            calls = [call for m in self.messages if type(m) is Reply for call in m.calls]
            object.__setattr__(self, "_calls", calls)
        return calls

    @property
    def calls_by_tool(self) -> Mapping[str, int]:
        """How many of the calls are of each tool, in the order of their first ones."""
        counts = self._by_tool
        if counts is None:
            counts = {}
            for call in self.calls:
                counts[call.name] = counts.get(call.name, 0) + 1
            object.__setattr__(self, "_by_tool", counts)
        return counts

    @property
    def gold(self) -> tuple[ToolCall, ...] | None:
        """The agent's calls in the reference solution, None where the record has none."""
        if self.solution is None:
            return None
        return tuple(
            ToolCall.parse(
                name=str(a.get("name")), arguments=a.get("arguments", a.get("kwargs", {}))
            )
            for a in self.solution
        )

    def fill(
        self,
        messages: tuple[Message, ...],
        left_out: tuple[tuple[str, int], ...],
        unfit: tuple[tuple[str, str], ...],
    ) -> Trace:
        """This very run, with what was read of it; for whoever has just made it, before others see it."""
        # A copy takes longer than all that is read of the record's head.
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "left_out", left_out)
        object.__setattr__(self, "unfit", unfit)
        return self

    def renamed(self, names: Mapping[str, str]) -> Trace:
        """The run with other names for some tools."""
        tools = frozenset(names.get(n, n) for n in self.tools) if self.tools is not None else None
        renamed = self.mapped(lambda call: replace(call, name=names.get(call.name, call.name)))
        return replace(renamed, tools=tools)

    def mapped(self, change: Callable[[ToolCall], ToolCall]) -> Trace:
        """The run with every call of the agent changed."""
        messages = tuple(
            replace(m, calls=tuple(map(change, m.calls))) if type(m) is Reply and m.calls else m
            for m in self.messages
        )
        return replace(self, messages=messages)


EXTRAS = ("time", "timestamp", "created_at", "started_at", "start_time", "labels", "metadata")
"""The fields of a record that say when a run was, and whose."""


def head(form: str, record: Mapping[str, Json], place: str) -> Trace:
    """A conversation without its messages: what the record says of the run."""
    tools = record.get("tools")
    taubench = record.get("traj") is not None
    return Trace(
        run=_run_id(record, place),
        messages=(),
        form=form,
        benchmark=optional(record.get("benchmark")) or ("tau" if taubench else None),
        domain=optional(record.get("domain")),
        task_id=optional(record.get("task_id")),
        reward=_reward(record),
        tools=tool_names(tools) if tools and isinstance(tools, list) else None,
        nonstandard=tool_names(record.get("nonstandard_tools") or []),
        solution=_solution(record),
        parameters=record.get("parameters"),
        extras={name: record[name] for name in EXTRAS if name in record},
    )


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


def gold_of_tasks(tasks: Json) -> dict[str | None, Json]:
    """The reference solution of each task that a tau2 result file lists."""
    listed = [task for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
    return {optional(t.get("id")): inside(t, "evaluation_criteria", "actions") for t in listed}


def _run_id(record: Mapping[str, Json], place: str) -> str:
    recorded = optional(record.get("id"))
    if recorded:
        return recorded
    task, trial = (optional(record.get(name)) for name in ("task_id", "trial"))
    if task is None:
        return place
    return f"{place}/{task}" if trial is None else f"{place}/{task}.{trial}"


def optional(value: Json) -> str | None:
    return None if value is None else str(value)


def _reward(record: Mapping[str, Json]) -> float | None:
    info = record.get("reward_info")
    reward = info.get("reward") if isinstance(info, dict) else record.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        return None
    try:
        return float(reward)
    except OverflowError:  # a whole number of hundreds of digits
        return None


def _solution(record: Mapping[str, Json]) -> tuple[Mapping[str, Json], ...] | None:
    """The agent's part of the reference solution; None where it is absent or something else."""
    actions = record.get("gold_actions")
    if actions is None:
        actions = inside(record, "info", "task", "actions")
    if not isinstance(actions, list) or not {dict}.issuperset(map(type, actions)):
        return None
    return tuple([a for a in actions if a.get("requestor") != "user"])
