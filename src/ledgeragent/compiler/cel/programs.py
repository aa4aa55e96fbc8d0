"""Expressions that were checked and can be evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ledgeragent.compiler.cel.engine import (
    Absent,
    CelError,
    Refused,
    Source,
    compiled,
    environment,
    parse,
)
from ledgeragent.compiler.cel.evaluation import TooOften, evaluated
from ledgeragent.compiler.cel.functions import COMPUTED, Rewritten, ToCompute, rewritten
from ledgeragent.compiler.cel.growth import MOST_BYTES, Growth
from ledgeragent.compiler.cel.pieces import Pieces
from ledgeragent.compiler.cel.scope import Mistyped, Scope
from ledgeragent.compiler.cel.surgery import Serialized, with_sums, without_early_ends
from ledgeragent.compiler.cel.tree import BIND_ITEM, Call, Expr, Fold, read_tree, walk
from ledgeragent.compiler.cel.variables import Use, uses
from ledgeragent.compiler.problems import Problems
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.types import Json

_TOO_LARGE = (
    f"the values given make this expression take more than {MOST_BYTES // 1_000_000} MB of memory; "
    "compare shorter texts or lists, without replace, join, split or a macro in a macro"
)

Lets = tuple[tuple[str, Node], ...]


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

    `tree` is the expression as it was written, `evaluated_as` the library's for the form without our
    functions, checked in the environment `declared`, and `computed` what that form needs besides.
    """

    __slots__ = (
        "_evaluate",
        "_growth",
        "_pieces",
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
        evaluated_as: Any,
        declared: Any,
        computed: tuple[Computed, ...] = (),
    ) -> None:
        self.source = source
        self.tree: Expr = read_tree(expression.serialize())
        self.type: str = expression.return_type().name()
        free = {use.root for use in uses(self.tree)}
        self._growth = Growth(self.tree)
        self.variables = tuple(v for v in scope.variables.values() if v.name in free)
        self.computed = computed
        self._evaluate = evaluated_as.eval
        self._pieces = Pieces(evaluated_as, declared)

    def evaluate_as(self, expression: Any) -> None:
        """Evaluates by this form from here on; piece by piece, where loops run often, by the one before."""
        self._evaluate = expression.eval

    def __call__(self, values: dict[str, Json]) -> Json:
        """The value; raises Absent where a variable it needs has none, CelError where it fails.

        It fails too where it might take more than `MOST_BYTES` of memory, which is told before it
        is evaluated, or where its loops run more than `MOST_ROUNDS` times together, nested ones for
        each round of the outer one. What our functions give is added to `values`, for other programs
        that need it too.
        """
        for computed in self.computed:
            computed.bind(values)
        if self._growth.exceeds(values):
            raise CelError(_TOO_LARGE)
        try:
            return evaluated(self._evaluate, values)
        except TooOften:
            pass
        except CelError as error:
            raise self._explained(error, values) from None
        try:
            return self._pieces.evaluate(values)
        except CelError as error:
            raise self._explained(error, values) from None

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
    if not isinstance(expression, Refused):
        return _without_our_functions(expression, source, scope, declared)
    tree = parse(source, Problems())
    if tree is not None:
        _refuse(source, tree, scope, expression)
    for lets, node, rewrite in _rewritten(source, scope):
        for call in rewrite.computed:
            _sees_its_list(call, node, lets, scope)
    return None


def _refuse(source: Source, tree: Expr, scope: Scope, faults: Refused) -> None:
    variables = tuple(scope.variables.values())
    scope.mistyped.append(Mistyped(source, tree, variables, faults))


