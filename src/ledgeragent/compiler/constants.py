"""What all rules of a YAML pack share: parameters, definitions, the time zone, the writes that are done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ledgeragent.arguments import Reader, reader
from ledgeragent.compiler.cel.characters import first_refused
from ledgeragent.compiler.cel.surroundings import NAMES
from ledgeragent.compiler.definitions import Definitions
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.shapes import ANY, Shape
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.effects import Tool, Write
from ledgeragent.types import Json

_LARGEST = 2**63 - 1
_NAME = re.compile(r"[A-Za-z_]\w*")


def read_parameters(section: Node | None, sections: Sections) -> dict[str, Json]:
    """The parameters with their values."""
    entries = sections.entries(section, "parameters")
    for name, node in entries.items():
        if isinstance(node.value, int) and abs(node.value) > _LARGEST:
            sections.find("syntax", node, f"{name} is too large; write it as a float")
        character = first_refused(node.plain)
        if character:
            text = f"{name} holds the character {character}, which no value may hold"
            sections.find("syntax", node, text)
    return {name: node.plain for name, node in entries.items()}


def read_definitions(section: Node | None, sections: Sections) -> dict[str, Node]:
    """The definitions by name, those left out whose name cannot be one."""
    entries = sections.entries(section, "define")
    for name, node in entries.items():
        if not _NAME.fullmatch(name) or name in ("args", "params", *NAMES):
            sections.find("syntax", node, f"{name!r} cannot be the name of a definition")
    return {name: node for name, node in entries.items() if _NAME.fullmatch(name)}


def read_timezone(node: Node | None, sections: Sections) -> ZoneInfo:
    """The zone in which days begin and end, UTC where none is named."""
    name = sections.text(node, "timezone") or "UTC"
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        assert node is not None
        text = f"there is no time zone {name!r}; write one such as Europe/Berlin"
        sections.find("syntax", node, text)
        return ZoneInfo("UTC")


def readers_of(
    tools: Iterable[Tool], outline: Outline
) -> Mapping[str, tuple[Shape, Reader | None]]:
    """The arguments of each write, and how rules read them."""
    shapes = {part.tool: part.arguments for part in outline.writes}
    writes = (tool for tool in tools if isinstance(tool, Write))
    return {
        tool.tool: (
            shapes.get(tool.tool) or ANY,
            reader(tool.arguments) if tool.arguments is not None else None,
        )
        for tool in writes
    }


def find_unused(nodes: Mapping[str, Node], definitions: Definitions, outline: Outline) -> None:
    """Finds definitions that no rule names, and notes where the parameters stand; code may read any."""
    for name, node in definitions.nodes.items():
        if name not in definitions.used and not outline.broken_rules:
            outline.findings.add("unused", place_of(node), f"no rule uses the definition {name}")
    if not outline.has_code:
        parameters = _entries(nodes.get("parameters"))
        outline.parameters = {name: place_of(node) for name, node in parameters.items()}


def _entries(node: Node | None) -> Mapping[str, Node]:
    return node.value if node is not None and isinstance(node.value, dict) else {}
