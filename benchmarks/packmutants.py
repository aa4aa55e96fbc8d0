"""Packs with one small mistake each: does `check` or `test` report it, and at the right place?

The mistakes are those that authors make: a slip in a name, another operator or number, a condition turned
round, a line left out. They are made in the packs that are examples, always the same ones: an equal share
of each kind. The right place is the line of the mistake, the rule in which it is, or a rule that uses
what was spoilt. `--write` keeps the counts.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from ledgeragent.check import findings_of
from ledgeragent.compiler.loader import read_outline
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.samples import run
from ledgeragent.errors import LedgerAgentError

ROOT = Path(__file__).parents[1]
PACKS = (
    "examples/parking/pack.yaml",
    "examples/bank/pack.yaml",
    "src/ledgeragent/demo/shop/pack.yaml",
)
RESULT = ROOT / "benchmarks" / "results" / "packmutants.json"
MOST = 150

_RULE = re.compile(r"  - id: (\S+)")
_SECTION = re.compile(r"[a-z]+:")


@dataclass(frozen=True, slots=True)
class PackMutant:
    """A pack with one line changed (`line`, from 1); `after` is None where it was left out."""

    pack: str
    kind: str
    line: int
    before: str
    after: str | None

    def text(self, lines: Sequence[str]) -> str:
        """The text of the pack."""
        changed = [] if self.after is None else [self.after]
        return "\n".join([*lines[: self.line - 1], *changed, *lines[self.line :]]) + "\n"


Change = Callable[[str], str | None]
"""The line with the mistake; None where it has no place for it."""


def _swapped(pattern: str, by: str) -> Change:
    def change(line: str) -> str | None:
        changed = re.sub(pattern, by, line, count=1)
        return changed if changed != line else None

    return change


def _number(line: str) -> str | None:
    """The number of a comparison, or of a parameter, raised by one hundredth of it or by one."""
    match = re.search(r"(?<=[:<>=] )(\d+\.\d+|\d+)(?=$|[ ,}]| [&|])", line)
    if match is None:
        return None
    value = match[1]
    raised = f"{float(value) * 1.01 + 0.01:.2f}" if "." in value else str(int(value) + 1)
    return line[: match.start()] + raised + line[match.end() :]


def _slip(pattern: str) -> Change:
    """Two letters of a name exchanged."""

    def change(line: str) -> str | None:
        match = re.search(pattern, line)
        if match is None:
            return None
        name = match[1]
        at = next((i for i in range(1, len(name) - 1) if name[i] != name[i + 1]), None)
        if at is None:
            return None
        slip = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
        return line[: match.start(1)] + slip + line[match.end(1) :]

    return change


_EXPRESSION = r"^(?!.*(?:say|message|about|summary):).*"
KINDS: dict[str, tuple[Change, str]] = {
    "slip in a field": (
        _slip(r"^(?!.*(?:to|at|about|summary): ).*?\b[a-z]+\.([a-z_]{4,})"),
        "rules",
    ),
    "slip in a guard": (_slip(r"^    guards: \[?([a-z_]+)"), "rules"),
    "slip in a path": (_slip(r"^      [a-z]+: ([a-z_]+)\.\{"), "rules"),
    "slip in a value": (_slip(r"[!=]= \"([a-z]+)\""), "rules"),
    "slip in a key": (_slip(r"^    (check|message|requires|guards): "), "rules"),
    "slip in a record": (_slip(r"^    ([a-z_]{4,}): (?:str|int|float|date|bool)"), "records"),
    "slip in a touched path": (_slip(r"^      - ([a-z_]+)\.\{"), "writes"),
    "another comparison": (_swapped(r" (<|>)= ", r" \1 "), "rules"),
    "comparison turned round": (_swapped(r" > (?=[\w.(])", " < "), "rules"),
    "equal for unequal": (_swapped(r" != ", " == "), "rules"),
    "unequal for equal": (_swapped(rf"({_EXPRESSION}) == ", r"\1 != "), "rules"),
    "or for and": (_swapped(r" && ", " || "), "rules"),
    "and for or": (_swapped(r" \|\| ", " && "), "rules"),
    "negation left out": (_swapped(r"!(?=[a-z(])", ""), "rules"),
    "another number": (_number, "rules"),
    "another parameter": (_number, "parameters"),
    "another type": (_swapped(r": float\b", ": str"), "records"),
    "one quantifier for another": (_swapped(r"\.all\(", ".exists("), "rules"),
    "text for a number": (_swapped(r"([<>]=? )(\d+)\b", r'\1"\2"'), "rules"),
    "line left out": (lambda line: None, "rules"),
}
_LEFT_OUT = re.compile(r"^    (check|message|guards|clause): \S|^      [a-z]+: [a-z_]+\.\{")


def mutants_of(pack: str) -> Iterator[PackMutant]:
    """Every mutant of a pack, kind by kind in turn, so that a share of them has some of each."""
    lines = (ROOT / pack).read_text().splitlines()
    sections = [*_sections(lines)]
    by_kind = []
    for kind, (change, section) in KINDS.items():
        fitting = [n for n, own in enumerate(sections) if own == section]
        made = (_mutant(pack, kind, n + 1, lines[n], change) for n in fitting)
        by_kind.append([mutant for mutant in made if mutant is not None])
    for turn in zip_longest(*by_kind):
        yield from (mutant for mutant in turn if mutant is not None)


def _mutant(pack: str, kind: str, line: int, text: str, change: Change) -> PackMutant | None:
    if kind == "line left out":
        return PackMutant(pack, kind, line, text, None) if _LEFT_OUT.match(text) else None
    after = change(text)
    return PackMutant(pack, kind, line, text, after) if after is not None else None


def _sections(lines: Sequence[str]) -> Iterator[str]:
    """The section of each line; samples are none, since they are what mistakes are found by."""
    section, sampled = "", False
    for line in lines:
        if match := _SECTION.match(line):
            section, sampled = match[0][:-1], False
        if _RULE.match(line):
            sampled = False
        sampled = sampled or line.startswith("    samples:")
        yield "" if sampled or line.lstrip().startswith("#") else section


@dataclass(frozen=True, slots=True)
class Report:
    """What was said of a mutant: whether by `check` or `test`, and whether where the mistake is."""

    mutant: PackMutant
    by: str
    right: bool


def report(mutant: PackMutant) -> Report:
    """What `check`, and then `test`, say of a mutant."""
    source = ROOT / mutant.pack
    lines = source.read_text().splitlines()
    is_folder = (source.parent / "samples.yaml").exists()
    with TemporaryDirectory() as folder:
        shutil.copytree(source.parent, Path(folder) / "pack", ignore=shutil.ignore_patterns("*.py"))
        file = Path(folder) / "pack" / source.name
        file.write_text(mutant.text(lines))
        try:
            outline = read_outline(file.parent if is_folder else file)
            tools = file.with_name("tools.json")
            problems = findings_of(outline, tools if tools.exists() else None)
        except LedgerAgentError as problem:
            return Report(mutant, "check", f":{mutant.line}" in str(problem))
        if problems:
            near = any(_meets(f.place.line, f.rule, mutant, lines) for f in problems)
            return Report(mutant, "check", near)
        failures = _failures(outline)
    right = any(_is_about(rule, mutant, lines) for rule in failures)
    return Report(mutant, "test" if failures else "", right)


def _failures(outline: Outline) -> list[str]:
    """The rules that `test` names where samples are judged otherwise than they say."""
    domain = outline.domain
    assert domain is not None
    problems = [(sample.rule, run(sample, domain).problem) for sample in outline.samples]
    said = [f"{rule}: {problem}" for rule, problem in problems if problem]
    return [rule.id for rule in outline.rules if any(rule.id in text for text in said)]


def _meets(line: int, rule: str, mutant: PackMutant, lines: Sequence[str]) -> bool:
    """True for the line of the mistake, or a place in a rule that has it or uses what it spoils."""
    at = rule or _rule_at(line, lines)
    return line == mutant.line or (bool(at) and _is_about(at, mutant, lines))


def _rule_at(line: int, lines: Sequence[str]) -> str:
    """The rule in which a line stands, "" for one that stands in none."""
    starts = (
        m for text in reversed(lines[:line]) if (m := _RULE.match(text) or _SECTION.match(text))
    )
    match = next(starts, None)
    return match[1] if match is not None and match.re is _RULE else ""


def _is_about(rule: str, mutant: PackMutant, lines: Sequence[str]) -> bool:
    """True if the mistake is in this rule, or in something that the rule names."""
    if _rule_at(mutant.line, lines) == rule:
        return True
    own = [text for n, text in enumerate(lines, 1) if _rule_at(n, lines) == rule]
    names = _spoilt(mutant)
    return any(re.search(rf"\b{name}\b", text) for name in names for text in own)


def _spoilt(mutant: PackMutant) -> list[str]:
    """The name that a mistake outside the rules is in, and those that stand before it in its line."""
    if mutant.kind not in ("another parameter", "another type", "slip in a record"):
        return []
    pairs = enumerate(zip(mutant.before, mutant.after or "", strict=False))
    at = next((n for n, (old, new) in pairs if old != new), len(mutant.before))
    names = [m[0] for m in re.finditer(r"[a-z_]+(?=:)", mutant.before) if m.start() <= at]
    return names if mutant.kind == "another parameter" else names[-1:]


def chosen(most: int = MOST) -> list[PackMutant]:
    """The mutants that are tried: of each pack as many, and of each kind in turn."""
    turns = zip_longest(*(mutants_of(pack) for pack in PACKS))
    return [mutant for turn in turns for mutant in turn if mutant is not None][:most]


def main() -> None:
    """Tries them and tells what was not reported."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"keep the counts in {RESULT.name}")
    parser.add_argument("--most", type=int, default=MOST, help=f"how many mutants (default {MOST})")
    args = parser.parse_args()
    reports = [report(mutant) for mutant in chosen(args.most)]
    for one in reports:
        if not one.right:
            said = f"reported by {one.by}, elsewhere" if one.by else "not reported"
            print(f"{one.mutant.pack}:{one.mutant.line}: {one.mutant.kind}: {said}")
            print(f"  - {one.mutant.before.strip()}\n  + {(one.mutant.after or '').strip()}")
    rows = [_row(kind, reports) for kind in KINDS]
    found = sum(one.right for one in reports)
    print(f"{found} of {len(reports)} reported at the right place")
    if args.write:
        RESULT.write_text(json.dumps({"kinds": rows}, indent=1) + "\n")


def _row(kind: str, reports: Sequence[Report]) -> dict[str, object]:
    own = [one for one in reports if one.mutant.kind == kind]
    return {
        "kind": kind,
        "mutants": len(own),
        "check": sum(one.right and one.by == "check" for one in own),
        "test": sum(one.right and one.by == "test" for one in own),
        "elsewhere": sum(bool(one.by) and not one.right for one in own),
    }


if __name__ == "__main__":
    main()
