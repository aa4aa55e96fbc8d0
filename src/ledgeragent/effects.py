"""What each tool does to the world: a read with its route, a write with what it touches, or neither.

A domain lists one of these per tool (paper §Method: read-only calls are not gated). A tool that the
domain does not list counts as a write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar

from ledgeragent.ledger import Ledger, Touch
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.types import Arguments, Json, ToolCall, parse_json

R = TypeVar("R")

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


def text(content: str) -> Json:
    """The parser of tools that answer with a plain string, such as an id."""
    return content


def _whole(value: Json, arguments: Arguments) -> Iterable[Json]:
    return (value,)


def _always(arguments: Arguments) -> bool:
    return True


def _never(answer: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Generic[R]):
    """One read route: the returns of `tool` are stored at `to` (paper: the tool path map).

    The keys of the path come from the record itself, else from the argument of the same name;
    `rename` maps a placeholder to an argument that is called otherwise. `records` fans one return
    out into several records. `when` limits the route to calls with certain arguments. `merge` keeps
    the fields that this read does not supply. `failed` recognises failures that are ordinary
    text, `unavailable` the failures that asking again cannot mend. `parameters` names the
    tool's required arguments: where the path supplies them all, the route can be inverted.
    """

    effect: ClassVar = Effect.READ
    tool: str
    to: PathTemplate[R]
    parameters: Sequence[str] = ()
    parse: Parser = parse_json
    rename: Mapping[str, str] = field(default_factory=dict)
    records: Callable[[Json, Arguments], Iterable[Json]] = _whole
    when: Callable[[Arguments], bool] = _always
    merge: bool = False
    failed: Callable[[str], bool] = _never
    unavailable: Callable[[str], bool] = _never

    def key(self, name: str, record: Json, arguments: Arguments) -> str | None:
        """The value of one placeholder, or None where neither record nor arguments have it."""
        has_fields = type(record) is dict or isinstance(record, Mapping)
        value = record.get(name) if has_fields else None
        if value is None:
            value = arguments.get(self.rename.get(name, name))
        if isinstance(value, str):
            return value or None
        return None if isinstance(value, bool) or not isinstance(value, int) else str(value)

    def call_for(self, path: Path[Any]) -> ToolCall | None:
        """The call of this tool that would supply `path`, or None if it does not serve that family.

        Arguments that the path cannot tell (a lookup by email) are left out.
        """
        keys = self.to.match(path)
        if keys is None:
            return None
        known = {self.rename.get(name, name): value for name, value in keys.items()}
        arguments = {name: known[name] for name in self.parameters if name in known}
        return ToolCall(name=self.tool, arguments=arguments) if self.when(known) else None

    def complete(self, call: ToolCall) -> bool:
        """True if `call` has every argument the tool requires, and they single the record out."""
        keys = {self.rename.get(name, name) for name in self.to.keys}
        return keys <= call.arguments.keys() and all(n in call.arguments for n in self.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A tool that changes the world: the shape of its arguments and what it makes stale.

    `failed` recognises failures that are ordinary text. `open` where a call may carry arguments that
    `arguments` does not name.
    """

    effect: ClassVar = Effect.WRITE
    tool: str
    arguments: type[Any]
    touches: Sequence[Touches] = ()
    failed: Callable[[str], bool] = _never
    open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Neutral:
    """A tool that neither observes records nor changes them. `arguments` and `open` as for `Write`."""

    effect: ClassVar = Effect.NEUTRAL
    tool: str
    arguments: type[Any] | None = None
    open: bool = False


Tool = Read[Any] | Write | Neutral


def touch(template: PathTemplate[Any], *fields: str) -> Touches:
    """Marks the record that the arguments name: whole, or only `fields` ("a.b" for a nested one)."""
    prefixes = [tuple(name.split(".")) for name in fields] or [()]

    def touches(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
        try:
            path = template(*[str(arguments[name]) for name in template.keys])
        except KeyError:
            return ()
        return [Touch(path, prefix) for prefix in prefixes]

    return touches
