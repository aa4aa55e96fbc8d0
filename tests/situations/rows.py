"""Situations as data: what was read and written, then one reply, and what may be answered to it.

A step is what the user says (text), or a tool's name, its arguments and its answer; a list of such
steps is one reply of several calls. What may be answered is a sentence of the three words below.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from ledgeragent.types import Json, ToolCall

Answered: TypeAlias = tuple[str, dict[str, Any], Any]
Step: TypeAlias = str | Answered | list[Answered]

NEVER = object()
"""The answer of a call that nobody heard of again."""


class Parts(NamedTuple):
    """An answer that comes as parts of content."""

    text: str


class Late(NamedTuple):
    """An answer that comes after what the user says next."""

    answer: Any


_ANSWERS = {"allow": "allow", "reject": "reject", "ask": "revise_read"}


class Call(NamedTuple):
    """A proposed call, and what may be answered to it ("allow", "reject or ask")."""

    name: str
    arguments: Any
    accept: str

    def row(self) -> Json:
        accept = [_ANSWERS[word] for word in self.accept.split(" or ")]
        return {"name": self.name, "arguments": self.arguments, "accept": accept}


def may(accept: str, call: ToolCall, **changed: Any) -> Call:
    """The call, perhaps with other arguments, and what may be answered to it."""
    return Call(call.name, {**call.arguments, **changed}, accept)


def done(call: ToolCall, answer: Any = "done", **changed: Any) -> Answered:
    """The step in which this call was executed and answered so."""
    return call.name, {**call.arguments, **changed}, answer


class Rows:
    """The situations of a domain about one matter, in the making."""

    def __init__(self, domain: str, matter: str) -> None:
        self.domain = domain
        self.matter = matter
        self.rows: list[dict[str, Json]] = []
        self._policy = ""

    def policy(self, sentence: str) -> None:
        """The sentence of the policy that the situations from here on are about."""
        self._policy = sentence

    def add(self, note: str, *steps_and_calls: Step | Call, not_all: bool = False) -> None:
        """A situation: its steps, then the calls of the reply that is judged."""
        calls = [part for part in steps_and_calls if isinstance(part, Call)]
        steps: list[Any] = [part for part in steps_and_calls if not isinstance(part, Call)]
        row: dict[str, Json] = {
            "id": f"{self.domain}-{self.matter}-{len(self.rows) + 1}",
            "domain": self.domain,
            "policy": self._policy,
            "note": note,
            "messages": [*_messages(steps)],
            "calls": [call.row() for call in calls],
        }
        self.rows.append({**row, "not_all_allowed": True} if not_all else row)


def _messages(steps: Sequence[Step]) -> Iterator[Json]:
    late: list[Json] = []
    for number, step in enumerate(steps):
        if isinstance(step, str):
            yield {"role": "user", "content": step}
            yield from late
            late = []
        else:
            yield from _reply(step if isinstance(step, list) else [step], number, late)
    yield from late


def _reply(calls: list[Answered], number: int, late: list[Json]) -> Iterator[Json]:
    """The calls of one reply and their answers; those that are `late` go there."""
    requested = [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments, _) in enumerate(calls)
    ]
    yield {"role": "assistant", "content": None, "tool_calls": requested}
    for place, (_, _, answer) in enumerate(calls):
        if answer is NEVER:
            continue
        known = answer.answer if isinstance(answer, Late) else answer
        message = {
            "role": "tool",
            "tool_call_id": f"call_{number}_{place}",
            "content": _text(known),
        }
        if isinstance(answer, Late):
            late.append(message)
        else:
            yield message


def _text(answer: Any) -> Json:
    if isinstance(answer, Parts):
        return [{"type": "text", "text": answer.text}]
    return answer if isinstance(answer, str) else json.dumps(answer)
