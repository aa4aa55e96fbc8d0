"""The report as files: figures in three formats, tables for LaTeX, all of them a column wide."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ledgeragent.bench.results.drawing import FILLS, FORMATS, drawn
from ledgeragent.bench.results.figures import figures
from ledgeragent.bench.results.reading import read_results
from ledgeragent.cli.main import main
from tests.bench.results.runs import CANCEL, READ, simulation, write

pytest.importorskip("matplotlib", reason="the extra `figures` is not installed")


def _experiment(tmp_path: Path) -> list[str]:
    """Both arms of two domains: every table and figure has something to show."""
    made = []
    for domain in ("retail", "telecom"):
        for agent in ("llm_agent", "ledgeragent"):
            runs = [
                simulation(str(t), n, float((t + n) % 3 > 0), [READ, CANCEL], helpers=1)
                for t in range(3)
                for n in range(4)
            ]
            made.append(
                write(tmp_path / f"{domain}-{agent}.json", runs, agent=agent, domain=domain)
            )
    return made


FIGURES = {
    *("pass_1", "pass_2", "pass_3", "pass_4", "pass_means"),
    *("writes_pass_1", "writes_pass_4", "write_actions", "failures"),
}
TABLES = {"domains", "main", "gains", "overhead", "writes", "write_actions", "failures"}


def test_the_whole_report_as_files_and_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    assert main(["bench", "report", *_experiment(tmp_path), "-o", str(folder)]) == 0
    for kind, names in (("csv", TABLES), ("tex", TABLES), *((kind, FIGURES) for kind in FORMATS)):
        assert {file.stem for file in folder.glob(f"*.{kind}")} == names
    for kind, start in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        assert all(file.read_bytes().startswith(start) for file in folder.glob(f"*.{kind}"))
    assert {f"![{name}]({name}.svg)" for name in FIGURES} <= set(
        (folder / "report.md").read_text().splitlines()
    )


def test_a_figure_is_the_same_every_time(tmp_path: Path) -> None:
    chart = figures([run for file in _experiment(tmp_path) for run in read_results(file)])[0]
    assert drawn(chart) == drawn(chart)


def test_a_figure_is_no_wider_than_a_column(tmp_path: Path) -> None:
    long = "an/organisation/with-a-model-that-has-a-very-long-name-indeed-" * 3
    file = write(tmp_path / "r.json", [simulation("1", 0, 0.0, [READ])], agent=long)
    for chart in figures(list(read_results(file))):
        width = int.from_bytes(drawn(chart, ("png",))["png"][16:20], "big") / 300
        assert width <= 3.6, chart.name


def test_fills_that_are_alike_in_grey_differ_in_hatching() -> None:
    greys: dict[int, set[str]] = {}
    for colour, hatch in FILLS:
        red, green, blue = (int(colour[n : n + 2], 16) for n in (1, 3, 5))
        greys.setdefault(round((0.299 * red + 0.587 * green + 0.114 * blue) / 32), set()).add(hatch)
    assert sum(map(len, greys.values())) == len(FILLS)


def test_a_table_for_latex_has_its_rows_and_no_bare_sign(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    file = write(tmp_path / "r.json", [simulation("1", 0, 1.0, [READ])], agent="a_b & 50%")
    assert main(["bench", "report", file, "-o", str(folder), "--figures", "none"]) == 0
    text = (folder / "main.tex").read_text()
    assert r"a\_b \& 50\%" in text and r"pass\textasciicircum{}1" in text and "[" not in text
    rows = list(csv.reader(io.StringIO((folder / "main.csv").read_text())))
    assert text.count(r" \\") == len(rows)
    assert not list(folder.glob("*.svg")) and "![" not in (folder / "report.md").read_text()


def test_figures_need_a_folder_and_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "r.json", [simulation("1", 0, 1.0, [READ])])
    assert main(["bench", "report", file, "--figures", "png"]) == 2
    assert "--figures needs -o" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["bench", "report", file, "-o", str(tmp_path / "x"), "--figures", "png"]) == 2
    assert "pip install 'ledgeragent[figures]'" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
    assert main(["bench", "report", file, "-o", str(tmp_path / "x")]) == 0
    assert "the figures are left out" in capsys.readouterr().err
    assert (tmp_path / "x" / "main.csv").exists() and not list((tmp_path / "x").glob("*.svg"))


def test_the_papers_numbers_are_marked_and_drawn_hollow(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    command = ["bench", "report", *_experiment(tmp_path), "-o", str(folder), "--figures", "svg"]
    assert main(command) == 0
    space = "{http://www.w3.org/2000/svg}"
    for k, kimi in ((1, "57.5"), (4, "24.6")):
        drawing = ElementTree.fromstring((folder / f"pass_{k}.svg").read_text())
        texts = [text.text for text in drawing.iter(f"{space}text")]
        assert {"retail, Kimi-K2.5 (paper)", "fc (paper)", kimi} <= set(texts)
        hollow = [g for g in drawing.iter(f"{space}g") if g.get("id") == "quoted"]
        assert len(hollow) == texts.count("fc (paper)") + texts.count("ledgeragent (paper)") == 12
    unprinted = (folder / "pass_2.svg").read_text()
    assert "(paper)" not in unprinted and "Hollow" not in unprinted


def test_names_from_a_file_cannot_break_a_table_or_a_figure(tmp_path: Path) -> None:
    results = write(
        tmp_path / "r.json", [simulation("1", 0, 1.0, [READ])], agent="<script>|", domain="a<b"
    )
    folder = tmp_path / "report"
    assert main(["bench", "report", results, "-o", str(folder), "--figures", "svg"]) == 0
    assert "<script>" not in (folder / "pass_1.svg").read_text()
    assert "<script>" not in (folder / "report.md").read_text()
    assert "\\u003cscript\\u003e\\|" in (folder / "report.md").read_text()
