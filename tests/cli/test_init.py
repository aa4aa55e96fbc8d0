"""`ledgeragent init`: writes one new file whole, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from ledgeragent.packs import load_domain

pytest.importorskip("cel_expr_python")

TOOLS = Path(__file__).parents[2] / "examples" / "parking" / "tools.json"


def test_it_writes_a_pack_that_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "parking", "--tools", str(TOOLS)]) == 0
    assert "wrote parking.yaml for 9 tools" in capsys.readouterr().out
    assert load_domain("parking.yaml").name == "parking"
    assert [file.name for file in tmp_path.iterdir()] == ["parking.yaml"]


def test_it_never_writes_over_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "parking.yaml"
    file.write_text("mine")
    assert main(["init", "parking", "--tools", str(TOOLS), "--out", str(file)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert [found.name for found in tmp_path.iterdir()] == ["parking.yaml"]


def test_not_even_one_that_appears_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "parking.yaml"
    file.write_text("mine")
    monkeypatch.setattr(Path, "exists", lambda self, **options: False)
    assert main(["init", "parking", "--tools", str(TOOLS), "--out", str(file)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["init", "no name", "--tools", str(TOOLS)], "cannot name a domain"),
        (["init", "../up", "--tools", str(TOOLS)], "cannot name a domain"),
        (["init", "x", "--tools", "nothing.json"], "cannot be read"),
        (["init", "x", "--tools", str(TOOLS), "--out", "no/such/folder.yaml"], "cannot write"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
