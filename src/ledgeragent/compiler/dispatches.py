"""The section `dispatch` of a YAML pack: tools that stand before others."""

from __future__ import annotations

from collections.abc import Iterator

from ledgeragent.compiler.outline import Outline, ToolPart
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.dispatching import Dispatch

_KEYS = ("name", "arguments", "tools", "unlock")
_REASON = "its calls are judged as those of the tool that they name"


def read_dispatches(node: Node | None, sections: Sections, outline: Outline) -> Iterator[Dispatch]:
    """The tools of this section; each goes to the outline as a write of which nothing is asked."""
    for tool, entry in sections.entries(node, "dispatch").items():
        keys = sections.mapping(entry, f"the dispatch {tool}", _KEYS, ("name",))
        dispatch = Dispatch(
            tool=tool,
            name=sections.text(keys.get("name"), "name"),
            arguments=sections.text(keys.get("arguments"), "arguments"),
            tools=sections.texts(keys.get("tools"), "tools") or ("*",),
            unlock=sections.text(keys.get("unlock"), "unlock"),
        )
        part = ToolPart(tool=tool, arguments=None, place=place_of(entry), unguarded=_REASON)
        outline.writes.append(part)
        behind = [name for name in sorted(outline.tools) if dispatch.reaches(name)]
        if not behind:
            sections.find("unknown-tool", entry, f"{tool} stands before no tool of the pack")
        yield dispatch
