"""Parts of a serialized expression, cut out and changed: what the library can be asked to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ledgeragent.compiler.cel.tree import Expr, Fold, read_tree
from ledgeragent.compiler.cel.wire import WireFields, read_message, write_message

_NEW = 1 << 40  # no parser gives a node this number
_TRUE = write_message({2: [_NEW], 3: [write_message({2: [1]})]})
_CHECKED_EXPR = 4
_NUMBER, _IDENT, _SELECT, _CALL, _LIST, _STRUCT, _COMPREHENSION = 2, 4, 5, 6, 7, 8, 9
_OPERANDS = {_SELECT: (1,), _CALL: (1, 3), _LIST: (1,), _COMPREHENSION: (2, 4, 6, 7)}
_ENTRIES, _OF_ENTRY = 2, (3, 4)  # of a struct; the key and value of one
_ITEM, _SUM = "item__", "sum__"
_RANGE, _ACCUMULATOR, _CONDITION, _RESULT = 2, 3, 5, 7


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
    parts = {raw: reference(name) for raw, name in names.items()}

    def change(raw: bytes) -> bytes:
        return parts[raw] if raw in parts else _changed_inside(raw, change)

    return change(expr.raw)


def without_early_ends(raw: bytes) -> bytes:
    """The expression with every `all` and `exists` going over all items, which gives the same.

    A loop of the library that ends early leaves its item behind, and a bind that is evaluated after
    it can take that item for its own value: `ids.exists(i, i == "u") && cel.bind(t, "n", t == "u")`
    is true there. (Seen in cel-expr-python 0.1.3.)
    """
    changed = _changed_inside(raw, without_early_ends)
    return _with(changed, {_CONDITION: [_TRUE]}) if _COMPREHENSION in read_message(raw) else changed


def with_sums(raw: bytes, sums: Mapping[bytes, bytes]) -> bytes:
    """The expression with a loop that adds up in place of each of these calls, by their one argument.

    CEL has no such macro, but its loops are more than its macros: this one begins with 0.0 and adds
    each item as a float.
    """
    if raw in sums:
        return _total(with_sums(sums[raw], sums))
    return _changed_inside(raw, lambda inner: with_sums(inner, sums))


def _total(items: bytes) -> bytes:
    zero = _call("double", write_message({_NUMBER: [_NEW], 3: [write_message({3: [0]})]}))
    step = _call("_+_", reference(_SUM), _call("double", reference(_ITEM)))
    loop: WireFields = {
        1: [_ITEM],
        2: [items],
        3: [_SUM],
        4: [zero],
        5: [_TRUE],
        6: [step],
        7: [reference(_SUM)],
    }
    return write_message({_NUMBER: [_NEW], _COMPREHENSION: [write_message(loop)]})


def _call(function: str, *operands: bytes) -> bytes:
    return write_message({_NUMBER: [_NEW], _CALL: [write_message({2: [function], 3: [*operands]})]})


def _changed_inside(raw: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The node with its operands changed, whatever kind it is."""
    message = read_message(raw)
    for kind, operands in _OPERANDS.items():
        if kind in message:
            message[kind] = [_changed_fields(message[kind][0], operands, change)]
            return write_message(message)
    if _STRUCT in message:
        entries = read_message(message[_STRUCT][0])
        entries[_ENTRIES] = [_changed_fields(e, _OF_ENTRY, change) for e in entries[_ENTRIES]]
        return write_message({**message, _STRUCT: [write_message(entries)]})
    return raw


def _changed_fields(raw: bytes, fields: tuple[int, ...], change: Callable[[bytes], bytes]) -> bytes:
    message = read_message(raw)
    for number in fields:
        if number in message:
            message[number] = [change(operand) for operand in message[number]]
    return write_message(message)


def _with(raw: bytes, fields: WireFields) -> bytes:
    message = read_message(raw)
    loop = {**_comprehension(raw), **fields}
    return write_message({**message, _COMPREHENSION: [write_message(loop)]})


def _comprehension(raw: bytes) -> WireFields:
    return read_message(read_message(raw)[_COMPREHENSION][0])
