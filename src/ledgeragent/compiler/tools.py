"""The sections `writes` and `neutrals` of a YAML pack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ledgeragent.compiler.outline import ToolPart
from ledgeragent.compiler.routes import Routes
from ledgeragent.compiler.shapes import Object, typed_dict
from ledgeragent.compiler.source.sections import place_of
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.compiler.touched import Touched
from ledgeragent.effects import Neutral, Tool, Write

WRITE_KEYS = ("arguments", "open", "touches", "untouched", "returns", "failed", "unguarded")


@dataclass(frozen=True, slots=True)
class ToolReader:
    """Builds the tools that are no reads; what they are goes to the outline of `routes`."""

    routes: Routes
    touched: Touched

    def writes(self, node: Node | None) -> Iterator[Tool]:
        """The write tools."""
        for tool, entry in self.routes.sections.entries(node, "writes").items():
            keys = self.routes.sections.mapping(entry, f"the write {tool}", WRITE_KEYS)
            shape = self._arguments(tool, keys.get("arguments"))
            reason = self.routes.sections.text(keys.get("unguarded"), "unguarded")
            touches = keys.get("touches")
            why = self.routes.sections.text(keys.get("untouched"), "untouched")
            items = self.routes.sections.items(touches, "touches")
            if items and why:
                self.routes.sections.find(
                    "syntax", keys["untouched"], f"{tool} touches records, as said"
                )
            part = ToolPart(
                tool=tool,
                arguments=shape,
                place=place_of(entry),
                unguarded=reason,
                marks=bool(
                    items or why or (touches and not isinstance(touches.value, list | None))
                ),
            )
            self.routes.outline.writes.append(part)
            yield Write(
                tool=tool,
                arguments=typed_dict(tool, shape.fields),
                touches=tuple(self.touched.touches(touches, shape)),
                returns=tuple(self.routes.returns(tool, keys.get("returns"), shape)),
                failed=self.routes.begins(keys, "failed"),
                open=self._open(tool, keys, shape),
            )

    def neutrals(self, node: Node | None) -> Iterator[Tool]:
        """The tools that neither read nor write: a list of names, or names with their arguments."""
        if node is not None and isinstance(node.value, list):
            entries = [(self.routes.sections.text(item, "neutrals"), item) for item in node.value]
        else:
            entries = [*self.routes.sections.entries(node, "neutrals").items()]
        for tool, entry in entries:
            if not tool:
                self.routes.sections.find("syntax", entry, "neutrals holds an item without a name")
                continue
            keys = (
                self.routes.sections.mapping(entry, f"the neutral {tool}", ("arguments", "open"))
                if isinstance(entry.value, dict)
                else {}
            )
            has_arguments = "arguments" in keys or tool in self.routes.specs
            shape = self._arguments(tool, keys.get("arguments")) if has_arguments else None
            part = ToolPart(tool=tool, arguments=shape, place=place_of(entry))
            self.routes.outline.neutrals.append(part)
            if shape is None:
                yield Neutral(tool=tool)
                continue
            named = typed_dict(tool, shape.fields)
            yield Neutral(tool=tool, arguments=named, open=self._open(tool, keys, shape))

    def _open(self, tool: str, entries: Mapping[str, Node], shape: Object) -> bool:
        """True where calls may carry arguments that are named nowhere, or none are named at all."""
        spec = self.routes.specs.get(tool)
        flag = self.routes.sections.flag(entries.get("open"), "open")
        by_file = "arguments" not in entries and spec is not None and spec.open
        return flag or by_file or not shape.fields

    def _arguments(self, tool: str, node: Node | None) -> Object:
        if node is None:
            spec = self.routes.specs.get(tool)
            shape = spec.arguments if spec is not None else Object(tool)
        else:
            shape = self.routes.types.shape(node, f"the arguments of {tool}")
        if isinstance(shape, Object):
            return Object(f"the call of {tool}", shape.fields)
        assert node is not None
        self.routes.sections.find(
            "syntax", node, f"the arguments of {tool} should be a mapping name: type"
        )
        return Object(tool)
