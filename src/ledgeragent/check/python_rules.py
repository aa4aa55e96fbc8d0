"""Python rules: fields that a record does not have, and comparisons with values a field never has."""

from __future__ import annotations

from types import FunctionType

from ledgeragent.check.python_source import read_rule
from ledgeragent.packs.outline import Outline


def check_python_rules(outline: Outline) -> None:
    """Adds what the source of the rules, and of the helpers they call, says wrong."""
    for predicate in outline.domain.predicates if outline.domain is not None else ():
        if not isinstance(predicate.check, FunctionType):
            continue
        for reading in read_rule(predicate.check):
            for code, place, text in reading.problems:
                outline.findings.add(code, place, text, predicate.id)
                outline.suspects.add(predicate.id)
