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
from ledgeragent.predicates import MissingEvidence, Record, View
from ledgeragent.types import Json

EACH = "each"
"""The name of the item in a path that is required for each item of a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A record that a rule reads: `name` in its expressions, `at` this path, only if `when` holds.

    `always` demands it even where the check can be decided without it. With `each` there is one for every
    item of that list, under `each` in the path, and the name stands for all of them by their keys.
    """

    name: str
    at: PathTemplate[Any]
    keys: tuple[Segment, ...]
    when: Program | None = None
    each: Program | None = None
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
            if requirement.each is not None:
                self._fetch_each(requirement, requirement.each, view)
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

    def _fetch_each(self, requirement: Requirement, each: Program, view: View) -> None:
        """Adds the records of all items by their keys; raises MissingEvidence with all that lack."""
        try:
            items = self.evaluate(each)
        except CelError:  # as for a key without a value: what needs the records then fails
            return
        records: dict[str, Json] = {}
        paths = self._paths(requirement, items)
        absent = [path for path in paths.values() if path not in view and view.entry(path) is None]
        if absent:
            raise MissingEvidence(absent[0], others=tuple(absent[1:]))
        for key, path in paths.items():
            record = view[path]
            records[key] = record.plain() if isinstance(record, Record) else record
            self.paths[requirement.name] = path
        self.containers[requirement.name] = records

    def _paths(self, requirement: Requirement, items: Json) -> dict[str, Path[Any]]:
        """The path of each item's record by the item's own keys; one without a key has none."""
        if not isinstance(items, list):
            raise CelError(f"each of {requirement.name} gave no list")
        paths: dict[str, Path[Any]] = {}
        for item in items:
            self.containers[EACH] = item
            keys = [self._key(key) for key in requirement.keys]
            own = [k for k, key in zip(keys, requirement.keys, strict=True) if _is_own(key)]
            if None not in keys:
                paths[".".join(map(str, own))] = requirement.at(*keys)  # type: ignore[arg-type]
        self.containers.pop(EACH, None)
        return paths

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
            value = value.get(name) if key.optional or key.root == EACH else value[name]
        if type(value) is str:
            if key.root not in self.paths and not is_readable(value):
                raise Unreadable(str(key), value)
            return value
        if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
            raise CelError(f"{key} is no text that can name a record")
        return None if value is None else str(value)


def _is_own(key: Segment) -> bool:
    """True for a key that comes from the item."""
    return isinstance(key, Key) and key.root == EACH
