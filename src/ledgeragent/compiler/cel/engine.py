"""CEL on `cel-expr-python`: expressions typed by the pack's records, and errors with their line.

Each field that an expression reads becomes a typed variable of its own (`order.status`), so the
library's checker sees the declared types, only these fields are converted for a decision, and a field
that was never read, or is stale, is simply not there: where CEL can decide without it, it does, and
otherwise it names the variable it needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from ledgeragent.compiler.cel.characters import first_refused
from ledgeragent.compiler.cel.tree import Expr, read_tree
from ledgeragent.compiler.cel.variables import Variable
from ledgeragent.compiler.problems import Place, Problems
from ledgeragent.compiler.shapes import Choice, ListOf, MapOf, Object, Scalar, Shape
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.errors import LedgerAgentError, MissingExtraError

LONGEST_EXPRESSION = 10_000

_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_TOO_MANY = re.compile(r"maximum number of ERROR issues exceeded: (\d+)")
_FOLLOWS = re.compile(r"expression of type '\*error\*' cannot be the (operand|range) of")
_OVERLOAD = re.compile(r"found no matching overload for '([^']+)' applied to '(.*)'")
STATUS = re.compile(
    r"^(?:INVALID_ARGUMENT|CANCELLED|UNKNOWN|OUT_OF_RANGE|INTERNAL): | \[[A-Z_]+\]$"
)
_UNKNOWN_TOKEN = re.compile(r"token recognition error at: '(.*)'", re.DOTALL)
_SPELLED = {"_[_]": "[ ]", "_?_:_": "? :"}
_DOUBLED = {"=": "== to compare", "&": "&&", "|": "||"}
_OPERATORS = {"and": "&&", "or": "||", "not": "!", "is": "==", "if": "a ? b : c"}
_WORD_INPUT = re.compile(rf"input '({'|'.join(_OPERATORS)})'", re.IGNORECASE)
_MISCALLED = frozenset(
    f"undeclared reference to '{name}'"
    for name in ("date", "days", "distinct", "max", "min", "sorted", "sum")
)


class CelError(LedgerAgentError):
    """An expression could not be evaluated; the gate then refuses the call."""


class Refused(frozenset[int]):
    """The places in a text at which the checker found fault with it."""


class Absent(CelError):
    """An expression needs a variable that has no value."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} has no value here")
        self.name = name


# ── The library ─────────────────────────────────────────────────────────────────────────────────


@cache
def library() -> Any:
    """The module `cel_expr_python.cel`; raises MissingExtraError where it is not installed."""
    try:
        return import_module("cel_expr_python.cel")
    except ImportError:
        raise MissingExtraError("cel-expr-python", "cel") from None


@cache
def _extensions() -> tuple[list[Any], list[Any]]:
    """The libraries that expressions can use, and our functions as the checker knows them."""
    cel = library()
    bindings, strings, math, optional = (
        import_module(f"cel_expr_python.ext.ext_{name}")
        for name in ("bindings", "strings", "math", "optional")
    )
    kinds = cel.Type
    text, texts, things = kinds.STRING, kinds.List(kinds.STRING), kinds.List(kinds.DYN)
    signatures = {
        "date": (kinds.TIMESTAMP, [text]),
        "days": (kinds.INT, [text, text]),
        "sorted": (texts, [texts]),
        "sum": (kinds.DOUBLE, [things]),
        "distinct": (things, [things]),
        "max": (kinds.DYN, [things]),
        "min": (kinds.DYN, [things]),
    }
    functions = [
        cel.FunctionDecl(name, [cel.Overload(name, return_type=result, parameters=parameters)])
        for name, (result, parameters) in signatures.items()
    ]
    extensions = [
        bindings.ExtBindings(),
        strings.ExtStrings(),
        math.ExtMath(),
        optional.ExtOptional(),
    ]
    return extensions, functions


