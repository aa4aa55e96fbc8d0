"""A table of text, and how numbers are written in it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ledgeragent.bench.results.metrics import Rate
from ledgeragent.report.cells import csv_cell, markdown_cell
from ledgeragent.text import printable

_NOTHING = "–"
_INTERVAL = re.compile(r" \[[-+0-9.]+, [-+0-9.]+\].*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of text. `name` is that of its files."""

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table with its title and note."""
        lines = [f"## {printable(self.title)}", "", printable(self.note), ""]
        lines += [_row(self.columns), _row("---" for _ in self.columns), *map(_row, self.rows)]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """The table as comma-separated values."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(csv_cell, self.columns))
        writer.writerows(map(csv_cell, row) for row in self.rows)
        return text.getvalue()

    def latex(self) -> str:
        """The table for LaTeX (booktabs, graphicx), as wide as a column; intervals are in the CSV alone."""
        marks = "l" * len(self.columns)
        body = [*map(_latex_row, self.rows)]
        return (
            "\n".join(
                [
                    "\\begin{table}",
                    "\\centering",
                    "\\resizebox{\\columnwidth}{!}{%",
                    f"\\begin{{tabular}}{{{marks}}}",
                    "\\toprule",
                    _latex_row(self.columns),
                    "\\midrule",
                    *body,
                    "\\bottomrule",
                    "\\end{tabular}}",
                    f"\\caption{{{_latex(self.title)}. {_latex(self.note)}}}",
                    f"\\label{{tab:{self.name}}}",
                    "\\end{table}",
                ]
            )
            + "\n"
        )


_SPECIAL = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
        "\\": "\\textbackslash{}",
        "–": "--",
    }
)


def _latex(text: str) -> str:
    return printable(" ".join(text.split())).translate(_SPECIAL)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(_latex_cell, cells)) + " \\\\"


def _latex_cell(cell: str) -> str:
    return _latex(_INTERVAL.sub("", cell))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(markdown_cell, cells))} |"


def shown(rate: Rate | None, sign: str = "", of: int | None = None) -> str:
    """A rate in percent with its interval; `of` how many tasks, told where it rests on fewer."""
    if rate is None:
        return _NOTHING
    value, low, high = (f"{100 * part:{sign}.1f}" for part in (rate.value, rate.low, rate.high))
    fewer = f" ({rate.tasks} tasks)" if of is not None and rate.tasks < of else ""
    return f"{value} [{low}, {high}]{fewer}"


def percent(rate: Rate | None) -> str:
    """A rate in percent without its interval."""
    return _NOTHING if rate is None else f"{100 * rate.value:.1f}"


def growth(value: float | None) -> str:
    """A growth in percent: 0.5 is half as much again."""
    return _NOTHING if value is None else f"{100 * value:+.1f}"
