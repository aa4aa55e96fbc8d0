"""docs/tutorials/pack-in-an-hour.md, done step by step: its files load, its commands print what it says."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from ledgeragent.compiler.loader import read_outline
from ledgeragent.compiler.samples import run
from ledgeragent.packs import load_domain

pytest.importorskip("cel_expr_python")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "pack-in-an-hour.md"
EXAMPLE = ROOT / "examples" / "parking"
_BLOCK = re.compile(r"^```(yaml|console|py)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(EXAMPLE / "tools.json", tmp_path)
    monkeypatch.chdir(tmp_path)
    pack: list[str] = []
    for kind, text in _BLOCK.findall(PAGE.read_text()):
        if kind == "yaml":
            pack.append(text)
            Path("parking.yaml").write_text("\n".join(pack))
        elif kind == "console":
            command, _, expected = text.partition("\n")
            main(shlex.split(command)[2:])
            assert capsys.readouterr().out == expected
        else:
            exec(compile(text, str(PAGE), "exec"), {})
    assert (EXAMPLE / "pack.yaml").read_text() == "\n".join(pack)


def test_samples_of_the_example() -> None:
    outline = read_outline(EXAMPLE)
    assert outline.domain is not None
    problems = {s.place: run(s, outline.domain).problem for s in outline.samples}
    assert len(outline.samples) >= 16
    assert not any(problems.values()), problems


def test_the_example_asks_for_what_it_cannot_know() -> None:
    domain = load_domain(str(EXAMPLE))
    assert domain.name == "parking"
    assert domain.digest
