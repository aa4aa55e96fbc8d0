"""Cells of tables: text that can end neither its cell nor its row, nor be taken for a formula."""

from __future__ import annotations

import re

from ledgeragent.text import visible

_FORMULA = ("=", "+", "-", "@")
_FIGURES = re.compile(r"[+-][0-9., %\[\]–+-]*")


def markdown_cell(text: str) -> str:
    """The text as a cell of a Markdown table, without a tag or a line of its own."""
    return visible(text.replace("\\", "\\\\")).replace("|", "\\|")


def csv_cell(text: str) -> str:
    """The text as a spreadsheet takes it for text: one that begins like a formula is quoted."""
    line = visible(text) if not text.isprintable() else text
    is_formula = line.lstrip()[:1] in _FORMULA and _FIGURES.fullmatch(line) is None
    return f"'{line}" if is_formula and line.strip() else line
