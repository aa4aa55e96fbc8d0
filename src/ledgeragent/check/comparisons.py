"""CEL rules beyond what CEL's own checker sees: shapes inside lists and maps, values, null.

The library knows the declared type of each field it is given. Inside a list or map of objects it does
not, so this walks the checked tree with the declared shapes and compares each operand with them. Of an
expression that the library refuses there is a tree without types; where it found fault, that is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ledgeragent.check.kinds import differ, impossible, kind
from ledgeragent.check.literals import NO_DATE, suits_dates
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.scope import Mistyped
from ledgeragent.compiler.cel.tree import Call, Const, Expr, Fold, Ident, Items, Select, children
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.shapes import (
    SCALARS,
    TEXT,
    ListOf,
    MapOf,
    Object,
    Shape,
    is_open,
    shape_of_value,
)

Shapes = Mapping[str, Shape | None]

_TYPES = {"string": "str", "int": "int", "double": "float", "bool": "bool"}
_GIVES = {**_TYPES, "sum": "float", "days": "int", "size": "int"}
"""The results of functions, for a tree without types."""
_ORDER = frozenset(("_<_", "_<=_", "_>_", "_>=_"))
_ARITHMETIC = frozenset(("_+_", "_-_", "_*_", "_/_"))


def check_comparisons(outline: Outline) -> None:
    """Adds what the shapes say against the expressions of CEL rules."""
    for rule in outline.rules:
        for expression in rule.expressions:
            _Walk(expression, outline, rule.id).check()


@dataclass(slots=True)
class _Walk:
    """One expression of one rule."""

    expression: Program | Mistyped
    outline: Outline
    rule: str

    def check(self) -> None:
        shapes = {variable.name: variable.shape for variable in self.expression.variables}
        self.infer(self.expression.tree, shapes)

    def infer(self, expr: Expr, shapes: Shapes) -> Shape | None:
        """The shape of an expression, None where unknown; adds findings on the way."""
        match expr:
            case Const(value=value):
                return shape_of_value(value) if value is not None else None
            case Ident(name=name):
                return shapes.get(name, _by_type(expr))
            case Select(test=False) if _said(expr) in shapes:  # one name, once it is checked
                return shapes[_said(expr)]
            case Select(operand=operand, field=field):
                owner = self.infer(operand, shapes)
                member = self._field(owner, field, expr)
                return SCALARS["bool"] if expr.test else member
            case Fold():
                return self._fold(expr, shapes)
            case Call():
                return self._call(expr, shapes)
            case Items(items=items):
                item_shapes = [self.infer(item, shapes) for item in items]
                first = item_shapes[0] if item_shapes else None
                same = first is not None and all(shape == first for shape in item_shapes)
                return ListOf(first) if same and first is not None else None
        for child in children(expr):
            self.infer(child, shapes)
        return None

    def _field(self, owner: Shape | None, name: str, expr: Expr) -> Shape | None:
        if isinstance(owner, MapOf):
            return owner.item
        if not isinstance(owner, Object) or is_open(owner):
            return None
        member = owner.fields.get(name)
        if member is None:
            self._find(
                "unknown-field",
                expr,
                f"{owner} has no field {name!r}{suggestion(name, owner.fields)}",
            )
            return None
        return member.shape

    def _fold(self, fold: Fold, shapes: Shapes) -> Shape | None:
        source = self.infer(fold.source, shapes)
        if fold.macro == "bind":
            return self.infer(fold.body, {**shapes, fold.variable: source})
        item = source.item if isinstance(source, ListOf) else None
        if isinstance(source, MapOf | Object):
            item = TEXT
        inner = {**shapes, fold.variable: item}
        if fold.condition is not None:
            self.infer(fold.condition, inner)
        body = self.infer(fold.body, inner)
        if fold.macro == "map":
            return ListOf(body) if body is not None else None
        if fold.macro == "filter":
            return ListOf(item) if item is not None else None
        return SCALARS["bool"]

    def _call(self, call: Call, shapes: Shapes) -> Shape | None:
        operands = [self.infer(argument, shapes) for argument in call.args]
        if isinstance(self.expression, Mistyped) and call.at in self.expression.faults:
            return None
        if call.function == "_[_]":
            return self._indexed(operands[0], call)
        if call.function in ("_==_", "_!=_", *_ORDER):
            self._dates(call, operands)
        if call.function in ("_==_", "_!=_"):
            self._equal(call, operands)
        elif call.function == "@in":
            self._member(call, operands)
        elif call.function in _ORDER or call.function in _ARITHMETIC:
            self._ordered(call, operands)
        elif call.function == "_?_:_":
            return operands[1] if operands[1] == operands[2] else None
        return _by_type(call)

    def _indexed(self, owner: Shape | None, call: Call) -> Shape | None:
        index = call.args[1]
        if isinstance(owner, ListOf | MapOf):
            return owner.item
        if isinstance(index, Const) and isinstance(index.value, str):
            return self._field(owner, index.value, call)
        if isinstance(owner, Object) and owner.fields:
            field_shapes = [field.shape for field in owner.fields.values()]
            return (
                field_shapes[0] if all(shape == field_shapes[0] for shape in field_shapes) else None
            )
        return None

    def _equal(self, call: Call, operands: list[Shape | None]) -> None:
        left, right = call.args
        for side, shape, other in ((left, operands[0], right), (right, operands[1], left)):
            if isinstance(other, Const) and other.value is None:
                if shape is not None and not is_open(shape):
                    text = "a field that is null counts as absent: test it with has(...)"
                    self._find("type-error", call, text)
                return
            if isinstance(other, Const) and impossible(other.value, shape):
                text = f"{_said(side)} is {shape}, never {other.value!r}"
                self._find("impossible-value", call, text)
                return
        self._compare(call, operands, "is never equal to")

    def _dates(self, call: Call, operands: list[Shape | None]) -> None:
        """Finds text that is no date and is compared with one."""
        for side, shape, other in zip(call.args, operands, reversed(call.args), strict=False):
            text = other.value if isinstance(other, Const) else None
            if isinstance(text, str) and not suits_dates(text, shape):
                self._find("bad-constant", call, f"{text!r} is {NO_DATE}, as {_said(side)} is")

    def _member(self, call: Call, operands: list[Shape | None]) -> None:
        element, container = call.args
        if isinstance(container, Items):
            for item in container.items:
                if isinstance(item, Const) and impossible(item.value, operands[0]):
                    text = f"{_said(element)} is {operands[0]}, never {item.value!r}"
                    self._find("impossible-value", call, text)
        item_shape = operands[1].item if isinstance(operands[1], ListOf) else None
        if isinstance(operands[1], MapOf | Object):
            item_shape = TEXT
        if isinstance(element, Const) and impossible(element.value, item_shape):
            text = f"{_said(container)} holds {item_shape}, never {element.value!r}"
            self._find("impossible-value", call, text)
        elif differ(kind(operands[0]), kind(item_shape)):
            text = f"{kind(operands[0])} is never in a list of {kind(item_shape)}"
            self._find("type-error", call, text)

    def _compare(self, call: Call, operands: list[Shape | None], how: str) -> None:
        left, right = map(kind, operands)
        if differ(left, right):
            self._find("type-error", call, f"{left} {how} {right}")

    def _ordered(self, call: Call, operands: list[Shape | None]) -> None:
        if len(operands) != 2 or {"dyn", ""}.isdisjoint(argument.type for argument in call.args):
            return  # the library has compared them
        left, right = map(kind, operands)
        operator = call.function.strip("_")
        if differ(left, right):
            self._find("type-error", call, f"{operator!r} does not apply to {left} and {right}")
        elif call.function in _ARITHMETIC and {left, right} == {"int", "float"}:
            text = f"{operator!r} does not mix int and float; use double(...) or write 2.0"
            self._find("type-error", call, text)

    def _find(self, code: str, expr: Expr, text: str) -> None:
        self.outline.findings.add(code, self.expression.source.place(expr.at), text, self.rule)


def _by_type(expr: Expr) -> Shape | None:
    if isinstance(expr, Call) and not expr.type:
        return SCALARS.get(_GIVES.get(expr.function, ""))
    return SCALARS.get(_TYPES.get(expr.type, ""))


def _said(expr: Expr) -> str:
    """An operand as its author wrote it, as far as it is a name."""
    match expr:
        case Ident(name=name):
            return name
        case Select(operand=operand, field=field):
            return f"{_said(operand)}.{field}"
        case _:
            return "this"
