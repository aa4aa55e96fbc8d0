"""Exports of Langfuse: traces with their observations, or a list of observations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ledgeragent.offline.forms.form import Dialogue, Form, Writing, inside, listed
from ledgeragent.offline.forms.genai import decoded
from ledgeragent.offline.forms.scribe import NO_ID, Scribe, call_of
from ledgeragent.offline.forms.toolruns import ToolRun, answer_last
from ledgeragent.offline.forms.within import distinct, exchange
from ledgeragent.types import Json

_KINDS = ("GENERATION", "SPAN", "EVENT", "TOOL", "AGENT", "CHAIN")


def _talks(value: Json) -> Iterator[Dialogue]:
    for trace, observations in _traces(value):
        record = {"id": inside(trace, "sessionId") or inside(trace, "id")}
        scribes = distinct(_scribes(trace, observations))
        answer_last(scribes, _tool_runs(observations))
        for scribe in scribes:
            name = record if len(scribes) == 1 else {}
            yield Dialogue(name, _copying(scribe))
        if not scribes:
            yield Dialogue(record, _refuse)


def _copying(source: Scribe) -> Writing:
    return lambda scribe: scribe.copy(source)


def _refuse(scribe: Scribe) -> None:
    raise ValueError("no observation in it holds messages or a call of a tool")


def _traces(value: Json) -> Iterator[tuple[Json, list[Json]]]:
    """Each trace with its observations in the order of their time."""
    rows = listed(value, "data", "traces", "observations") or []
    if isinstance(value, dict) and isinstance(value.get("observations"), list):
        yield value, _sorted(value["observations"])
        return
    whole = [row for row in rows if isinstance(inside(row, "observations"), list)]
    for trace in whole:
        yield trace, _sorted(trace["observations"])
    groups: dict[str, list[Json]] = {}
    for row in rows:
        if row not in whole:
            groups.setdefault(str(row.get("traceId", row.get("trace_id"))), []).append(row)
    for name, observations in groups.items():
        yield {"id": name}, _sorted(observations)


def _sorted(observations: Iterable[Json]) -> list[Json]:
    rows = [row for row in observations if isinstance(row, dict)]
    return sorted(rows, key=lambda row: str(row.get("startTime", row.get("start_time", ""))))


def _scribes(trace: Json, observations: list[Mapping[str, Json]]) -> Iterator[Scribe]:
    scribes = []
    for row in observations:
        is_step = row.get("type") in ("GENERATION", "AGENT", "CHAIN", "SPAN")
        scribe = exchange(row.get("input"), row.get("output")) if is_step else None
        if scribe is not None:
            scribes.append(scribe)
    if (own := exchange(inside(trace, "input"), inside(trace, "output"))) is not None:
        scribes.append(own)
    tools = [row for row in observations if row.get("type") == "TOOL"]
    if tools and not any(scribe.calls for scribe in scribes):
        scribes = [_of_tools(tools, scribes)]
    yield from scribes


def _tool_runs(observations: list[Mapping[str, Json]]) -> Iterator[ToolRun]:
    """The observations of tools; a span may be one, if it has the name and arguments of a call."""
    for row in observations:
        if row.get("type") in ("TOOL", "SPAN"):
            failed = row.get("level") == "ERROR"
            output = row.get("output")
            yield ToolRun(
                name=str(row.get("name")),
                arguments=decoded(row.get("input")),
                result=decoded(output if output is not None else row.get("statusMessage")),
                error=failed,
            )


def _of_tools(rows: Iterable[Mapping[str, Json]], scribes: list[Scribe]) -> Scribe:
    """The calls alone, where no generation tells them; after what the user said first."""
    scribe = Scribe()
    if scribes and scribes[0].messages:
        scribe.messages.append(scribes[0].messages[0])
    for row in scribe.each(rows, "observation"):
        fields = {"input": decoded(row.get("input"))}
        scribe.reply(calls=[call_of(row.get("name"), fields, "input", id=NO_ID)])
        failed = row.get("level") == "ERROR"
        content = row.get("output") if row.get("output") is not None else row.get("statusMessage")
        scribe.returned(None, decoded(content), error=failed)
    return scribe


def _unfit(value: Json) -> str | None:
    rows = listed(value, "data", "traces", "observations")
    if not rows:
        return "no observations"
    first = rows[0]
    if isinstance(inside(first, "observations"), list):
        return None
    if inside(first, "type") in _KINDS and (
        "traceId" in first or "trace_id" in first or value is not rows
    ):
        return None
    return f"no observations of the types {', '.join(_KINDS)}"


FORM = Form(
    name="langfuse",
    title="Langfuse exports",
    looks='`{"id", "observations": [{"type": "GENERATION", "input", "output"}]}`, or observations with '
    "`traceId`",
    unfit=_unfit,
    dialogues=_talks,
    streams=True,
)
