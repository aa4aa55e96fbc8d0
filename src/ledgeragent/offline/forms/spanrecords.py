"""Spans out of OTLP JSON, of the SDK's own JSON, of rows of Logfire, Phoenix and Jaeger: one shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ledgeragent.offline.forms.form import inside
from ledgeragent.offline.forms.genai import decoded
from ledgeragent.types import Json

_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue")


class SpanRecord(NamedTuple):
    """A span: its trace, when it began (text or number, to be compared within a trace), and the rest."""

    trace: str
    start: str
    name: str
    attributes: Mapping[str, Json]
    events: tuple[tuple[str, Mapping[str, Json]], ...]


def spans_in(value: Json) -> list[SpanRecord]:
    """The spans of an export, in the order of their time."""
    spans = [_span(span) for span in _raw(value)]
    return sorted(spans, key=lambda span: span.start)


def _raw(value: Json) -> Iterator[Mapping[str, Json]]:
    """The spans as they came, out of whatever groups them."""
    if isinstance(value, list):
        for one in value:
            yield from _raw(one)
    elif isinstance(value, dict):
        groups = [v for k in _GROUPS if isinstance(v := value.get(k), list)]
        if groups:
            for group in groups:
                yield from _raw(group)
        elif _is_span(value):
            yield value


_GROUPS = (
    "resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "instrumentationLibrarySpans",
    "spans", "batches", "data", "rows", "resourceLogs", "resource_logs", "scopeLogs",
    "scope_logs", "logRecords", "log_records",
)  # fmt: skip


def _is_span(value: Mapping[str, Json]) -> bool:
    names = value.keys()
    traced = bool({"traceId", "trace_id", "traceID", "context.trace_id", "context"} & names)
    described = bool({"attributes", "tags"} & names) or any(
        n.startswith("attributes.") for n in names
    )
    return traced and described


def has_spans(value: Json) -> bool:
    """True for an export with at least one span."""
    return next(_raw(value), None) is not None


def may_hold_spans(value: Json) -> bool:
    """True for a span, for what groups spans though it holds none, and for OTLP's metrics beside them."""
    if isinstance(value, dict) and not value.keys().isdisjoint(_OF_OTLP):
        return True
    return has_spans(value)


_OF_OTLP = frozenset((*_GROUPS[:5], *_GROUPS[9:], "resourceMetrics", "resource_metrics"))
"""The groups that are nobody else's."""


def _span(raw: Mapping[str, Json]) -> SpanRecord:
    context = raw.get("context")
    traces = (raw.get(k) for k in ("traceId", "trace_id", "traceID", "context.trace_id"))
    starts = (
        raw.get(k)
        for k in (
            "startTimeUnixNano",
            "timeUnixNano",
            "start_time_unix_nano",
            "start_time",
            "start_timestamp",
            "startTime",
        )
    )
    names = (raw.get(k) for k in ("name", "span_name", "operationName"))
    trace = _first(traces) or inside(context, "trace_id") or inside(context, "traceId")
    events = raw.get("events", raw.get("otel_events", raw.get("logs")))
    return SpanRecord(
        trace=str(trace or ""),
        start=_time(_first(starts)),
        name=str(_first(names) or ""),
        attributes=_attributes(raw),
        events=tuple(_events(decoded(events))),
    )


def _first(values: Iterable[Json]) -> Json:
    return next((value for value in values if value is not None), None)


def _time(start: Json) -> str:
    """A time so that text compares as time does: numbers of one length."""
    text = str(start if start is not None else "")
    return text.zfill(24) if text.isdigit() else text


def _attributes(raw: Mapping[str, Json]) -> dict[str, Json]:
    attributes = decoded(raw.get("attributes", raw.get("tags")))
    columns = {
        k.removeprefix("attributes."): v for k, v in raw.items() if k.startswith("attributes.")
    }
    return {**_pairs(attributes), **columns}


def _pairs(attributes: Json) -> dict[str, Json]:
    if isinstance(attributes, list):
        return {str(inside(a, "key")): _plain(inside(a, "value")) for a in attributes}
    return dict(attributes) if isinstance(attributes, dict) else {}


def _plain(value: Json) -> Json:
    """A value out of OTLP's wrapping, in either spelling."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    kind = kind.replace("_v", "V")
    if kind == "arrayValue":
        return [_plain(one) for one in inside(inner, "values") or ()]
    if kind == "kvlistValue":
        return _pairs(inside(inner, "values") or [])
    if kind == "intValue":
        return int(inner)
    return inner if kind in _VALUES else value


def _events(events: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict):
            name = event.get("name", event.get("event_name", event.get("event.name")))
            yield (
                str(name or ""),
                _pairs(event.get("attributes", event.get("event_attributes", event.get("fields")))),
            )


def nested(attributes: Mapping[str, Json], name: str) -> Json:
    """The list under an attribute: as it is, as JSON text, or over keys with numbers (`a.0.b`)."""
    whole = decoded(attributes.get(name, inside(attributes, *name.split("."))))
    if whole is not None:
        return expanded(whole)
    flat = {
        k.removeprefix(f"{name}."): v for k, v in attributes.items() if k.startswith(f"{name}.")
    }
    return expanded(flat) if flat else None


def expanded(value: Json) -> Json:
    """A value whose objects have no dots in their keys; numbers as keys make a list."""
    if isinstance(value, list):
        return [expanded(one) for one in value]
    if not isinstance(value, dict):
        return value
    tree: dict[str, Json] = {}
    for key, inner in value.items():
        branch, *rest = key.split(".")
        if rest:
            tree.setdefault(branch, {})[".".join(rest)] = inner
        else:
            tree[branch] = inner
    if tree and all(key.isdigit() for key in tree):
        return [expanded(tree[key]) for key in sorted(tree, key=int)]
    return {key: expanded(inner) for key, inner in tree.items()}
