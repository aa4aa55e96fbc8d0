"""What a tool returned, out of its wrapping: hosts and servers pack the same value in several ways."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping

from ledgeragent.types import Json, parse_json

_DEEPEST_WRAPPING = 4
_LONGEST_LITERAL = 1_000_000
_LONGEST_SHOWN = 80
_WRAPPER = "result"
_TEXT_BLOCKS = ("text", "input_text", "output_text")


def unwrapped(content: Json) -> Json:
    """The value in a return: out of quotes, out of `{"result": ...}`, out of blocks of text.

    Text stays text: what is in it, its route's parser says.
    """
    for _ in range(_DEEPEST_WRAPPING):
        inner = _inner_of_text(content) if type(content) is str else _inner(content)
        if inner is content:
            return content
        content = inner
    return content


def _inner(content: Json) -> Json:
    if isinstance(content, str):
        return _inner_of_text(content)
    if isinstance(content, Mapping):
        return content[_WRAPPER] if content.keys() == {_WRAPPER} else content
    return _text_of_blocks(content) if isinstance(content, list) else content


def _inner_of_text(content: str) -> Json:
    start = content[:16].lstrip()
    if start[:1] != '"' and not (_WRAPPER in start and start[0] == "{"):
        return content
    try:
        value = parse_json(content)
    except (ValueError, RecursionError):
        return content
    is_wrapper = isinstance(value, dict) and value.keys() == {_WRAPPER}
    return value if isinstance(value, str) or is_wrapper else content


def _text_of_blocks(blocks: list[Json]) -> Json:
    """The text of content blocks as protocols carry them; the list itself where it is none."""
    texts = [_text_of_block(block) for block in blocks]
    present = [text for text in texts if text is not None]
    return "\n".join(present) if present and len(present) == len(texts) else blocks


def _text_of_block(block: Json) -> str | None:
    if not isinstance(block, Mapping) or block.get("type") not in _TEXT_BLOCKS:
        return None
    text = block.get("text")
    return text if isinstance(text, str) else None


def parse_literal(text: str) -> Json:
    """The value of a Python literal, where JSON can say it too; ValueError for anything else."""
    if len(text) > _LONGEST_LITERAL:
        raise ValueError("neither JSON nor short enough to be read as Python's text for a value")
    try:
        return json.loads(json.dumps(ast.literal_eval(text.strip()), allow_nan=False))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"neither JSON nor Python's text for a value: {error}") from None


def shortened(text: str) -> str:
    """The text, cut where it would drown a message."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
