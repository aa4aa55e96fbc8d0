"""A domain: its tools with their routes, its predicates, its clauses, in one frozen value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ledgeragent.arguments import Reader, names, reader
from ledgeragent.effects import Effect, Neutral, Read, Route, Tool, Write
from ledgeragent.errors import DomainError
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.predicates import Predicate
from ledgeragent.shape import ANYTHING, Shape, shape_of
from ledgeragent.types import Arguments, Json, ToolCall
from ledgeragent.verdict import Enforcement

EVERY_RULE = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One sentence of the policy: which predicates enforce it, or `why` none can.

    `checkable` is `state` (records, arguments and clock decide), `dialogue` (what was said decides),
    `mixed`, or `none`.
    """

    CHECKABLE: ClassVar = ("state", "dialogue", "mixed", "none")

    id: str
    section: str
    summary: str
    checkable: str
    predicates: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What the gate needs for one tool: how to read its arguments, and the rules over it.

    `judged` is False for reads, and for neutral tools that no rule guards. `takes` names the tool's
    arguments, None where that is not known.
    """

    effect: Effect
    judged: bool
    read_arguments: Reader | None
    takes: frozenset[str] | None
    predicates: tuple[Predicate, ...]


@dataclass(frozen=True, kw_only=True)
class Domain:
    """A domain pack (paper §Agent Loop: reusable, domain-level, never task-level).

    `parameters` are constants that predicates read. `shared` tells what the user may change on a
    turn of theirs. `listens` if rules read what was said (`View.said`), `timed` if they ask
    for the time (`View.now`), whose days begin and end in `timezone`. `available` names the tools
    that can supply evidence in this run (None: all of them). `digest` identifies the pack's files,
    "" for a domain that was not loaded from files.
    """

    name: str
    version: str
    tools: Sequence[Tool]
    predicates: tuple[Predicate, ...] = ()
    clauses: tuple[Clause, ...] = ()
    parameters: Mapping[str, Json] = field(default_factory=dict)
    shared: Callable[[Ledger], Iterable[Touch]] | None = None
    listens: bool = False
    timed: bool = False
    timezone: str = "UTC"
    available: frozenset[str] | None = None
    digest: str = ""
    _tools: Mapping[str, Tool] = field(init=False, repr=False, compare=False)
    _routes: Mapping[str, tuple[Read[Any], ...]] = field(init=False, repr=False, compare=False)
    _guards: Mapping[str, Guard] = field(init=False, repr=False, compare=False)
    _shapes: Mapping[str, tuple[tuple[PathTemplate[Any], Shape], ...]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        tools: dict[str, Tool] = {}
        routes: dict[str, tuple[Read[Any], ...]] = {}
        for tool in self.tools:
            declared = tools.setdefault(tool.tool, tool)
            if type(declared) is not type(tool) or (
                declared is not tool and not isinstance(tool, Read)
            ):
                raise DomainError(f"{self.name}: tool {tool.tool} is declared twice")
            if isinstance(tool, Read):
                routes[tool.tool] = (*routes.get(tool.tool, ()), tool)
        object.__setattr__(self, "_tools", tools)
        object.__setattr__(self, "_routes", routes)
        object.__setattr__(self, "_guards", self._make_guards(tools))
        object.__setattr__(self, "_shapes", _shapes_of(self.tools))

    def _make_guards(self, tools: Mapping[str, Tool]) -> dict[str, Guard]:
        ids = [rule.id for rule in self.predicates]
        if len(ids) != len(set(ids)):
            raise DomainError(f"{self.name}: two predicates share an id")
        rules: dict[str, list[Predicate]] = {}
        for rule in self.predicates:
            for name in rule.guards:
                if isinstance(tools.get(name), Read) or name not in tools:
                    raise DomainError(f"{rule.id} guards {name}, which is no write of {self.name}")
                rules.setdefault(name, []).append(rule)
        return {name: _guard(tool, tuple(rules.get(name, ()))) for name, tool in tools.items()}

    def tool(self, name: str) -> Tool | None:
        """The entry of a tool, or None if the domain does not list it."""
        return self._tools.get(name)

    def effect(self, name: str) -> Effect:
        """What a tool does; an unknown tool counts as a write."""
        guard = self._guards.get(name)
        return guard.effect if guard is not None else Effect.WRITE

    def guard(self, name: str) -> Guard | None:
        """The gate's view of a tool, or None if the domain does not list it."""
        return self._guards.get(name)

    def arguments(self, call: ToolCall) -> Arguments:
        """The arguments of a call as rules read them; as they stand where they cannot be read so."""
        guard = self._guards.get(call.name)
        if guard is None or guard.read_arguments is None or call.malformed is not None:
            return call.arguments
        try:
            arguments: Arguments = guard.read_arguments(call.arguments, "", [])
        except Exception:  # a pack's own account of what a text should look like
            return call.arguments
        return arguments

    def routes(self, tool: str) -> tuple[Read[Any], ...]:
        """The read routes of a tool, () if it is not a known read."""
        return self._routes.get(tool, ())

    def reads_for(self, path: Path[Any]) -> tuple[ToolCall, ...]:
        """The calls, among the tools of this run, that would supply `path`.

        Found by inverting the path map. Complete calls come first; where there are any, lookups
        that need arguments the path doesn't tell (an email) are left out.
        """
        routes = [r for name, of_tool in self._routes.items() if self.has(name) for r in of_tool]
        calls = [(r.complete(c), c) for r in routes if (c := r.call_for(path)) is not None]
        complete = [call for is_complete, call in calls if is_complete]
        return tuple(complete or (call for _, call in calls))

    def shape(self, path: Path[Any]) -> Shape:
        """What is declared of the record at a path."""
        for template, shape in self._shapes.get(path[0], ()):
            # Most families have no literal but their root.
            if len(path) == len(template.segments) and (
                not template.literals or template.fits(path)
            ):
                return shape
        return ANYTHING

    def asked_of_user(self, call: ToolCall) -> tuple[str, ...]:
        """The arguments of a call that no path tells, such as an email: the user has to be asked."""
        parameters = (name for route in self.routes(call.name) for name in route.parameters)
        return tuple(dict.fromkeys(name for name in parameters if name not in call.arguments))

    def literal(self) -> Domain:
        """This domain as the paper has it: what a write returns is no observation."""
        tools = [replace(t, returns=()) if isinstance(t, Write) else t for t in self.tools]
        return replace(self, tools=tools)

    def has(self, tool: str) -> bool:
        """True if the domain lists this tool and the agent has it in this run."""
        return tool in self._tools and (self.available is None or tool in self.available)

    def bind(self, tools: Collection[str]) -> Domain:
        """This domain for a run with these tools: no rule asks for a read outside them."""
        return replace(self, available=frozenset(tools))

    def enforcing(self, levels: Mapping[str, Enforcement]) -> Domain:
        """This domain with other levels for some rules, by id; `*` is for all that are not named.

        Raises DomainError for a rule that it does not have.
        """
        if unknown := levels.keys() - {EVERY_RULE, *(rule.id for rule in self.predicates)}:
            raise DomainError(f"{self.name} has no rule {', '.join(sorted(unknown))}")
        others = levels.get(EVERY_RULE)
        rules = (
            replace(rule, enforcement=levels.get(rule.id, others or rule.enforcement))
            for rule in self.predicates
        )
        return replace(self, predicates=tuple(rules))


def _shapes_of(tools: Iterable[Tool]) -> dict[str, tuple[tuple[PathTemplate[Any], Shape], ...]]:
    """The path families of a domain with what is declared of them, by root."""
    families: dict[str, dict[PathTemplate[Any], Shape]] = {}
    for tool in tools:
        routes = tool.returns if isinstance(tool, Write) else (tool,)
        for route in routes:
            if isinstance(route, Route):
                families.setdefault(route.to.root, {})[route.to] = shape_of(route.to.record)
    return {root: tuple(family.items()) for root, family in families.items()}


def _guard(tool: Tool, rules: tuple[Predicate, ...]) -> Guard:
    shape, closed = (None, False) if isinstance(tool, Read) else (tool.arguments, not tool.open)
    return Guard(
        effect=tool.effect,
        judged=isinstance(tool, Write) or (isinstance(tool, Neutral) and bool(rules)),
        read_arguments=reader(shape) if shape is not None else None,
        takes=names(shape) if closed else None,
        predicates=tuple(sorted(rules, key=lambda rule: not rule.identity)),
    )
