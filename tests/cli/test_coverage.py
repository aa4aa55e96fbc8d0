"""`ledgeragent coverage` through the front door, for every form of a pack."""

from __future__ import annotations

from pathlib import Path

import pytest

from .branches import NAME
from .command import ROOT, ledgeragent

SHOP = ROOT / "src" / "ledgeragent" / "demo" / "shop" / "pack.yaml"


def test_the_text_has_the_honest_list() -> None:
    done = ledgeragent("coverage", "--domain", "retail")
    assert (done.code, done.err) == (0, "")
    assert "Not checkable from state (" in done.out
    assert "retail/explicit-confirmation (dialogue): " in done.out
    assert "revise (audit)" in done.out


@pytest.mark.parametrize("pack", ["shop", SHOP], ids=["python", "yaml"])
def test_both_forms_of_the_shop_cover_the_same(pack: str | Path) -> None:
    done = ledgeragent("coverage", pack, "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert done.json["counts"] == {
        "clauses": 16,
        "with_rules": 14,
        "not_checkable": 2,
        "without_rule": 0,
        "rules": 15,
        "enforced": 15,
        "samples": 67,
    }
    assert [row["clause"] for row in done.json["not_checkable"]] == [
        "shop/confirm",
        "shop/hand-over",
    ]
    assert done.json["writes_without_rules"] == []


@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "telehealth", "shop"])
def test_the_page_in_the_docs_is_what_the_command_prints(name: str) -> None:
    done = ledgeragent("coverage", name, "--format", "markdown")
    assert done.out == (ROOT / "docs" / "reference" / "coverage" / f"{name}.md").read_text()


def test_a_domain_of_ones_own_without_samples() -> None:
    report = ledgeragent("coverage", NAME, "--format", "json").json
    assert report["versions"] == ["tau2", "tau"]
    assert report["counts"]["samples"] == 0
    assert [row["clause"] for row in report["not_checkable"]] == ["lending/polite"]
    assert report["writes_without_rules"] == ["move_member"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "name one pack"),
        (("shop", "--domain", "retail"), "name one pack"),
        (("bank",), "there is no domain 'bank'"),
        (("gone.yaml",), "gone.yaml"),
    ],
)
def test_no_pack_or_two_are_told(arguments: tuple[str, ...], told: str) -> None:
    done = ledgeragent("coverage", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err and done.err.count("\n") == 1
