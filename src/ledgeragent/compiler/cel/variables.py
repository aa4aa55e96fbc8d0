"""Which variables an expression needs: every field it names becomes a typed CEL variable of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ledgeragent.compiler.cel.characters import Unreadable, is_readable
from ledgeragent.compiler.cel.tree import Expr, Fold, Ident, Select, children
from ledgeragent.compiler.problems import Findings, Place, suggestion
from ledgeragent.compiler.shapes import ANY, Converter, Field, Object, Scalar, Shape, converter
from ledgeragent.predicates import Record
from ledgeragent.types import Json

if TYPE_CHECKING:
    from ledgeragent.compiler.cel.programs import Mistyped

# fmt: off
_NAMES_OF_CEL = frozenset((
    "bool", "bytes", "double", "dyn", "int", "list", "map", "math", "null_type", "string", "type", "uint",
))
# fmt: on

_ANYTHING = Field(ANY, required=False)
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
    read: Callable[[Any], Json] = field(init=False)
    """Its value in a record (or in arguments, parameters).

    Raises MissingEvidence where it is not known, Unreadable where CEL would read another value.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", ".".join((self.root, *self.fields)))
        read = self._reader()
        # Of a number's field CEL takes nothing but a number, so there is no text to look at.
        checked = read if self.shape in _NO_TEXT else partial(_read_checked, self.name, read)
        object.__setattr__(self, "read", checked)

    def _reader(self) -> Callable[[Any], Json]:
        if self.members is not None:
            kept = self.shape.fields if isinstance(self.shape, Object) else {}
            members = [(m, converter(kept[m].shape) if m in kept else None) for m in self.members]
            return partial(_read_members, self.fields, members)
        convert = converter(self.shape)
        if len(self.fields) == 1:
            return partial(_read_field, self.fields[0], convert)
        return partial(_read_whole, self.fields, convert)


def _read_checked(name: str, read: Callable[[Any], Json], container: Any) -> Json:
    value = read(container)
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
    found: dict[str, Json] = {}
    for name, convert in members:
        held = value.get(name)
        if held is not None:
            held = held.plain() if type(held) is Record else held
            found[name] = held if convert is None else convert(held)
    return found


@dataclass(slots=True)
class Scope:
    """The names of one rule with their shapes, and the variables that its expressions need.

    `tested` are the fields that the rule tests with has(...), `mistyped` its expressions that
    CEL's checker refused.
    """

    roots: Mapping[str, Shape]
    findings: Findings
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
        self, found: Iterable[tuple[Use, Place]], lets: Collection[str] = (), careful: bool = True
    ) -> bool:
        """Declares what these uses need; False (and findings) where a name or field is unknown.

        What is unknown is declared too, as anything, so that the rest can still be checked. Being
        `careful` finds fields that may have no value and are nowhere tested.
        """
        answers = [
            self._declare(use, place, lets, careful) for use, place in found if use.root not in lets
        ]
        return all(answers)

    def _declare(self, use: Use, place: Place, lets: Collection[str], careful: bool) -> bool:
        shape = self.roots.get(use.root)
        if shape is None:
            self.assume(use.root)
            hint = suggestion(use.root, {*self.roots, *lets})
            return self._find("unknown-path", place, f"{use.root!r} is not defined here{hint}")
        taken: tuple[str, ...] = (use.root,)
        owner = shape
        for name in use.fields:
            if not isinstance(shape, Object) and shape != ANY:
                break
            known = self._field(shape, taken, name)
            whole = (*taken, name)
            if known is None:
                self._add_member(whole, shape)
                fields = shape.fields if isinstance(shape, Object) else ()
                text = f"{shape} has no field {name!r}{suggestion(name, fields)}"
                return self._find("unknown-field", place, text)
            if not known.certain:
                return self._declare_member(whole, shape, place, careful)
            taken, owner, shape = whole, shape, known.shape
            if shape == ANY:
                break
        if taken in self.tested:  # a name of its own would make has(...) its value
            self._add_member(taken, owner)
        else:
            self._add(Variable(root=use.root, fields=taken[1:], shape=shape))
        if use.tested and len(taken) > len(use.fields):
            text = f"has({'.'.join(taken)}) is always true: {taken[-1]} always has a value"
            return self._find("type-error", place, text)
        return True

    def _field(self, shape: Shape, parent: tuple[str, ...], name: str) -> Field | None:
        """What is known of a field; of a record without types, what the rule itself assumes."""
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
        known = self.variables.get(".".join(parent))
        if known is not None and known.members is None:
            return
        members = dict.fromkeys((*(known.members or () if known is not None else ()), name))
        kept = shape.fields if isinstance(shape, Object) else {}
        held = Object(str(shape), {m: kept.get(m, _ANYTHING) for m in members if kept})
        root, *fields = parent
        self._add(Variable(root=root, fields=tuple(fields), shape=held, members=tuple(members)))

    def _add(self, variable: Variable) -> None:
        self.variables[variable.name] = variable

    def _find(self, code: str, place: Place, text: str) -> bool:
        self.findings.add(code, place, text, self.rule)
        return False
