"""The value of an expression of numbers, read as a tree: nothing is ever executed."""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable
from typing import Any

CHARACTERS = frozenset("0123456789+-*/(). ")

_LARGEST_POWER = 1_000
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def value_of(expression: str) -> Any:
    """The value; raises what Python raises for the same text, ValueError for an enormous power."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = compile(expression, "<string>", "eval", ast.PyCF_ONLY_AST)
    return _value(tree.body)  # type: ignore[attr-defined]


def _value(node: ast.AST) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left), _value(right))
        case ast.Call(func=function, args=arguments):
            return _value(function)(*map(_value, arguments))
        case _:
            return ()


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, int) and abs(exponent) > _LARGEST_POWER:
        raise ValueError("the exponent is too large")
    return base**exponent
