"""A rule written in CEL, as the gate calls it: fetch the records it requires, evaluate, explain.

Three answers, as for Python rules. A field that was never read, or is stale, leaves its variable
without a value; where CEL can decide all the same (`true || ?`) it does, and otherwise the missing
evidence is asked for. Any other failure is raised, and the gate refuses the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.compiler.cel.characters import Unreadable, is_readable
from ledgeragent.compiler.cel.library import Absent, CelError
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.tree import Expr, Ident, Select
from ledgeragent.compiler.cel.variables import Variable
from ledgeragent.compiler.source.keys import Key, Segment
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.predicates import Broken, MissingEvidence, View, violation
from ledgeragent.types import Json

_MALFORMED = "{argument} is malformed: it holds the character {character}; send it without"

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
class _Activation:
    """What one judgement has fetched: containers by root, variables read from them, what is missing.

    `paths` are those of the records among the containers.
    """

    containers: dict[str, Any]
    paths: dict[str, Path[Any]] = field(default_factory=dict)
    values: dict[str, Json] = field(default_factory=dict)
    missing: dict[str, MissingEvidence] = field(default_factory=dict)

    def read(self, variables: Iterable[Variable]) -> None:
        """Reads variables, each once; notes in `missing` which evidence they lack instead.

        A record's field that CEL would misread is no evidence; raises Unreadable for an argument.
        """
        values, missing, containers = self.values, self.missing, self.containers
        for variable in variables:
            name, root = variable.name, variable.root
            if name in values or name in missing:
                continue
            if root not in containers:
                if root in missing:
                    missing[name] = missing[root]
                continue
            try:
                values[name] = variable.reader(containers[root])
            except MissingEvidence as lacking:
                missing[name] = lacking
            except Unreadable:
                if root not in self.paths:
                    raise
                missing[name] = MissingEvidence(self.paths[root], fields=variable.fields)
            except KeyError:
                continue

    def evaluate(self, program: Program) -> Json:
        """The program's value; raises MissingEvidence where it cannot decide without it."""
        self.read(program.variables)
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
            if None in keys:
                return
            path = requirement.at(*keys)  # type: ignore[arg-type]
            if path not in view and view.entry(path) is None:  # cheaper to see than to catch
                self.missing[requirement.name] = MissingEvidence(path)
            else:
                self.containers[requirement.name] = view[path]
                self.paths[requirement.name] = path
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
            if key.root not in self.paths and not is_readable(value):
                raise Unreadable(str(key), value)
            return value
        if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
            raise CelError(f"{key} is no text that can name a record")
        return None if value is None else str(value)


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

    def said(self, activation: _Activation) -> Json:
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

    def _value(self, activation: _Activation) -> Json:
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

    def applies(self, activation: _Activation) -> bool:
        """True if this is what is wrong."""
        if self.condition is None:
            return True
        try:
            return activation.evaluate(self.condition) is True
        except (MissingEvidence, CelError):
            return False

    def fill(self, activation: _Activation, computed: Iterable[Json] | None = None) -> Broken:
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
    """What is said of a violation: the first of `cases` that applies.

    `chosen` gives the number of that case (-1 for none) and its computed facts in one evaluation,
    None where the first case is said always and computes nothing. `joined` is true for a call that
    satisfies the check, and otherwise what `chosen` is; None where that would read more.
    """

    cases: tuple[ReasonText, ...]
    chosen: Program | None = None
    joined: Program | None = None

    def reason(self, activation: _Activation, about: str) -> Broken:
        """The reason; what the rule is `about` where no case applies."""
        if self.chosen is not None:
            try:
                return self.told(activation.evaluate(self.chosen), activation, about)
            except (MissingEvidence, CelError):
                pass
        return self._one_by_one(activation, about)

    def told(self, chosen: Json, activation: _Activation, about: str) -> Broken:
        """The reason that a value of `chosen` stands for."""
        case, *computed = chosen
        return self.cases[case].fill(activation, computed) if case >= 0 else Broken(about)

    def _one_by_one(self, activation: _Activation, about: str) -> Broken:
        for message in self.cases:
            if message.applies(activation):
                return message.fill(activation)
        return Broken(about)


class CelCheck:
    """The check of one CEL rule: `test` is true for a call that satisfies it, None to demand only."""

    def __init__(
        self,
        *,
        about: str,
        requires: tuple[Requirement, ...],
        test: Program | None,
        messages: ReasonTexts,
    ) -> None:
        self.__doc__ = about
        self.requires = requires
        self.test = test
        self.messages = messages
        self._demanded = tuple(requirement.name for requirement in requires if requirement.always)

    def __call__(self, arguments: Mapping[str, Json], view: View) -> Broken | None:
        """None if the call satisfies the rule, else why not; raises MissingEvidence or CelError.

        An argument that CEL would misread breaks every rule that reads it.
        """
        try:
            return self._judged(arguments, view)
        except Unreadable as problem:
            argument = problem.where.removeprefix("args.")
            return violation(_MALFORMED, argument=argument, character=problem.character)

    def _judged(self, arguments: Mapping[str, Json], view: View) -> Broken | None:
        activation = _Activation({"args": arguments, "params": view.parameters})
        for requirement in self.requires:
            activation.fetch(requirement, view)
        broken = self._violation(activation)
        if broken is None:
            for name in self._demanded:
                if name in activation.missing:
                    raise activation.missing[name]
        return broken

    def _violation(self, activation: _Activation) -> Broken | None:
        about = self.__doc__ or "the policy does not allow this"
        if self.messages.joined is not None:
            try:
                answer = activation.evaluate(self.messages.joined)
                return None if answer is True else self.messages.told(answer, activation, about)
            except (MissingEvidence, CelError):
                pass  # a failure of the message never counts: the check alone decides
        answer = activation.evaluate(self.test) if self.test is not None else True
        if answer is True:
            return None
        if answer is False:
            return self.messages.reason(activation, about)
        raise CelError(f"the check gave {answer!r} instead of true or false")
