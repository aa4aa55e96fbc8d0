"""Transcripts: the conversations of a journal as OpenAI message lists, which `replay` reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.journal.sealing import Event
from ledgeragent.types import Json, canonical


def exported(records: Iterable[Event]) -> Iterator[Mapping[str, Any]]:
    """The conversations of a journal as OpenAI message lists, one object per session.

    `parameters` are those of the pack by which its last reply was judged, where there were some.
    """
    sessions: dict[str, list[Event]] = {}
    for record in records:
        if record["session"]:
            sessions.setdefault(record["session"], []).append(record)
    for session, events in sessions.items():
        values = [event["parameters"] for event in events if "parameters" in event]
        parameters = {"parameters": values[-1]} if values else {}
        yield {"id": session, "messages": _transcript(events), **parameters}


@dataclass(slots=True)
class _Turn:
    """A message and what follows from it. `open` are its calls that are answered later on."""

    message: dict[str, Any]
    answers: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[dict[str, Any]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def proposes(self, record: Event, coming: Counter[str]) -> None:
        """Adds the calls of a proposal."""
        if record["calls"]:
            calls = map(_openai_call, record["calls"])
            self.message.setdefault("tool_calls", []).extend(calls)
        self.open += (call["id"] for call in record["calls"] if coming[call["id"]])

    def refuses(self, names: Iterable[str]) -> None:
        """Answers rejected calls, of which no tool ever heard; one that waited was judged again."""
        for name in names:
            if name in self.open:
                self.open.remove(name)
            self.refusals.append(
                {"role": "tool", "tool_call_id": name, "content": NOT_EXECUTED, "error": True}
            )


def _transcript(events: Iterable[Event]) -> list[Mapping[str, Any]]:
    """The messages in order, each call answered right behind the message that holds it.

    A proxy sees no replies, only calls: one that was made while others had no answer yet goes into
    the same message, since it was judged on the same ledger.
    """
    events = list(events)
    coming = Counter(e["call"]["id"] for e in events if e["event"] in ("observed", "executed"))
    proposed = (e["calls"] for e in events if e["event"] == "proposed")
    ahead = Counter(call["id"] for calls in proposed for call in calls)
    turns = [_Turn({"role": "assistant", "content": None})]
    for event in events:
        if "now" in event:
            turns[-1].message.setdefault("timestamp", event["now"])
        match event["event"]:
            case "heard":
                turns.append(_Turn({"role": "user", "content": event["text"]}))
            case "proposed":
                if not turns[-1].open or turns[-1].answers or event["text"]:
                    turns.append(_Turn({"role": "assistant", "content": event["text"] or None}))
                turns[-1].proposes(event, coming)
                ahead.subtract(call["id"] for call in event["calls"])
            case "judged" if not event["shadow"]:
                refused = (v["call"]["id"] for v in event["verdicts"] if v["decision"] != "ALLOW")
                turns[-1].refuses([name for name in refused if coming[name] <= ahead[name]])
            case "observed" | "executed":
                name = event["call"]["id"]
                coming[name] -= 1
                asker = next((turn for turn in turns if name in turn.open), turns[-1])
                if name in asker.open:
                    asker.open.remove(name)
                asker.answers.append(_answer(event))
    return [m for turn in turns[1:] for m in (turn.message, *turn.answers, *turn.refusals)]


def _answer(record: Event) -> dict[str, Any]:
    content = record["content"]
    as_it_stands = isinstance(content, str) or _is_text_in_parts(content)
    return {
        "role": "tool",
        "tool_call_id": record["call"]["id"],
        "content": content if as_it_stands else canonical(content),
        "error": record["error"],
    }


def _is_text_in_parts(content: Json) -> bool:
    """True for a list of parts that are text, which these lists may hold as well."""
    if not isinstance(content, list) or not content:
        return False
    return all(isinstance(part, Mapping) and isinstance(part.get("text"), str) for part in content)


def _openai_call(call: Event) -> Mapping[str, Any]:
    arguments = call.get("malformed") or canonical(call["arguments"])
    function = {"name": call["name"], "arguments": arguments}
    return {"id": call["id"], "type": "function", "function": function}
