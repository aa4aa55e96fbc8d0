"""Which variables an expression needs: every field it names becomes a typed CEL variable of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.packs.celtree import Expr, Fold, Ident, Select, children
from ledgeragent.packs.finding import Findings, Place, suggestion
from ledgeragent.packs.schema import ANY, Converter, Field, Object, Shape, converter
from ledgeragent.predicates import Record
from ledgeragent.types import Json

_NAMES_OF_CEL = frozenset(
    ("bool", "bytes", "double", "int", "list", "map", "math", "null_type", "string", "type", "uint")
)


@dataclass(frozen=True, slots=True)
class Use:
    """`root.field.field` as an expression names it; `tested` where it stands in has(...)."""

    root: str
    fields: tuple[str, ...]
    at: int
    tested: bool = False


def uses(expr: Expr, bound: frozenset[str] = frozenset()) -> Iterator[Use]:
    """Every variable that is free in the expression, with the fields selected from it."""
    use = _chain(expr)
    if use is not None:
        if use.root not in bound:
            yield use
        return
    if isinstance(expr, Fold):
        inner = bound | {expr.variable}
        yield from uses(expr.source, bound)
        for child in (expr.condition, expr.body):
            if child is not None:
                yield from uses(child, inner)
        return
    for child in children(expr):
        yield from uses(child, bound)


def _chain(expr: Expr) -> Use | None:
    fields: list[str] = []
    tested = isinstance(expr, Select) and expr.test
    at = expr.at
    while isinstance(expr, Select):
        fields.append(expr.field)
        expr = expr.operand
    if not isinstance(expr, Ident) or expr.name in _NAMES_OF_CEL:
        return None
    return Use(expr.name, tuple(reversed(fields)), at, tested)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One CEL variable: the value at `fields` of `root`.

    `members` are the optional fields that an object variable holds where they are present, None for
    a variable that holds the whole value.
    """

    root: str
    fields: tuple[str, ...]
    shape: Shape
    nullable: bool = False
    members: tuple[str, ...] | None = None
    convert: Converter | None = None

    @property
    def name(self) -> str:
        """Its dotted name in CEL."""
        return ".".join((self.root, *self.fields))

    def read(self, container: Any) -> Json:
        """Its value in a record (or in arguments, parameters); MissingEvidence where not known."""
        value = container
        for name in self.fields:
            value = value[name]
        if self.members is not None:
            present = (name for name in self.members if name in value)
            value = {name: _plain(value[name]) for name in present}
        else:
            value = _plain(value)
        return value if self.convert is None else self.convert(value)


def _plain(value: Any) -> Json:
    return value.plain() if type(value) is Record else value


@dataclass(slots=True)
class Scope:
    """The names of one rule with their shapes, and the variables that its expressions need."""

    roots: Mapping[str, Shape]
    findings: Findings
    rule: str = ""
    tested: set[tuple[str, ...]] = field(default_factory=set)
    variables: dict[str, Variable] = field(default_factory=dict)

    def declare(self, found: Iterable[tuple[Use, Place]], lets: frozenset[str]) -> bool:
        """Declares what these uses need; False (and findings) where a name or field is unknown."""
        known = [(use, place) for use, place in found if use.root not in lets]
        self.tested |= {(use.root, *use.fields) for use, _ in known if use.tested}
        answers = [self._declare(use, place, lets) for use, place in known]
        return all(answers)

    def _declare(self, use: Use, place: Place, lets: frozenset[str]) -> bool:
        shape = self.roots.get(use.root)
        if shape is None:
            hint = suggestion(use.root, {*self.roots, *lets})
            self._find("unknown-path", place, f"{use.root!r} is not defined here{hint}")
            return False
        return self._descend(use, shape, place)

    def _descend(self, use: Use, shape: Shape, place: Place) -> bool:
        taken: tuple[str, ...] = ()
        nullable = False
        for i, name in enumerate(use.fields):
            if not isinstance(shape, Object) and shape != ANY:
                break
            last = i == len(use.fields) - 1
            known = self._field(shape, (use.root, *taken), name)
            if known is None:
                self._unknown_field(shape, name, place)
                return False
            if use.tested and last and known.required:
                text = (
                    f"has({use.root}.{'.'.join(use.fields)}) is always true: {name} is not optional"
                )
                self._find("type-error", place, text)
                return False
            if not known.required:
                return self._declare_member(use.root, taken, shape, name)
            taken, shape, nullable = (*taken, name), known.shape, known.nullable
            if nullable or known.shape == ANY:
                break
        self._add(Variable(root=use.root, fields=taken, shape=shape, nullable=nullable))
        return True

    def _field(self, shape: Shape, parent: tuple[str, ...], name: str) -> Field | None:
        if isinstance(shape, Object) and shape.fields:
            return shape.fields.get(name)
        return Field(ANY, required=(*parent, name) not in self.tested)

    def _unknown_field(self, shape: Shape, name: str, place: Place) -> None:
        fields = shape.fields if isinstance(shape, Object) else ()
        text = f"{shape} has no field {name!r}{suggestion(name, fields)}"
        self._find("unknown-field", place, text)

    def _declare_member(self, root: str, taken: tuple[str, ...], shape: Shape, name: str) -> bool:
        known = self.variables.get(".".join((root, *taken)))
        members: tuple[str, ...] = (name,)
        if known is not None:
            if known.members is None:
                return True
            members = (*(m for m in known.members if m != name), name)
        kept = shape.fields if isinstance(shape, Object) else {}
        partial = Object(str(shape), {m: kept[m] for m in members if m in kept})
        self._add(Variable(root=root, fields=taken, shape=partial, members=members))
        return True

    def _add(self, variable: Variable) -> None:
        made = Variable(
            root=variable.root,
            fields=variable.fields,
            shape=variable.shape,
            nullable=variable.nullable,
            members=variable.members,
            convert=converter(variable.shape),
        )
        self.variables[variable.name] = made

    def _find(self, code: str, place: Place, text: str) -> None:
        self.findings.add(code, place, text, self.rule)
