"""Which variables an expression needs: every field it names becomes a typed CEL variable of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ledgeragent.compiler.cel.characters import Unreadable, is_readable
from ledgeragent.compiler.cel.conversion import Converter, converter
from ledgeragent.compiler.cel.tree import Expr, Fold, Ident, Select, children
from ledgeragent.compiler.shapes import Object, Scalar, Shape
from ledgeragent.predicates import Record
from ledgeragent.types import Json

# fmt: off
_NAMES_OF_CEL = frozenset((
    "bool", "bytes", "double", "dyn", "int", "list", "map", "math", "null_type", "optional",
    "optional_type", "string", "type", "uint",
))
# fmt: on

_NO_TEXT = (Scalar("int"), Scalar("float"), Scalar("bool"))


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

    `members` are the fields that an object variable holds where they have a value, None for a
    variable that holds the whole value. `name` is its dotted name in CEL.
    """

    root: str
    fields: tuple[str, ...]
    shape: Shape
    members: tuple[str, ...] | None = None
    name: str = field(init=False)
    reader: Callable[[Any], Json] = field(init=False)
    """Its value in a record (or in arguments, parameters).

    Raises MissingEvidence where it is not known, Unreadable where CEL would read another value.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", ".".join((self.root, *self.fields)))
        reader = self._reader()
        # Of a number's field CEL takes nothing but a number, so there is no text to look at.
        checked = reader if self.shape in _NO_TEXT else partial(_read_checked, self.name, reader)
        object.__setattr__(self, "reader", checked)

    def _reader(self) -> Callable[[Any], Json]:
        if self.members is not None:
            types = self.shape.fields if isinstance(self.shape, Object) else {}
            members = [(m, converter(types[m].shape) if m in types else None) for m in self.members]
            return partial(_read_members, self.fields, members)
        convert = converter(self.shape)
        if len(self.fields) == 1:
            return partial(_read_field, self.fields[0], convert)
        return partial(_read_whole, self.fields, convert)


def _read_checked(name: str, reader: Callable[[Any], Json], container: Any) -> Json:
    value = reader(container)
    if not is_readable(value):
        raise Unreadable(name, value)
    return value


def _read_field(name: str, convert: Converter | None, container: Any) -> Json:
    value = container[name]
    if type(value) is Record:
        value = value.plain()
    return value if convert is None else convert(value)


def _read_whole(fields: tuple[str, ...], convert: Converter | None, container: Any) -> Json:
    value = container
    for name in fields:
        value = value[name]
    if type(value) is Record:
        value = value.plain()
    return value if convert is None else convert(value)


def _read_members(
    fields: tuple[str, ...], members: list[tuple[str, Converter | None]], container: Any
) -> Json:
    """Those of the object's members that have a value."""
    value = container
    for name in fields:
        value = value[name]
    values: dict[str, Json] = {}
    for name, convert in members:
        member = value.get(name)
        if member is not None:
            member = member.plain() if type(member) is Record else member
            values[name] = member if convert is None else convert(member)
    return values
