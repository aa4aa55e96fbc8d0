"""The reasons for a violation: texts with facts, each said where its condition holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.compiler.cel.activation import Activation
from ledgeragent.compiler.cel.engine import CelError
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.tree import Expr, Ident, Select
from ledgeragent.predicates import Broken, MissingEvidence, violation
from ledgeragent.types import Json

UNKNOWN = "(unknown)"
"""The text for a fact that could not be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFact:
    """An expression inside a message, with how its number is written (`.2f`), \"\" for as it is.

    `last` is the function of ours that the whole expression is a call of: applied to a value that
    was computed together with others.
    """

    program: Program
    spec: str = ""
    last: Callable[[Any], Json] | None = None
    plain: tuple[str, str | None] | None = field(init=False)
    """The variable, and its member, if that is all: a field that was read already needs no CEL."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", _plain(self.program.tree))

    def said(self, activation: Activation) -> Json:
        """The fact as it is put into the message."""
        try:
            return self.written(self._value(activation))
        except (MissingEvidence, CelError, KeyError):
            return UNKNOWN

    def written(self, value: Json) -> Json:
        """A value as this fact writes it."""
        if self.spec and isinstance(value, int | float):
            return format(value, self.spec)
        return "nothing" if value is None else value

    def finished(self, value: Json) -> Json:
        """The fact as it is put into the message, from a value that was computed with others."""
        if self.last is None:
            return self.written(value)
        try:
            return self.written(self.last(value))
        except (TypeError, ValueError, OverflowError):
            return UNKNOWN

    def _value(self, activation: Activation) -> Json:
        if self.plain is None:
            return activation.evaluate(self.program)
        name, member = self.plain
        if name not in activation.values:
            activation.read(self.program.variables)
        value = activation.values[name]
        return value if member is None else value[member]


def _plain(tree: Expr) -> tuple[str, str | None] | None:
    match tree:
        case Ident(name=name):
            return name, None
        case Select(operand=Ident(name=name), field=member, test=False):
            return name, member
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonText:
    """One text for a violation, said if `condition` holds (None: always).

    `template` has `{f0}`, `{f1}` ... for its facts.
    """

    template: str
    facts: Mapping[str, MessageFact] = field(default_factory=dict)
    condition: Program | None = None

    def applies(self, activation: Activation) -> bool:
        """True if this is what is wrong."""
        if self.condition is None:
            return True
        try:
            return activation.evaluate(self.condition) is True
        except (MissingEvidence, CelError):
            return False

    def fill(self, activation: Activation, computed: Iterable[Json] | None = None) -> Broken:
        """The reason given to the model. A fact that cannot be had never hides the violation.

        `computed` are the values of the facts that need CEL, where they are known already.
        """
        values = iter(computed) if computed is not None else None
        facts = {
            name: fact.said(activation)
            if fact.plain is not None or values is None
            else fact.finished(next(values))
            for name, fact in self.facts.items()
        }
        return violation(self.template, **facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonTexts:
    """The texts for a violation: the first of `cases` that applies is said.

    `chosen` gives the number of that case (-1 for none) and its computed facts in one evaluation,
    None where the first case is said always and computes nothing. `joined` is true for a call that
    satisfies the check, and otherwise what `chosen` is; None where that would read more.
    """

    cases: tuple[ReasonText, ...]
    chosen: Program | None = None
    joined: Program | None = None

    def reason(self, activation: Activation, about: str) -> Broken:
        """The reason; what the rule is `about` where no case applies."""
        if self.chosen is not None:
            try:
                return self.told(activation.evaluate(self.chosen), activation, about)
            except (MissingEvidence, CelError):
                pass
        return self._one_by_one(activation, about)

    def told(self, chosen: Json, activation: Activation, about: str) -> Broken:
        """The reason that a value of `chosen` stands for."""
        case, *computed = chosen
        return self.cases[case].fill(activation, computed) if case >= 0 else Broken(about)

    def _one_by_one(self, activation: Activation, about: str) -> Broken:
        for message in self.cases:
            if message.applies(activation):
                return message.fill(activation)
        return Broken(about)
