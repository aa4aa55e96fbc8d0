"""The shapes that the type hints of a function promise."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from ledgeragent.compiler.shapes import ANY, TEXT, ListOf, MapOf, Object, Shape, shape_of
from ledgeragent.predicates import View

VIEW = Object("the view")
Locals = dict[str, Shape | None]


def _hints(function: FunctionType) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # a name that exists for type checkers only: nothing is known then
        return {}


def parameters_of(function: FunctionType) -> Locals:
    """The shapes of a function's parameters, by name; `VIEW` for the ledger that a rule reads."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    hints = _hints(function)
    return {
        name: VIEW if hints.get(name) is View else _shape_of_hint(hints.get(name)) for name in names
    }


def returned_by(function: FunctionType) -> Shape | None:
    """The shape of what a function returns."""
    return _shape_of_hint(_hints(function).get("return"))


def _shape_of_hint(hint: Any) -> Shape | None:
    """The shape of a type hint, None where it says nothing."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (tuple, set, frozenset) or getattr(origin, "__module__", "") == "collections.abc":
        ordered = len(arguments) == 1 or (len(arguments) == 2 and arguments[1] is Ellipsis)
        item = _shape_of_hint(arguments[0]) if ordered else None
        return ListOf(item) if item is not None else None
    shape = shape_of(hint)
    return None if shape == ANY else shape


def iterated(shape: Shape | None) -> Shape | None:
    """The list of what iterating over a value gives."""
    if isinstance(shape, MapOf | Object):
        return ListOf(TEXT)
    return shape if isinstance(shape, ListOf) else None
