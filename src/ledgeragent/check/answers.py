"""The answers of a Python rule: what it returns, and the messages whose facts it fills in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from string import Formatter
from types import FunctionType

from ledgeragent.check.functions import tree_of
from ledgeragent.check.reading import RuleProblem
from ledgeragent.compiler.problems import Place
from ledgeragent.predicates import violation


def misanswers(check: FunctionType) -> Iterator[RuleProblem]:
    """Constants that a rule returns instead of None or a violation, and messages that lack a fact."""
    tree = tree_of(check)
    file = check.__code__.co_filename
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
            if node.value.value is not None:
                text = f"a rule returns None, or violation(...), never {node.value.value!r}"
                yield "type-error", Place(file, node.lineno), text
        elif isinstance(node, ast.Call) and _is_violation(node, check):
            for name in _lacking(node):
                text = f"the message has {{{name}}}, and violation(...) is given no {name}"
                yield "bad-message", Place(file, node.lineno), text


def _is_violation(node: ast.Call, check: FunctionType) -> bool:
    function = node.func
    if isinstance(function, ast.Name):
        return check.__globals__.get(function.id) is violation
    return isinstance(function, ast.Attribute) and function.attr == violation.__name__


def _lacking(node: ast.Call) -> Iterator[str]:
    """The names in the text of a message that no fact has."""
    template = node.args[0] if node.args else None
    if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
        return
    facts = {keyword.arg for keyword in node.keywords}
    if None in facts:  # others are passed on, of which only running it would tell
        return
    try:
        names = [name for _, name, _, _ in Formatter().parse(template.value) if name is not None]
    except ValueError:
        return
    for name in names:
        root = name.partition(".")[0].partition("[")[0]
        if root not in facts:
            yield root
