"""What every command has in common: usage on a wrong option, completion, silence, several packs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.command import ROOT, ledgeragent

PARKING = "examples/parking"


@pytest.mark.parametrize(
    ("words", "verb", "meant"),
    [
        (["replay", "x", "--domain", "shop", "--domian", "shop"], "replay", "--domain"),
        (["check", "shop", "--fromat", "json"], "check", "--format"),
        (["--quiet-please"], "", ""),
    ],
)
def test_a_wrong_option_shows_the_usage_of_its_verb(
    words: list[str], verb: str, meant: str
) -> None:
    done = ledgeragent(*words)
    assert done.code == 2
    assert done.err.startswith(f"usage: ledgeragent {verb}".rstrip())
    assert meant in done.err


def test_a_slip_in_the_name_of_a_domain() -> None:
    assert "did you mean retail?" in ledgeragent("check", "retial").err
    assert "did you mean shop?" in ledgeragent("test", "--domain", "shpo").err


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_completion_of_a_shell(shell: str, tmp_path: Path) -> None:
    pytest.importorskip("shtab")
    done = ledgeragent("--print-completion", shell)
    assert (done.code, done.err) == (0, "")
    assert "replay" in done.out and "--param" in done.out
    script = tmp_path / "script"
    script.write_text(done.out)
    if shell == "bash":
        subprocess.run(["bash", "-n", script], check=True)


def test_check_takes_several_packs_and_a_folder_of_them(tmp_path: Path) -> None:
    done = ledgeragent("check", PARKING, "shop")
    assert (done.code, done.out.count("nothing found")) == (0, 2)
    done = ledgeragent("check", "examples")
    assert (done.code, done.out.count("nothing found")) == (0, 2)
    broken = tmp_path / "broken.yaml"
    broken.write_text("schema: ledgeragent/v1\n")
    done = ledgeragent("check", PARKING, broken, "--format", "json")
    assert done.code == 1
    assert [report["errors"] for report in done.json] == [0, 1]


def test_check_takes_standard_input() -> None:
    pack = (ROOT / PARKING / "pack.yaml").read_text()
    done = ledgeragent("check", "-", stdin=pack.encode())
    assert (done.code, done.out) == (0, "-: nothing found\n")
    slip = pack.replace("permit.status !=", "permit.stauts !=")
    done = ledgeragent("check", "-", stdin=slip.encode())
    assert done.code == 1
    line = slip[: slip.index("stauts")].count("\n") + 1
    assert f"-:{line}: error: Permit has no field 'stauts'" in done.out


def test_explain_shows_the_expression_and_its_line() -> None:
    done = ledgeragent("explain", "parking/waiver", "--domain", PARKING)
    text = (ROOT / PARKING / "pack.yaml").read_text()
    line = text[: text.index("check: fine.status")].count("\n") + 1
    assert f"examples/parking/pack.yaml:{line}: check" in done.out
    assert "let old" in done.out
    assert 'fine.status == "unpaid" && !old' in done.out


def test_no_colour_on_a_dumb_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from ledgeragent.cli import streams

    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for term, colours in (("xterm", True), ("dumb", False)):
        monkeypatch.setenv("TERM", term)
        assert streams.has_colours() is colours
