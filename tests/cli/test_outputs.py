"""What the verbs write is private, whole, behind no link, and over nothing that they did not make."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from ledgeragent.bench.running.rowfile import RowFile
from ledgeragent.cli.main import main
from tests.fuzz.corpus import RESULTS, RUN

from .branches import NAME

POSIX = pytest.mark.skipif(os.name == "nt", reason="needs modes and links as POSIX has them")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps(RUN) + "\n")
    return file


def view(runs: Path, page: Path) -> int:
    return main(["view", str(runs), "--domain", NAME, "-o", str(page)])


def diff(runs: Path, baseline: Path) -> int:
    return main(["diff", str(runs), "--domain", NAME, "--baseline", str(baseline), "--update"])


def report(results: Path, folder: Path) -> int:
    results.write_text(json.dumps(RESULTS))
    return main(["bench", "report", str(results), "-o", str(folder)])


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@POSIX
def test_every_output_is_private(tmp_path: Path, runs: Path) -> None:
    page, baseline, folder = tmp_path / "p.html", tmp_path / "b.json", tmp_path / "report"
    before = os.umask(0)
    try:
        assert view(runs, page) == diff(runs, baseline) == report(tmp_path / "r.json", folder) == 0
        rows = RowFile(tmp_path / "rows.jsonl")
        rows.close()
    finally:
        os.umask(before)
    written = [page, baseline, tmp_path / "rows.jsonl", *folder.iterdir()]
    assert len(written) > 4 and {mode(file) for file in written} == {0o600}


@POSIX
def test_no_link_is_followed(tmp_path: Path, runs: Path) -> None:
    target, folder = tmp_path / "target", tmp_path / "report"
    target.write_text("mine")
    folder.mkdir()
    for link in (tmp_path / "p.html", tmp_path / "b.json", folder / "report.md"):
        link.symlink_to(target)
    assert view(runs, tmp_path / "p.html") == 2
    assert diff(runs, tmp_path / "b.json") == 2
    assert report(tmp_path / "r.json", folder) == 2
    assert target.read_text() == "mine"


@pytest.mark.parametrize("content", ["mine", "", "<!doctype html>\n<title>mine</title>"])
def test_view_leaves_alone_what_it_did_not_make(
    tmp_path: Path, runs: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    page = tmp_path / "p.html"
    page.write_text(content)
    assert view(runs, page) == 2 and page.read_text() == content
    assert "no page of this verb" in capsys.readouterr().err


def test_view_writes_over_a_page_of_its_own(tmp_path: Path, runs: Path) -> None:
    page = tmp_path / "p.html"
    assert view(runs, page) == 0
    page.write_text(page.read_text().replace("r1", "r9"))
    assert view(runs, page) == 0 and "r9" not in page.read_text()


@POSIX
def test_links_in_a_circle_are_told(
    tmp_path: Path, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    circle = tmp_path / "circle.html"
    circle.symlink_to(circle)
    assert view(runs, circle) == view(circle, tmp_path / "p.html") == 2
    assert "symbolic links" in capsys.readouterr().err
