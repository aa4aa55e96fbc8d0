"""Logs of inspect_ai: a whole log as JSON (`.eval` files are unpacked before), or a sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledgeragent.offline.forms.chat import write_chat
from ledgeragent.offline.forms.form import Dialogue, Form, inside, listed, marked
from ledgeragent.types import Json


def _talks(value: Json) -> Iterator[Dialogue]:
    samples = value.get("samples") if isinstance(value, dict) else None
    task = inside(value, "eval", "task")
    for sample in samples if isinstance(samples, list) else [value]:
        yield _talk(sample, task)


def _talk(sample: Json, task: Json) -> Dialogue:
    messages = listed(sample, "messages") or []
    record: dict[str, Json] = {}
    if isinstance(sample, dict) and sample.get("id") is not None:
        name, epoch = sample["id"], sample.get("epoch")
        record = {"id": f"{name}" if epoch is None else f"{name}.{epoch}", "task_id": name}
        record["reward"] = _reward(sample)
    return Dialogue(record, lambda scribe: write_chat(messages, scribe))


def _reward(sample: Mapping[str, Json]) -> Json:
    """The one score of a sample that is a number, or right and wrong; None for others."""
    scores = sample.get("scores")
    values = (
        [inside(score, "value") for score in scores.values()] if isinstance(scores, dict) else []
    )
    if len(values) != 1:
        return None
    return (
        {"C": 1.0, "I": 0.0}.get(values[0], values[0]) if isinstance(values[0], str) else values[0]
    )


def _is_message(message: Mapping[str, Json]) -> bool:
    calls = listed(message, "tool_calls") or ()
    return any(isinstance(inside(call, "function"), str) for call in calls)


def _unfit(value: Json) -> str | None:
    if isinstance(value, dict) and "eval" in value:
        samples = value.get("samples")
        return None if isinstance(samples, list) and samples else "a log without samples"
    return marked(_is_message, "no call whose function is a name", "messages")(value)


FORM = Form(
    name="inspect",
    title="inspect_ai logs and samples",
    looks='`{"eval", "samples": [{"messages"}]}`, `.eval`; calls with `{"function": NAME, "arguments"}`',
    unfit=_unfit,
    dialogues=_talks,
)
