"""`ledgeragent check`: what it prints, in each format, and how it exits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ledgeragent.cli.main import main

from .command import ROOT, ledgeragent

pytest.importorskip("cel_expr_python")

PLANTED = "tests/planted/library.yaml"


def test_findings_are_lines_that_editors_can_follow() -> None:
    done = ledgeragent("check", PLANTED)
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[-1] == f"{PLANTED}: 15 errors, 1 warning"
    assert f"{PLANTED}:84: error: Loan has no field 'renewal'; did you mean renewals?" in done.out
    assert all(line.startswith(f"{PLANTED}:") for line in lines)


def test_a_clean_pack_exits_with_0() -> None:
    done = ledgeragent("check", "examples/parking", "--tools", "examples/parking/tools.json")
    assert done == (0, "examples/parking: nothing found\n", "")


def test_warnings_alone_exit_with_0(tmp_path: Path) -> None:
    file = tmp_path / "parking.yaml"
    assert (
        ledgeragent("init", "parking", "--tools", "examples/parking/tools.json", "--out", file).code
        == 0
    )
    done = ledgeragent("check", file)
    assert done.code == 0
    assert done.out.endswith(": 4 warnings\n")


def test_json() -> None:
    done = ledgeragent("check", PLANTED, "--format", "json")
    assert done.code == 1
    assert (done.json["errors"], done.json["warnings"]) == (15, 1)
    assert done.json["findings"][0].keys() == {
        "code",
        "severity",
        "file",
        "line",
        "rule",
        "message",
    }


def test_sarif() -> None:
    done = ledgeragent("check", PLANTED, "--format", "sarif")
    assert done.code == 1
    (run,) = done.json["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == 16
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == PLANTED
        assert location["physicalLocation"]["region"]["startLine"] > 1


def test_shipped_packs_by_name_and_version() -> None:
    done = ledgeragent("check", "airline", "--version", "tau")
    assert done == (0, "airline: nothing found\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "nothing"], "there is no domain 'nothing'"),
        (["check", "nothing.yaml"], "nothing.yaml: cannot be read: No such file or directory"),
        (["check", "shop", "--tools", "nothing.json"], "nothing.json: cannot be read"),
        (["check", "shop", "--tools", "README.md"], "README.md:1: not JSON"),
        (["check", "shop", "--version", "x"], "no version 'x'"),
        (["check", "docs"], "this folder holds no pack.yaml"),
    ],
)
def test_input_that_cannot_be_used_is_one_line(arguments: list[str], message: str) -> None:
    done = ledgeragent(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


HOSTILE = {
    "syntax": b"schema: ledgeragent/v1\n domain: x\n",
    "hash": b"schema: ledgeragent/v1\ndomain: #W1\n",
    "binary": b"\x00\x01\x02\xff",
    "control": b"a: \x1b[31mred\n",
    "huge": b"a: b\n" * 2_000_000,
    "deep": b"[" * 200_000,
    "bomb": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n".encode()
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "list": b"- a\n- b\n",
    "text": b"hello",
    "empty": b"",
    "odd keys": b"1: 2\ntrue: 3\n~: 4\n",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_no_file_gives_a_traceback(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pack.yaml"
    file.write_bytes(content)
    code = main(["check", str(file)])
    out, err = capsys.readouterr()
    assert code in (1, 2)
    assert (out + err).count("\n") <= 6
    assert "Traceback" not in out + err
    assert "\x1b" not in out + err


def test_files_elsewhere_are_named_in_full(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pack.yaml"
    file.write_text("domain: x\n")
    assert main(["check", str(file), "--format", "sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == file.as_uri()
    assert ROOT not in file.parents


def test_a_name_with_spaces_is_a_uri_and_comparisons_read_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("my packs #1.yaml")
    rule = "  - {id: x/y, guards: w, check: args.n > 'a', message: no}\n"
    writes = "writes: {w: {arguments: {n: int}}}\n"
    file.write_text(f"schema: ledgeragent/v1\ndomain: x\n{writes}rules:\n{rule}")
    assert main(["check", str(file)]) == 1
    assert "'>' does not apply to int, string" in capsys.readouterr().out
    assert main(["check", str(file), "--format", "sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "my%20packs%20%231.yaml"


def test_a_file_that_is_not_there_is_told_before_an_extra_that_is_not(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['yaml'] = sys.modules['cel_expr_python'] = None\n"
        "from ledgeragent.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    missing = str(tmp_path / "nosuch.yaml")
    for verb in (["check", missing], ["coverage", missing], ["test", "--domain", missing]):
        run = subprocess.run(
            [sys.executable, "-c", program, *verb], capture_output=True, text=True, check=False
        )
        assert run.returncode == 2
        assert "cannot be read" in run.stderr and "not installed" not in run.stderr
