"""Success, reliability and cost from runs: pass^k without bias, intervals by resampling tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

from ledgeragent.bench.passk import pass_hat
from ledgeragent.bench.results import Run

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


def reliability(runs: Iterable[Run]) -> Reliability:
    """pass^k and Avg. A task counts for k if it has k trials or more."""
    counted = outcomes(runs)
    by_k: dict[int, Rate] = {}
    for k in KS:
        values = [pass_hat(c, n, k) for n, c in counted.values() if n >= k]
        if values:
            by_k[k] = interval(values)
    full = [fmean(pass_hat(c, n, k) for k in KS) for n, c in counted.values() if n >= KS[-1]]
    return Reliability(
        by_k=by_k,
        average=interval(full) if full else None,
        tasks=len(counted),
        runs=sum(n for n, _ in counted.values()),
    )


def interval(values: Sequence[float]) -> Rate:
    """The mean, and where 95 % of the means of resampled tasks lie. Same values, same interval."""
    random = Random(_SEED)
    means = sorted(fmean(random.choices(values, k=len(values))) for _ in range(RESAMPLES))
    cut = RESAMPLES // 40
    return Rate(value=fmean(values), low=means[cut], high=means[-cut - 1], tasks=len(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """What an arm costs more than the plain agent on the same tasks: 0.5 is half as much again."""

    tokens: float | None
    calls: float | None
    prompt: float
    completion: float
    cached: float
    tasks: int


def overhead(runs: Sequence[Run], plain: Sequence[Run]) -> Overhead:
    """The mean over tasks that both have of (arm / plain - 1), and tokens per run of the arm."""
    ours, theirs = _per_task(runs), _per_task(plain)
    shared = sorted(ours.keys() & theirs.keys())
    valid = [run.spent for run in runs if not run.invalid]
    return Overhead(
        tokens=_growth([(ours[t][0], theirs[t][0]) for t in shared]),
        calls=_growth([(ours[t][1], theirs[t][1]) for t in shared]),
        prompt=fmean(s.prompt for s in valid) if valid else 0.0,
        completion=fmean(s.completion for s in valid) if valid else 0.0,
        cached=fmean(s.cached for s in valid) if valid else 0.0,
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
