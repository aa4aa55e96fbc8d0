"""The source of a Python rule: which records it demands, which fields and values it names.

Types come from annotations: a parameter, a path's record, a helper's return. What has no known type is
left alone, so nothing is found that isn't there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from ledgeragent.check.functions import Function, alternatives, assigned_often, tree_of
from ledgeragent.check.hints import VIEW, Locals, iterated, parameters_of, returned_by
from ledgeragent.check.kinds import differ, impossible, kind, kind_of
from ledgeragent.check.reading import RuleReading
from ledgeragent.compiler.problems import Place, suggestion
from ledgeragent.compiler.shapes import ListOf, MapOf, Object, Shape, is_open, shape_of
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.predicates import demand
from ledgeragent.types import Json

_WHOLE = ("sorted", "list", "tuple", "reversed", "set", "iter")


def read_function(function: FunctionType) -> RuleReading:
    """The reading of a function: its demands, its calls, and what is wrong in it."""
    tree = tree_of(function)
    walk = _Walk(function)
    if tree is not None:
        walk.run(tree)
    return walk.reading


def read_rule(check: FunctionType) -> Iterator[RuleReading]:
    """The readings of a rule's check and of every helper of its package that it calls."""
    package = check.__module__.rpartition(".")[0] or check.__module__
    waiting, seen = [check], {check}
    while waiting:
        reading = read_function(waiting.pop())
        yield reading
        for function in reading.calls:
            if function.__module__.startswith(package) and function not in seen:
                seen.add(function)
                waiting.append(function)


