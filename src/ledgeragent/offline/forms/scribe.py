"""The scribe: writes down a conversation message by message, and refuses what pairs with nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

from ledgeragent.engines.assembly import reply, tool_call, tool_return, user_message
from ledgeragent.offline.forms.times import ANY_KEY, time_of
from ledgeragent.types import Json, Message, Reply, ToolCall

T = TypeVar("T")

_MOST_SHARED = 2048
_LONGEST_SHARED = 1024


class Scribe:
    """The messages of one conversation so far, and what was left out of it, by kind.

    `place` is the number of the element that is being read, from 1; `noun` is what it is called. `now`
    is the time that was told last, "" where none was.
    `pairing` refuses returns that no call before them awaits.
    """

    def __init__(self, *, pairing: bool = True) -> None:
        self.messages: list[Message] = []
        self.left_out: defaultdict[str, int] = defaultdict(int)
        self.place: int | None = None
        self.noun = "message"
        self.now = ""
        self._pairing = pairing
        self._open: list[ToolCall] = []
        self._numbered = 0
        self._is_growing = False

    def each(self, items: Iterable[T], noun: str = "message") -> Iterator[T]:
        """The items one by one; a problem with one of them is told with its number."""
        self.noun = noun
        for self.place, item in enumerate(items, 1):
            if isinstance(item, dict) and not ANY_KEY.isdisjoint(item):
                self.timed(item)
            yield item
        self.place = None

    def timed(self, item: object) -> None:
        """Takes the time that an element tells for that of the replies from here on."""
        self.now = (time_of(item) if isinstance(item, dict) else "") or self.now

    def leave_out(self, what: str, number: int = 1) -> None:
        """Counts something that is no part of a conversation between a user, an agent and tools."""
        self.left_out[what] += number

    def user(self, text: str) -> None:
        """A turn of the user."""
        self._is_growing = False
        self.messages.append(user_message(text))

    def reply(self, text: str = "", calls: Iterable[ToolCall] = ()) -> None:
        """A whole generation of the model."""
        self._is_growing = False
        if not calls:
            self.messages.append(reply(text, (), self.now))
            return
        numbered = tuple([c if c.id != NO_ID else self._numbered_call(c) for c in calls])
        self.messages.append(reply(text, numbered, self.now))
        self._open += numbered

    def say(self, text: str) -> None:
        """Words of the generation under way, which ends with the next return or user message."""
        self._grow(text, ())

    def call(self, call: ToolCall) -> None:
        """A call of the generation under way."""
        self._grow("", (call if call.id != NO_ID else self._numbered_call(call),))

    def returned(
        self,
        id: Json,
        content: Json,
        *,
        error: bool = False,
        lost: bool = False,
        name: Json = None,
    ) -> None:
        """What a tool answered, to the call with this id; without one, to the first open call.

        Raises ValueError where no such call is open.
        """
        key = self._answered(id, name) if self._pairing else key_of(id)
        text = "" if content is None else content
        self._is_growing = False
        self.messages.append(tool_return(key, text, error, lost))

    def copy(self, other: Scribe) -> None:
        """Takes over all that another scribe has written."""
        self.messages += other.messages
        for what, number in other.left_out.items():
            self.leave_out(what, number)

    @property
    def calls(self) -> list[ToolCall]:
        """Every call so far."""
        return [call for m in self.messages if type(m) is Reply for call in m.calls]

    @property
    def unanswered(self) -> int:
        """How many calls have no return."""
        return len(self._open)

    def at(self, problem: object) -> str:
        """A problem with the place of the element that was being read."""
        return str(problem) if self.place is None else f"{self.noun} {self.place}: {problem}"

    def _grow(self, text: str, calls: tuple[ToolCall, ...]) -> None:
        last = self.messages[-1] if self._is_growing else Reply()
        assert isinstance(last, Reply)
        if self._is_growing:
            self.messages.pop()
        words = "\n".join(filter(None, (last.text, text)))
        at = last.at or self.now
        self.messages.append(reply(words, (*last.calls, *calls), at))
        self._open += calls
        self._is_growing = True

    def _numbered_call(self, call: ToolCall) -> ToolCall:
        """The call of a record that has no id for it, with one."""
        self._numbered += 1
        return tool_call(call.name, call.arguments, f"{NO_ID}{self._numbered}", call.malformed)

    def _answered(self, id: Json, name: Json) -> str:
        waiting = self._open
        if waiting and waiting[0].id == id:  # most replies have one call
            return waiting.pop(0).id
        key = key_of(id)
        for number, call in enumerate(waiting):
            if call.id == key or (id is None and name in (None, call.name)):
                return waiting.pop(number).id
        return self._refuse(key, name)

    def _refuse(self, key: str, name: Json) -> str:
        of = f" of {name}" if isinstance(name, str) else ""
        which = f" with the id {key!r:.80}" if key else " without an id"
        raise ValueError(f"a return{of}{which}, and no call before it that awaits one")


NO_ID = "call "
"""The id of a call whose record has none; numbers are added."""


def key_of(id: Json) -> str:
    """An id as text, "" where there is none."""
    return id if type(id) is str else "" if id is None else str(id)


def call_of(name: Json, fields: Mapping[str, Json], *keys: str, id: Json = None) -> ToolCall:
    """The call of a tool with its arguments under one of these keys.

    Raises ValueError where its name is no text, or its arguments are absent.
    """
    for key in keys:
        arguments = fields.get(key)
        if arguments is not None:
            return call_with(name, arguments, id)
    raise ValueError(
        f"the call of {_named(name):.80} has no arguments; expected {' or '.join(keys)}"
    )


def call_with(name: Json, arguments: Json, id: Json = None) -> ToolCall:
    """The call of a tool with these arguments; raises ValueError where its name is no text."""
    tool = name if type(name) is str and name else _named(name)
    key = id if type(id) is str else NO_ID if id is None else str(id)
    if type(arguments) is str and len(arguments) <= _LONGEST_SHARED:
        like = _shared_call(arguments)
        return tool_call(tool, like.arguments, key, like.malformed)
    return ToolCall.parse(name=tool, arguments=arguments, id=key)


def _named(name: Json) -> str:
    if type(name) is str and name:
        return name
    raise ValueError("a tool call's name is not text" if name is not None else "it has no 'name'")


@lru_cache(_MOST_SHARED)
def _shared_call(arguments: str) -> ToolCall:
    """The call of any tool with these arguments: runs of the same tasks hold the same ones."""
    return ToolCall.parse(name="", arguments=arguments)
