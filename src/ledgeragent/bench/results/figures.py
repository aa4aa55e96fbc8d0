"""The report's figures: those of the paper, from runs, with the numbers that the paper prints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.results import paper
from ledgeragent.bench.results.charts import Bar, Chart, Panel, Stack
from ledgeragent.bench.results.classify import CLASSES, failures, is_write_task
from ledgeragent.bench.results.metrics import KS, Rate, mean_over_domains, reliability
from ledgeragent.bench.results.results import Run
from ledgeragent.bench.results.tables import PAPER, Groups, grouped, made_writes

_INTERVALS = "Whiskers: 95 % over resampled tasks."
_QUOTED = "Hollow bars are the paper's own numbers."


def figures(runs: Sequence[Run]) -> list[Chart]:
    """Every figure that these runs can fill."""
    groups = grouped(runs)
    charts = [
        *(_reliability(groups, k) for k in KS),
        _means(groups),
        *(_writes(groups, k) for k in (1, 4)),
        _write_actions(groups),
        _failures(groups),
    ]
    return [figure for figure in charts if figure.panels]


def _reliability(groups: Groups, k: int) -> Chart:
    by_domain: dict[str, list[Panel]] = defaultdict(list)
    for panel_domain, panel in _by_arm(groups, lambda runs: reliability(runs).by_k.get(k)):
        by_domain[panel_domain].append(panel)
    quotes = _main_of_paper(k) if k in (1, 4) else {}
    panels = [p for domain, own in by_domain.items() for p in (*own, *quotes.get(domain, ()))]
    return Chart(
        name=f"pass_{k}",
        title=f"pass^{k} by domain and model",
        note=f"{_INTERVALS} {_QUOTED}" if quotes else _INTERVALS,
        panels=tuple(panels),
    )


def _by_arm(
    groups: Groups, rate_of: Callable[[Sequence[Run]], Rate | None]
) -> Iterator[tuple[str, Panel]]:
    """A panel for every domain and model, with the domain: a bar for every arm that has a rate."""
    bars: dict[tuple[str, str], list[Bar]] = defaultdict(list)
    for (domain, model, arm), runs in groups.items():
        rate = rate_of(runs)
        if rate is not None:
            bars[domain, model].append(_bar(arm, rate))
    for (domain, model), some in bars.items():
        yield domain, Panel(heading=f"{domain}, {model}", bars=tuple(some))


def _bar(arm: str, rate: Rate) -> Bar:
    return Bar(label=arm, colour=_place(arm), value=rate.value, rate=rate)


def _place(arm: str) -> int:
    names = list(ARMS)
    return names.index(arm) if arm in ARMS else len(names)


def _main_of_paper(k: int) -> dict[str, list[Panel]]:
    """For each domain, a panel for every model of the paper's main results."""
    panels: dict[str, list[Panel]] = defaultdict(list)
    for model in paper.MODELS:
        for domain in paper.DOMAINS:
            cells = {arm: paper.MAIN[model, arm, domain] for arm in ("fc", "ledgeragent")}
            bars = (
                Bar(
                    label=f"{arm} ({PAPER})",
                    colour=_place(arm),
                    value=(cell.pass_1 if k == 1 else cell.pass_4) / 100,
                    quoted=True,
                )
                for arm, cell in cells.items()
            )
            heading = f"{domain}, {model} ({PAPER})"
            panels[domain].append(Panel(heading=heading, bars=tuple(bars)))
    return panels


def _means(groups: Groups) -> Chart:
    panels = []
    for model in dict.fromkeys(model for _, model, _ in groups):
        arms = list(dict.fromkeys(arm for _, m, arm in groups if m == model))
        domains = _shared(groups, model, arms)
        for k in KS:
            rates = {a: mean_over_domains([groups[d, model, a] for d in domains], k) for a in arms}
            bars = tuple(_bar(arm, rate) for arm, rate in rates.items() if rate is not None)
            if bars:
                over = "mean over " if len(domains) > 1 else ""
                heading = f"{model}, pass^{k}, {over}{', '.join(domains)}"
                panels.append(Panel(heading=heading, bars=bars))
    return Chart(
        name="pass_means",
        title="pass^k by model, mean over domains",
        note=f"Over the domains that all arms of the model have runs in. {_INTERVALS}",
        panels=tuple(panels),
    )


def _shared(groups: Groups, model: str, arms: Iterable[str]) -> list[str]:
    domains = dict.fromkeys(domain for domain, m, _ in groups if m == model)
    return [d for d in domains if all((d, model, arm) in groups for arm in arms)]


def _writes(groups: Groups, k: int) -> Chart:
    def rate(runs: Sequence[Run]) -> Rate | None:
        return reliability(filter(is_write_task, runs)).by_k.get(k)

    return Chart(
        name=f"writes_pass_{k}",
        title=f"pass^{k} on tasks that change the world",
        note=f"{_INTERVALS} The paper prints its figure's numbers nowhere.",
        panels=tuple(panel for _, panel in _by_arm(groups, rate)),
    )


def _write_actions(groups: Groups) -> Chart:
    return Chart(
        name="write_actions",
        title="Writes of the reference solutions that were made",
        note=f"Of all such writes over all runs. {_INTERVALS} The paper prints its numbers nowhere.",
        panels=tuple(panel for _, panel in _by_arm(groups, made_writes)),
    )


def _failures(groups: Groups) -> Chart:
    panels: dict[tuple[str, str], list[Stack]] = defaultdict(list)
    for (domain, model, arm), runs in groups.items():
        counted = failures(runs)
        total = counted.total()
        if total:
            parts = tuple(100 * counted[kind] / total for kind in CLASSES)
            remark = f"of {total} failed runs"
            panels[domain, model].append(Stack(label=arm, parts=parts, remark=remark))
    all_panels = [Panel(heading=", ".join(key), bars=tuple(bars)) for key, bars in panels.items()]
    if all_panels:
        all_panels.append(_failures_of_paper({domain for domain, _ in panels}))
    return Chart(
        name="failures",
        title="Why runs failed",
        note=f"Shares of failed runs. {_QUOTED} What the paper does not print is left blank.",
        panels=tuple(all_panels),
        legend=CLASSES,
    )


def _failures_of_paper(domains: set[str]) -> Panel:
    bars = (
        Stack(
            label=f"{domain} ({PAPER})",
            parts=tuple(shares.get(kind, 0.0) for kind in CLASSES),
            quoted=True,
        )
        for domain, shares in paper.FAILURES.items()
        if domain in domains or domain == "all"
    )
    return Panel(heading=f"ledgeragent, all models ({PAPER})", bars=tuple(bars))