class _Walk:
    """One pass over one function."""

    def __init__(self, function: FunctionType) -> None:
        self.reading = RuleReading()
        self._function = function
        self._file = function.__code__.co_filename
        self._env: Locals = {}
        self._several: set[str] = set()

    def run(self, tree: Function) -> None:
        """Walks the whole body."""
        self._env = parameters_of(self._function)
        self._several = set(assigned_often(tree))
        for node in tree.body if isinstance(tree, ast.FunctionDef) else [tree.body]:
            self._visit(node)

    # ── Statements ──────────────────────────────────────────────────────────────────────────────

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.expr):
            self._infer(node)
        elif isinstance(node, ast.Assign):
            shape = self._infer(node.value)
            for target in node.targets:
                self._bind(target, shape)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind(node.target, self._infer(node.value))
        elif isinstance(node, ast.For):
            self._bind(node.target, self._item(node.iter))
            for statement in (*node.body, *node.orelse):
                self._visit(statement)
        elif isinstance(node, ast.Match):
            self._match(node)
        elif isinstance(node, ast.FunctionDef | ast.Lambda):
            return
        else:
            for child in ast.iter_child_nodes(node):
                self._visit(child)

    def _match(self, node: ast.Match) -> None:
        shape = self._infer(node.subject)
        for case in node.cases:
            for pattern in alternatives(case.pattern):
                if isinstance(pattern, ast.MatchValue):
                    self._impossible(pattern.value, self._constants(pattern.value), shape)
            for part in (*([case.guard] if case.guard is not None else ()), *case.body):
                self._visit(part)

    def _bind(self, target: ast.expr, shape: Shape | None, own: bool = False) -> None:
        """Binds a name; `own` in a comprehension, whose names are its own."""
        if isinstance(target, ast.Name):
            self._env[target.id] = None if target.id in self._several and not own else shape
        elif isinstance(target, ast.Tuple):
            for element in target.elts:
                self._bind(element, None, own)

    # ── Expressions ─────────────────────────────────────────────────────────────────────────────

    def _infer(self, node: ast.expr) -> Shape | None:
        match node:
            case ast.Name(id=name):
                return self._env.get(name)
            case ast.Subscript(value=value, slice=index):
                return self._subscript(node, self._infer(value), index)
            case ast.Call():
                return self._call(node)
            case ast.Compare():
                self._compare(node)
                return None
            case ast.NamedExpr(target=target, value=value):
                shape = self._infer(value)
                self._bind(target, shape)
                return shape
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                return self._comprehension(node)
            case ast.Lambda():
                return None
        for child in ast.iter_child_nodes(node):
            self._visit(child)
        return None

    def _subscript(self, node: ast.expr, owner: Shape | None, index: ast.expr) -> Shape | None:
        if owner is VIEW:
            return self._demand(index)
        if isinstance(owner, Object) and not is_open(owner) and isinstance(index, ast.Constant):
            return self._field(node, owner, index)
        self._infer(index)
        if isinstance(owner, MapOf) or (
            isinstance(owner, ListOf) and not isinstance(index, ast.Slice)
        ):
            return owner.item
        return owner if isinstance(owner, ListOf) else None

    def _field(self, node: ast.expr, owner: Object, index: ast.Constant) -> Shape | None:
        """The shape of a field that is named, None and a problem where there is no such field."""
        name = str(index.value)
        if name in owner.fields or is_open(owner):
            return owner.fields[name].shape if name in owner.fields else None
        hint = suggestion(name, owner.fields)
        self._find("unknown-field", node, f"{owner} has no field {index.value!r}{hint}")
        return None

    def _demand(self, index: ast.expr) -> Shape | None:
        family = self._family(index)
        if family is not None:
            self.reading.demanded.append((family, self._place(index)))
        return shape_of(family.record) if isinstance(family, PathTemplate) else None

    def _family(self, node: ast.expr) -> PathTemplate[Any] | Path[Any] | None:
        """The path or its family that an expression names, None where only running it would tell."""
        target = node
        if isinstance(node, ast.Call):
            for argument in node.args:
                self._infer(argument)
            target = node.func
        value = self._global(target)
        return value if isinstance(value, PathTemplate | Path) else None

    def _call(self, node: ast.Call) -> Shape | None:
        function = node.func
        if isinstance(function, ast.Attribute):
            return self._method(node, function)
        callee = self._global(function)
        if callee is demand and node.args:
            self._demand(node.args[0])
            self._rest(node, node.args[1:])
            return None
        shapes = [self._infer(argument) for argument in node.args]
        self._rest(node, [])
        if isinstance(callee, FunctionType):
            self.reading.calls.append(callee)
            return returned_by(callee)
        if isinstance(function, ast.Name) and function.id in _WHOLE and shapes:
            return iterated(shapes[0])
        return None

    def _rest(self, node: ast.Call, arguments: list[ast.expr]) -> None:
        for argument in (*arguments, *(keyword.value for keyword in node.keywords)):
            self._infer(argument)
            passed = self._global(argument)
            if isinstance(passed, FunctionType):
                self.reading.calls.append(passed)

    def _method(self, node: ast.Call, function: ast.Attribute) -> Shape | None:
        owner = self._infer(function.value)
        arguments = node.args
        if owner is VIEW and function.attr in ("get", "entry", "glob") and arguments:
            family = self._family(arguments[0])
            is_record = isinstance(family, PathTemplate) and function.attr == "get"
            return (
                shape_of(family.record) if is_record and isinstance(family, PathTemplate) else None
            )
        for argument in arguments:
            self._infer(argument)
        self._rest(node, [])
        if isinstance(owner, MapOf):
            if function.attr == "values":
                return ListOf(owner.item)
            return owner.item if function.attr == "get" and len(arguments) == 1 else None
        if isinstance(owner, Object) and owner is not VIEW and function.attr == "get" and arguments:
            index = arguments[0]
            member = self._field(node, owner, index) if isinstance(index, ast.Constant) else None
            return member if len(arguments) == 1 else None
        return None

    def _comprehension(
        self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp
    ) -> Shape | None:
        outer = dict(self._env)
        for generator in node.generators:
            self._bind(generator.target, self._item(generator.iter), own=True)
            for condition in generator.ifs:
                self._infer(condition)
        if isinstance(node, ast.DictComp):
            self._infer(node.key)
            shape = self._infer(node.value)
            result: Shape | None = MapOf(shape) if shape is not None else None
        else:
            shape = self._infer(node.elt)
            result = ListOf(shape) if shape is not None else None
        self._env = outer
        return result

    def _item(self, node: ast.expr) -> Shape | None:
        shape = iterated(self._infer(node))
        return shape.item if isinstance(shape, ListOf) else None

    def _compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        shapes = [self._infer(side) for side in sides]
        for i, operator in enumerate(node.ops):
            if isinstance(operator, ast.Eq | ast.NotEq):
                before = len(self.reading.problems)
                self._impossible(node, self._constants(sides[i + 1]), shapes[i])
                self._impossible(node, self._constants(sides[i]), shapes[i + 1])
                if len(self.reading.problems) == before:
                    self._mixed(node, sides[i : i + 2], shapes[i : i + 2], "is never equal to")
            elif isinstance(operator, ast.In | ast.NotIn):
                self._impossible(node, self._constants(sides[i + 1]), shapes[i])
                owner, name = shapes[i + 1], sides[i]
                if isinstance(owner, Object) and isinstance(name, ast.Constant):
                    self._field(node, owner, name)
            elif isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                self._mixed(node, sides[i : i + 2], shapes[i : i + 2], "has no order with")

    def _mixed(
        self, node: ast.expr, sides: list[ast.expr], shapes: list[Shape | None], how: str
    ) -> None:
        """Finds a comparison of values of different kinds, where both kinds are known."""
        left, right = (
            kind(shape) or (kind_of(side.value) if isinstance(side, ast.Constant) else "")
            for side, shape in zip(sides, shapes, strict=True)
        )
        if differ(left, right):
            self._find("type-error", node, f"{left} {how} {right}")

    def _impossible(self, node: ast.expr, values: tuple[Json, ...], shape: Shape | None) -> None:
        for value in values:
            if impossible(value, shape):
                self._find("impossible-value", node, f"this is {shape}, never {value!r}")

    def _constants(self, node: ast.expr) -> tuple[Json, ...]:
        """The constants that an expression stands for, () where it is none."""
        if isinstance(node, ast.Constant):
            return (node.value,)
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return tuple(value for element in node.elts for value in self._constants(element))
        constant = self._global(node)
        if isinstance(constant, str | int):
            return (constant,)
        return tuple(constant) if isinstance(constant, tuple | list | set | frozenset) else ()

    # ── Names ───────────────────────────────────────────────────────────────────────────────────

    def _global(self, node: ast.expr) -> Any:
        """The value of a name that is no local variable."""
        if isinstance(node, ast.Name) and node.id not in self._env:
            return self._function.__globals__.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._global(node.value)
            return getattr(owner, node.attr, None) if owner is not None else None
        return None

    def _place(self, node: ast.expr) -> Place:
        return Place(self._file, node.lineno)

    def _find(self, code: str, node: ast.expr, message: str) -> None:
        self.reading.problems.append((code, self._place(node), message))
