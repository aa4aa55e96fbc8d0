"""The names that a rule gives to records and values: which can be names in CEL, and are free."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ledgeragent.compiler.definitions import Definitions
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node

_NAME = re.compile(r"[A-Za-z_]\w*")
# fmt: off
_RESERVED = frozenset((
    "args", "params", "as", "break", "const", "continue", "else", "false", "for", "function", "if",
    "import", "in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void", "while",
))
# fmt: on


def check_names(
    required: Mapping[str, Node],
    own: Mapping[str, Node],
    definitions: Definitions,
    sections: Sections,
) -> None:
    """Finds names of `requires` and `let` that are none, or stand for something else already."""
    for name, node in (*required.items(), *own.items()):
        if not _NAME.fullmatch(name) or name in _RESERVED:
            sections.find("syntax", node, f"{name!r} cannot be a name in CEL; choose another")
    for name in set(required) & set(own):
        text = f"{name!r} names a required record already"
        sections.find("duplicate-id", own[name], text)
    for name, node in (*required.items(), *own.items()):
        if name in definitions.nodes:
            text = f"{name!r} is defined for all rules in {place_of(definitions.nodes[name])}"
            sections.find("duplicate-id", node, text)
