"""Evaluates an expression piece by piece where its loops run too often for one evaluation.

The library stops an evaluation whose loops run 10,000 times together, which 160 items compared with 160
others do. Such an expression is taken apart at its macros and operators: a macro is evaluated for as
many of its items at a time as that limit allows, its inside is taken apart in turn where one item is
too many, and what the parts give is put together as CEL does it: an error counts only where nothing
else decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from marshal import dumps
from typing import Any, NamedTuple

from ledgeragent.compiler.cel.engine import Absent, CelError
from ledgeragent.compiler.cel.evaluation import ROUNDS_AT_ONCE, TooOften, evaluated
from ledgeragent.compiler.cel.growth import Size, most_rounds, size_of
from ledgeragent.compiler.cel.surgery import Serialized, counting, over, swapped, with_body
from ledgeragent.compiler.cel.tree import Call, Expr, Fold, Ident, children, read_tree, walk
from ledgeragent.types import Json

MOST_ROUNDS = 1_000_000
"""How often the loops of one expression may run together."""

MOST_HANDED_OVER = 10_000_000
"""Bytes (serialized) of the values that all pieces of one expression may read together."""

_TOO_OFTEN = (
    f"the loops of this expression run more than {MOST_ROUNDS:,} times together (a macro in a macro "
    "counts each round of the inner one); compare fewer items at once"
)
_TOO_MUCH_READ = (
    f"the loops of this expression run more than {ROUNDS_AT_ONCE:,} times together, and read more than "
    f"{MOST_HANDED_OVER // 1_000_000} MB; compare fewer items at once"
)
_IN_ONE_GO = (
    f"the loops of this expression run more than {ROUNDS_AT_ONCE:,} times together, and it cannot be "
    "taken apart ({why}); compare fewer items at once"
)
_SHADOWED = "the name {name} is used twice, give it another"
_NO_JSON = "a loop gives timestamps or durations; let it give texts"
_NO_TRUTH = "a condition gave something else than true or false"

_CHUNK = "#items"
_NOT_JSON = ("timestamp", "duration", "uint")


@dataclass(frozen=True, slots=True)
class _Names:
    """What a piece may read: `values` by name, names whose value `failed`, and `binds` around it."""

    values: Mapping[str, Json]
    failed: Mapping[str, CelError] = field(default_factory=dict)
    binds: tuple[Fold, ...] = ()

    def bound(self, name: str, value: Json) -> _Names:
        """With a value for a macro's name."""
        self._check_new(name)
        return replace(self, values={**self.values, name: value})

    def failing(self, name: str, error: CelError) -> _Names:
        """With a name whose value cannot be had."""
        self._check_new(name)
        return replace(self, failed={**self.failed, name: error})

    def within(self, bind: Fold) -> _Names:
        """Inside a bind that is evaluated with every piece that needs it."""
        self._check_new(bind.variable)
        return replace(self, binds=(*self.binds, bind))

    def _check_new(self, name: str) -> None:
        """Raises TooOften for a name that would hide another one that a piece reads."""
        roots = {name.partition(".")[0] for name in (*self.values, *self.failed)}
        for bind in self.binds:
            roots |= {bind.variable, *_names(bind.source)}
        if name in roots:
            raise TooOften(_IN_ONE_GO.format(why=_SHADOWED.format(name=name)))


class _Piece(NamedTuple):
    """A part that the library evaluates in one go, and the names it reads."""

    evaluate: Any
    names: frozenset[str]


class Pieces:
    """A checked expression of the environment `declared`, with the pieces it was taken apart into."""

    __slots__ = ("_compiled", "_declared", "_expression", "_serialized", "_tree")

    def __init__(self, expression: Any, declared: Any) -> None:
        self._expression = expression
        self._declared = declared
        self._serialized: Serialized | None = None
        self._compiled: dict[bytes, _Piece] = {}

    def evaluate(self, values: Mapping[str, Json], at_once: int = ROUNDS_AT_ONCE) -> Json:
        """The value, from pieces whose loops run `at_once` times together at most.

        Raises Absent or CelError like the library, TooOften past `MOST_ROUNDS` or `MOST_HANDED_OVER`.
        """
        tree = self._taken_apart().tree
        run = _Run(self.piece, values, at_once)
        if run.rounds(tree, values) > MOST_ROUNDS:
            raise TooOften(_TOO_OFTEN)
        return run.split(tree, _Names(values))

    def piece(self, raw: bytes) -> _Piece:
        """The piece with this serialized form; each is compiled once."""
        if raw not in self._compiled:
            whole = self._taken_apart().around(raw)
            evaluate = self._declared.deserialize(whole).eval
            self._compiled[raw] = _Piece(evaluate, _names(read_tree(whole)))
        return self._compiled[raw]

    def _taken_apart(self) -> Serialized:
        if self._serialized is None:
            self._serialized = Serialized(self._expression.serialize())
        return self._serialized