def _without_our_functions(
    expression: Any, source: Source, scope: Scope, declared: Any
) -> Program | None:
    """The program whose evaluation calls none of our functions."""
    plain: list[Node] = []
    computed: dict[str, Computed | None] = {}
    for lets, node, rewrite in _rewritten(source, scope):
        for call in rewrite.computed:
            computed[call.name] = _computed(call, node, lets, scope, declared)
        plain.append(replace(node, value=rewrite.text))
    values = {name: value for name, value in computed.items() if value is not None}
    if len(values) < len(computed):
        _refuse(source, read_tree(expression.serialize()), scope, Refused())
        return None
    evaluated_as = expression
    *lets_done, body = plain
    if plain != [*(node for _, node in source.lets), source.body]:
        functions = {name: value.function for name, value in values.items()}
        names = (name for name, _ in source.lets)
        written_out = Source.of(body, zip(names, lets_done, strict=True))
        declared = environment(scope.variables.values(), functions)
        evaluated_as = compiled(written_out, declared, scope.findings, scope.rule)
    if isinstance(evaluated_as, Refused):
        return None
    evaluated_as = _going_to_the_end(evaluated_as, declared)
    program = Program(expression, source, scope, evaluated_as, declared, tuple(values.values()))
    program.evaluate_as(_summing_up(evaluated_as, declared))
    return program


def _summing_up(expression: Any, declared: Any) -> Any:
    """The expression, with loops for the sums that look at what a macro around them binds."""
    whole = expression.serialize()
    # Here and below: most have none, and to read the tree takes as long as to compile it.
    if b"sum" not in whole:
        return expression
    form = Serialized(whole)
    sums = {
        node.raw: node.args[0].raw
        for node in walk(form.tree)
        if isinstance(node, Call) and node.function == "sum"
    }
    return declared.deserialize(form.around(with_sums(form.tree.raw, sums))) if sums else expression


def _going_to_the_end(expression: Any, declared: Any) -> Any:
    """The expression, without early ends of loops where it binds names that they would spoil."""
    whole = expression.serialize()
    if BIND_ITEM.encode() not in whole:
        return expression
    form = Serialized(whole)
    macros = {node.macro for node in walk(form.tree) if isinstance(node, Fold)}
    if "bind" not in macros or macros.isdisjoint(("all", "exists")):
        return expression
    return declared.deserialize(form.around(without_early_ends(form.tree.raw)))


def _rewritten(source: Source, scope: Scope) -> Iterator[tuple[Lets, Node, Rewritten]]:
    """Each let and then the body, without our functions; with the lets before it."""
    for i, node in enumerate((*(let for _, let in source.lets), source.body)):
        lets = source.lets[:i]
        yield lets, node, rewritten(node.value, partial(_name_of, lets, node, scope))


def _name_of(lets: Lets, node: Node, scope: Scope, function: str, argument: str) -> str | None:
    """The variable for a value that is computed beforehand; None for a sum that looks into a macro."""
    if function == "sum" and _hidden(Source.of(replace(node, value=argument)), lets, scope):
        return None
    return scope.computed_name(lets, function, argument)


def _computed(
    call: ToCompute, node: Node, lets: Lets, scope: Scope, declared: Any
) -> Computed | None:
    if not _sees_its_list(call, node, lets, scope):
        return None
    program = compile_expression(Source.of(_argument(call, node), lets), scope, declared)
    return Computed(call.name, call.function, program) if program is not None else None


def _argument(call: ToCompute, node: Node) -> Node:
    return replace(node, value=call.argument, begins=node.begins + call.line)


def _sees_its_list(call: ToCompute, node: Node, lets: Lets, scope: Scope) -> bool:
    """False (and findings) where the list is made with what only a macro around the call knows."""
    source = Source.of(_argument(call, node))
    hidden = _hidden(source, lets, scope)
    for use in hidden:
        text = f"{call.function}(...) cannot look at {use.root}, which a macro binds"
        text += "; name its list with let"
        scope.findings.add("type-error", source.place(use.at), text, scope.rule)
    return not hidden


def _hidden(source: Source, lets: Lets, scope: Scope) -> list[Use]:
    """The names in an expression that only a macro around it can know."""
    tree = parse(source, Problems())
    names = {*scope.roots, *(v.root for v in scope.variables.values()), *(let for let, _ in lets)}
    return [use for use in uses(tree) if use.root not in names] if tree is not None else []
