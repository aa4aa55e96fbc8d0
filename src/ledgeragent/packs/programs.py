"""Expressions that were checked and can be evaluated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ledgeragent.packs.cel import (
    Absent,
    CelError,
    Source,
    compiled,
    environment,
    evaluation_error,
    library,
    parse,
)
from ledgeragent.packs.celtree import Expr, read_tree
from ledgeragent.packs.functions import COMPUTED, rewritten
from ledgeragent.packs.variables import Scope, uses
from ledgeragent.packs.yamlfile import Node
from ledgeragent.types import Json


@dataclass(frozen=True, slots=True)
class Computed:
    """A value of one of our functions, bound to `name` before the expression that uses it."""

    name: str
    function: str
    argument: Program

    def bind(self, values: dict[str, Json]) -> None:
        """Adds the value; leaves it out where its argument cannot be evaluated."""
        if self.name in values:
            return
        try:
            values[self.name] = self.value(values)
        except CelError:
            return

    def value(self, values: dict[str, Json]) -> Json:
        """The value; raises Absent or CelError where it has none."""
        argument = self.argument(values)
        try:
            return COMPUTED[self.function](argument)
        except (TypeError, ValueError, OverflowError) as problem:
            raise CelError(str(problem)) from None


class Program:
    """A checked expression: `variables` are what it needs, calling it with their values evaluates it.

    `tree` is the expression as it was written, `evaluate` the library's for the form without our
    functions, and `computed` what that form needs besides.
    """

    __slots__ = (
        "_error",
        "_evaluate",
        "activate",
        "computed",
        "source",
        "tree",
        "type",
        "variables",
    )

    def __init__(
        self,
        expression: Any,
        source: Source,
        scope: Scope,
        evaluate: Any,
        computed: tuple[Computed, ...] = (),
    ) -> None:
        self.source = source
        self.tree: Expr = read_tree(expression.serialize())
        self.type: str = expression.return_type().name()
        free = {use.root for use in uses(self.tree)}
        self.variables = tuple(v for v in scope.variables.values() if v.name in free)
        self.computed = computed
        self._evaluate = evaluate
        self._error = library().Type.ERROR

    def __call__(self, values: dict[str, Json]) -> Json:
        """The value; raises Absent where a variable it needs has none, CelError where it fails.

        What our functions give is added to `values`, for other programs that need it too.
        """
        for computed in self.computed:
            computed.bind(values)
        result = self._evaluate(None, values)
        value = result.plain_value()
        if type(value) is str and result.type() == self._error:
            raise self._explained(evaluation_error(value), values)
        return value

    def _explained(self, error: CelError, values: dict[str, Json]) -> CelError:
        """The error, or the one behind it where a computed value was missing."""
        for computed in self.computed:
            if isinstance(error, Absent) and error.name == computed.name:
                try:
                    computed.value(values)
                except CelError as cause:
                    return cause
        return error


def compile_expression(source: Source, scope: Scope, declared: Any) -> Program | None:
    """The program checked in the environment `declared`, or None and findings where types don't fit."""
    expression = compiled(source, declared, scope.findings, scope.rule)
    if expression is None:
        return None
    return _without_our_functions(expression, source, scope, declared)


def _without_our_functions(
    expression: Any, source: Source, scope: Scope, declared: Any
) -> Program | None:
    """The program whose evaluation calls none of our functions."""
    written = (*source.lets, ("", source.body))
    plain: list[tuple[str, Node]] = []
    computed: dict[str, Computed] = {}
    for i, (name, node) in enumerate(written):
        lets = source.lets[:i]
        done = rewritten(node.value, partial(scope.computed_name, lets))
        for variable, function, argument in done.computed:
            list_of = replace(node, value=argument)
            made = _computed(variable, function, list_of, lets, scope, declared)
            if made is None:
                return None
            computed[variable] = made
        plain.append((name, replace(node, value=done.text)))
    evaluated = expression
    if plain != [*written]:
        functions = {name: found.function for name, found in computed.items()}
        *lets_done, (_, body) = plain
        declared = environment(scope.variables.values(), functions)
        evaluated = compiled(Source.of(body, lets_done), declared, scope.findings, scope.rule)
    if evaluated is None:
        return None
    return Program(expression, source, scope, evaluated.eval, tuple(computed.values()))


def _computed(
    name: str,
    function: str,
    argument: Node,
    lets: tuple[tuple[str, Node], ...],
    scope: Scope,
    declared: Any,
) -> Computed | None:
    tree = parse(Source.of(argument), scope.findings, scope.rule)
    known = {*scope.roots, *(let for let, _ in lets)}
    for use in uses(tree) if tree is not None else ():
        if use.root not in known:
            source = Source.of(argument)
            text = f"{function}(...) cannot look at {use.root}, which a macro binds; name its list with let"
            scope.findings.add("type-error", source.place(use.at), text, scope.rule)
            return None
    program = compile_expression(Source.of(argument, lets), scope, declared)
    return Computed(name, function, program) if program is not None else None