@dataclass(slots=True)
class _Run:
    """One evaluation: `piece` compiles a serialized part, `variables` are their values.

    The loops of a piece run `at_once` times together at most.
    """

    piece: Callable[[bytes], _Piece]
    variables: Mapping[str, Json]
    at_once: int
    sizes: dict[str, Size] = field(default_factory=dict)
    handed_over: int = 0

    def rounds(self, expr: Expr, values: Mapping[str, Json]) -> int:
        """How often the loops of a part run at most."""
        return most_rounds(expr, partial(self._size, values))

    def _size(self, values: Mapping[str, Json], name: str) -> Size:
        if name not in self.variables:
            return size_of(values.get(name))
        if name not in self.sizes:
            self.sizes[name] = size_of(self.variables[name])
        return self.sizes[name]

    def of(self, expr: Expr, names: _Names) -> Json:
        """The value of a part, in one go if that does."""
        if self.rounds(expr, names.values) <= self.at_once:
            return self._whole(expr.raw, names)
        return self.split(expr, names)

    def _whole(self, raw: bytes, names: _Names) -> Json:
        for bind in reversed(names.binds):
            if bind.variable in self.piece(raw).names:
                raw = with_body(bind, raw)
        piece = self.piece(raw)
        self._hand_over({n: names.values[n] for n in piece.names if n in names.values})
        try:
            return evaluated(piece.evaluate, names.values)
        except Absent as absent:
            raise names.failed.get(absent.name, absent) from None

    def _hand_over(self, values: dict[str, Any]) -> None:
        try:
            self.handed_over += len(dumps(values, 2))
        except ValueError:
            raise TooOften(_IN_ONE_GO.format(why=_NO_JSON)) from None
        if self.handed_over > MOST_HANDED_OVER:
            raise TooOften(_TOO_MUCH_READ)

    def split(self, expr: Expr, names: _Names) -> Json:
        """The value of a part, from the values of its own parts."""
        match expr:
            case Fold(macro="bind"):
                return self.of(expr.body, self._bound(expr, names))
            case Fold():
                return self._fold(expr, names)
            case Call(function="_&&_" | "_||_", args=args):
                parts = (partial(self.of, arg, names) for arg in args)
                return _decided(parts, by=expr.function == "_||_")
            case Call(function="_?_:_", args=(condition, yes, no)):
                return self.of(yes if _truth(self.of(condition, names)) else no, names)
            case _:
                return self._strict(expr, names)

    def _bound(self, bind: Fold, names: _Names) -> _Names:
        if not _is_json(bind.source):
            return names.within(bind)
        try:
            return names.bound(bind.variable, self.of(bind.source, names))
        except TooOften:
            raise
        except CelError as error:  # CEL minds it only where the name is used
            return names.failing(bind.variable, error)

    def _strict(self, expr: Expr, names: _Names) -> Json:
        """An operator or function that needs all its operands: those with loops come first."""
        operands = dict(self._operands(expr, names))
        values = {f"#{i}": value for i, value in enumerate(operands.values())}
        raw = swapped(expr, dict(zip(operands, values, strict=True)))
        return self._whole(raw, replace(names, values={**names.values, **values}))

    def _operands(self, expr: Expr, names: _Names) -> Iterator[tuple[bytes, Json]]:
        """The operands with loops, by serialized form; those of an operand that is no JSON."""
        for child in children(expr):
            if _loops(child) and _is_json(child):
                yield child.raw, self.of(child, names)
            elif _loops(child) and not isinstance(child, Fold):
                yield from self._operands(child, names)

    # ── Macros ──────────────────────────────────────────────────────────────────────────────────

    def _fold(self, fold: Fold, names: _Names) -> Json:
        items = self.of(fold.source, names)
        if not isinstance(items, list | dict):
            raise CelError(f"{fold.macro} goes over a list or a map, not over {items!r}")
        parts = self._parts(fold, [*items], names)
        match fold.macro:
            case "all" | "exists":
                return _decided(parts, by=fold.macro == "exists")
            case "exists_one":
                return sum(part() for part in parts) == 1
            case _:
                return [item for part in parts for item in part()]

    def _parts(self, fold: Fold, items: list[Json], names: _Names) -> Iterator[Callable[[], Any]]:
        """The macro for some of its items at a time: its answer, number of items, or list."""
        at_once = self._items_at_once(fold, items, names)
        if at_once == 0:
            yield from (partial(self._inside, fold, item, names) for item in items)
            return
        raw = over(counting(fold) if fold.macro == "exists_one" else fold.raw, _CHUNK)
        for start in range(0, len(items), at_once):
            values = {**names.values, _CHUNK: items[start : start + at_once]}
            yield partial(self._whole, raw, replace(names, values=values))

    def _items_at_once(self, fold: Fold, items: list[Json], names: _Names) -> int:
        """For how many items the macro can be evaluated in one go."""
        chunk = replace(fold, source=Ident(name=_CHUNK))
        rounds = self.rounds(chunk, {**names.values, _CHUNK: items})
        return self.at_once * len(items) // rounds if rounds else 1

    def _inside(self, fold: Fold, item: Json, names: _Names) -> Any:
        """The macro for one item, evaluated in parts."""
        inner = names.bound(fold.variable, item)
        if fold.condition is not None and not _truth(self.of(fold.condition, inner)):
            return []
        value = self.of(fold.body, inner)
        match fold.macro:
            case "map":
                return [value]
            case "filter":
                return [item] if _truth(value) else []
            case _:
                return _truth(value)


def _decided(parts: Iterable[Callable[[], Json]], *, by: bool) -> bool:
    """What `||` (decided by true) or `&&` (by false) gives: an error counts where none decides."""
    errors: list[CelError] = []
    for part in parts:
        try:
            if _truth(part()) is by:
                return by
        except CelError as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return not by


def _truth(value: Json) -> bool:
    if not isinstance(value, bool):
        raise CelError(_NO_TRUTH)
    return value


def _names(expr: Expr) -> frozenset[str]:
    return frozenset(node.name for node in walk(expr) if isinstance(node, Ident))


def _loops(expr: Expr) -> bool:
    return any(isinstance(node, Fold) and node.macro != "bind" for node in walk(expr))


def _is_json(expr: Expr) -> bool:
    """False where a value would not come back from Python as it was."""
    return not any(kind in expr.type for kind in _NOT_JSON)
