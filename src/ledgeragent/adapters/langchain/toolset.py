"""Toolsets: the tools that a request gives to the model, and which of them are the framework's own."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware.types import ModelRequest
from langchain_core.tools import BaseTool

from ledgeragent.adapters.common import refuse
from ledgeragent.session.controls import control_tool

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Toolset:
    """Names of all `tools`, and of the `controls` among them."""

    tools: tuple[str, ...]
    controls: tuple[str, ...]


def offered(request: ModelRequest[Any], *, shadow: bool) -> Toolset:
    """What a request offers; UnguardableError for a tool that runs unseen, and is to be guarded."""
    offer = toolset_of(tool for tool in request.tools if isinstance(tool, BaseTool))
    hosted = [tool for tool in request.tools if isinstance(tool, dict)]
    names = [str(tool.get("name") or tool.get("type")) for tool in hosted]
    if names and not shadow:
        raise refuse(
            f"{names[0]!r}, a tool that the provider runs,", "give the agent a tool of its own"
        )
    outputs = _outputs(request.response_format)
    return Toolset((*offer.tools, *names), (*offer.controls, *outputs))


def toolset_of(tools: Iterable[BaseTool]) -> Toolset:
    """The offer of these tools."""
    listed = list(tools)
    controls = []
    for tool in listed:
        convention = control_tool(tool.name, _parameters(tool), tool.description)
        if convention is None:
            continue
        controls.append(tool.name)
        if convention.purpose == "subagent" and tool.name not in _warned:
            _warned.add(tool.name)
            log.warning(
                "%s runs agents of its own: what they do is guarded only where their own "
                "middleware has a LedgerMiddleware",
                tool.name,
            )
    return Toolset(tuple(tool.name for tool in listed), tuple(controls))


_warned: set[str] = set()


def _parameters(tool: BaseTool) -> Collection[str]:
    """The arguments that the model gives; what the framework injects is none of them."""
    schema: Any = tool.tool_call_schema
    if isinstance(schema, dict):
        return dict(schema.get("properties") or {})
    fields = getattr(schema, "model_fields", None)
    return dict(schema.__fields__ if fields is None else fields)  # a model of Pydantic 1 has these


def _outputs(response_format: Any) -> list[str]:
    """The names of the schemas that the model may answer with, as if they were tools."""
    return [spec.name for spec in getattr(response_format, "schema_specs", ())]
