"""The sections of a pack, put together from its files."""

from __future__ import annotations

from dataclasses import replace

from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node

SCHEMA = "ledgeragent/v1"
LISTS = ("clauses", "rules")
MAPPINGS = ("parameters", "define", "records", "reads", "writes", "shared", "samples", "dispatch")
KEYS = (
    "schema",
    "domain",
    "version",
    "timezone",
    "include",
    "tools",
    *MAPPINGS,
    "neutrals",
    *LISTS,
)


def merged(pieces: list[Node], sections: Sections) -> dict[str, Node]:
    """One mapping of sections out of several files, the main one first."""
    main, *others = pieces
    if main.value is None:
        text = "the file is empty; a pack begins with schema and domain"
        sections.find("syntax", main, text)
        return {}
    nodes = sections.mapping(main, "a pack", KEYS, ("schema", "domain"))
    schema = sections.text(nodes.get("schema"), "schema")
    if schema and schema != SCHEMA:
        sections.find("syntax", nodes["schema"], f"schema should be {SCHEMA}, not {schema}")
    for piece in others:
        parts = sections.mapping(piece, "a file of a pack", (*MAPPINGS, *LISTS))
        for name, node in parts.items():
            nodes[name] = _joined(nodes[name], node, name, sections) if name in nodes else node
    return nodes


def _joined(first: Node, second: Node, name: str, sections: Sections) -> Node:
    if name in LISTS:
        items = [*sections.items(first, name), *sections.items(second, name)]
        return replace(first, value=items)
    entries, more = sections.entries(first, name), sections.entries(second, name)
    for key in entries.keys() & more.keys():
        text = f"{key} is given in {place_of(entries[key])} too"
        sections.find("duplicate-id", more[key], text)
    return replace(first, value={**entries, **more})
