"""The section `define`: expressions that several rules use by name, each as a `let` of the rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ledgeragent.compiler.source.yamlfile import Node

_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(slots=True)
class Definitions:
    """The definitions of a pack by name, in whatever order; `used` are those that a rule has named."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def named_in(self, entries: Mapping[str, Node]) -> dict[str, Node]:
        """The definitions that the expressions of a rule name, and those that these name."""
        parts = (n for key, n in entries.items() if key not in ("id", "about", "samples", "clause"))
        own: dict[str, Node] = {}
        for part in parts:
            self._add(_words(part), own, frozenset())
        self.used |= own.keys()
        return own

    def _add(self, words: Iterable[str], own: dict[str, Node], around: frozenset[str]) -> None:
        """Adds the definitions among these words, each behind those that it names itself."""
        for name in words:
            if name in self.nodes and name not in own and name not in around:
                self._add(_words(self.nodes[name]), own, around | {name})
                own[name] = self.nodes[name]


def _words(node: Node) -> Iterator[str]:
    """The words in all text of a node."""
    if isinstance(node.value, dict):
        for child in node.value.values():
            yield from _words(child)
    elif isinstance(node.value, list):
        for child in node.value:
            yield from _words(child)
    elif isinstance(node.value, str):
        yield from _WORD.findall(node.value)
