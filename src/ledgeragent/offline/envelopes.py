"""Envelopes: JSON values around the records of conversations, each of which has a place of its own."""

from __future__ import annotations

from collections.abc import Iterator

from ledgeragent.offline.forms.form import Form, inside
from ledgeragent.offline.forms.registry import form_of
from ledgeragent.offline.heads import gold_of_tasks, optional
from ledgeragent.types import Json


def enclosed(value: Json, place: str, form: Form | None) -> Iterator[tuple[str, Json]]:
    """The records inside one JSON value, each with its place: a line, or line and number."""
    if form is not None and form.unfit(value) is None:
        yield place, value
    elif isinstance(value, dict) and is_filled(value.get("simulations")):
        shared = {"benchmark": "tau2", "domain": _domain_of(value.get("info"))}
        gold = gold_of_tasks(value.get("tasks"))
        for number, run in enumerate(value["simulations"], 1):
            if isinstance(run, dict):
                run = {"gold_actions": gold.get(optional(run.get("task_id"))), **run, **shared}
            yield f"{place}#{number}", run
    elif isinstance(value, list) and value and form_of(value) is None:
        for number, item in enumerate(value, 1):
            yield f"{place}#{number}", item
    elif (rows := _rows(value)) is not None:
        for number, item in enumerate(rows, 1):
            yield f"{place}#{number}", item
    elif not _is_heading(value):
        yield place, value


def _rows(value: Json) -> list[Json] | None:
    """The records in an object that only holds them; None for another one."""
    if not isinstance(value, dict):
        return None
    lists = [value[name] for name in _WRAPPERS if is_filled(value.get(name))]
    if not lists or form_of(value) is not None:
        return None
    of_runs = [rows for rows in lists if form_of(rows) is not None or form_of(rows[0])]
    return [row for rows in of_runs for row in rows] or None


_WRAPPERS = ("runs", "data", "items", "rows", "results", "records", "conversations", "traces")


def _is_heading(value: Json) -> bool:
    """True for the line before the runs of a result file of ours, which says how they were made."""
    return isinstance(value, dict) and value.keys() == {"settings"}


def is_filled(value: Json) -> bool:
    return isinstance(value, list) and bool(value)


def _domain_of(info: Json) -> Json:
    return inside(info, "environment_info", "domain_name")
