"""What a tool returned, out of its wrapping: hosts and servers pack the same value in several ways."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from ledgeragent.types import Json, RepeatedKeyError, parse_distinct

_DEEPEST_WRAPPING = 6
_LONGEST_LITERAL = 1 << 15  # characters: reading more would stop all else for long
_LONGEST_SHOWN = 80
_WRAPPERS = frozenset(("result", "output", "content"))
_AROUND_BLOCKS = frozenset(
    ("content", "isError", "is_error", "structuredContent", "meta", "_meta", "resultType")
)
_TEXT_BLOCKS = ("text", "input_text", "output_text")
_OTHER_BLOCKS = frozenset(
    ("image", "image_url", "input_image", "audio", "resource", "resource_link", "document", "file")
)
_MAY_BE_WRAPPER = re.compile(
    r"""(?:["']|\{\s*["'](?:result|output|content|_?meta|is_?error|structured_?content)["']\s*:"""
    r"""|\[\s*\{\s*["'](?:type|text)["']\s*:)""",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\s*+[\[(]*+\{.*\}[\])]*\s*", re.DOTALL)


def unwrapped(content: Json, own: Container[str] = ()) -> Json:
    """The value in a return: out of quotes, out of `{"result": ...}`, out of blocks of text.

    `own` are names of fields that are the record's: what stands under one is no wrapping. Several
    blocks are joined by lines. Text stays text: what is in it, its route's parser says.
    """
    for _ in range(_DEEPEST_WRAPPING):
        inner = _inner(content, own)
        if inner is content:
            return content
        content = inner
    return content


class Content:
    """What a tool returned, for all the routes that take it: they share what was read in it.

    Of a route it asks the parser (`parse`), and the fields that are the record's (`own`).
    """

    def __init__(self, raw: Json) -> None:
        self.raw = raw
        # Most text is no wrapping, whatever fields are the record's.
        self._is_bare = isinstance(raw, str) and not _MAY_BE_WRAPPER.match(raw.lstrip())
        self._values: dict[Callable[[str], Json], tuple[str | None, Json]] = {}

    def content(self, route: Any) -> Json:
        """It out of its wrapping."""
        return self.raw if self._is_bare else unwrapped(self.raw, route.own)

    def value(self, route: Any) -> Json:
        """What the route's parser reads in its text; what is no text, as it is."""
        content = self.content(route)
        if not isinstance(content, str):
            return content
        text, value = self._values.get(route.parse, (None, None))
        if text != content:
            value = parse_return(self.raw, content, route.parse, route.own)
            self._values[route.parse] = content, value
        return value


def texts_of(content: Json, own: Container[str] = ()) -> list[str]:
    """The texts of a return, one for each block that says something; [] where it is no blocks."""
    for _ in range(_DEEPEST_WRAPPING):
        if isinstance(content, list):
            return [text for text in _block_texts(content, own) if text.strip()]
        inner = _inner(content, own)
        if inner is content:
            return []
        content = inner
    return []


def is_plain(value: Json, other: type[object]) -> bool:
    """True for text that is not written as an object, or as a list of some; for an `other`, too.

    An object in the place of an id is none, and would belong to nobody.
    """
    return isinstance(value, other) or (isinstance(value, str) and not _OBJECT.fullmatch(value))


def parse_return(
    raw: Json, content: str, parse: Callable[[str], Json], own: Container[str] = ()
) -> Json:
    """The value of a return's text, as its parser wants it: in its wrapping (`raw`) or out of it."""
    try:
        value = parse(content)
    except ValueError:
        texts = texts_of(raw, own)
        if len(texts) > 1:
            return _parse_blocks(texts, parse, own)
        if content is raw or not isinstance(raw, str):
            raise
        value = parse(raw)
    if isinstance(value, str) and len(texts_of(raw, own)) > 1:
        raise ValueError("it answered with several texts, where one is declared")
    return unwrapped(value, own) if type(value) is dict and len(value) == 1 else value


def _parse_blocks(texts: Sequence[str], parse: Callable[[str], Json], own: Container[str]) -> Json:
    """The value of the one block that holds one, beside labels; of all blocks, where each does.

    A block that is written as a value and cannot be read is no label: ValueError.
    """
    values: list[Json] = []
    for text in texts:
        value = unwrapped(text, own)
        try:
            values.append(parse(value) if isinstance(value, str) else value)
        except ValueError as problem:
            if text.lstrip()[:1] in ("{", "["):
                raise ValueError(f"a block of it cannot be read: {problem}") from None
    if len(values) == 1:
        return values[0]
    if len(values) < len(texts):
        raise ValueError(f"of {len(texts)} blocks of text, {len(values)} can be read")
    return values


def _inner(content: Json, own: Container[str]) -> Json:
    if isinstance(content, str):
        return _inner_of_text(content, own)
    if isinstance(content, Mapping):
        return _inner_of_object(content, own)
    texts = _block_texts(content, own) if isinstance(content, list) else []
    return "\n".join(texts) if texts else content


def _inner_of_text(content: str, own: Container[str]) -> Json:
    if _MAY_BE_WRAPPER.match(content.lstrip()) is None:
        return content
    try:
        value = parse_value(content)
    except ValueError:
        return content
    return value if isinstance(value, str) or _inner(value, own) is not value else content


def _inner_of_object(content: Mapping[str, Json], own: Container[str]) -> Json:
    if len(content) == 1:
        (name,) = content
        if name in _WRAPPERS and name not in own:
            return content[name]
    if "content" in own or not content.keys() <= _AROUND_BLOCKS:
        return content
    blocks = content.get("content")
    if content.get("isError") is True or content.get("is_error") is True:
        text = "\n".join(_block_texts(blocks, own)) if isinstance(blocks, list) else blocks or ""
        return text if str(text).startswith("Error") else f"Error: {text}"
    if not isinstance(blocks, list):
        return content
    structured = content.get("structuredContent")
    return blocks if structured is None else structured


def _block_texts(blocks: Sequence[Json], own: Container[str]) -> list[str]:
    """The text of content blocks as protocols carry them; [] where these are none, or say nothing."""
    if "type" in own and "text" in own:
        return []
    texts = [block["text"] for block in blocks if _is_text(block)]
    others = [block for block in blocks if not _is_text(block)]
    return texts if all(map(_is_no_text, others)) else []


def _is_text(block: Json) -> bool:
    if not isinstance(block, Mapping) or block.get("type") not in _TEXT_BLOCKS:
        return False
    return isinstance(block.get("text"), str)


def _is_no_text(block: Json) -> bool:
    return isinstance(block, Mapping) and str(block.get("type")) in _OTHER_BLOCKS


def parse_value(text: str) -> Json:
    """The value that a text writes, in JSON or as Python does; ValueError where it is neither.

    So it is where an object has a key twice: which of two values counts, parsers disagree.
    """
    try:
        return parse_distinct(text)
    except RepeatedKeyError:
        raise
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    except ValueError:
        if text.lstrip()[:1] not in ("{", "[", "(", "'"):
            raise
    return parse_literal(text)


def parse_literal(text: str) -> Json:
    """The value of a Python literal, where JSON can say it too; ValueError for anything else.

    An object of another class that stands in it (a date, a Decimal) is not guessed at.
    """
    if len(text) > _LONGEST_LITERAL:
        raise ValueError("neither JSON nor short enough to be read as Python's text for a value")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        _refuse_repeats(tree)
        return json.loads(json.dumps(ast.literal_eval(tree), allow_nan=False))
    except RepeatedKeyError:
        raise
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"neither JSON nor Python's text for a value: {error}") from None


def _refuse_repeats(tree: ast.AST) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            names = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            # Of `1` and `"1"` JSON makes one name.
            if len(names) != len(set(map(str, names))):
                raise RepeatedKeyError("a key stands twice")


def shortened(text: str) -> str:
    """The text, cut where it would drown a message."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
