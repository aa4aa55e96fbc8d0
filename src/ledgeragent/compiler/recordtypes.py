"""Reads the types that a YAML pack gives to fields: `str`, `list[Item]`, `[open, closed]`, `float?`."""

from __future__ import annotations

import re

from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.shapes import ANY, SCALARS, Choice, Field, ListOf, MapOf, Object, Shape
from ledgeragent.compiler.source.sections import Sections
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.files.limits import FIELDS

_GENERIC = re.compile(r"(list|dict)\[(.+)\]", re.DOTALL)
_KEYED = re.compile(r"str\s*,\s*(.+)", re.DOTALL)


class RecordTypes:
    """The `records` section: named shapes, which may name one another in any order."""

    def __init__(self, nodes: dict[str, Node], sections: Sections) -> None:
        self._nodes = nodes
        self._sections = sections
        self._made: dict[str, Shape] = {}
        self._making: list[str] = []
        self._sizes: dict[str, int] = {}

    def all(self) -> dict[str, Shape]:
        """Every named shape; reading them finds what is wrong with any."""
        for name in self._nodes.keys() & {*SCALARS, "list", "dict"}:
            text = f"{name} is a type already; give the record another name"
            self._sections.find("duplicate-id", self._nodes[name], text)
        return {name: self._named(name, node) for name, node in self._nodes.items()}

    def shape(self, node: Node | None, name: str) -> Shape:
        """The shape that a type node tells; `name` is what an object without a name is called."""
        if node is None or node.value is None:
            return ANY
        if isinstance(node.value, dict):
            return self._object(node, name)
        if isinstance(node.value, list):
            return self._choice(node)
        return self._from_text(str(node.value).strip(), node)

    def field(self, node: Node, name: str) -> Field:
        """A field: its type, optional and nullable if it ends with `?`."""
        text = node.value
        if isinstance(text, str) and text.endswith("?"):
            shape = self._from_text(text[:-1].strip(), node)
            return Field(shape, required=False, nullable=True, line=node.line)
        return Field(self.shape(node, name), line=node.line)

    def _object(self, node: Node, name: str) -> Shape:
        fields = {}
        for key, child in node.value.items():
            optional = key.endswith("?")
            member = self.field(child, key)
            if optional:
                member = Field(member.shape, required=False, nullable=True, line=member.line)
            fields[key.removesuffix("?")] = member
        return Object(name, fields)

    def _choice(self, node: Node) -> Shape:
        values = [child.value for child in node.value]
        if not values or any(isinstance(v, dict | list | float) or v is None for v in values):
            self._sections.find("syntax", node, "a choice is a list of texts or whole numbers")
            return ANY
        return Choice(tuple(values))

    def _from_text(self, text: str, node: Node) -> Shape:
        generic = _GENERIC.fullmatch(text)
        if text in SCALARS:
            return SCALARS[text]
        if text == "list":
            return ListOf(ANY)
        if text == "dict":
            return MapOf(ANY)
        if generic is not None:
            keyed = _KEYED.fullmatch(generic[2])
            item = self._from_text((keyed[1] if keyed else generic[2]).strip(), node)
            return ListOf(item) if generic[1] == "list" else MapOf(item)
        if text in self._nodes:
            return self._named(text, self._nodes[text])
        hint = suggestion(text, {*SCALARS, "list", "dict", *self._nodes})
        if text.startswith(("[", "{")):
            hint = "; a list of values, or a mapping of fields, stands without quotes"
        self._sections.find("type-error", node, f"there is no type {text!r}{hint}")
        return ANY

    def _named(self, name: str, node: Node) -> Shape:
        if name in self._made:
            return self._made[name]
        if name in self._making:
            self._sections.find("type-error", node, f"the record {name} contains itself")
            return ANY
        self._making.append(name)
        shape = self.shape(node, name)
        self._making.pop()
        self._sizes[name] = size = self._size(shape)
        if size > FIELDS.value:
            problem = f"the record {name} has more fields than one may, with those of records in it"
            self._sections.find("type-error", node, FIELDS.refusal(problem, "").problem)
            shape, self._sizes[name] = ANY, 1
        self._made[name] = shape
        return shape

    def _size(self, shape: Shape) -> int:
        """How many fields a value has. A record that is named in two places is there twice."""
        match shape:
            case Object(name, fields) if self._made.get(name) is not shape:
                return 1 + sum(self._size(member.shape) for member in fields.values())
            case Object(name, _):
                return self._sizes[name]
            case ListOf(item) | MapOf(item):
                return 1 + self._size(item)
            case _:
                return 1
