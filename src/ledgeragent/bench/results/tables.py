"""The report's tables: from runs, in the paper's order, the paper's own numbers beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.results import paper
from ledgeragent.bench.results.classify import (
    CLASSES,
    failures,
    is_write,
    is_write_task,
    write_rate,
)
from ledgeragent.bench.results.metrics import (
    KS,
    Overhead,
    Rate,
    Reliability,
    gain,
    overhead,
    ratio,
    reliability,
)
from ledgeragent.bench.results.predicates import ARM as PAPER_ARM
from ledgeragent.bench.results.predicates import predicates
from ledgeragent.bench.results.results import Run
from ledgeragent.bench.results.spending import HelperCost
from ledgeragent.bench.results.table import Table, growth, percent, shown

PAPER = "paper"
PLAIN = "fc"
_INTERVALS = "with 95 % intervals over resampled tasks"


Group = tuple[str, str, str]
"""Domain, model, arm."""
Groups = Mapping[Group, Sequence[Run]]


def grouped(runs: Iterable[Run]) -> dict[Group, list[Run]]:
    """The runs by domain, model and arm, in the order of reports."""
    groups: dict[Group, list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.domain, run.model, run.arm].append(run)
    return dict(sorted(groups.items(), key=lambda item: _order(item[0])))


def _order(group: Group) -> tuple[int, str, str, int, str]:
    domain, model, arm = group
    names = list(ARMS)
    place = names.index(arm) if arm in ARMS else len(names)
    first = paper.DOMAINS.index(domain) if domain in paper.DOMAINS else len(paper.DOMAINS)
    return first, domain, model, place, arm


def tables(runs: Sequence[Run]) -> list[Table]:
    """Every table that these runs can fill."""
    groups = grouped(runs)
    all_tables = [
        _domains(groups),
        _reliability("main", "Main results", groups, lambda run: True, with_paper=True),
        _gains(groups),
        _overheads(groups),
        _helpers(groups),
        _reliability("writes", "Tasks that change the world", groups, is_write_task),
        _write_rates(groups),
        _failures(groups),
        *([predicates()] if any(arm == PAPER_ARM for _, _, arm in groups) else []),
    ]
    return [table for table in all_tables if table.rows]


def _domains(groups: Groups) -> Table:
    seen: dict[str, dict[str, Run]] = defaultdict(dict)
    for (domain, _, _), runs in groups.items():
        seen[domain] |= {run.task: run for run in runs}
    rows = [
        (domain, str(len(tasks)), str(sum(map(is_write_task, tasks.values()))), _control(tasks))
        for domain, tasks in seen.items()
    ]
    rows += [
        (f"{domain} ({PAPER})", str(of), str(writing), paper.CONTROL[domain])
        for domain, (writing, of) in paper.WRITE_TASKS.items()
        if domain in seen
    ]
    return Table(
        name="domains",
        title="Domains",
        note="Tasks of which there are runs, and how many of them change the world. Control is dual "
        "where a reference solution has the customer change it too.",
        columns=("domain", "tasks", "tasks with a write", "control"),
        rows=tuple(rows),
    )


def _control(tasks: Mapping[str, Run]) -> str:
    gold = ((run.domain, one) for run in tasks.values() for one in run.gold or ())
    return "dual" if any(g.own and is_write(d, g.name, own=True) for d, g in gold) else "single"


def _reliability(
    name: str,
    title: str,
    groups: Groups,
    counts: Callable[[Run], bool],
    with_paper: bool = False,
) -> Table:
    rows = []
    for (domain, model, arm), runs in groups.items():
        measured = reliability(filter(counts, runs))
        if measured.runs:
            rows.append((domain, model, arm, *_rates(measured)))
    if with_paper:
        rows += _main_of_paper({domain for domain, _, _ in groups})
    note = (
        f"In percent, {_INTERVALS}. pass^k is the unbiased estimate over tasks with k trials or more; "
        "Avg is the mean over k = 1..4, of tasks with four or more. Runs that the harness failed are "
        "left out."
    )
    columns = ("domain", "model", "arm", "Avg", *(f"pass^{k}" for k in KS), "tasks", "runs")
    return Table(name=name, title=title, note=note, columns=columns, rows=tuple(rows))


def _rates(measured: Reliability) -> list[str]:
    by_k = [shown(measured.by_k.get(k), of=measured.tasks) for k in KS]
    return [
        shown(measured.average, of=measured.tasks),
        *by_k,
        str(measured.tasks),
        str(measured.runs),
    ]


def _main_of_paper(domains: set[str]) -> list[tuple[str, ...]]:
    return [
        (domain, model, f"{arm} ({PAPER})", *_of_paper(cell))
        for (model, arm, domain), cell in paper.MAIN.items()
        if domain in domains
    ]


def _of_paper(cell: paper.Cell) -> tuple[str, ...]:
    return f"{cell.average}", f"{cell.pass_1}", "", "", f"{cell.pass_4}", "", ""


def _gains(groups: Groups) -> Table:
    rows = []
    for model, arm in dict.fromkeys((model, arm) for _, model, arm in groups if arm != PLAIN):
        domains = [d for d, m, a in groups if (m, a) == (model, arm) and (d, m, PLAIN) in groups]
        pairs = [(groups[d, model, arm], groups[d, model, PLAIN]) for d in domains]
        if pairs:
            cells = (shown(gain(pairs, k), "+") for k in (1, 4))
            rows.append((model, arm, ", ".join(domains), *cells))
    if rows:
        rows += _gains_of_paper()
    return Table(
        name="gains",
        title="What an arm gains over fc",
        note=f"In points of pass^1 and pass^4, paired by task, the plain mean over domains, {_INTERVALS} "
        "within their domain.",
        columns=("model", "arm", "domains", "pass^1", "pass^4"),
        rows=tuple(rows),
    )


def _gains_of_paper() -> list[tuple[str, ...]]:
    arm = f"ledgeragent ({PAPER})"
    return [
        (
            *(model, arm, ", ".join(paper.DOMAINS if model in paper.MODELS else paper.DOMAINS[:2])),
            *("" if points is None else f"{points:+}" for points in gained),
        )
        for model, gained in paper.GAINS.items()
    ]


def _overheads(groups: Groups) -> Table:
    rows: list[tuple[str, ...]] = []
    for (domain, model, arm), runs in groups.items():
        cost = overhead(runs, groups.get((domain, model, PLAIN), []))
        if cost.prompt or cost.completion:
            by_k = reliability(runs).by_k
            rates = (percent(by_k.get(k)) for k in (1, 4))
            rows.append((domain, model, arm, *rates, *_costs(cost)))
    if rows:
        rows += [
            ("", "", f"{arm} ({PAPER})", f"{n[0]}", f"{n[1]}", f"{n[2]:+.1f}", *[""] * 8)
            for arm, n in paper.OVERHEAD.items()
        ]
    return Table(
        name="overhead",
        title="Cost of an arm over fc",
        note="tokens and calls: the mean over shared tasks of what the arm takes more than fc, in "
        "percent, helpers and repeated generations included. The rest is per run; prompt and "
        "completion have the helper tokens in them. Cached tokens are 0 where the result file does "
        "not tell them.",
        columns=("domain", "model", "arm", "pass^1", "pass^4", *_COSTS),
        rows=tuple(rows),
    )


_COSTS = (
    *("tokens", "calls", "prompt", "completion", "cached"),
    *("generations", "helper calls", "helper tokens", "tasks"),
)


def _costs(cost: Overhead) -> list[str]:
    tokens = (cost.prompt, cost.completion, cost.cached)
    return [
        *(growth(cost.tokens), growth(cost.calls), *(f"{mean:.0f}" for mean in tokens)),
        *(f"{cost.generations:.1f}", f"{cost.helpers:.1f}", f"{cost.helper_tokens:.0f}"),
        str(cost.tasks),
    ]


def _helpers(groups: Groups) -> Table:
    rows = []
    for (domain, model, arm), runs in groups.items():
        valid = [run.spent for run in runs if not run.invalid]
        for name in dict.fromkeys(name for spent in valid for name in spent.by_helper):
            costs = [spent.by_helper.get(name, HelperCost()) for spent in valid]
            means = (sum(column) / len(valid) for column in zip(*costs, strict=True))
            rows.append((domain, model, arm, name, *(f"{mean:.1f}" for mean in means)))
    return Table(
        name="helpers",
        title="What each helper takes",
        note="Means over runs. A memory that only repeats what was said takes no call and is not here.",
        columns=("domain", "model", "arm", "helper", "calls", "prompt", "completion", "seconds"),
        rows=tuple(rows),
    )


def made_writes(runs: Iterable[Run], own: bool | None = None) -> Rate | None:
    """The share of gold writes that were made, resampled by task; None where there is none."""
    by_task: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for run in runs:
        if not run.invalid:
            by_task[run.task].append(write_rate(run, own))
    pairs = [(sum(m for m, _ in some), sum(w for _, w in some)) for some in by_task.values()]
    counted = [pair for pair in pairs if pair[1]]
    return ratio(counted) if counted else None


def _write_rates(groups: Groups) -> Table:
    rows = []
    for (domain, model, arm), runs in groups.items():
        rate = made_writes(runs)
        if rate is not None:
            sides = (shown(made_writes(runs, own)) for own in (False, True))
            counts = [write_rate(run) for run in runs if not run.invalid]
            totals = (str(sum(column)) for column in zip(*counts, strict=True))
            rows.append((domain, model, arm, shown(rate), *sides, *totals))
    return Table(
        name="write_actions",
        title="Writes of the reference solutions that were made",
        note=f"In percent of all such writes over all runs, {_INTERVALS}: all of them, those that the "
        "agent has to make, those that the customer has to. Calls are matched as the harness matches "
        "actions. The paper prints its figure's numbers nowhere.",
        columns=("domain", "model", "arm", "rate", "agent's", "customer's", "made", "wanted"),
        rows=tuple(rows),
    )


def _failures(groups: Groups) -> Table:
    rows: list[tuple[str, ...]] = []
    for (domain, model, arm), runs in groups.items():
        counted = failures(runs)
        total = counted.total()
        if total:
            shares = (f"{100 * counted[kind] / total:.1f}" for kind in CLASSES)
            rows.append((domain, model, arm, *shares, str(total)))
    seen = {row[0] for row in rows}
    for domain, percentages in paper.FAILURES.items():
        if domain in seen or (rows and domain == "all"):
            shares = (f"{percentages[kind]}" if kind in percentages else "" for kind in CLASSES)
            rows.append((domain, "", f"ledgeragent ({PAPER})", *shares, ""))
    return Table(
        name="failures",
        title="Why runs failed",
        note="Shares of failed runs in percent, each by the first rule that fits.",
        columns=("domain", "model", "arm", *CLASSES, "failed"),
        rows=tuple(rows),
    )
