"""docs/tutorials/pack-from-traces.md, done step by step: its commands print what it says."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from ledgeragent.cli.main import main

pytest.importorskip("cel_expr_python")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "pack-from-traces.md"
EXAMPLE = ROOT / "examples" / "parking"
_BLOCK = re.compile(r"(?<=^```console\n)\$ (.*)\n((?:.*\n)*?)(?=^```$)", re.MULTILINE)


def test_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("tools.json", "play.py"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    text = PAGE.read_text()

    def played(block: re.Match[str]) -> str:
        _run(shlex.split(block[1]), monkeypatch)
        printed = "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())
        return f"$ {block[1]}\n{printed}"

    fresh = _BLOCK.sub(played, text)
    assert fresh == text
    rules = (tmp_path / "parking" / "rules.yaml").read_text()
    for rule in ("renew-permit-permit-status", "renew-permit-permit-zone"):
        assert rule in rules and rule in text


def _run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    program, *arguments = words
    if program == "ledgeragent":
        assert main(arguments) == 0
    else:
        monkeypatch.setattr(sys, "argv", arguments)
        runpy.run_path(arguments[0], run_name="__main__")
