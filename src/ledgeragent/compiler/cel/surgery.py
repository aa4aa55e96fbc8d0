"""Parts of a serialized expression, cut out and changed: what the library can be asked to evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ledgeragent.compiler.cel.tree import Expr, Fold, read_tree
from ledgeragent.compiler.cel.wire import WireFields, read_message, write_message

_NEW = 1 << 40  # no parser gives a node this number
_CHECKED_EXPR = 4
_NUMBER, _IDENT, _SELECT, _CALL, _LIST, _STRUCT, _COMPREHENSION = 2, 4, 5, 6, 7, 8, 9
_OPERANDS = {_SELECT: (1,), _CALL: (1, 3), _LIST: (1,)}
_ENTRIES, _OF_ENTRY = 2, (3, 4)  # of a struct; the key and value of one
_RANGE, _ACCUMULATOR, _RESULT = 2, 3, 7


@dataclass(frozen=True, slots=True)
class Serialized:
    """A serialized `google.protobuf.Any` of a CheckedExpr, and its `tree`."""

    whole: bytes
    tree: Expr = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tree", read_tree(self.whole))

    def around(self, raw: bytes) -> bytes:
        """The same with another expression, made of parts of this one."""
        outer = read_message(self.whole)
        checked = read_message(outer[2][0])
        checked[_CHECKED_EXPR] = [raw]
        outer[2] = [write_message(checked)]
        return write_message(outer)


def reference(name: str) -> bytes:
    """The variable of this name."""
    return write_message({_NUMBER: [_NEW], _IDENT: [write_message({1: [name]})]})


def over(raw: bytes, name: str) -> bytes:
    """The macro, over the list in a variable instead of its own."""
    return _with(raw, {_RANGE: [reference(name)]})


def with_body(bind: Fold, raw: bytes) -> bytes:
    """The bind, around another body."""
    return _with(bind.raw, {_RESULT: [raw]})


def counting(fold: Fold) -> bytes:
    """An exists_one that gives the number of items found: what it compares with 1."""
    accumulator = _comprehension(fold.raw)[_ACCUMULATOR][0].decode()
    return _with(fold.raw, {_RESULT: [reference(accumulator)]})


def swapped(expr: Expr, names: Mapping[bytes, str]) -> bytes:
    """The expression with variables in place of the nodes below it of these serialized forms."""
    return _swapped(expr.raw, {raw: reference(name) for raw, name in names.items()})


def _swapped(raw: bytes, parts: Mapping[bytes, bytes]) -> bytes:
    if raw in parts:
        return parts[raw]
    message = read_message(raw)
    for kind, operands in _OPERANDS.items():
        if kind in message:
            message[kind] = [_swapped_inside(message[kind][0], operands, parts)]
    if _STRUCT in message:
        entries = read_message(message[_STRUCT][0])
        entries[_ENTRIES] = [_swapped_inside(e, _OF_ENTRY, parts) for e in entries[_ENTRIES]]
        message[_STRUCT] = [write_message(entries)]
    return write_message(message)


def _swapped_inside(raw: bytes, fields: tuple[int, ...], parts: Mapping[bytes, bytes]) -> bytes:
    message = read_message(raw)
    for number in fields:
        if number in message:
            message[number] = [_swapped(operand, parts) for operand in message[number]]
    return write_message(message)


def _with(raw: bytes, fields: WireFields) -> bytes:
    message = read_message(raw)
    loop = {**_comprehension(raw), **fields}
    return write_message({**message, _COMPREHENSION: [write_message(loop)]})


def _comprehension(raw: bytes) -> WireFields:
    return read_message(read_message(raw)[_COMPREHENSION][0])
