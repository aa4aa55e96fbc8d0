"""The report's tables: from runs, in the paper's order, the paper's own numbers beside them."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ledgeragent.bench import paper
from ledgeragent.bench.arms import ARMS
from ledgeragent.bench.classify import CLASSES, failures, is_write_task, write_rate
from ledgeragent.bench.metrics import KS, Rate, Reliability, overhead, reliability
from ledgeragent.bench.results import Run

PAPER = "paper"
_NOTHING = "–"


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
        lines = [f"## {self.title}", "", self.note, ""]
        lines += [_row(self.columns), _row("---" for _ in self.columns), *map(_row, self.rows)]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """The table as comma-separated values."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


Group = tuple[str, str, str]
"""Domain, model, arm."""


def grouped(runs: Iterable[Run]) -> dict[Group, list[Run]]:
    """The runs by domain, model and arm, in the order of reports."""
    found: dict[Group, list[Run]] = defaultdict(list)
    for run in runs:
        found[run.domain, run.model, run.arm].append(run)
    return dict(sorted(found.items(), key=lambda item: _order(item[0])))


def _order(group: Group) -> tuple[int, str, str, int, str]:
    domain, model, arm = group
    known = list(ARMS)
    place = known.index(arm) if arm in ARMS else len(known)
    first = paper.DOMAINS.index(domain) if domain in paper.DOMAINS else len(paper.DOMAINS)
    return first, domain, model, place, arm


def tables(runs: Sequence[Run]) -> list[Table]:
    """Every table that these runs can fill."""
    groups = grouped(run for run in runs)
    made = [
        _reliability("main", "Main results", groups, lambda run: True, with_paper=True),
        _reliability("writes", "Tasks that change the world", groups, is_write_task),
        _write_rates(groups),
        _overheads(groups),
        _failures(groups),
    ]
    return [table for table in made if table.rows]


def _reliability(
    name: str,
    title: str,
    groups: dict[Group, list[Run]],
    counts: Callable[[Run], bool],
    with_paper: bool = False,
) -> Table:
    rows = []
    for (domain, model, arm), runs in groups.items():
        measured = reliability(filter(counts, runs))
        if measured.runs:
            rows.append((domain, model, arm, *_rates(measured)))
    if with_paper:
        rows += _of_paper({domain for domain, _, _ in groups})
    note = (
        "In percent, with 95 % intervals over tasks. pass^k is the unbiased estimate over tasks with k "
        "trials or more; Avg is the mean over k = 1..4. Runs that the harness failed are left out."
    )
    columns = ("domain", "model", "arm", "Avg", *(f"pass^{k}" for k in KS), "tasks", "runs")
    return Table(name=name, title=title, note=note, columns=columns, rows=tuple(rows))


def _rates(measured: Reliability) -> list[str]:
    by_k = [_shown(measured.by_k.get(k)) for k in KS]
    return [_shown(measured.average), *by_k, str(measured.tasks), str(measured.runs)]


def _shown(rate: Rate | None) -> str:
    if rate is None:
        return _NOTHING
    return f"{100 * rate.value:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


def _of_paper(domains: set[str]) -> list[tuple[str, ...]]:
    return [
        (
            domain,
            model,
            f"{arm} ({PAPER})",
            f"{c.average}",
            f"{c.pass_1}",
            "",
            "",
            f"{c.pass_4}",
            "",
            "",
        )
        for (model, arm, domain), c in paper.MAIN.items()
        if domain in domains
    ]


def _write_rates(groups: dict[Group, list[Run]]) -> Table:
    rows = []
    for (domain, model, arm), runs in groups.items():
        rates = [write_rate(run) for run in runs if not run.invalid]
        wanted = sum(total for _, total in rates)
        if wanted:
            made = sum(done for done, _ in rates)
            rows.append((domain, model, arm, f"{100 * made / wanted:.1f}", str(made), str(wanted)))
    return Table(
        name="write_actions",
        title="Writes of the reference solutions that were made",
        note="In percent, of all writes over all runs, whoever had to make them.",
        columns=("domain", "model", "arm", "rate", "made", "wanted"),
        rows=tuple(rows),
    )


def _overheads(groups: dict[Group, list[Run]]) -> Table:
    rows = []
    for (domain, model, arm), runs in groups.items():
        cost = overhead(runs, groups.get((domain, model, "fc"), []))
        if not cost.prompt and not cost.completion:
            continue
        told = (f"{cost.prompt:.0f}", f"{cost.completion:.0f}", f"{cost.cached:.0f}")
        rows.append(
            (domain, model, arm, _growth(cost.tokens), _growth(cost.calls), *told, str(cost.tasks))
        )
    rows += [
        ("", "", f"{arm} ({PAPER})", f"{n[2]:+.1f}", "", "", "", "", "")
        for arm, n in _paper_cost(rows)
    ]
    return Table(
        name="overhead",
        title="Cost of an arm over fc",
        note="Mean over shared tasks, in percent, helpers and repeated generations included; tokens per "
        "run. Cached tokens are 0 where the result file does not tell them.",
        columns=(
            "domain",
            "model",
            "arm",
            "tokens",
            "calls",
            "prompt",
            "completion",
            "cached",
            "tasks",
        ),
        rows=tuple(rows),
    )


def _paper_cost(rows: Sequence[object]) -> list[tuple[str, tuple[float, ...]]]:
    return list(paper.OVERHEAD.items()) if rows else []


def _growth(value: float | None) -> str:
    return _NOTHING if value is None else f"{100 * value:+.1f}"


def _failures(groups: dict[Group, list[Run]]) -> Table:
    rows: list[tuple[str, ...]] = []
    for (domain, model, arm), runs in groups.items():
        counted = failures(runs)
        total = counted.total()
        if total:
            shares = (f"{100 * counted[kind] / total:.1f}" for kind in CLASSES)
            rows.append((domain, model, arm, *shares, str(total)))
    shown = [
        d for d in ("all", *paper.DOMAINS) if rows and (d == "all" or any(d == r[0] for r in rows))
    ]
    for domain in shown:
        known = paper.FAILURES[domain]
        shares = (f"{known[kind]}" if kind in known else "" for kind in CLASSES)
        rows.append((domain, "", f"ledgeragent ({PAPER})", *shares, ""))
    return Table(
        name="failures",
        title="Why runs failed",
        note="Shares of failed runs in percent, each by the first rule that fits.",
        columns=("domain", "model", "arm", *CLASSES, "failed"),
        rows=tuple(rows),
    )
