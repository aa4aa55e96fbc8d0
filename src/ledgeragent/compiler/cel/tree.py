"""The syntax tree of a compiled CEL expression, decoded from the form that the library serializes.

The library hands out no tree, but its serialized form is the public protobuf of CEL
(`cel.expr.ParsedExpr` and `CheckedExpr`), whose few messages are read here without a protobuf library.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ledgeragent.types import Json

WireFields = dict[int, list[Any]]
"""A protobuf message: field number -> the raw values given for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expr:
    """A node: `at` is where it stands in the source text, `type` what the checker found, "" if unknown."""

    at: int = 0
    type: str = ""


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
    outer = _message(serialized)
    checked = outer[1][0].endswith(b"CheckedExpr")
    inner = _message(outer[2][0])
    source_info = _message(inner[5 if checked else 3][0])
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
        message = _message(raw)
        number = _first(message, 2, 0)
        place: dict[str, Any] = {
            "at": self.positions.get(number, 0),
            "type": self.types.get(number, ""),
        }
        if 3 in message:
            return Const(value=_constant(_message(message[3][0])), **place)
        if 4 in message:
            return Ident(name=_text(_message(message[4][0]), 1), **place)
        if 5 in message:
            return self._select(_message(message[5][0]), place)
        if 6 in message:
            return self._call(_message(message[6][0]), place)
        if 7 in message:
            items = tuple(map(self.expr, _message(message[7][0])[1]))
            return Items(items=items, **place)
        if 8 in message:
            return self._entries(_message(message[8][0]), place)
        return self._fold(_message(message[9][0]), place)

    def _select(self, message: WireFields, place: dict[str, Any]) -> Expr:
        return Select(
            operand=self.expr(message[1][0]),
            field=_text(message, 2),
            test=bool(_first(message, 3, 0)),
            **place,
        )

    def _call(self, message: WireFields, place: dict[str, Any]) -> Expr:
        args = tuple(map(self.expr, (*message[1], *message[3])))
        return Call(function=_text(message, 2), args=args, **place)

    def _entries(self, message: WireFields, place: dict[str, Any]) -> Expr:
        parts: list[Expr] = []
        for raw in message[2]:
            entry = _message(raw)
            parts += [self.expr(entry[3][0])] if 3 in entry else [Const(value=_text(entry, 2))]
            parts.append(self.expr(entry[4][0]))
        return Entries(parts=tuple(parts), **place)

    def _fold(self, message: WireFields, place: dict[str, Any]) -> Expr:
        """Recognises the macro by the loop that the parser wrote for it."""
        variable, source = _text(message, 1), self.expr(message[2][0])
        start, step = self.expr(message[4][0]), self.expr(message[6][0])
        if variable == "#unused":
            body = self.expr(message[7][0])
            name = _text(message, 3)
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
    message = _message(raw)
    if 1 in message:
        return "dyn"
    if 2 in message:
        return "null_type"
    if 3 in message:
        return _KINDS.get(message[3][0], "")
    if 5 in message:
        return _WELL_KNOWN.get(message[5][0], "")
    if 6 in message:
        return f"list({_type_name(_message(message[6][0])[1][0])})"
    if 7 in message:
        pair = _message(message[7][0])
        return f"map({_type_name(pair[1][0])}, {_type_name(pair[2][0])})"
    return ""


def _entry(raw: bytes) -> tuple[int, Any]:
    """A map entry with an integer key; a value of zero is left out on the wire."""
    message = _message(raw)
    return _first(message, 1, 0), _first(message, 2, 0)


def _first(message: WireFields, number: int, default: Any) -> Any:
    return message[number][0] if number in message else default


def _text(message: WireFields, number: int) -> str:
    return str(_first(message, number, b"").decode())


def _message(raw: bytes) -> WireFields:
    """The fields of one message: integers for varints, bytes for everything else."""
    fields: WireFields = defaultdict(list)
    position = 0
    while position < len(raw):
        key, position = _varint(raw, position)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, position = _varint(raw, position)
            fields[number].append(value)
            continue
        if wire == 2:
            length, position = _varint(raw, position)
        else:
            length = 8 if wire == 1 else 4
        fields[number].append(raw[position : position + length])
        position += length
    return fields


def _varint(raw: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = raw[position]
        position += 1
        result |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return result, position
