"""The values that one judgement of a rule binds to its names, and the evidence that it lacks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.compiler.cel.characters import Unreadable, is_readable
from ledgeragent.compiler.cel.engine import Absent, CelError
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.variables import Variable
from ledgeragent.compiler.source.keys import Key, Segment
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.predicates import MissingEvidence, View
from ledgeragent.types import Json


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
class Activation:
    """The values of one judgement: containers by root, variables read from them, what is missing.

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
