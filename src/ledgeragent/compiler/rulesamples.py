"""The samples that stand in a rule, or under its id."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path as FilePath

from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.problems import Place, suggestion
from ledgeragent.compiler.samples import SIDES, sample_of, samples_from_json
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.errors import DataError

SAMPLE_KEYS = ("ledger", "writes", "call", "now", "params", "says")


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


def samples_of_pack(node: Node | None, sections: Sections, outline: Outline) -> None:
    """Adds the samples that stand in a section, or a JSON file, of their own."""
    rules = {rule.id for rule in outline.rules}
    if node is not None and isinstance(node.value, str):
        _samples_from_file(node, rules, sections, outline)
        return
    for rule, child in sections.entries(node, "samples").items():
        if rule not in rules:
            sections.find("syntax", child, f"there is no rule {rule}{suggestion(rule, rules)}")
        read_samples(child, rule, outline)


def _samples_from_file(
    node: Node, rules: Collection[str], sections: Sections, outline: Outline
) -> None:
    file = FilePath(node.file).parent / node.value
    try:
        samples = samples_from_json(file)
    except DataError as problem:
        place = Place(problem.file, problem.line or 1)
        outline.findings.add("syntax", place, problem.problem)
        outline.broken_samples |= {(rule, side) for rule in rules for side in SIDES}
        return
    if not samples:
        sections.find("syntax", node, f"{file} holds no samples")
    for sample in samples:
        if sample.rule not in rules:
            text = f"there is no rule {sample.rule}{suggestion(sample.rule, rules)}"
            outline.findings.add("syntax", sample.place, text)
    outline.samples += samples
