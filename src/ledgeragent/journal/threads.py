"""Threads: one conversation's side of a journal, also where a framework runs it in several pieces.

A run that begins with a history goes on under the name that the journal has for that history, and
tells only what is new. What the journal doesn't know is told from its beginning, under a new name.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import accumulate

from ledgeragent.domain import Domain
from ledgeragent.gate import Filtered
from ledgeragent.journal.recorder import Recorder, new_session
from ledgeragent.state import State
from ledgeragent.types import Json, Message, Reply, ToolReturn, UserMessage, canonical, parse_json

_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Position:
    """Where a conversation stands, the same whether it was lived or is read in a history.

    Only tools of the domain count, and only answers that succeeded, in any order: `utterance` is a
    digest of all that was said until here, `answers` one of what has answered the calls of it.
    """

    utterance: bytes = b""
    answers: int = 0
    call_ids: frozenset[str] = frozenset()

    @property
    def key(self) -> bytes:
        """The place's own digest, by which it is recognised."""
        return self.utterance + self.answers.to_bytes(16, "big")

    def after(self, message: Message, domain: Domain) -> Position:
        """The place one message later."""
        match message:
            case UserMessage():
                return Position(_digest(self.key, "user", _words(message.text)))
            case Reply():
                calls = [c for c in message.calls if domain.guard(c.name) is not None]
                intents = [[call.id, *call.intent] for call in calls]
                utterance = _digest(self.key, _words(message.text), intents)
                return Position(utterance, call_ids=frozenset(call.id for call in calls))
            case ToolReturn():
                if message.failed or message.content is None:
                    return self
                if message.call_id not in self.call_ids:
                    return self
                mark = int.from_bytes(_digest(message.call_id, _value(message.content)))
                return replace(self, answers=self.answers ^ mark)


def _digest(*parts: Json) -> bytes:
    printable = [part.hex() if isinstance(part, bytes) else part for part in parts]
    text = canonical(printable).encode("utf-8", "backslashreplace")
    return blake2b(text, digest_size=16).digest()


def _value(content: Json) -> Json:
    """The value of an answer, whether a history has it as text or it was just given as a value."""
    if not isinstance(content, str):
        return content
    try:
        return parse_json(content)
    except (ValueError, RecursionError):
        return content


def _words(text: str) -> str:
    """The text without its spaces, which frameworks trim and join."""
    return "".join(text.split())


@dataclass(slots=True)
class Threads:
    """Where the conversations of a journal stand, the longest untouched forgotten first.

    `lock` is for those who must find a conversation and go on from it before anybody else does.
    """

    lock: threading.RLock = field(default_factory=threading.RLock)
    _places: OrderedDict[str, Position] = field(default_factory=OrderedDict)
    _names: dict[bytes, str] = field(default_factory=dict)

    def find(self, places: Sequence[Position]) -> tuple[int, str]:
        """How many of a history's messages were told, and under which name ("" for none).

        Nobody else finds that place before somebody has gone on from it.
        """
        with self.lock:
            for number in range(len(places), 0, -1):
                name = self._names.pop(places[number - 1].key, "")
                if name:
                    return number, name
        return 0, ""

    def open(self, place: Position) -> str:
        """The name under which the reply at this place was told, if none came after it; else ""."""
        with self.lock:
            name = self._names.get(place.utterance, "")
            return name if name and place.call_ids else ""

    def advance(self, name: str, message: Message, domain: Domain) -> None:
        """Notes that a conversation is one message further."""
        with self.lock:
            place = self._places.pop(name, Position())
            self._forget(name, place)
            self._places[name] = place = place.after(message, domain)
            self._names.update({place.key: name, place.utterance: name})
            if len(self._places) > _REMEMBERED:
                self._forget(*self._places.popitem(last=False))

    def _forget(self, name: str, place: Position) -> None:
        for key in (place.key, place.utterance):
            if self._names.get(key) == name:
                del self._names[key]


@dataclass(slots=True, kw_only=True)
class Thread:
    """One conversation as the journal is told of it; not at all, if the recorder has no journal."""

    recorder: Recorder
    sessions: Threads
    shadow: bool = False
    name: str = field(default_factory=new_session)

    def again(self, history: Sequence[Message]) -> int:
        """How many messages of a history were told before; takes up the name they were told under."""
        if self.recorder.journal is None:
            return 0
        count, name = self.sessions.find(self._places(history))
        self.name = name or self.name
        return count

    def open(self, history: Sequence[Message]) -> bool:
        """True if the reply that ends a history was told, with its calls open; takes up its name."""
        if self.recorder.journal is None:
            return False
        name = self.sessions.open(self._places(history)[-1])
        self.name = name or self.name
        return bool(name)

    def _places(self, history: Sequence[Message]) -> list[Position]:
        domain = self.recorder.domain
        return list(accumulate(history, lambda p, m: p.after(m, domain), initial=Position()))[1:]

    def note(self, message: Message, before: State, after: State) -> None:
        """Tells of a message that led from one state to the next."""
        self.recorder.note(self.name, message, before, after)
        self._advance(message)

    def judged(self, reply: Reply, filtered: Filtered, *, again: bool = False) -> None:
        """Tells of a reply and its verdicts; if `again`, only of the verdicts."""
        if again:
            self.recorder.judged_again(self.name, filtered, shadow=self.shadow)
            return
        self.recorder.judged(self.name, reply, filtered, shadow=self.shadow)
        self._advance(reply)

    def _advance(self, message: Message) -> None:
        if self.recorder.journal is not None:
            self.sessions.advance(self.name, message, self.recorder.domain)
