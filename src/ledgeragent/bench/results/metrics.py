"""Success, reliability and cost from runs: pass^k without bias, intervals by resampling tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean

from ledgeragent.bench.results.passk import pass_hat
from ledgeragent.bench.results.results import Run
from ledgeragent.bench.results.spending import Spent

KS = (1, 2, 3, 4)
RESAMPLES = 2_000
_SEED = 20_260_101


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A mean over tasks with its 95 % interval; `tasks` is how many had trials enough."""

    value: float
    low: float
    high: float
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """pass^k for each k that some task has trials for, and Avg, their mean over k = 1..4."""

    by_k: Mapping[int, Rate]
    average: Rate | None
    tasks: int
    runs: int


def outcomes(runs: Iterable[Run]) -> dict[str, tuple[int, int]]:
    """Trials and successes of each task; runs that the harness failed are left out."""
    counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for run in runs:
        if not run.invalid:
            counted[run.task][0] += 1
            counted[run.task][1] += run.success
    return {task: (trials, successes) for task, (trials, successes) in counted.items()}


def by_task(runs: Iterable[Run], k: int) -> dict[str, float]:
    """pass^k of each task that has k trials or more."""
    return {t: pass_hat(c, n, k) for t, (n, c) in outcomes(runs).items() if n >= k}


def reliability(runs: Iterable[Run]) -> Reliability:
    """pass^k and Avg. A task counts for k if it has k trials or more."""
    listed = list(runs)
    counted = outcomes(listed)
    shares = {k: list(by_task(listed, k).values()) for k in KS}
    full = [fmean(pass_hat(c, n, k) for k in KS) for n, c in counted.values() if n >= KS[-1]]
    return Reliability(
        by_k={k: interval(values) for k, values in shares.items() if values},
        average=interval(full) if full else None,
        tasks=len(counted),
        runs=sum(n for n, _ in counted.values()),
    )


def mean_over_domains(runs: Iterable[Sequence[Run]], k: int) -> Rate | None:
    """pass^k as the plain mean over domains, given the runs of each; None if one has no task for k."""
    return _over_domains([list(by_task(some, k).values()) for some in runs])


def gain(pairs: Iterable[tuple[Sequence[Run], Sequence[Run]]], k: int) -> Rate | None:
    """The gain of an arm's pass^k over the plain agent's on the same tasks, as a mean over domains.

    A pair has the runs of both in one domain. None if a domain has no task that both did k times.
    """
    differences = []
    for ours, plain in pairs:
        have, base = by_task(ours, k), by_task(plain, k)
        differences.append([have[task] - base[task] for task in sorted(have.keys() & base.keys())])
    return _over_domains(differences)


def _over_domains(domains: Sequence[Sequence[float]]) -> Rate | None:
    return _resampled(tuple(map(tuple, domains))) if domains and all(domains) else None


def interval(values: Sequence[float]) -> Rate:
    """The mean, and where 95 % of the means of resampled tasks lie. Same values, same interval."""
    return _resampled((tuple(sorted(values)),))


@cache
def _resampled(domains: tuple[tuple[float, ...], ...]) -> Rate:
    """The mean of the domains' means; tasks are resampled within their domain."""
    random = Random(_SEED)
    means = sorted(
        fmean(fmean(random.choices(values, k=len(values))) for values in domains)
        for _ in range(RESAMPLES)
    )
    return _rate(fmean(map(fmean, domains)), means, sum(map(len, domains)))


def ratio(pairs: Sequence[tuple[int, int]]) -> Rate:
    """The sum of the first numbers over the sum of the second, one pair a task, tasks resampled.

    Needs a second number that is not 0.
    """
    random = Random(_SEED)
    drawn = (random.choices(pairs, k=len(pairs)) for _ in range(RESAMPLES))
    shares = sorted(_share(some) for some in drawn if any(total for _, total in some))
    return _rate(_share(pairs), shares, len(pairs))


def _share(pairs: Sequence[tuple[int, int]]) -> float:
    return sum(part for part, _ in pairs) / sum(total for _, total in pairs)


def _rate(value: float, drawn: Sequence[float], tasks: int) -> Rate:
    cut = len(drawn) // 40
    return Rate(value=value, low=drawn[cut], high=drawn[-cut - 1], tasks=tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """The extra cost of an arm over the plain agent on the same tasks: 0.5 is half as much again."""

    tokens: float | None
    calls: float | None
    prompt: float
    completion: float
    cached: float
    generations: float
    helpers: float
    helper_tokens: float
    tasks: int


def overhead(runs: Sequence[Run], plain: Sequence[Run]) -> Overhead:
    """The mean over tasks that both have of (arm / plain - 1), and tokens per run of the arm."""
    ours, theirs = _per_task(runs), _per_task(plain)
    shared = sorted(ours.keys() & theirs.keys())
    valid = [run.spent for run in runs if not run.invalid]

    def mean(of: Callable[[Spent], int]) -> float:
        return fmean(map(of, valid)) if valid else 0.0

    return Overhead(
        tokens=_growth([(ours[t][0], theirs[t][0]) for t in shared]),
        calls=_growth([(ours[t][1], theirs[t][1]) for t in shared]),
        prompt=mean(lambda spent: spent.prompt),
        completion=mean(lambda spent: spent.completion),
        cached=mean(lambda spent: spent.cached),
        generations=mean(lambda spent: spent.generations),
        helpers=mean(lambda spent: spent.helpers),
        helper_tokens=mean(lambda spent: spent.helper_tokens),
        tasks=len(shared),
    )


def _per_task(runs: Iterable[Run]) -> dict[str, tuple[float, float]]:
    spent = defaultdict(list)
    for run in runs:
        if not run.invalid:
            spent[run.task].append((run.spent.tokens, run.spent.calls))
    return {
        task: (fmean(t for t, _ in some), fmean(c for _, c in some)) for task, some in spent.items()
    }


def _growth(pairs: Iterable[tuple[float, float]]) -> float | None:
    ratios = [ours / theirs - 1 for ours, theirs in pairs if theirs]
    return fmean(ratios) if ratios else None