def cel_type(shape: Shape) -> Any:
    """The CEL type that a value of this shape has."""
    kinds = library().Type
    match shape:
        case Scalar("str" | "date"):
            return kinds.STRING
        case Scalar("timestamp"):
            return kinds.TIMESTAMP
        case Scalar("int"):
            return kinds.INT
        case Scalar("float"):
            return kinds.DOUBLE
        case Scalar("bool"):
            return kinds.BOOL
        case Choice(values) if all(isinstance(value, str) for value in values):
            return kinds.STRING
        case Choice(values) if all(type(value) is int for value in values):
            return kinds.INT
        case ListOf(item):
            return kinds.List(cel_type(item))
        case MapOf(item):
            return kinds.Map(kinds.STRING, cel_type(item))
        case Object():
            return kinds.Map(kinds.STRING, kinds.DYN)
        case _:
            return kinds.DYN


# ── Source text and its places ──────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Source:
    """Text handed to CEL: `body`, wrapped in the `lets` it uses, with where each line is from."""

    text: str
    origins: tuple[Place, ...]
    body: Node
    lets: tuple[tuple[str, Node], ...] = ()

    @classmethod
    def of(cls, node: Node, lets: Iterable[tuple[str, Node]] = ()) -> Source:
        """The expression in `node`, evaluated with these names bound."""
        lines: list[str] = []
        origins: list[Place] = []
        bindings = tuple(lets)
        for name, bound in bindings:
            pieces = [(f"cel.bind({name},", bound.line), *_lines(bound), (",", bound.line)]
            lines += [text for text, _ in pieces]
            origins += [Place(bound.file, line) for _, line in pieces]
        lines += [text for text, _ in _lines(node)]
        origins += [Place(node.file, line) for _, line in _lines(node)]
        ends = "\n" + ")" * len(bindings) if bindings else ""  # the last line may be a comment
        return cls("\n".join(lines) + ends, tuple(origins), node, bindings)

    def place(self, at: int) -> Place:
        """Where the character at this offset was written."""
        return self.place_of_line(self.text.count("\n", 0, at) + 1)

    def at(self, line: int, column: int) -> int:
        """The offset of this line and column (from 1)."""
        lines = self.text.split("\n")[: line - 1]
        return sum(len(before) + 1 for before in lines) + column - 1

    def place_of_line(self, line: int) -> Place:
        """Where this line (from 1) was written."""
        return self.origins[min(max(line, 1), len(self.origins)) - 1]


def _lines(node: Node) -> list[tuple[str, int]]:
    text = str(node.value).rstrip("\n")
    return [(line, node.begins + i) for i, line in enumerate(text.split("\n"))]


def parse(source: Source, findings: Problems, rule: str = "") -> Expr | None:
    """The untyped tree of an expression, or None and a finding where it has no syntax."""
    tree = _compiled(source, _plain_environment(), findings, rule, disable_check=True)
    return None if isinstance(tree, Refused) else tree


@cache
def _plain_environment() -> Any:
    extensions, functions = _extensions()
    return library().NewEnv(extensions=extensions, functions=functions)


def _compiled(
    source: Source, environment: Any, findings: Problems, rule: str, *, disable_check: bool
) -> Any:
    if len(source.text) > LONGEST_EXPRESSION:
        text = f"an expression of {len(source.text)} characters; split it into several rules"
        findings.add("type-error", source.place(0), text, rule)
        return Refused()
    character = first_refused(source.text)
    if character:
        text = f"an expression cannot hold the character {character}"
        findings.add("syntax", source.place(0), text, rule)
        return Refused()
    try:
        expression = environment.compile(source.text, disable_check=disable_check)
    except Exception as problem:  # the library raises RuntimeError, ValueError or its own
        return _explain(str(problem), source, findings, rule)
    return read_tree(expression.serialize()) if disable_check else expression


