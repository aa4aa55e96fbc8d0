"""docs/tutorials/pack-from-traces.md, done step by step: its commands print what it says."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from ledgeragent.compiler.samples import run
from ledgeragent.domain import Domain
from ledgeragent.offline.binding import forget
from ledgeragent.packs import load_domain
from ledgeragent.packs.catalogue import samples
from ledgeragent.verdict import Decision

pytest.importorskip("cel_expr_python")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "pack-from-traces.md"
EXAMPLE = ROOT / "examples" / "parking"
_BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: title=\"(?P<file>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with what the reader has."""
    for name in ("tools.json", "play.py"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def test_every_step_and_the_pack_that_it_makes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def done(block: re.Match[str]) -> str:
        if block["file"]:
            (folder / block["file"]).write_text(block["text"])
        if block["kind"] != "console":
            return block[0]
        command = block["text"].partition("\n")[0]
        _run(shlex.split(command.removeprefix("$ ")), monkeypatch)
        printed = "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())
        return f"```console\n{command}\n{printed}```"

    text = PAGE.read_text()
    assert _BLOCK.sub(done, text) == text
    drafts = "renew-permit-permit-status", "waive-fine-resident-id-of-fine"
    assert all(text.count(draft) > 1 for draft in drafts)
    assert _judged_as_by_hand(load_domain("parking")) >= {
        "parking/suspended", "parking/own", "parking/unpaid", "parking/period", "parking/full",
        "parking/waiver",
    }  # fmt: skip


def _judged_as_by_hand(mined: Domain) -> set[str]:
    """The rules of the pack written by hand, whose samples the mined one judges as they say."""
    right: set[str] = set()
    for sample in samples(str(EXAMPLE)):
        ledger = {p.replace("caller", "located.resident"): r for p, r in sample.ledger.items()}
        verdict = run(replace(sample, ledger=ledger, rule="", side="allowed"), mined).verdict
        assert (verdict.decision is Decision.ALLOW) == (sample.side == "allowed"), sample.place
        right.add(sample.rule)
    return right


def _run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    program, *arguments = words
    forget()  # each command is a process of its own for the reader
    if program == "ledgeragent":
        assert main(arguments) == 0
    else:
        monkeypatch.setattr(sys, "argv", arguments)
        runpy.run_path(arguments[0], run_name="__main__")
