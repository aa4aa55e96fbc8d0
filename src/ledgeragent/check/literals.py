"""Constants of CEL rules that are no regular expression, time, duration or date where one is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledgeragent.check.kinds import is_date
from ledgeragent.compiler.cel.engine import CelError, library
from ledgeragent.compiler.cel.evaluation import evaluated
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.scope import Mistyped
from ledgeragent.compiler.cel.tree import Call, Const, Expr, walk
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.shapes import Shape

_PLACES: Mapping[str, tuple[int, str, str]] = {
    "matches": (1, "'x'.matches(text)", "no regular expression"),
    "timestamp": (0, "timestamp(text)", "no time such as 2025-03-01T10:00:00Z"),
    "duration": (0, "duration(text)", "no duration such as 36h or 90m"),
}
"""By function: which argument it is, what tries it, and what it is not where that fails."""
_DATES = ("date", "days")
NO_DATE = "no date such as 2025-03-01"


def check_literals(outline: Outline) -> None:
    """Adds constants that make every evaluation fail."""
    for rule in outline.rules:
        for expression in rule.expressions:
            for at, text in _wrong(expression):
                place = expression.source.place(at)
                outline.findings.add("bad-constant", place, text, rule.id)


def _wrong(expression: Program | Mistyped) -> Iterator[tuple[int, str]]:
    for node in walk(expression.tree):
        if isinstance(node, Call) and node.function in _DATES:
            for argument in node.args:
                if (text := _text(argument)) is not None and not is_date(text):
                    yield argument.at, f"{text!r} is {NO_DATE}"
        elif isinstance(node, Call) and node.function in _PLACES:
            number, trial, what = _PLACES[node.function]
            text = _text(node.args[number]) if len(node.args) > number else None
            if text is not None and not _works(trial, text):
                yield node.args[number].at, f"{text!r} is {what}"


def _text(node: Expr) -> str | None:
    return node.value if isinstance(node, Const) and isinstance(node.value, str) else None


def _works(trial: str, text: str) -> bool:
    """True if the library evaluates this expression over the text."""
    kinds = library().Type
    declared = library().NewEnv(variables={"text": kinds.STRING})
    try:
        evaluated(declared.compile(trial).eval, {"text": text})
    except CelError:
        return False
    except TypeError:  # a value that it gives and cannot hand to Python is one all the same
        return True
    return True


def suits_dates(text: str, shape: Shape | None) -> bool:
    """True unless text that is no date, nor the beginning of one, is compared with a date."""
    return str(shape) != "date" or is_date(text)
