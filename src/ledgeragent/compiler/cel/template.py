"""The text of a message taken apart: literal text, and expressions in braces."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SPEC = re.compile(r"(.*):(\.\d+f)", re.DOTALL)


def split_message(text: str) -> Iterator[tuple[str, str | None, str]]:
    """(literal text, the expression in the braces after it, its number format) in turn.

    `{{` and `}}` are braces; raises ValueError for one that has no partner.
    """
    literal, position = "", 0
    while position < len(text):
        if text[position : position + 2] in ("{{", "}}"):
            literal += text[position]
            position += 2
        elif text[position] == "}":
            raise ValueError("a } in the message that closes nothing; write }} for a brace")
        elif text[position] == "{":
            end = _closing(text, position)
            if end == len(text):
                raise ValueError("a { in the message that is not closed; write {{ for a brace")
            fact, spec = _formatted(text[position + 1 : end])
            yield literal, fact, spec
            literal, position = "", end + 1
        else:
            literal += text[position]
            position += 1
    yield literal, None, ""


def _formatted(fact: str) -> tuple[str, str]:
    match = _SPEC.fullmatch(fact)
    return (match[1], match[2]) if match is not None else (fact, "")


def _closing(text: str, start: int) -> int:
    """Where the brace opened at `start` closes, past braces and quotes inside it."""
    depth, quote = 0, ""
    for position in range(start, len(text)):
        character = text[position]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return position
    return len(text)
