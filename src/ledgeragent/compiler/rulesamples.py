"""The samples that stand in a rule, or under its id."""

from __future__ import annotations

from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.samples import SIDES, sample_of
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.errors import DataError

SAMPLE_KEYS = ("ledger", "writes", "call", "now", "params")


def read_samples(node: Node | None, rule: str, outline: Outline) -> None:
    """Adds the samples `{allowed: [...], rejected: [...]}` of a rule to the outline.

    A `now` beside the two is the time of those that name none.
    """
    sections = Sections(outline.findings, rule)
    sides = sections.mapping(node, "samples", (*SIDES, "now")) if node is not None else {}
    time = {"now": sections.text(sides["now"], "now")} if "now" in sides else {}
    for side in SIDES:
        for item in sections.items(sides.get(side), f"the {side} samples"):
            parts = sections.mapping(item, "a sample", SAMPLE_KEYS)
            try:
                plain = {**time, **{name: part.plain for name, part in parts.items()}}
                outline.samples.append(sample_of(plain, rule, side, place_of(item)))
            except DataError as problem:
                sections.find("syntax", item, problem.problem)
                outline.broken_samples.add((rule, side))
