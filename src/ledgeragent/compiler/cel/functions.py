"""The functions that packs have besides CEL's own: dates, and what CEL does not do with lists.

They are no callbacks: the library loses a little memory with every call back into Python, and a gate
runs for months. Dates, `max` and `min` are written out in CEL; `sum`, `sorted` and `distinct` are computed
before the expression that needs them, from a program of their own, and come in as variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ledgeragent.types import Json, canonical


def _sum(numbers: list[float]) -> float:
    return float(sum(numbers))


def _distinct(values: list[Json]) -> list[Json]:
    return list({canonical(value): value for value in values}.values())


COMPUTED: Mapping[str, Callable[[Any], Json]] = {
    "sum": _sum,
    "sorted": sorted,
    "distinct": _distinct,
}
"""Functions of one list that are computed beforehand."""

_DATE = (
    "timestamp(cel.bind(iso__, {0}, iso__.size() == 10 ? iso__ + 'T00:00:00Z'"
    " : iso__.size() == 19 ? iso__ + 'Z' : iso__))"
)
_DAYS = f"(({_DATE.replace('{0}', '{1}')} - {_DATE}).getHours() / 24)"
_WRITTEN_OUT: Mapping[str, tuple[int, str]] = {
    "date": (1, _DATE),
    "days": (2, _DAYS),
    "max": (1, "math.greatest({0})"),
    "min": (1, "math.least({0})"),
}

_TOKEN = re.compile(
    r"""(?P<text>[rR]?(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"""
    r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))|//[^\n]*|(?P<name>[A-Za-z_]\w*)|\s+|(?P<mark>.)""",
    re.DOTALL,
)


class Span(NamedTuple):
    """A call of one of our functions in a text: where it stands, and its arguments."""

    function: str
    start: int
    end: int
    arguments: tuple[str, ...]


class ToCompute(NamedTuple):
    """The value of a function for a list: `argument` begins in this line (from 0) of the expression."""

    name: str
    function: str
    argument: str
    line: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An expression without our functions; `computed` are to be bound first."""

    text: str
    computed: tuple[ToCompute, ...] = ()


def rewritten(text: str, name_of: Callable[[str, str], str | None], line: int = 0) -> Rewritten:
    """The expression with our functions written out, or replaced by a variable named by `name_of`.

    One that has no name stays. `line` is the one that the text begins in.
    """
    computed: list[ToCompute] = []
    out, position = "", 0
    for call in calls(text):
        out += text[position : call.start]
        position = call.end
        begins = line + text.count("\n", 0, call.start)
        if call.function in COMPUTED:
            name = name_of(call.function, call.arguments[0])
            if name is None:
                inner = rewritten(call.arguments[0], name_of, begins)
                computed += inner.computed
                out += f"{call.function}({inner.text})"
                continue
            computed.append(ToCompute(name, call.function, call.arguments[0], begins))
            out += name
            continue
        parts: list[Rewritten] = []
        for argument in call.arguments:
            parts.append(rewritten(argument, name_of, begins))
            begins += argument.count("\n")
        computed += [value for part in parts for value in part.computed]
        out += _WRITTEN_OUT[call.function][1].format(*(f"({part.text})" for part in parts))
    return Rewritten(out + text[position:], tuple(computed))


def calls(text: str) -> Iterator[Span]:
    """The outermost calls of our functions, in order; calls with a wrong number of arguments are left."""
    tokens = [m for m in _TOKEN.finditer(text) if m["text"] or m["name"] or m["mark"]]
    position = 0
    while position < len(tokens) - 1:
        function = tokens[position]["name"]
        before = tokens[position - 1]["mark"] if position else None
        arity = 1 if function in COMPUTED else _WRITTEN_OUT.get(function or "", (0, ""))[0]
        if arity and before != "." and tokens[position + 1]["mark"] == "(":
            end = _closing(tokens, position + 1)
            arguments = tuple(_arguments(text, tokens[position + 1 : end + 1]))
            if end < len(tokens) and len(arguments) == arity:
                yield Span(str(function), tokens[position].start(), tokens[end].end(), arguments)
                position = end
        position += 1


def only_call(text: str) -> Span | None:
    """The call of one of our functions that the text is, nothing around it; None if it is none."""
    first = next(calls(text), None)
    return first if first is not None and text[first.start : first.end] == text.strip() else None


def _closing(tokens: list[re.Match[str]], start: int) -> int:
    """The token that closes the bracket at `start`, len(tokens) if none does."""
    depth = 0
    for position in range(start, len(tokens)):
        mark = tokens[position]["mark"] or " "
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0:
            return position
    return len(tokens)


def _arguments(text: str, tokens: list[re.Match[str]]) -> Iterator[str]:
    """The texts between the commas of a bracketed list."""
    depth, start = 0, tokens[0].end()
    for token in tokens:
        mark = token["mark"] or " "
        depth += (mark in "([{") - (mark in ")]}")
        if (depth == 1 and mark == ",") or depth == 0:
            argument = text[start : token.start()]
            if argument.strip():
                yield argument
            start = token.end()
