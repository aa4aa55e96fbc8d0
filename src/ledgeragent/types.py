"""The values that flow between model, tools and ledger: calls, returns, messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn, TypeAlias

Json: TypeAlias = Any
"""A value as `json.loads` gives it. Treated as frozen: nothing here ever changes one in place."""

Arguments: TypeAlias = Mapping[str, Json]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    return n if abs(n := float(digits)) < float("inf") else _no_constant(f"{digits:.20}")


_DEEPEST = 200
_SPACED_COLON = re.compile(r'"\s+:')
_canonical = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False, default=str
).encode
strict: Any = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def _are_deep(values: Iterable[Json]) -> bool:
    for _ in range(_DEEPEST):
        inner = [v for v in values if type(v) is dict or type(v) is list]
        if not inner:
            return False
        values = [w for v in inner for w in (v.values() if type(v) is dict else v)]
    return True


def parse_json(text: str) -> Json:
    """The value of strict JSON: NaN and Infinity are refused, since no rule can compare with them.

    So are numbers too large to be told from Infinity, which would be written back as that.
    """
    try:
        value, end = strict.scan_once(text, 0)
    except StopIteration:
        end = -1
    # What stands around the value, or is wrong with it, is for the decoder to say.
    return value if end == len(text) else strict.decode(text)


class RepeatedKeyError(ValueError):
    """An object has a key twice."""


def parse_distinct(text: str) -> Json:
    """The value of strict JSON; RepeatedKeyError where an object in it has a key twice."""
    value = parse_json(text)
    keys, colons = _keys_in([value]), text.count(":")
    # Each key stands before a colon; other text with some only makes a closer look needed.
    if colons != keys:
        # Inside of text a quote stands behind a backslash; a key that ends with one is looked at.
        in_place = text.count('":') - (0 if '\\\\":' in text else text.count('\\":'))
        if in_place != keys or (colons != in_place and _SPACED_COLON.search(text)):
            json.loads(text, object_pairs_hook=_refuse_repeats)
    return value


def _parse_object(text: str) -> dict[str, Json]:
    value = parse_distinct(text)
    if type(value) is not dict:
        raise ValueError("no object")
    return value


def _keys_in(container: Json) -> int:
    keys, items = 0, container
    if type(container) is dict:
        keys, items = len(container), container.values()
    for item in items:
        if type(item) is not str and (type(item) is dict or type(item) is list):
            keys += _keys_in(item)
    return keys


def _refuse_repeats(pairs: list[tuple[str, Json]]) -> None:
    # Parsers disagree which of two equal keys counts, so the tool may not see what a rule saw.
    if len(pairs) != len({name for name, _ in pairs}):
        raise RepeatedKeyError("a key stands twice")


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call as the model wrote it.

    `malformed` holds the raw argument text where it was not a JSON object; `arguments` is then
    empty and the gate never lets the call through.
    """

    name: str
    arguments: Arguments = field(default_factory=dict)
    id: str = ""
    malformed: str | None = None

    @classmethod
    def parse(cls, *, name: str, arguments: str | Arguments | None, id: str = "") -> ToolCall:
        """The call for arguments given as JSON text (chat APIs) or as an object."""
        if arguments is None or arguments == "":
            return cls(name=name, id=id)
        parsed: Json = arguments
        if type(arguments) is str or not isinstance(arguments, Mapping):
            try:
                parsed = _parse_object(arguments)
            except (ValueError, RecursionError, TypeError):
                return cls(name=name, id=id, malformed=str(arguments))
        short = type(arguments) is str and len(arguments) < 2 * _DEEPEST
        if not short and _are_deep(parsed.values()):
            return cls(name=name, id=id, malformed="arguments that are nested too deep")
        return cls(name=name, arguments=parsed, id=id)

    @cached_property
    def intent(self) -> tuple[str, str]:
        """What the call asks for, whatever its id: tool name and canonical argument text."""
        return self.name, self.malformed or canonical(self.arguments)

    def __str__(self) -> str:
        if self.malformed is not None:
            return f"{self.name}({self.malformed})"
        texts = (f"{name}={json.dumps(v, default=str)}" for name, v in self.arguments.items())
        return f"{self.name}({', '.join(texts)})"


def is_error(content: Json) -> bool:
    """True for text that tells a failure, whatever flag came with it."""
    return isinstance(content, str) and content.startswith("Error")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturn:
    """What a tool answered. `content` is text as chat APIs carry it, or an already decoded value.

    `lost` where no answer came, or will come: whether the call executed is then not known.
    """

    call_id: str
    content: Json
    error: bool = False
    lost: bool = False

    @property
    def failed(self) -> bool:
        """True for the error flag *or* text that begins with `Error`: recorded flags can be wrong."""
        return self.error or is_error(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """A turn of the person the agent serves."""

    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One generation of the model: text, tool calls, or both.

    `at` is when it was given, as ISO 8601 with its zone, "" where that is not known.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    at: str = field(default="", compare=False)


Message: TypeAlias = UserMessage | Reply | ToolReturn


def canonical(value: Json) -> str:
    """The one JSON text for a value: sorted keys, no spaces, whatever the order it arrived in."""
    try:
        return _canonical(value)
    except RecursionError:
        return '"(nested too deep to be shown)"'
