"""A rule told case by case: the first whose condition holds decides, and says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ledgeragent.compiler.source.sections import Sections
from ledgeragent.compiler.source.yamlfile import Node

CASE_KEYS = ("if", "check", "message")
_EXPRESSIONS: tuple[str, ...] = ("if", "check")


def without_cases(entries: Mapping[str, Node], sections: Sections) -> dict[str, Node]:
    """The entries of a rule with its `case` written as `let`, `check` and `message`.

    A case without `if` is the last; one without `check` is what the rule does not allow. Where none
    applies, the rule is satisfied.
    """
    node = entries.get("case")
    if node is None:
        return dict(entries)
    if "check" in entries:
        sections.find("syntax", entries["check"], "a rule has a case or a check, not both")
    lets, answer, messages = {}, "true", []
    items = sections.items(node, "case")
    if not items:
        sections.find("syntax", node, "case says nothing")
    numbered = [(n, item, _parts(item, sections)) for n, item in enumerate(items, 1)]
    for number, item, parts in reversed(numbered):
        names: dict[str, str] = {
            key: f"case_{number}_{key}" for key in _EXPRESSIONS if key in parts
        }
        lets.update({names[key]: parts[key] for key in names})
        verdict = names.get("check", "false")
        answer = f"{names['if']} ? {verdict} : {answer}" if "if" in names else verdict
        if "if" not in parts and number < len(items):
            sections.find("syntax", item, "a case without `if` is the last")
        messages.append(_message(item, names, parts))
    default = entries.get("message")
    messages = [*reversed(messages), *([_said(default)] if default is not None else [])]
    own = sections.entries(entries.get("let"), "let")
    return {
        **{name: child for name, child in entries.items() if name != "case"},
        "let": replace(node, value={**own, **dict(reversed(lets.items()))}),
        "check": replace(node, value=answer),
        "message": replace(node, value=[message for message in messages if message is not None]),
    }


def _parts(item: Node, sections: Sections) -> dict[str, Node]:
    parts = sections.mapping(item, "a case", CASE_KEYS, ("message",))
    for key in _EXPRESSIONS:
        part = parts.get(key)
        if part is not None and isinstance(part.value, bool | int | float):
            parts[key] = replace(part, value=str(part.value).lower())
    return parts


def _message(item: Node, names: Mapping[str, str], parts: Mapping[str, Node]) -> Node | None:
    if "message" not in parts:
        return None
    condition = {"if": replace(item, value=names["if"])} if "if" in names else {}
    return replace(item, value={**condition, "say": parts["message"]})


def _said(node: Node) -> Node:
    return replace(node, value={"say": node})
