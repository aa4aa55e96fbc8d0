"""A rule written in CEL, as the gate calls it: fetch the records it requires, evaluate, explain.

Three answers, as for Python rules. A field that was never read, or is stale, leaves its variable
without a value; where CEL can decide all the same (`true || ?`) it does, and otherwise the missing
evidence is asked for. Any other failure is raised, and the gate refuses the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.packs.cel import Absent, CelError, Program
from ledgeragent.packs.keys import Segment
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
    """What one judgement has fetched: containers by root, and what is missing instead of them."""

    containers: dict[str, Any]
    missing: dict[str, MissingEvidence] = field(default_factory=dict)

    def values(self, variables: tuple[Variable, ...]) -> dict[str, Json]:
        """The variables that have a value; notes in `missing` which evidence the others lack."""
        values: dict[str, Json] = {}
        for variable in variables:
            container = self.containers.get(variable.root, self)
            if container is self:
                if variable.root in self.missing:
                    self.missing[variable.name] = self.missing[variable.root]
                continue
            try:
                values[variable.name] = variable.read(container)
            except MissingEvidence as missing:
                self.missing[variable.name] = missing
            except KeyError:
                continue
        return values

    def evaluate(self, program: Program) -> Json:
        """The program's value; raises MissingEvidence where it cannot decide without it."""
        try:
            return program(self.values(program.variables))
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
                self.containers[requirement.name] = view[requirement.at(*map(str, keys))]
        except MissingEvidence as missing:
            self.missing[requirement.name] = missing

    def _key(self, key: Segment) -> Json:
        """The key's value, None where an optional argument or field is not given."""
        if isinstance(key, str):
            return key
        if key.root not in self.containers:
            if key.root in self.missing:
                raise self.missing[key.root]
            return None
        value = self.containers[key.root]
        for name in key.fields:
            value = value.get(name) if key.optional else value[name]
        if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
            raise CelError(f"{key} is no text that can name a record")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """An expression inside a message, with how its number is written (`.2f`), \"\" for as it is."""

    program: Program
    spec: str = ""

    def said(self, found: _Found) -> Json:
        """The fact's value as it is put into the message."""
        try:
            value = found.evaluate(self.program)
        except (MissingEvidence, CelError):
            return UNKNOWN
        if self.spec and isinstance(value, int | float):
            return format(value, self.spec)
        return "nothing" if value is None else value


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

    def fill(self, found: _Found) -> Broken:
        """The reason given to the model. A fact that cannot be had never hides the violation."""
        facts = {f"f{i}": fact.said(found) for i, fact in enumerate(self.facts)}
        return violation(self.template, **facts)


class CelCheck:
    """The check of one CEL rule: `test` is true for a call that satisfies it, None to demand only."""

    def __init__(
        self,
        *,
        about: str,
        requires: tuple[Requirement, ...],
        test: Program | None,
        messages: tuple[Message, ...],
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
            return self._reason(found)
        raise CelError(f"the check gave {answer!r} instead of true or false")

    def _reason(self, found: _Found) -> Broken:
        """What the first message that applies says; else what the rule is about."""
        for message in self.messages:
            if message.applies(found):
                return message.fill(found)
        return Broken(self.__doc__ or "the policy does not allow this")
