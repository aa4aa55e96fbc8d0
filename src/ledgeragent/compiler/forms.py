"""The form of plain answers, as a pack declares it: an apology is no id."""

from __future__ import annotations

import re

from ledgeragent.compiler.source.sections import Sections
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.effects import Parser, matching, text


def text_form(node: Node, holds_text: bool, sections: Sections) -> Parser:
    """The parser of answers that match the regular expression of this node, as a whole.

    A finding where it is none, or where the record is no text (`holds_text`).
    """
    pattern = sections.text(node, "form")
    if not holds_text:
        sections.find("type-error", node, "form is for records that are text")
        return text
    try:
        return matching(pattern, f"text of the form {pattern}")
    except re.error as error:
        sections.find("syntax", node, f"form is no regular expression: {error}")
        return text
