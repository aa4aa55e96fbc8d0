"""Recorded runs of the same tasks hold the same returns again and again: each text is parsed once.

Sharing the value is safe, since nothing ever changes one in place.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, TypeVar

from ledgeragent.domain import Domain
from ledgeragent.effects import Parser, Read, Route, Tool, Write
from ledgeragent.types import Json

AnyRoute = TypeVar("AnyRoute", bound=Route[Any])

_MOST_REMEMBERED = 512
_LONGEST_REMEMBERED = 16_384


def remembering(domain: Domain) -> Domain:
    """The domain, with tools that know the latest texts they have parsed."""
    return replace(domain, tools=[_remembering(tool) for tool in domain.tools])


def _remembering(tool: Tool) -> Tool:
    if isinstance(tool, Read):
        return _remembering_route(tool)
    if isinstance(tool, Write):
        return replace(tool, returns=tuple(map(_remembering_route, tool.returns)))
    return tool


def _remembering_route(route: AnyRoute) -> AnyRoute:
    return replace(route, parse=_remembered(route.parse))


@cache
def _remembered(parse: Parser) -> Parser:
    # The same parser gives the same function: routes of one tool share what they have parsed.
    memo = lru_cache(_MOST_REMEMBERED)(parse)

    def parsed(text: str) -> Json:
        return memo(text) if len(text) <= _LONGEST_REMEMBERED else parse(text)

    return parsed
