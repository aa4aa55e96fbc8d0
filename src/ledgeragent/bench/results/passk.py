"""pass^k: the chance that k tries at a task all succeed, by the unbiased estimator."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb


def pass_hat(successes: int, trials: int, k: int) -> float:
    """For one task with `successes` of `trials`: C(successes, k) / C(trials, k). Needs k <= trials."""
    if not 0 <= successes <= trials or not 1 <= k <= trials:
        raise ValueError(f"no pass^{k} from {successes} of {trials}")
    return comb(successes, k) / comb(trials, k)


def mean_pass_hat(results: Iterable[tuple[int, int]], k: int) -> float | None:
    """The mean over tasks, given (successes, trials) of each; None if a task has fewer than k trials."""
    listed = list(results)
    if not listed or any(trials < k for _, trials in listed):
        return None
    return sum(pass_hat(successes, trials, k) for successes, trials in listed) / len(listed)
