"""What each tool does to the world: a read with its route, a write with what it touches, or neither.

A domain lists one of these per tool (paper §Method: read-only calls are not gated). A tool that the
domain does not list counts as a write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar

from ledgeragent.ledger import Fields, Ledger, Touch
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.returned import parse_value, shortened
from ledgeragent.shape import shape_of
from ledgeragent.types import Arguments, Json, ToolCall

R = TypeVar("R")

_LONGEST_FAILURE = 400  # characters, at the beginning and at the end
_MOST_REMEMBERED = 4096
_TRANSPORT = re.compile(
    r"time[- ]?out|timed[- ]?out|deadline exceeded|context cancell?ed|bad gateway|service unavailable"
    r"|\b50[234]\b|\bE(?:CONNRESET|CONNABORTED|TIMEDOUT|PIPE|OF)\b|socket hang ?up|fetch failed"
    r"|broken pipe|incomplete read|network (?:error|failure|changed)|no (?:response|reply) from"
    r"|remote ?protocol ?error|operation (?:was )?(?:aborted|cancell?ed)|request (?:was )?aborted"
    r"|disconnected|disconnect/reset|\bconnect(?:ion)? ?error"
    r"|connection(?: \w+){0,3}[ :]+(?:lost|reset|aborted|closed|broken|dropped|terminated|interrupted)"
    r"|(?:lost|lose|reset|aborted|closed|dropped|terminated|interrupted)(?: \w+)? connection",
    re.IGNORECASE,
)

Parser = Callable[[str], Json]
"""Turns returned text into a value, or raises ValueError where the text is no such value."""

Touches = Callable[[Arguments, Ledger], Iterable[Touch]]
"""What a write with these arguments changes, given what has been observed."""


class Effect(Enum):
    """The three kinds of tools."""

    READ = "read"
    WRITE = "write"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Untyped:
    """Text that belongs to a record's path but could not be turned into the record."""

    text: str


def structured(content: str) -> Json:
    """The parser of records: JSON, or the text that Python writes for the same value.

    Raises ValueError for any other text.
    """
    return parse_value(content)


def text(content: str) -> Json:
    """The parser of tools that answer with a plain string, such as an id."""
    return content.strip()


@dataclass(frozen=True, slots=True)
class TextForm:
    """The parser of plain answers that have a form: an id, or one of a few words.

    Anything else is no answer (an apology, a sentence), so it is evidence of nothing: ValueError.
    """

    pattern: re.Pattern[str]
    expected: str

    def __call__(self, content: str) -> Json:
        """The text without the spaces around it."""
        answer = content.strip()
        if self.pattern.fullmatch(answer) is None:
            raise ValueError(f"expected {self.expected}, got {shortened(answer)!r}")
        return answer


def matching(pattern: str, expected: str) -> TextForm:
    """The parser of answers that match a regular expression, described as `expected`."""
    return TextForm(re.compile(pattern), expected)


def one_of(*words: str) -> TextForm:
    """The parser of answers that are one of these words, to the letter."""
    return TextForm(re.compile("|".join(map(re.escape, words))), f"one of {', '.join(words)}")


def lost_on_the_way(answer: str) -> bool:
    """True for a failure of the transport rather than a refusal: the write may have happened."""
    ends = (answer[:_LONGEST_FAILURE], answer[_LONGEST_FAILURE:][-_LONGEST_FAILURE:])
    return any(_TRANSPORT.search(end) is not None for end in ends)


def whole(value: Json, arguments: Arguments) -> Iterable[Json]:
    """The records of a return that is one itself."""
    return (value,)


def _always(arguments: Arguments) -> bool:
    return True


