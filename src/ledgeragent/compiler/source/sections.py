"""Reads the nodes of a section as what they should be, and notes a finding where they are not."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ledgeragent.compiler.problems import Place, Problems, nearest, suggestion
from ledgeragent.compiler.source.yamlfile import Node


def place_of(node: Node) -> Place:
    """Where a node was written."""
    return Place(node.file, node.line)


@dataclass(slots=True)
class Sections:
    """Typed access to nodes; everything wrong goes to `findings`, under `rule` where there is one."""

    findings: Problems
    rule: str = ""
    has_code: bool = False

    def find(self, code: str, node: Node, message: str) -> None:
        """Notes a finding at a node."""
        self.findings.add(code, place_of(node), message, self.rule)

    def mapping(
        self, node: Node, what: str, keys: Collection[str], required: Iterable[str] = ()
    ) -> dict[str, Node]:
        """The entries of a mapping that may have these keys only; {} where it is none.

        What stands under a misspelt key counts as what was meant, so that it is found once.
        """
        entries = self.entries(node, what)
        children = {name: child for name, child in entries.items() if name in keys}
        for name, child in entries.items():
            if name not in keys:
                comma = child.value is None and " " in name
                hint = "; quote text with a comma in it" if comma else suggestion(name, keys)
                text = f"{what} has no key {name!r}{hint}"
                self.find("unknown-key", child, text)
                meant = nearest(name, keys, cutoff=0.8)
                if meant is not None:
                    children.setdefault(meant, child)
        for name in required:
            absent = name not in children or children[name].value in (None, "")
            if absent and isinstance(node.value, dict | None):
                self.find("syntax", node, f"{what} needs the key {name!r}")
        return children

    def entries(self, node: Node | None, what: str) -> dict[str, Node]:
        """The entries of a mapping with free keys; {} where it is none."""
        if node is None or node.value is None:
            return {}
        if not isinstance(node.value, dict):
            self.find("syntax", node, f"{what} should be a mapping (key: value)")
            return {}
        return node.value

    def items(self, node: Node | None, what: str) -> list[Node]:
        """The items of a list; [] where it is none."""
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list):
            self.find("syntax", node, f"{what} should be a list (one '- ' per item)")
            return []
        return node.value

    def text(self, node: Node | None, what: str) -> str:
        """Text; \"\" where it is absent or something else."""
        if node is None or node.value is None:
            return ""
        if isinstance(node.value, str):
            return node.value
        if isinstance(node.value, bool | float | dict | list):  # 1.10 is the number 1.1
            self.find("syntax", node, f"{what} should be text; quote it")
            return ""
        return str(node.value)

    def texts(self, node: Node | None, what: str) -> tuple[str, ...]:
        """One text or a list of texts."""
        if node is not None and isinstance(node.value, list):
            return tuple(text for item in node.value if (text := self.text(item, what)))
        text = self.text(node, what)
        return (text,) if text else ()

    def flag(self, node: Node | None, what: str) -> bool:
        """True or false; false where it is absent."""
        if node is None:
            return False
        if not isinstance(node.value, bool):
            self.find("syntax", node, f"{what} should be true or false")
            return False
        return node.value

    def choice(self, node: Node | None, what: str, values: tuple[str, ...]) -> str:
        """One of these words; the first where it is absent or another."""
        if node is None:
            return values[0]
        text = self.text(node, what)
        if text not in values:
            self.find("syntax", node, f"{what} should be {' or '.join(values)}, not {text!r}")
            return values[0]
        return text

    def python(self, node: Node) -> Any:
        """The Python object named by `module:name`, or None."""
        self.has_code = True
        module, _, name = self.text(node, "python").partition(":")
        if not module or not name:
            self.find("syntax", node, "write python: module:name")
            return None
        try:
            return getattr(import_module(module), name)
        except Exception as problem:  # whatever the author's own module does when it is imported
            text = f"cannot import {module}:{name}: {type(problem).__name__}: {problem}"
            self.find("syntax", node, text)
            return None
