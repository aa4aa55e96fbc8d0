"""What made a result: versions, packs, and the commit that last changed the source."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ledgeragent.bench.running import provenance
from ledgeragent.packs import load_domain

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


def git(root: Path, *arguments: str) -> str:
    process = subprocess.run(
        [*GIT, "-C", str(root), *arguments], capture_output=True, text=True, check=True
    )
    return process.stdout.strip()


def test_the_commit_is_the_last_that_changed_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve()
    package = root / "src" / "ledgeragent"
    package.mkdir(parents=True)
    monkeypatch.setattr(provenance, "_PACKAGE", package)
    assert provenance.commit() == ""
    git(root, "init", "-q")
    (package / "a.py").write_text("1")
    git(root, "add", ".")
    git(root, "commit", "-qm", "source")
    first = git(root, "rev-parse", "HEAD")
    assert provenance.commit() == first
    (root / "README.md").write_text("words")
    git(root, "add", ".")
    git(root, "commit", "-qm", "words")
    assert provenance.commit() == first
    (package / "a.py").write_text("2")
    assert provenance.commit() == f"{first}-dirty"


def test_a_package_inside_another_projects_checkout_has_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve()
    package = root / "venv" / "lib" / "ledgeragent"
    package.mkdir(parents=True)
    git(root, "init", "-q")
    monkeypatch.setattr(provenance, "_PACKAGE", package)
    assert provenance.commit() == ""
    monkeypatch.setenv("LEDGERAGENT_COMMIT", "abc")
    assert provenance.commit() == "abc"


def test_copies_without_a_commit_are_told_apart_by_what_is_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As two checkouts of one version are, that were installed and do not run in place."""
    for name, text in ("one", "1"), ("same", "1"), ("other", "2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(text)
    (tmp_path / "same" / "__pycache__").mkdir()
    (tmp_path / "same" / "__pycache__" / "a.pyc").write_text("compiled")
    told = []
    for name in ("one", "same", "other"):
        monkeypatch.setattr(provenance, "_PACKAGE", tmp_path / name)
        told.append(provenance.made_by([]))
    assert told[0] == told[1] != told[2]
    assert told[0]["commit"] == told[2]["commit"] == ""


def test_packs_are_told_by_their_digests_and_the_harness_where_there_is_one() -> None:
    software = provenance.made_by(["retail", "nowhere"])
    assert software["packs"] == {"retail": load_domain("retail").digest, "nowhere": ""}
    assert "harness" not in software
    assert provenance.made_by([], "tau2 1.0")["harness"] == "tau2 1.0"
