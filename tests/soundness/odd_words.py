"""Answers in which one word is none that its list declares, as tools give them now and then."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from ledgeragent import ToolCall

from .world import Answer, Facts, World

ODD: tuple[Any, ...] = ("on hold", "", None, 7, True, ["pending"])
_PHRASES = {
    "get_appointment_details": re.compile(r"^- Status: (?P<word>.+)$", re.MULTILINE),
    "list_patient_appointments": re.compile(
        r"^- (?P<key>\w+): .*\[(?P<word>[\w ]+), Type", re.MULTILINE
    ),
    "get_flight_status": re.compile(r"^(?P<word>\w+)$"),
}


def misread(world: World, call: ToolCall, answer: Answer, rng: Random) -> tuple[Answer, Facts]:
    """The answer with one word out of its list, and the facts that it thereby does not tell."""
    fields = world.worded.get(call.name, ())
    if answer.failed or not fields:
        return answer, frozenset()
    if call.name in _PHRASES:
        return _misread_text(call, answer, rng)
    value = json.loads(answer.text)
    places = [(near, name) for near in _objects(value) for name in fields if name in near]
    if not places:
        return answer, frozenset()
    near, name = rng.choice(places)
    ids = {str(v) for v in (*near.values(), *call.arguments.values()) if isinstance(v, str)}
    word = str(near[name])
    near[name] = rng.choice([*ODD, word.upper(), f"{word}s"])
    if near[name] == word.upper():  # to read that as the word, or not to, are both right
        return replace(answer, text=json.dumps(value)), frozenset()
    hidden = frozenset(fact for fact in answer.shown if fact[2] == name and fact[1] in ids)
    return replace(answer, text=json.dumps(value)), hidden


def _misread_text(call: ToolCall, answer: Answer, rng: Random) -> tuple[Answer, Facts]:
    matches = list(_PHRASES[call.name].finditer(answer.text))
    if not matches:
        return answer, frozenset()
    match = matches[0] if call.name == "get_appointment_details" else rng.choice(matches)
    keys = {" ".join(str(value) for value in call.arguments.values()), *match.groupdict().values()}
    start, end = match.span("word")
    word = rng.choice(["Postponed", "none of these", match["word"][:-1]])
    text = f"{answer.text[:start]}{word}{answer.text[end:]}"
    hidden = frozenset(fact for fact in answer.shown if fact[2] == "status" and fact[1] in keys)
    return replace(answer, text=text), hidden


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects inside a value, itself included."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)
