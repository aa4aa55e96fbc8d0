"""`ledgeragent test` without cases: the samples of a pack are its tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from .branches import NAME
from .command import ROOT, ledgeragent

SHOP = ROOT / "src" / "ledgeragent" / "demo" / "shop" / "pack.yaml"


@pytest.mark.parametrize("domain", ["telecom", "shop", SHOP], ids=["python", "shop", "yaml"])
def test_every_sample_of_a_shipped_pack_is_as_it_says(domain: str | Path) -> None:
    done = ledgeragent("test", "--domain", domain, "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert done.json["samples"] == done.json["passed"] > 30
    assert done.json["failures"] == []
    assert all(sides["rejected"]["samples"] for sides in done.json["by_rule"].values())


def test_a_sample_that_is_judged_otherwise_is_told_with_its_place(tmp_path: Path) -> None:
    samples = tmp_path / "pack" / "samples.json"
    samples.parent.mkdir()
    samples.write_text((SHOP.parent / "pack" / "samples.json").read_text())
    pack = tmp_path / "pack.yaml"
    pack.write_text(SHOP.read_text().replace("notice_days: 7", "notice_days: 700"))
    done = ledgeragent("test", "--domain", pack)
    assert done.code == 1
    assert "Samples judged otherwise" in done.out and "shop/box-notice" in done.out
    failures = ledgeragent("test", "--domain", pack, "--format", "json").json["failures"]
    first = next(failure for failure in failures if failure["rule"] == "shop/box-notice")
    assert first["side"] == "allowed"
    assert first["file"] == str(samples) and first["line"] > 1
    assert first["decision"] == "block" and "shop/box-notice" in first["problem"]


def test_a_rule_in_shadow_is_marked_and_its_samples_still_speak_for_it() -> None:
    flags = ("--enforce", "telecom/refuel-max=audit", "--enforce", "telecom/bill-overdue=warn")
    done = ledgeragent("test", "--domain", "telecom", *flags)
    assert done.code == 0
    assert "telecom/refuel-max (audit)" in done.out
    assert "telecom/bill-overdue (warn)" in done.out
    assert "telecom/suspend-basis (audit)" in done.out


def test_the_samples_of_one_version_are_those_of_its_rules() -> None:
    def rules(*version: str) -> set[str]:
        return set(
            ledgeragent("test", "--domain", "airline", *version, "--format", "json").json["by_rule"]
        )

    assert rules() - rules("--version", "tau") == {"airline/cabin-change-flown"}


@pytest.mark.parametrize("version", ["tau2", "tau", "tau_trait"])
def test_the_samples_of_every_version_are_as_they_say(version: str) -> None:
    done = ledgeragent("test", "--domain", "airline", "--version", version, "--format", "json")
    assert (done.code, done.json["failures"]) == (0, [])
    assert (done.json["other_versions"] > 0) is (version != "tau2")


def test_a_module_that_fails_when_it_is_imported_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("broken_pack", "def x(:"), ("failing_pack", "1 / 0")):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        for verb in (("test", "--domain"), ("check",)):
            done = ledgeragent(*verb, f"{name}:PACK")
            assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
            assert "Error: " in done.err


def test_a_pack_without_samples_is_told() -> None:
    done = ledgeragent("test", "--domain", NAME)
    assert (done.code, done.out) == (2, "")
    assert "has no samples" in done.err


def test_a_rule_that_does_not_exist_is_told() -> None:
    done = ledgeragent("test", "--domain", "retail", "--enforce", "retail/refund=audit")
    assert (done.code, done.out) == (2, "")
    assert "retail has no rule retail/refund; did you mean" in done.err
