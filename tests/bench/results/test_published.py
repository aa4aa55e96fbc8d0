"""The comparison with published figures: what is kept is of the files listed, and a difference is seen."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.published import FILES, RESULT, PublishedFile, compared
from tests.bench.results.runs import CANCEL, simulation, write


def test_the_result_file_is_of_the_files_listed() -> None:
    rows = json.loads(RESULT.read_text())["files"]
    listed = [(file.repository, file.commit, file.file, [*file.figures]) for file in FILES]
    kept = [(row["repository"], row["commit"], row["file"], row["figures"]) for row in rows]
    assert kept == listed
    for row in rows:
        assert row["agree"] == (row["figures"] == row["reported"])


@pytest.mark.parametrize(("figures", "agree"), [(("50.0", "0.0"), True), (("50.0", "50.0"), False)])
def test_figures_are_those_of_the_runs(
    tmp_path: Path, figures: tuple[str, ...], agree: bool
) -> None:
    clone = tmp_path / "one" / "bench"
    clone.mkdir(parents=True)
    write(clone / "r.json", [simulation("0", n, float(n), [CANCEL]) for n in range(2)])
    git = ["git", "-C", str(clone), "-c", "user.name=A", "-c", "user.email=a@example.com"]
    for step in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Runs"]):
        subprocess.run([*git, *step], check=True)
    row = compared(PublishedFile("one/bench", "HEAD", "r.json", figures, "here"), tmp_path)
    assert row["reported"] == ["50.0", "0.0"] and row["agree"] is agree
