"""The syntax tree of a compiled CEL expression, decoded from the form that the library serializes.

The library hands out no tree, but its serialized form is the public protobuf of CEL
(`cel.expr.ParsedExpr` and `CheckedExpr`), whose few messages are read here without a protobuf library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ledgeragent.compiler.cel.wire import WireFields, first, read_message, text_of
from ledgeragent.types import Json

BIND_ITEM = "#unused"
"""What the loop that stands for a bind names its items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expr:
    """A node: `at` is where it stands in the source text, `type` what the checker found, "" if unknown.

    `raw` is the node's own serialized form.
    """

    at: int = 0
    type: str = ""
    raw: bytes = field(default=b"", compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Const(Expr):
    """A literal."""

    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Ident(Expr):
    """A variable; a checked dotted one (`order.status`) is a single name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Expr):
    """`operand.field`, or with `test` the macro `has(operand.field)`."""

    operand: Expr
    field: str
    test: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Expr):
    """An operator (`_&&_`), function or method; `args` begins with the method's target."""

    function: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Items(Expr):
    """A list literal."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries(Expr):
    """A map literal: keys and values in turn."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold(Expr):
    """A macro over a list: all, exists, exists_one, map, filter; or `bind` of one name.

    `source` is the list (or the bound value), `variable` the name for each item, `body` what is
    evaluated for it, `condition` the filter of a `map` with three arguments.
    """

    macro: str
    variable: str
    source: Expr
    body: Expr
    condition: Expr | None = None


def children(expr: Expr) -> tuple[Expr, ...]:
    """The nodes directly below."""
    match expr:
        case Select(operand=operand):
            return (operand,)
        case Call(args=args):
            return args
        case Items(items=items):
            return items
        case Entries(parts=parts):
            return parts
        case Fold(source=source, body=body, condition=condition):
            return (source, body) if condition is None else (source, condition, body)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The node and everything below it."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def read_tree(serialized: bytes) -> Expr:
    """The tree in a serialized `google.protobuf.Any` of a ParsedExpr or a CheckedExpr."""
    outer = read_message(serialized)
    checked = outer[1][0].endswith(b"CheckedExpr")
    inner = read_message(outer[2][0])
    source_info = read_message(inner[5 if checked else 3][0])
    decoder = _Decoder(
        positions=dict(map(_entry, source_info[4])),
        types={key: _type_name(value) for key, value in map(_entry, inner[3])} if checked else {},
    )
    return decoder.expr(inner[4 if checked else 2][0])


@dataclass(slots=True)
class _Decoder:
    positions: dict[int, int]
    types: dict[int, str]

    def expr(self, raw: bytes) -> Expr:
        """One `cel.expr.Expr`."""
        message = read_message(raw)
        number = first(message, 2, 0)
        place: dict[str, Any] = {
            "at": self.positions.get(number, 0),
            "type": self.types.get(number, ""),
            "raw": raw,
        }
        if 3 in message:
            return Const(value=_constant(read_message(message[3][0])), **place)
        if 4 in message:
            return Ident(name=text_of(read_message(message[4][0]), 1), **place)
        if 5 in message:
            return self._select(read_message(message[5][0]), place)
        if 6 in message:
            return self._call(read_message(message[6][0]), place)
        if 7 in message:
            items = tuple(map(self.expr, read_message(message[7][0])[1]))
            return Items(items=items, **place)
        if 8 in message:
            return self._entries(read_message(message[8][0]), place)
        return self._fold(read_message(message[9][0]), place)

    def _select(self, message: WireFields, place: dict[str, Any]) -> Expr:
        return Select(
            operand=self.expr(message[1][0]),
            field=text_of(message, 2),
            test=bool(first(message, 3, 0)),
            **place,
        )

    def _call(self, message: WireFields, place: dict[str, Any]) -> Expr:
        args = tuple(map(self.expr, (*message[1], *message[3])))
        return Call(function=text_of(message, 2), args=args, **place)

    def _entries(self, message: WireFields, place: dict[str, Any]) -> Expr:
        parts: list[Expr] = []
        for raw in message[2]:
            entry = read_message(raw)
            parts += [self.expr(entry[3][0])] if 3 in entry else [Const(value=text_of(entry, 2))]
            parts.append(self.expr(entry[4][0]))
        return Entries(parts=tuple(parts), **place)

    def _fold(self, message: WireFields, place: dict[str, Any]) -> Expr:
        """Recognises the macro by the loop that the parser wrote for it."""
        variable, source = text_of(message, 1), self.expr(message[2][0])
        start, step = self.expr(message[4][0]), self.expr(message[6][0])
        if variable == BIND_ITEM:
            body = self.expr(message[7][0])
            name = text_of(message, 3)
            return Fold(macro="bind", variable=name, source=start, body=body, **place)
        macro, body, condition = _macro(variable, start, step)
        return Fold(
            macro=macro, variable=variable, source=source, body=body, condition=condition, **place
        )


def _macro(variable: str, start: Expr, step: Expr) -> tuple[str, Expr, Expr | None]:
    """(name, what is evaluated per item, the condition of a three-argument map)."""
    assert isinstance(step, Call)
    if step.function == "_&&_":
        return "all", step.args[1], None
    if step.function == "_||_":
        return "exists", step.args[1], None
    if step.function == "_+_":
        return "map", _only_item(step.args[1]), None
    condition, added = step.args[0], step.args[1]
    if isinstance(start, Const):
        return "exists_one", condition, None
    assert isinstance(added, Call)
    item = _only_item(added.args[1])
    if isinstance(item, Ident) and item.name == variable:
        return "filter", condition, None
    return "map", item, condition


def _only_item(expr: Expr) -> Expr:
    assert isinstance(expr, Items)
    return expr.items[0]


# ── Protobuf ────────────────────────────────────────────────────────────────────────────────────

_KINDS = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_WELL_KNOWN = {1: "any", 2: "timestamp", 3: "duration"}


def _constant(message: WireFields) -> Json:
    """The value of a `cel.expr.Constant`; proto3 leaves out what is zero, but not inside a oneof."""
    ((number, (raw, *_)),) = message.items()
    match number:
        case 1:
            return None
        case 2:
            return bool(raw)
        case 3:
            return raw - (1 << 64) if raw >> 63 else raw
        case 5:
            return struct.unpack("<d", raw)[0]
        case 6:
            return raw.decode()
        case 7:
            return raw
        case _:
            return raw


def _type_name(raw: bytes) -> str:
    """A `cel.expr.Type` in CEL's own notation, "" for kinds that no rule needs."""
    message = read_message(raw)
    if 1 in message:
        return "dyn"
    if 2 in message:
        return "null_type"
    if 3 in message:
        return _KINDS.get(message[3][0], "")
    if 5 in message:
        return _WELL_KNOWN.get(message[5][0], "")
    if 6 in message:
        return f"list({_type_name(read_message(message[6][0])[1][0])})"
    if 7 in message:
        pair = read_message(message[7][0])
        return f"map({_type_name(pair[1][0])}, {_type_name(pair[2][0])})"
    return ""


def _entry(raw: bytes) -> tuple[int, Any]:
    """A map entry with an integer key; a value of zero is left out on the wire."""
    message = read_message(raw)
    return first(message, 1, 0), first(message, 2, 0)