def _explain(problem: str, source: Source, findings: Problems, rule: str) -> Refused:
    errors = _most_telling(_ERROR.findall(problem))
    if not errors:
        text = STATUS.sub("", problem.splitlines()[0])
        findings.add("type-error", source.place(0), f"not a usable expression: {text}", rule)
    for line, _, text in errors:
        place = source.place_of_line(int(line) if int(line) < 1 << 31 else 1)
        findings.add("type-error", place, _in_our_words(STATUS.sub("", text)), rule)
    more = _TOO_MANY.search(problem)
    if more is not None:
        text = f"one expression with over {more[1]} errors: only the first are told"
        findings.add("type-error", source.place(0), text, rule)
    return Refused(source.at(int(line), int(column)) for line, column, _ in errors)


def _most_telling(errors: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Those that don't follow from others; of several errors of syntax, the one that tells most."""
    errors = [error for error in errors if not _FOLLOWS.match(error[2])] or errors
    syntax = [error for error in errors if error[2].startswith("Syntax error: ")]
    return sorted(syntax, key=lambda error: "token recognition" not in error[2])[:1] or errors


def _in_our_words(text: str) -> str:
    overload = _OVERLOAD.search(text)
    if overload is not None:
        operator = _SPELLED.get(overload[1], overload[1].strip("_@"))
        operands = overload[2][1:-1].replace("google.protobuf.Timestamp", "timestamp")
        operands = operands.replace("*error*", "unknown")
        hint = ""
        if {"string", "timestamp"} <= set(operands.split(", ")):
            hint = (
                "; write date(...) around the text, or compare with a date in text, such as today"
            )
        if "null_type" in operands:
            return "a field that is null counts as absent: test it with has(...)"
        if {"double", "int"} <= set(operands.split(", ")):
            hint = "; write the whole number as a float (3.0), or convert with double(...)"
        return f"{operator!r} does not apply to {operands or 'nothing'}{hint}"
    if text.startswith("Syntax error: "):
        return f"not a CEL expression: {_syntax(text.removeprefix('Syntax error: '))}"
    text = text.removesuffix(" (in container '')")
    if text in _MISCALLED:
        return f"{text.removeprefix('undeclared reference to ')} takes another number of arguments"
    return text


def _syntax(text: str) -> str:
    unknown = _UNKNOWN_TOKEN.fullmatch(text)
    if unknown is not None and unknown[1].strip() in _DOUBLED:
        return f"write {_DOUBLED[unknown[1].strip()]}"
    if unknown is not None and unknown[1][0] in "'\"":
        return f"the quote of {unknown[1]} is not closed"
    if unknown is not None:
        return f"{unknown[1]} has no meaning in CEL; put text into quotes"
    text = text.partition(" expecting")[0].replace("'<EOF>'", "the end")
    if text == "mismatched input the end":
        return "it ends too early"
    word = _WORD_INPUT.search(text)
    if word is not None:
        return f"write {_OPERATORS[word[1].lower()]} instead of {word[1]}"
    return text


# ── Environments ────────────────────────────────────────────────────────────────────────────────


def environment(variables: Iterable[Variable], computed: Mapping[str, str] | None = None) -> Any:
    """The CEL environment in which these variables are declared.

    `computed` maps the variables for values of our functions to the function.
    """
    extensions, functions = _extensions()
    kinds = library().Type
    results = {
        "sum": kinds.DOUBLE,
        "sorted": kinds.List(kinds.STRING),
        "distinct": kinds.List(kinds.DYN),
    }
    types = {v.name: cel_type(v.shape) for v in variables}
    types |= {name: results[function] for name, function in (computed or {}).items()}
    return library().NewEnv(variables=types, extensions=extensions, functions=functions)


def compiled(source: Source, declared: Any, findings: Problems, rule: str) -> Any:
    """The library's checked expression, or `Refused` and findings where types do not fit together."""
    return _compiled(source, declared, findings, rule, disable_check=False)
