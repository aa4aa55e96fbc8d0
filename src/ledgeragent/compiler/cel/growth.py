"""How much memory an expression may take, told from its tree and the sizes of its values.

The library frees nothing before an evaluation ends, `replace` and `join` multiply texts, and each item
that a macro keeps copies the list so far: a `map` over 9,900 items takes 1.5 GB. So the size of
everything that an expression makes is bounded beforehand. The bound follows the tree, counts both
branches of a condition and every repetition of a loop, and is never less than what is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from marshal import dumps
from typing import NamedTuple

from ledgeragent.compiler.cel.tree import (
    Call,
    Const,
    Entries,
    Expr,
    Fold,
    Ident,
    Items,
    Select,
    children,
    walk,
)
from ledgeragent.types import Json

MOST_BYTES = 100_000_000
"""The bytes that the values made in one evaluation may take together."""

_ELEMENT = 64
_MOST_REMEMBERED = 1024
_COPIED = 16  # n items that a macro keeps one by one copy n * n / 2 elements of 32 bytes
_LONGEST_NUMBER = 1400  # as format(...) writes it at most
_GROWING = frozenset(("_+_", "format", "join", "replace", "split", "quote", "strings.quote"))
_NO_GROWTH = frozenset(("bool", "int", "double", "uint", "timestamp", "duration"))


@dataclass(frozen=True, slots=True)
class Size:
    """An upper bound: `bytes` of a value, its `items` (characters of a text), and its largest `item`."""

    bytes: int = 32
    items: int = 0
    item: Size | None = None

    @property
    def each(self) -> Size:
        """The size of any item or field."""
        return self.item or self


_SCALAR = Size()


def _larger(left: Size, right: Size) -> Size:
    if right.item is None and right.bytes <= left.bytes and right.items <= left.items:
        return left
    item = left.item if right.item is None else right.item if left.item is None else None
    if left.item is not None and right.item is not None:
        item = _larger(left.item, right.item)
    return Size(max(left.bytes, right.bytes), max(left.items, right.items), item)


def size_of(value: Json) -> Size:
    """The size of a JSON value."""
    match value:
        case str():
            return Size(len(value) if value.isascii() else 4 * len(value), len(value))
        case list() | tuple():
            return _held(value)
        case dict():
            return _held([*value.values(), *value])
        case _:
            return _SCALAR


def _held(values: Iterable[Json]) -> Size:
    sizes = [size_of(value) for value in values]
    total = sum(size.bytes + _ELEMENT for size in sizes)
    return Size(total, len(sizes), reduce(_larger, sizes) if sizes else None)


class _Magnitude(NamedTuple):
    """The bits of the length of a value's serialized form, and of the number of its items."""

    length: int
    items: int

    @property
    def largest(self) -> Size:
        """The size that no value of this magnitude exceeds."""
        item = Size(_ELEMENT << self.length, 1 << self.length)
        return Size(item.bytes, 1 << self.items, item)


def _magnitude(value: Json) -> _Magnitude:
    """The magnitude of a value; ValueError for one that is nested too deep."""
    length = len(dumps(value, 2)).bit_length()
    match value:
        case list() | tuple():
            return _Magnitude(length, len(value).bit_length())
        case dict():
            return _Magnitude(length, (2 * len(value)).bit_length())
        case _:
            return _Magnitude(length, length)


class Growth:
    """The bound of one expression; it `grows` where its values can be larger than what it reads."""

    __slots__ = ("_is_safe", "_names", "grows", "tree")

    def __init__(self, tree: Expr) -> None:
        self.tree = tree
        self.grows = any(map(_can_grow, walk(tree)))
        self._names = tuple({node.name for node in walk(tree) if isinstance(node, Ident)})
        # By the magnitudes of the values, in the order of the names: most calls are like earlier ones.
        self._is_safe: dict[tuple[_Magnitude, ...], bool] = {}

    def exceeds(self, values: Mapping[str, Json]) -> bool:
        """True if evaluating the expression with these values may take more than `MOST_BYTES`."""
        if not self.grows:
            return False
        try:
            magnitudes = tuple([_magnitude(values.get(name)) for name in self._names])
        except ValueError:  # nested deeper than `marshal` goes
            return self.bytes(values) > MOST_BYTES
        return not self._safe_for(magnitudes) and self.bytes(values) > MOST_BYTES

    def _safe_for(self, magnitudes: tuple[_Magnitude, ...]) -> bool:
        """True if the bound holds for all values that are no larger than these."""
        safe = self._is_safe.get(magnitudes)
        if safe is None:
            sizes = {n: m.largest for n, m in zip(self._names, magnitudes, strict=True)}
            safe = self._bound({}, sizes.__getitem__) <= MOST_BYTES
            if len(self._is_safe) >= _MOST_REMEMBERED:
                self._is_safe.clear()
            self._is_safe[magnitudes] = safe
        return safe

    def bytes(self, values: Mapping[str, Json]) -> int:
        """The bound for these values."""
        return self._bound({}, lambda name: size_of(values.get(name)))

    def _bound(self, names: dict[str, Size], size: Callable[[str], Size]) -> int:
        bound = _Bound(size)
        bound.of(self.tree, names)
        return bound.total


