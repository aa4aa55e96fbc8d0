"""Blocks about the mutation run of the core: what died, module by module, and why the rest lives."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from html import escape

from tools.markdown import ROOT, made_by, result, share, table

REASONS = "tests/survivors.toml"
_FILE = "mutants.json"
_PACK_FILE = "packmutants.json"
_MADE_BY = made_by(_FILE, "make mutants")

Survivor = dict[str, str]


@cache
def reasons() -> dict[tuple[str, str, str], str]:
    """Why a mutant lives, by function, line and mutated line."""
    listed = tomllib.loads((ROOT / REASONS).read_text(encoding="utf-8"))["survivor"]
    return {(one["function"], one["line"], one["mutant"]): one["why"] for one in listed}


def _why(one: Survivor) -> str:
    return reasons().get((one["function"], one["line"], one["mutant"]), "open: a test is missing")


def is_equivalent(one: Survivor) -> bool:
    """True for a mutant on which no test could fail."""
    return _why(one).startswith("equivalent")


def mutants() -> str:
    """Per module: the mutants, those that behave as the code does, and how many others died."""
    rows: list[tuple[object, ...]] = []
    whole: Counter[str] = Counter()
    for name, module in result(_FILE)["modules"].items():
        survivors = module["survivors"]
        counts = Counter(
            mutants=module["mutants"],
            equivalent=sum(map(is_equivalent, survivors)),
            killed=module["mutants"] - len(survivors),
        )
        whole.update(counts)
        rows.append((f"`{name}`", *_figures(counts)))
    rows.append(("all", *_figures(whole)))
    return table(("module", "mutants", "equivalent", "killed of the others"), rows) + _MADE_BY


def _figures(counts: Counter[str]) -> tuple[object, ...]:
    others = counts["mutants"] - counts["equivalent"]
    return counts["mutants"], counts["equivalent"], share(counts["killed"], others)


def survivors() -> str:
    """Every mutant that lives, and why."""
    rows = [
        (f"`{one['function']}`", _code(one["line"]), _code(one["mutant"]), _why(one))
        for module in result(_FILE)["modules"].values()
        for one in module["survivors"]
    ]
    return table(("function", "line", "mutant", "why it lives"), rows) + _MADE_BY


def _code(line: str) -> str:
    """A line of code in a cell of a table."""
    return f"<code>{escape(line, quote=False).replace('|', '&#124;')}</code>"


def pack_mutants() -> str:
    """Per kind of mistake in a pack: how many `check` reports, and how many only `test`."""
    kinds = result(_PACK_FILE)["kinds"]
    rows: list[tuple[object, ...]] = [_pack_row(kind["kind"], kind) for kind in kinds]
    names = ("mutants", "check", "test", "elsewhere")
    rows.append(_pack_row("all", {name: sum(kind[name] for kind in kinds) for name in names}))
    head = (
        "mistake",
        "mutants",
        "by `check`",
        "by `test` alone",
        "elsewhere",
        "at the right place",
    )
    return table(head, rows) + made_by(_PACK_FILE, "python -m benchmarks.packmutants --write")


def _pack_row(kind: str, counts: Mapping[str, int]) -> tuple[object, ...]:
    right = counts["check"] + counts["test"]
    figures = (counts[name] for name in ("mutants", "check", "test", "elsewhere"))
    return (kind, *figures, share(right, counts["mutants"]))
