"""Runs of LangSmith: a tree of runs, or a list of them; the longest conversation of a trace counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledgeragent.offline.forms.form import Dialogue, Form, Writing, inside, listed
from ledgeragent.offline.forms.genai import decoded
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.toolruns import ToolRun, answer_last
from ledgeragent.offline.forms.within import distinct, exchange
from ledgeragent.returned import parse_value
from ledgeragent.types import Json


def _talks(value: Json) -> Iterator[Dialogue]:
    traces: dict[str, list[Mapping[str, Json]]] = {}
    for run in _runs(value):
        traces.setdefault(_id(run.get("trace_id", run.get("id"))), []).append(run)
    for name, runs in traces.items():
        runs.sort(key=lambda run: str(run.get("dotted_order", run.get("start_time", ""))))
        threads = distinct(_scribes(runs))
        answer_last(threads, _tool_runs(runs))
        for thread in threads:
            yield Dialogue({"id": name} if len(threads) == 1 else {}, _copying(thread))
        if not threads:
            yield Dialogue({"id": name}, _refuse)


def _copying(source: Scribe) -> Writing:
    return lambda scribe: scribe.copy(source)


def _refuse(scribe: Scribe) -> None:
    raise ValueError("no run in it holds messages or a call of a tool")


def _runs(value: Json) -> Iterator[Mapping[str, Json]]:
    for run in listed(value, "runs", "data") or [value]:
        if isinstance(run, dict):
            yield run
            yield from _runs(run.get("child_runs") or [])


def _id(id: Json) -> str:
    """An id as text, also where it was written as the `repr` of an object."""
    text = str(inside(id, "repr") or id)
    return text.removeprefix("UUID('").removesuffix("')")


def _scribes(runs: list[Mapping[str, Json]]) -> list[Scribe]:
    scribes = [
        scribe
        for run in runs
        if run.get("run_type") != "tool"
        and (scribe := exchange(run.get("inputs"), run.get("outputs"))) is not None
    ]
    tools = [run for run in runs if run.get("run_type") == "tool"]
    if tools and not any(scribe.calls for scribe in scribes):
        return [_of_tools(tools)]
    return scribes


def _tool_runs(runs: list[Mapping[str, Json]]) -> Iterator[ToolRun]:
    for run in runs:
        if run.get("run_type") != "tool":
            continue
        output = inside(run, "outputs", "output")
        fields = inside(output, "kwargs") or output
        is_message = isinstance(fields, dict) and "tool_call_id" in fields
        yield ToolRun(
            name=str(run.get("name")),
            arguments=_arguments(run),
            result=inside(fields, "content") if is_message else output,
            error=bool(run.get("error")),
            key=str(inside(fields, "tool_call_id")) if is_message else None,
        )


def _arguments(run: Mapping[str, Json]) -> Json:
    """What a tool was given: its inputs, or the text in which they stand."""
    inputs = run.get("inputs")
    text = inside(inputs, "input")
    inner = decoded(text)
    if isinstance(inner, str):
        try:
            inner = parse_value(inner)
        except ValueError:
            return inputs
    return inner if isinstance(inner, dict) else inputs


def _of_tools(runs: list[Mapping[str, Json]]) -> Scribe:
    scribe = Scribe()
    for run in scribe.each(runs, "run"):
        scribe.reply(calls=[call_of(run.get("name"), {"inputs": _arguments(run)}, "inputs")])
        output = inside(run, "outputs", "output")
        content = inside(output, "content") if isinstance(output, dict) else output
        scribe.returned(
            None, content if content is not None else output, error=bool(run.get("error"))
        )
    return scribe


def _is_part(value: Json) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(("run_type", "trace_id"))


def _unfit(value: Json) -> str | None:
    runs = listed(value, "runs", "data") or [value]
    first = runs[0]
    if isinstance(first, dict) and "run_type" in first and "inputs" in first:
        return None
    return "no run with run_type and inputs"


FORM = Form(
    name="langsmith",
    title="LangSmith runs",
    looks='`{"run_type", "inputs": {"messages"}, "outputs": {"messages"}, "trace_id", "child_runs"}`',
    unfit=_unfit,
    dialogues=_talks,
    streams=True,
    part=_is_part,
)