def _never(answer: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[R]):
    """The way of what a tool returns into the ledger: to the path `to` (paper: the tool path map).

    The keys of the path come from the record itself, else from the argument of the same name;
    `rename` maps a placeholder to an argument that is called otherwise. `records` fans one return
    out into several records, which may stand inside fields of the return that are named `envelope`
    (so that these are taken for no host's wrapping). `when` limits the route to calls with certain
    arguments. `merge` keeps the fields that this return does not supply.
    """

    to: PathTemplate[R]
    parse: Parser = structured
    rename: Mapping[str, str] = field(default_factory=dict)
    records: Callable[[Json, Arguments], Iterable[Json]] = whole
    when: Callable[[Arguments], bool] = _always
    merge: bool = False
    envelope: Collection[str] = ()

    @property
    def is_whole(self) -> bool:
        """True if what is returned is the one record itself."""
        return self.records is whole

    @property
    def own(self) -> Collection[str]:
        """The fields at the top of a return that are the tool's own, and no wrapping of a host."""
        if self.envelope or not self.is_whole:
            return self.envelope
        return shape_of(self.to.record).fields.keys()

    def key(self, name: str, record: Json, arguments: Arguments) -> str | None:
        """The value of one placeholder, or None where neither record nor arguments have it."""
        has_fields = type(record) is dict or isinstance(record, Mapping)
        value = record.get(name) if has_fields else None
        if value is None:
            value = arguments.get(self.rename.get(name, name))
        if isinstance(value, str):
            return value or None
        return None if isinstance(value, bool) or not isinstance(value, int) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Route[R]):
    """One read route: the returns of `tool` are stored at `to`.

    `failed` recognises failures that are ordinary text, `unavailable` the failures that asking
    again cannot mend. `parameters` names the tool's required arguments: where the path supplies
    them all, the route can be inverted.
    """

    effect: ClassVar = Effect.READ
    tool: str
    parameters: Sequence[str] = ()
    failed: Callable[[str], bool] = _never
    unavailable: Callable[[str], bool] = _never

    def call_for(self, path: Path[Any]) -> ToolCall | None:
        """The call of this tool that would supply `path`, or None if it does not serve that family.

        Arguments that the path cannot tell (a lookup by email) are left out.
        """
        keys = self.to.match(path)
        if keys is None:
            return None
        by_argument = {self.rename.get(name, name): value for name, value in keys.items()}
        arguments = {n: by_argument[n] for n in self.parameters if n in by_argument}
        return ToolCall(name=self.tool, arguments=arguments) if self.when(by_argument) else None

    def complete(self, call: ToolCall) -> bool:
        """True if `call` has every argument the tool requires, and they single the record out."""
        keys = {self.rename.get(name, name) for name in self.to.keys}
        return keys <= call.arguments.keys() and all(n in call.arguments for n in self.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnRoute(Route[R]):
    """The route of what a write answers with: an observation, once it has executed.

    `omit` names fields that the answer gets wrong: what was known of them before stays.
    """

    omit: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A tool that changes the world: the shape of its arguments and what it makes stale.

    `returns` are the routes of what it answers with. `failed` recognises failures that are ordinary
    text, `lost` those that leave open whether it executed. `open` where a call may carry arguments
    that `arguments` does not name.
    """

    effect: ClassVar = Effect.WRITE
    tool: str
    arguments: type[Any]
    touches: Sequence[Touches] = ()
    returns: Sequence[ReturnRoute[Any]] = ()
    failed: Callable[[str], bool] = _never
    lost: Callable[[str], bool] = lost_on_the_way
    open: bool = False

    def touched(self, arguments: Arguments | None, ledger: Ledger) -> list[Touch]:
        """What a call changes, its arguments as rules read them; all, where that cannot be told."""
        marks: list[Touch] = []
        try:
            if arguments is not None:
                for touches in self.touches:
                    marks += touches(arguments, ledger)
                return marks
        except Exception:  # the pack's own code
            pass
        return [Touch(entry.path) for entry in ledger]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neutral:
    """A tool that neither observes records nor changes them. `arguments` and `open` as for `Write`."""

    effect: ClassVar = Effect.NEUTRAL
    tool: str
    arguments: type[Any] | None = None
    open: bool = False


Tool = Read[Any] | Write | Neutral


@dataclass(frozen=True, slots=True, eq=False)
class FieldTouch:
    """The marks on the record that the arguments name: on `fields`, each a way into it, () for all."""

    template: PathTemplate[Any]
    fields: tuple[Fields, ...]
    _key: str = field(init=False)
    _marks: dict[str, tuple[Touch, ...]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        keys = self.template.keys
        object.__setattr__(self, "_key", keys[0] if len(keys) == 1 else "")

    def __call__(self, arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
        """The marks for a call with these arguments; none where they name no record."""
        key = arguments.get(self._key)
        # A call is judged more than once, and told of more often still.
        marks = self._marks.get(key) if type(key) is str else None
        return marks if marks is not None else self._make(arguments)

    def _make(self, arguments: Arguments) -> tuple[Touch, ...]:
        keys = [str(arguments[name]) for name in self.template.keys if name in arguments]
        if len(keys) < len(self.template.keys):
            return ()
        path = self.template(*keys)
        if len(self._marks) >= _MOST_REMEMBERED:
            self._marks.clear()
        marks = tuple(Touch(path, prefix) for prefix in self.fields)
        if len(keys) == 1:
            self._marks[keys[0]] = marks
        return marks


def touch(template: PathTemplate[Any], *fields: str) -> FieldTouch:
    """Marks the record that the arguments name: whole, or only `fields` ("a.b" for a nested one)."""
    return FieldTouch(template, tuple(tuple(name.split(".")) for name in fields) or ((),))
