"""The conditions of routes: CEL on the arguments of a call and the parameters of the pack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ledgeragent.compiler.cel.characters import Unreadable
from ledgeragent.compiler.cel.engine import CelError, Source, environment, parse
from ledgeragent.compiler.cel.programs import Program, compile_expression
from ledgeragent.compiler.cel.scope import Scope
from ledgeragent.compiler.cel.variables import uses
from ledgeragent.compiler.problems import Place, Problems
from ledgeragent.compiler.shapes import Shape
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.types import Arguments, Json


def compile_condition(node: Node, roots: Mapping[str, Shape], findings: Problems) -> Program | None:
    """A CEL condition over these names, or None and findings."""
    source = Source.of(node)
    tree = parse(source, findings)
    scope = Scope(roots, findings)
    if tree is None:
        return None
    scope.tested |= {(use.root, *use.fields) for use in uses(tree) if use.tested}
    sound = scope.declare([(use, source.place(use.at)) for use in uses(tree)], frozenset())
    program = compile_expression(source, scope, environment(scope.variables.values()))
    if program is not None and program.type not in ("BOOL", "DYN"):
        text = f"when gives {program.type.lower()}, it should give true or false"
        findings.add("type-error", Place(node.file, node.begins), text)
    return program if sound else None


def always(arguments: Arguments) -> bool:
    """The condition of a route without one."""
    return True


@dataclass(frozen=True, slots=True)
class RouteCondition:
    """A route's condition on `args` and the domain's `params`.

    What it cannot decide is no case for the route.
    """

    program: Program
    parameters: Mapping[str, Json] = field(default_factory=dict)

    @property
    def arguments(self) -> set[str]:
        """The arguments that it names."""
        named = {
            use.fields[0] for use in uses(self.program.tree) if use.root == "args" and use.fields
        }
        dotted = (use.root.split(".") for use in uses(self.program.tree))
        return named | {parts[1] for parts in dotted if parts[0] == "args" and parts[1:]}

    def __call__(self, arguments: Arguments) -> bool:
        values = {}
        for variable in self.program.variables:
            try:
                whole = self.parameters if variable.root == "params" else arguments
                values[variable.name] = variable.reader(whole)
            except KeyError:
                continue
            except Unreadable:
                return False
        try:
            return self.program(values) is True
        except CelError:
            return False
