"""Offers: the tools that a request lists, read once for all the requests that list the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from ledgeragent.gateway.dialects.base import Body, OfferedTool, listed
from ledgeragent.gateway.wirejson import fingerprint

OfferReader: TypeAlias = Callable[[Any, int], OfferedTool | None]
"""Reads the tool of this number in a request's list."""

_LONGEST_LISTING = 1 << 16
_MOST_LISTINGS = 64
_OFFERED: dict[tuple[OfferReader, bytes], tuple[OfferedTool, ...]] = {}
"""The lists of tools that were read: an agent sends the same one with each of its requests."""


def offered_tools(body: Body, reader: OfferReader) -> tuple[OfferedTool, ...]:
    """Every tool that a request lists. What can be read, the operator's tools say, not these."""
    listing = listed(body, "tools")
    mark = fingerprint(listing)
    if mark is None or len(mark) > _LONGEST_LISTING:
        return _offered(listing, reader)
    offered = _OFFERED.get((reader, mark))
    if offered is None:
        offered = _offered(listing, reader)
        if len(_OFFERED) >= _MOST_LISTINGS:
            _OFFERED.clear()
        _OFFERED[reader, mark] = offered
    return offered


def _offered(listing: Iterable[Any], reader: OfferReader) -> tuple[OfferedTool, ...]:
    tools = [reader(tool, number) for number, tool in enumerate(listing)]
    return tuple([tool for tool in tools if tool is not None])


def offered_tool(tool: Mapping[str, Any], schema: str) -> OfferedTool:
    """A tool as the format describes it, whose arguments stand in `schema`."""
    arguments = tool.get(schema)
    properties = arguments.get("properties") if isinstance(arguments, dict) else None
    parameters = frozenset(properties if isinstance(properties, dict) else ())
    # A named tuple's own constructor costs more.
    return tuple.__new__(
        OfferedTool, (tool["name"], parameters, str(tool.get("description") or ""))
    )
