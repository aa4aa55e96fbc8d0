"""The names of one rule, and what its expressions have declared so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.compiler.cel.engine import Source
from ledgeragent.compiler.cel.tree import Expr
from ledgeragent.compiler.cel.variables import Use, Variable
from ledgeragent.compiler.problems import Place, Problems, suggestion
from ledgeragent.compiler.shapes import ANY, Field, Object, Shape

_ANYTHING = Field(ANY, required=False)


@dataclass(frozen=True, slots=True)
class Mistyped:
    """An expression that CEL's checker refused: the tree is without types, `faults` are in its text."""

    source: Source
    tree: Expr
    variables: tuple[Variable, ...]
    faults: frozenset[int]


@dataclass(slots=True)
class Scope:
    """The names of one rule with their shapes, and the variables that its expressions need.

    `tested` are the fields that the rule tests with has(...), `mistyped` its expressions that
    CEL's checker refused.
    """

    roots: Mapping[str, Shape]
    findings: Problems
    rule: str = ""
    tested: set[tuple[str, ...]] = field(default_factory=set)
    variables: dict[str, Variable] = field(default_factory=dict)
    computed: dict[tuple[str, str, str], str] = field(default_factory=dict)
    mistyped: list[Mistyped] = field(default_factory=list)

    def computed_name(self, lets: Iterable[tuple[str, Any]], function: str, argument: str) -> str:
        """The variable for the value of a function: one for the same argument with the same lets."""
        key = (function, argument, ",".join(name for name, _ in lets))
        return self.computed.setdefault(key, f"{function}__{len(self.computed)}")

    def declare(
        self, uses: Iterable[tuple[Use, Place]], lets: Collection[str] = (), careful: bool = True
    ) -> bool:
        """Declares what these uses need; False (and findings) where a name or field is unknown.

        What is unknown is declared too, as anything, so that the rest can still be checked. Being
        `careful` finds fields that may have no value and are nowhere tested.
        """
        answers = [
            self._declare(use, place, lets, careful) for use, place in uses if use.root not in lets
        ]
        return all(answers)

    def _declare(self, use: Use, place: Place, lets: Collection[str], careful: bool) -> bool:
        shape = self.roots.get(use.root)
        if shape is None:
            self.assume(use.root)
            hint = suggestion(use.root, {*self.roots, *lets})
            return self._find("unknown-path", place, f"{use.root!r} is not defined here{hint}")
        path: tuple[str, ...] = (use.root,)
        owner = shape
        for name in use.fields:
            if not isinstance(shape, Object) and shape != ANY:
                break
            member = self._field(shape, path, name)
            whole = (*path, name)
            if member is None:
                self._add_member(whole, shape)
                fields = shape.fields if isinstance(shape, Object) else ()
                text = f"{shape} has no field {name!r}{suggestion(name, fields)}"
                return self._find("unknown-field", place, text)
            if not member.certain or (member.shape == ANY and whole in self.tested):
                return self._declare_member(whole, shape, place, careful)
            path, owner, shape = whole, shape, member.shape
            if shape == ANY:
                break
        if path in self.tested:  # a name of its own would make has(...) its value
            self._add_member(path, owner)
        else:
            self._add(Variable(root=use.root, fields=path[1:], shape=shape))
        if use.tested and len(path) > len(use.fields):
            text = f"has({'.'.join(path)}) is always true: {path[-1]} always has a value"
            return self._find("type-error", place, text)
        return True

    def _field(self, shape: Shape, parent: tuple[str, ...], name: str) -> Field | None:
        """The declared field; of a record without types, the one that the rule itself assumes."""
        if isinstance(shape, Object) and shape.fields:
            return shape.fields.get(name)
        return Field(ANY, required=(*parent, name) not in self.tested)

    def _declare_member(
        self, whole: tuple[str, ...], shape: Shape, place: Place, careful: bool
    ) -> bool:
        """Declares the object that holds a field which may have no value."""
        self._add_member(whole, shape)
        if careful and whole not in self.tested:
            text = f"{'.'.join(whole)} may have no value; test it with has({'.'.join(whole)}) first"
            return self._find("type-error", place, text)
        return True

    def assume(self, root: str) -> None:
        """Declares a name of which nothing can be known, so that it is found wrong only once."""
        self._add(Variable(root=root, fields=(), shape=ANY))

    def _add_member(self, whole: tuple[str, ...], shape: Shape) -> None:
        """Declares the object of this shape that holds the field; one it lacks can be anything."""
        *parent, name = whole
        variable = self.variables.get(".".join(parent))
        if variable is not None and variable.members is None:
            return
        members = dict.fromkeys((*(variable.members or () if variable is not None else ()), name))
        types = shape.fields if isinstance(shape, Object) else {}
        owner = Object(str(shape), {m: types.get(m, _ANYTHING) for m in members if types})
        root, *fields = parent
        self._add(Variable(root=root, fields=tuple(fields), shape=owner, members=tuple(members)))

    def _add(self, variable: Variable) -> None:
        self.variables[variable.name] = variable

    def _find(self, code: str, place: Place, text: str) -> bool:
        self.findings.add(code, place, text, self.rule)
        return False
