"""Cells of tables, and texts of a page: what can end neither its place, nor be taken for more than text."""

from __future__ import annotations

import re

from ledgeragent.text import visible

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_MARKS = re.compile(r"[\\`*_\[\]|#~]")
_FIGURES = re.compile(r"[+-][0-9., %\[\]–+-]*")


def markdown_cell(text: str) -> str:
    """The text as a cell of a Markdown table, without a tag, a link or a line of its own."""
    return _without_links(visible(text.replace("\\", "\\\\"))).replace("|", "\\|")


def markdown_text(text: str) -> str:
    """The text as a part of a line of Markdown, without a tag, a link or a mark."""
    return _MARKS.sub(r"\\\g<0>", visible(text))


def markdown_code(text: str) -> str:
    """The text as code within a line of Markdown, which nothing in it can end."""
    code = visible(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", code)), default=0))
    space = " " if fence != "`" else ""
    return f"{fence}{space}{code}{space}{fence}"


def _without_links(text: str) -> str:
    # An image would be fetched from wherever the text says.
    return text.replace("](", "]\\(")


def csv_cell(text: str) -> str:
    """The text as a spreadsheet takes it for text: one that begins like a formula is quoted."""
    line = visible(text) if not text.isprintable() else text
    is_formula = line.lstrip()[:1] in _FORMULA and _FIGURES.fullmatch(line) is None
    return f"'{line}" if is_formula and line.strip() else line
