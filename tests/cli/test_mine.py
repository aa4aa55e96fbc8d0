"""`ledgeragent mine`: from recorded runs to a pack that loads, is clean, passes its samples and replays."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from ledgeragent.packs import load_domain
from ledgeragent.verdict import Enforcement
from tests.mining.runs import office_runs, runs_of

pytest.importorskip("cel_expr_python")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return office_runs(tmp_path_factory.mktemp("runs"), 120)


@pytest.fixture(scope="module")
def pack(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packs") / "parking"
    words = ["mine", str(runs), "-o", str(folder), "--rules", "--situations", "20"]
    assert main([*words, "--redact", "permits.*.permit_id"]) == 0
    return folder


def test_the_pack_is_clean_and_its_samples_pass(
    pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(pack), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []
    assert main(["test", "--domain", str(pack)]) == 0


def test_no_drafted_rule_is_enforced_and_a_replay_stops_nothing_that_ran(
    pack: Path, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    domain = load_domain(str(pack))
    assert domain.predicates
    assert {rule.enforcement for rule in domain.predicates} == {Enforcement.AUDIT}
    assert main(["replay", str(runs), "--domain", str(pack), "--format", "json"]) == 0
    writes = json.loads(capsys.readouterr().out)["writes"]
    assert writes["judged"] == writes["allow"] > 20


def test_a_refusal_becomes_the_message_of_its_rule(pack: Path) -> None:
    text = (pack / "rules.yaml").read_text()
    assert "renew-permit-permit-status" in text
    assert '"a suspended permit is not renewed"' in text
    assert "clocks, tables" in text


def test_files_are_for_their_owner_and_masked_texts_stand_nowhere_in_samples(pack: Path) -> None:
    assert {stat.S_IMODE(file.stat().st_mode) for file in pack.iterdir()} == {0o600}
    samples = (pack / "samples.yaml").read_text()
    assert "masked-1" in samples
    assert "P-5" not in samples


def test_a_pack_agrees_with_the_runs_it_is_mined_from_and_not_with_others(
    pack: Path, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mine", "--check", str(pack), str(runs)]) == 0
    assert "no difference from 120 conversations" in capsys.readouterr().out
    odd = runs_of(tmp_path, [("get_zone", {"zone": "A"}, {"zone": "A", "free": "many"})])
    assert main(["mine", "--check", str(pack), str(odd), "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["differences"]
    assert (row["code"], row["tool"]) == ("type", "get_zone")


def test_few_situations_draft_no_rule(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mine", str(runs), "-o", str(tmp_path / "p"), "--rules"]) == 0
    assert "rules: 0 drafts" in capsys.readouterr().out
    assert "different situations, too few" in (tmp_path / "p" / "rules.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "name the folder for the pack with -o"),
        (("-o", "."), "exists already"),
        (("-o", "a b"), "cannot name a domain"),
        (("--check", "shop", "-o", "x"), "leave -o out"),
        (("-o", "x", "--redact", "a.b"), "needs --rules"),
    ],
)
def test_wrong_use_is_told(
    words: tuple[str, ...],
    problem: str,
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    extra = ("--domain", "x") if words == ("-o", ".") else ()
    assert main(["mine", str(runs), *words, *extra]) == 2
    assert problem in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


def test_what_cannot_be_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "runs.json"
    file.write_text('{"messages": 7}')
    assert main(["mine", str(file), "-o", str(tmp_path / "pack")]) == 2
    assert "runs.json" in capsys.readouterr().err
    assert not (tmp_path / "pack").exists()


def test_a_prefix_that_all_tools_share_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zone = {"zone": "A", "free": 3}
    names = ("mcp__office__get_zone", "mcp__office__move")
    runs = runs_of(tmp_path, [(name, {"zone": "A"}, zone) for name in names])
    assert main(["mine", str(runs), "-o", str(tmp_path / "p")]) == 0
    out = capsys.readouterr().out
    assert "wrote " in out and "from 1 conversation\n" in out
    assert "mine again with --tool-prefix mcp__office__" in out
    words = ["--tool-prefix", "mcp__office__", "-o", str(tmp_path / "q")]
    assert main(["mine", str(runs), *words]) == 0
    assert "1 reads, 1 writes" in capsys.readouterr().out
    assert "to: zones.{zone}" in (tmp_path / "q" / "pack.yaml").read_text()
