"""Python rules: fields that a record does not have, and comparisons with values a field never has."""

from __future__ import annotations

from types import FunctionType

from ledgeragent.check.python_source import read_rule
from ledgeragent.packs.finding import Place
from ledgeragent.packs.outline import Outline


def check_python_rules(outline: Outline) -> None:
    """Adds what the source of the rules, and of the helpers they call, says wrong."""

    def note(code: str, place: Place, text: str) -> None:
        outline.findings.add(code, place, text)

    for predicate in outline.domain.predicates if outline.domain is not None else ():
        if isinstance(predicate.check, FunctionType):
            for _ in read_rule(predicate.check, note):
                pass
