"""Control tools: what frameworks add to an agent for its own affairs, and is no write of a domain.

An output tool ends a run with data, a handoff lets another agent go on, a plan or a scratch file
stays in the agent's state. None changes a record, and no pack lists it: without this table the gate
would refuse each as unknown. A tool that the pack lists is what the pack says, whatever its name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from ledgeragent.domain import Domain
from ledgeragent.effects import Neutral, Write
from ledgeragent.session.conventions import CONTROL_TOOLS, FORCED, ControlTool
from ledgeragent.session.toolnames import ending

_ANY_NAME = r"\w+"
_OF_ANY_NAME = tuple(one for one in CONTROL_TOOLS if one.name == _ANY_NAME)
_NAMED = re.compile("|".join(f"(?:{one.name})" for one in CONTROL_TOOLS if one.name != _ANY_NAME))
"""Most tools have none of these names; a request may offer thousands."""


def control_tool(
    name: str,
    parameters: Collection[str] | None = None,
    description: str = "",
    *,
    forced: bool = False,
) -> ControlTool | None:
    """The convention that a tool follows, or None: it may be anything then.

    `parameters` are the names of its arguments, None where they are not known. `forced` if the host
    offers nothing else and leaves the model no choice but this tool, as libraries do that want data
    and not an action. Behind the name of a server (`mcp__tracker__TaskUpdate`) stands somebody's own
    tool, which a name alone says nothing of.
    """
    own = name.rpartition("__")[2] or name
    is_named = _NAMED.fullmatch(name) or _NAMED.fullmatch(own)
    for convention in CONTROL_TOOLS if is_named else _OF_ANY_NAME:
        if convention.fits(name, parameters, description):
            return convention
        if not convention.is_name_alone and convention.fits(own, parameters, description):
            return convention
    return FORCED if forced else None


def reaches_a_write(name: str, domain: Domain) -> bool:
    """True for a name that ends in one of the domain's writes: it may be that write by another name."""
    writes = (tool.tool for tool in domain.tools if isinstance(tool, Write))
    return ending(name, writes) is not None


def with_neutrals(domain: Domain, names: Iterable[str]) -> Domain:
    """The domain, for which tools of these names that it does not list are neutral."""
    others = [name for name in dict.fromkeys(names) if domain.tool(name) is None]
    if not others:
        return domain
    return replace(domain, tools=(*domain.tools, *(Neutral(tool=name) for name in others)))
