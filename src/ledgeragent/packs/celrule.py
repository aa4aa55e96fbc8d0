"""A rule written in CEL, as the gate calls it: fetch the records it requires, evaluate, explain.

Three answers, as for Python rules. A field that was never read, or is stale, leaves its variable
without a value; where CEL can decide all the same (`true || ?`) it does, and otherwise the missing
evidence is asked for. Any other failure is raised, and the gate refuses the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.packs.cel import Absent, CelError
from ledgeragent.packs.celtree import Ident, Select
from ledgeragent.packs.keys import Key, Segment
from ledgeragent.packs.programs import Program
from ledgeragent.packs.variables import Variable
from ledgeragent.paths import PathTemplate
from ledgeragent.predicates import Broken, MissingEvidence, View, violation
from ledgeragent.types import Json

UNKNOWN = "(unknown)"
"""What a message says where a fact could not be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A record that a rule reads: `name` in its expressions, `at` this path, only if `when` holds.

    `always` demands it even where the check can be decided without it.
    """

    name: str
    at: PathTemplate[Any]
    keys: tuple[Segment, ...]
    when: Program | None = None
    always: bool = False


@dataclass(slots=True)
class _Found:
    """What one judgement has fetched: containers by root, variables read from them, what is missing."""

    containers: dict[str, Any]
    values: dict[str, Json] = field(default_factory=dict)
    missing: dict[str, MissingEvidence] = field(default_factory=dict)

    def read(self, variable: Variable) -> None:
        """Reads a variable, once; notes in `missing` which evidence it lacks instead."""
        name, root = variable.name, variable.root
        if name in self.values or name in self.missing:
            return
        if root not in self.containers:
            if root in self.missing:
                self.missing[name] = self.missing[root]
            return
        try:
            self.values[name] = variable.read(self.containers[root])
        except MissingEvidence as missing:
            self.missing[name] = missing
        except KeyError:
            return

    def evaluate(self, program: Program) -> Json:
        """The program's value; raises MissingEvidence where it cannot decide without it."""
        for variable in program.variables:
            self.read(variable)
        try:
            return program(self.values)
        except Absent as absent:
            if absent.name in self.missing:
                raise self.missing[absent.name] from None
            raise

    def fetch(self, requirement: Requirement, view: View) -> None:
        """Adds the required record, or what is missing for it; neither where it is not called for."""
        try:
            if requirement.when is not None and self.evaluate(requirement.when) is not True:
                return
            keys = [self._key(key) for key in requirement.keys]
            if None not in keys:
                self.containers[requirement.name] = view[requirement.at(*keys)]  # type: ignore[arg-type]
        except MissingEvidence as missing:
            self.missing[requirement.name] = missing

    def _key(self, key: Segment) -> str | None:
        """The key's value, None where an optional argument or field is not given."""
        if type(key) is str:
            return key
        assert isinstance(key, Key)
        value = self.containers.get(key.root, self)
        if value is self:
            if key.root in self.missing:
                raise self.missing[key.root]
            return None
        for name in key.fields:
            value = value.get(name) if key.optional else value[name]
        if type(value) is str:
            return value
        if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
            raise CelError(f"{key} is no text that can name a record")
        return None if value is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """An expression inside a message, with how its number is written (`.2f`), \"\" for as it is."""

    program: Program
    spec: str = ""

    def said(self, found: _Found) -> Json:
        """The fact as it is put into the message."""
        try:
            return self.written(self._value(found))
        except (MissingEvidence, CelError, KeyError):
            return UNKNOWN

    def written(self, value: Json) -> Json:
        """A value as this fact writes it."""
        if self.spec and isinstance(value, int | float):
            return format(value, self.spec)
        return "nothing" if value is None else value

    @property
    def plain(self) -> bool:
        """True for a field that was read already, which needs no CEL."""
        match self.program.tree:
            case Ident() | Select(operand=Ident(), test=False):
                return True
            case _:
                return False

    def _value(self, found: _Found) -> Json:
        match self.program.tree:
            case Ident(name=name):
                found.read(self.program.variables[0])
                return found.values[name]
            case Select(operand=Ident(name=name), field=field, test=False):
                found.read(self.program.variables[0])
                return found.values[name][field]
            case _:
                return found.evaluate(self.program)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One text for a violation, said if `condition` holds (None: always).

    `template` has `{f0}`, `{f1}` ... for its facts.
    """

    template: str
    facts: tuple[Fact, ...] = ()
    condition: Program | None = None

    def applies(self, found: _Found) -> bool:
        """True if this is what is wrong."""
        if self.condition is None:
            return True
        try:
            return found.evaluate(self.condition) is True
        except (MissingEvidence, CelError):
            return False

    def fill(self, found: _Found, computed: Iterable[Json] | None = None) -> Broken:
        """The reason given to the model. A fact that cannot be had never hides the violation.

        `computed` are the values of the facts that need CEL, where they are known already.
        """
        values = iter(computed) if computed is not None else None
        said = (
            fact.said(found) if fact.plain or values is None else fact.written(next(values))
            for fact in self.facts
        )
        return violation(self.template, **{f"f{i}": value for i, value in enumerate(said)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """What is said of a violation: the first of `cases` that applies.

    `chosen` gives the number of that case and its computed facts in one evaluation, None where the
    first case is said always and computes nothing.
    """

    cases: tuple[Message, ...]
    chosen: Program | None = None

    def reason(self, found: _Found, about: str) -> Broken:
        """The reason; what the rule is `about` where no case applies."""
        if self.chosen is not None:
            try:
                case, *computed = found.evaluate(self.chosen)
            except (MissingEvidence, CelError):
                return self._one_by_one(found, about)
            return self.cases[case].fill(found, computed) if case >= 0 else Broken(about)
        return self._one_by_one(found, about)

    def _one_by_one(self, found: _Found, about: str) -> Broken:
        for message in self.cases:
            if message.applies(found):
                return message.fill(found)
        return Broken(about)


class CelCheck:
    """The check of one CEL rule: `test` is true for a call that satisfies it, None to demand only."""

    def __init__(
        self,
        *,
        about: str,
        requires: tuple[Requirement, ...],
        test: Program | None,
        messages: Messages,
    ) -> None:
        self.__doc__ = about
        self.requires = requires
        self.test = test
        self.messages = messages
        self._demanded = tuple(found.name for found in requires if found.always)

    def __call__(self, arguments: Mapping[str, Json], view: View) -> Broken | None:
        """None if the call satisfies the rule, else why not; raises MissingEvidence or CelError."""
        found = _Found({"args": arguments, "params": view.parameters})
        for requirement in self.requires:
            found.fetch(requirement, view)
        broken = self._violation(found)
        if broken is None:
            for name in self._demanded:
                if name in found.missing:
                    raise found.missing[name]
        return broken

    def _violation(self, found: _Found) -> Broken | None:
        if self.test is None:
            return None
        answer = found.evaluate(self.test)
        if answer is True:
            return None
        if answer is False:
            return self.messages.reason(found, self.__doc__ or "the policy does not allow this")
        raise CelError(f"the check gave {answer!r} instead of true or false")
