"""The vocabulary of a journal: names of fields, tools and rules, which no redacted value takes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints, is_typeddict

from ledgeragent.domain import Domain
from ledgeragent.effects import Read, Route, Tool, Write
from ledgeragent.verdict import Decision, Enforcement, Kind

_DEEPEST = 20

OWN_WORDS = frozenset(
    (
        "arguments",
        "call",
        "calls",
        "clause",
        "content",
        "decision",
        "enforcement",
        "error",
        "evidence",
        "fields",
        "findings",
        "id",
        "kind",
        "lost",
        "malformed",
        "name",
        "path",
        "predicate",
        "public",
        "reads",
        "reason",
        "session",
        "shadow",
        "skipped",
        "source",
        "stored",
        "text",
        "turn",
        "value",
        "verdicts",
        "waits_for",
        "word",
        "UNDECIDED",
    )
) | {
    *(decision.name for decision in Decision),
    *(decision.name.lower() for decision in Decision),
    *(kind.value for kind in Kind),
    *(enforcement.value for enforcement in Enforcement),
}
"""What a journal's own records are made of, whatever the pack."""


def vocabulary(domain: Domain) -> frozenset[str]:
    """The words of a domain's records: of the journal itself, and what the domain declares by name."""
    words = {domain.name, *(rule.id for rule in domain.predicates)}
    words.update(clause.id for clause in domain.clauses)
    for tool in domain.tools:
        words.update(_of_tool(tool))
    return OWN_WORDS | words


def _of_tool(tool: Tool) -> Iterator[str]:
    yield tool.tool
    if isinstance(tool, Read):
        yield from tool.parameters
    else:
        yield from _fields(tool.arguments, _DEEPEST)
    routes = tool.returns if isinstance(tool, Write) else (tool,)
    for route in routes:
        if not isinstance(route, Route):
            continue
        yield from (*route.to.keys, *route.rename.values(), *route.envelope)
        yield from (segment for segment in route.to.segments if not segment.startswith("{"))
        yield from _fields(route.to.record, _DEEPEST)


def _fields(declared: Any, depth: int) -> Iterator[str]:
    """The names of fields in a type, wherever it holds an object."""
    if depth == 0:
        return
    inner = get_args(declared)
    if is_typeddict(declared):
        hints = get_type_hints(declared)
        yield from hints
        inner = tuple(hints.values())
    for part in inner:
        yield from _fields(part, depth - 1)
