"""check: every planted mistake at its line and nothing else; the shipped packs are clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledgeragent.compiler.problems import CODES
from ledgeragent.packs import PACKS
from ledgeragent.packs import versions as versions_of
from ledgeragent.packs.checking import check

pytest.importorskip("cel_expr_python")
from tests.check.reading import PLANTED, ROOT, seen

SOURCE = ROOT / "src" / "ledgeragent"
_MARK = re.compile(r"# planted( above)?: (\S+)$")


def planted(file: Path) -> list[tuple[int, str]]:
    """(line, code) of every mistake that a file says it has."""
    lines = enumerate(file.read_text().splitlines(), 1)
    found = ((number, _MARK.search(line)) for number, line in lines)
    return sorted((n - 1 if mark[1] else n, mark[2]) for n, mark in found if mark is not None)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        (str(PLANTED / "library.yaml"), PLANTED / "library.yaml"),
        ("tests.planted.garage:PACK", PLANTED / "garage.py"),
    ],
    ids=["yaml", "python"],
)
def test_every_planted_mistake_is_found_at_its_line_and_none_invented(
    name: str, file: Path
) -> None:
    findings = check(name)
    assert seen(findings) == planted(file)
    assert {Path(finding.place.file) for finding in findings} == {file}
    assert len(findings) >= 10


def test_planted_mistakes_are_found_in_every_file_of_a_folder() -> None:
    folder = PLANTED / "hotel"
    findings = check(str(folder), tools=folder / "tools.json")
    assert {str(f.place.file) for f in findings} >= {str(f) for f in folder.glob("rules/*")}
    for file in folder.rglob("*.yaml"):
        assert seen([f for f in findings if f.place.file == str(file)]) == planted(file)
    assert len(findings) >= 30


def test_the_yaml_file_has_the_twelve_kinds() -> None:
    kinds = {code for _, code in planted(PLANTED / "library.yaml")}
    assert len(kinds) >= 12
    assert set(CODES) - kinds <= {
        "syntax",
        "unread-file",
        "unused",
        "bad-constant",
        "same-rule",
        "contradiction",
        "new-argument",
        "bad-message",
        "touches-nothing",
        "partial-list",
        "one-path",
        "read-without-route",
        "tool-not-offered",
        "unknown-clause",
        "unproven",
    }


@pytest.mark.parametrize("name", PACKS)
def test_the_shipped_packs_are_clean(name: str) -> None:
    for version in versions_of(name):
        assert check(name, version=version) == []


@pytest.mark.parametrize(
    ("pack", "tools"),
    [
        (str(SOURCE / "demo" / "shop" / "pack.yaml"), SOURCE / "demo" / "shop" / "tools.json"),
        ("shop", SOURCE / "demo" / "shop" / "tools.json"),
        (str(ROOT / "examples" / "parking"), ROOT / "examples" / "parking" / "tools.json"),
    ],
)
def test_they_are_clean_against_their_tools(pack: str, tools: Path) -> None:
    assert check(pack, tools=tools) == []


@pytest.mark.parametrize("name", ["airline", "retail", "telecom"])
def test_benchmark_packs_against_the_benchmark_tools(name: str, data_dir: Path) -> None:
    tools = data_dir / "benchmarks" / "tau2" / name / "tools.json"
    if not tools.exists():
        pytest.skip(f"{tools} is not there")
    # The policy spells one status otherwise than the tools answer; the pack knows both.
    expected = ["pending (items modifed)"] if name == "retail" else []
    problems = check(name, tools=tools)
    assert len(problems) == len(expected)
    assert all(text in str(problem) for text, problem in zip(expected, problems, strict=True))