def _can_grow(expr: Expr) -> bool:
    match expr:
        case Call(function=function, type=kind):
            return function in _GROWING and kind not in _NO_GROWTH
        case Fold(macro=macro):
            return macro in ("map", "filter")
        case _:
            return False


def most_rounds(expr: Expr, size: Callable[[str], Size]) -> int:
    """How often the loops of an expression run together at most, its names being of these sizes."""
    bound = _Bound(size)
    bound.of(expr, {})
    return bound.rounds


@dataclass(slots=True)
class _Bound:
    """One reckoning: the `total` of what was made, each `repeats` times where a loop does it.

    `rounds` is how often all loops run together.
    """

    size: Callable[[str], Size]
    total: int = 0
    rounds: int = 0
    repeats: int = 1
    measured: dict[str, Size] = field(default_factory=dict)

    def of(self, expr: Expr, names: Mapping[str, Size]) -> Size:
        """The size of an expression's value; adds what evaluating it makes."""
        match expr:
            case Const(value=value):
                return size_of(value)
            case Ident(name=name):
                return names[name] if name in names else self._measured(name)
            case Select(operand=operand, test=test):
                whole = self.of(operand, names)
                return _SCALAR if test else whole.each
            case Fold():
                return self._fold(expr, names)
            case Call():
                return self._made(self._call(expr, [self.of(arg, names) for arg in expr.args]))
            case Items() | Entries():
                parts = [self.of(part, names) for part in children(expr)]
                total = sum(part.bytes + _ELEMENT for part in parts)
                item = reduce(_larger, parts) if parts else None
                return self._made(Size(total, len(parts), item))
            case _:
                return _SCALAR

    def _measured(self, name: str) -> Size:
        if name not in self.measured:
            self.measured[name] = self.size(name)
        return self.measured[name]

    def _made(self, size: Size) -> Size:
        self.total += size.bytes * self.repeats
        return size

    def _fold(self, fold: Fold, names: Mapping[str, Size]) -> Size:
        source = self.of(fold.source, names)
        if fold.macro == "bind":
            return self.of(fold.body, {**names, fold.variable: source})
        count, before = source.items, self.repeats
        self.repeats *= count
        self.rounds += self.repeats
        inner = {**names, fold.variable: source.each}
        if fold.condition is not None:
            self.of(fold.condition, inner)
        body = self.of(fold.body, inner)
        self.repeats = before
        return self._kept(fold.macro, count, source, body)

    def _kept(self, macro: str, count: int, source: Size, body: Size) -> Size:
        if macro not in ("map", "filter"):
            return _SCALAR
        self.total += _COPIED * count * count * self.repeats
        item = body if macro == "map" else source.each
        return Size(count * (item.bytes + _ELEMENT), count, item)

    def _call(self, call: Call, sizes: list[Size]) -> Size:
        if call.type in _NO_GROWTH or not sizes:
            return _SCALAR
        first, *others = sizes
        match call.function:
            case "_[_]":
                return first.each
            case "_+_":
                larger = _larger(first, others[0])
                added = first.items + others[0].items
                return Size(first.bytes + others[0].bytes, added, larger.item)
            case "_?_:_":
                return _larger(others[0], others[1])
            case "replace":
                times = _occurrences(first, call.args[1])
                added = first.items + times * others[1].items
                return Size(first.bytes + times * others[1].bytes, added)
            case "join":
                times, by = first.items, others[0] if others else Size(0)
                return Size(first.bytes + times * by.bytes, first.bytes + times * by.items)
            case "split":
                times = _occurrences(first, call.args[1])
                return Size(first.bytes + times * _ELEMENT, times, first)
            case "format":
                length = first.bytes * _LONGEST_NUMBER + others[0].bytes
                return Size(length, length)
        total = sum(size.bytes for size in sizes)
        return Size(total, max(size.items for size in sizes), first.item)


def _occurrences(text: Size, part: Expr) -> int:
    """How often a text of this size may hold a part, one more for what is around it."""
    literal = part.value if isinstance(part, Const) else ""
    return text.items // (len(literal) if isinstance(literal, str) and literal else 1) + 1
