"""The data that a run reads: a data folder's, domain by domain, and the harness's own for the rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledgeragent.bench.datasets import places
from ledgeragent.bench.datasets.needs import NEEDS, digest
from ledgeragent.bench.datasets.places import harness_place
from ledgeragent.bench.tau2 import data
from ledgeragent.cli.main import main
from tests.bench.datasets.checkouts import tau2_checkout

PAPERS = [domain for domain, need in NEEDS.items() if not need.trait]
"""The domains that the harness has."""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The harness's own data."""
    folder = tau2_checkout(tmp_path / "harness") / "data"
    monkeypatch.setattr(data, "own_folder", lambda: folder)
    return folder


def shared(root: Path, *domains: str, but: str = "") -> Path:
    for domain in domains:
        for name in NEEDS[domain].files:
            file = root / NEEDS[domain].folder / name
            if name != but:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"{name} of the data folder")
    return root


def origins(folder: Path) -> dict[str, set[str]]:
    place = harness_place(folder)
    return {
        domain: {file.read_text().partition(" of the ")[2] for file in place.files(need).values()}
        for domain, need in NEEDS.items()
        if not need.trait and not place.missing(need)
    }


def test_a_domain_that_the_data_folder_has_is_its_own_and_the_rest_the_harness_s(
    tmp_path: Path, own: Path
) -> None:
    folder = shared(tmp_path / "data", "retail")
    laid_out = origins(data.lay_out(folder, tmp_path / "scratch"))
    assert laid_out["retail"] == {"data folder"}
    # Which guidelines the customer has is the same in all domains: those of the data folder.
    assert laid_out["airline"] == {"checkout", "data folder"}
    assert laid_out["telecom"] == {"checkout"}


def test_the_hash_that_is_reported_is_that_of_the_files_that_a_run_reads(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In every mixture of a data folder and the harness, also where the folder has one domain alone."""
    monkeypatch.setattr(places, "own_folder", lambda: own)
    for number, there in enumerate([(), ("airline",), ("retail",), ("telecom",), tuple(PAPERS)]):
        folder = shared(tmp_path / f"data{number}", *there)
        (folder / "benchmarks").mkdir(parents=True, exist_ok=True)
        laid_out = harness_place(data.lay_out(folder, tmp_path / f"scratch{number}"))
        assert main(["bench", "data", str(folder)]) == 1
        reported = re.findall(r"sha256:(\w+)", capsys.readouterr().out)
        assert reported == [digest(laid_out.files(NEEDS[domain])) for domain in PAPERS]


def test_a_domain_with_a_gap_is_the_harness_s_as_a_whole(tmp_path: Path, own: Path) -> None:
    folder = shared(tmp_path / "data", "retail", but="retail/db.json")
    laid_out = origins(data.lay_out(folder, tmp_path / "scratch"))
    files = {name for name in NEEDS["retail"].files if name.startswith("retail/")}
    retail = tmp_path / "scratch" / "tau2" / "domains"
    assert {(retail / name).read_text().partition(" of the ")[2] for name in files} == {"checkout"}
    assert set(laid_out) == {"airline", "retail", "telecom"}
