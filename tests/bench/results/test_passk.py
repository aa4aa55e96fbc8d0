"""pass^k against counting every choice of k trials."""

from __future__ import annotations

from itertools import combinations

import pytest

from ledgeragent.bench.results.passk import mean_pass_hat, pass_hat


@pytest.mark.parametrize("trials", range(1, 7))
def test_it_is_the_share_of_choices_that_all_succeed(trials: int) -> None:
    for successes in range(trials + 1):
        tries = [True] * successes + [False] * (trials - successes)
        for k in range(1, trials + 1):
            choices = list(combinations(tries, k))
            assert pass_hat(successes, trials, k) == sum(map(all, choices)) / len(choices)


def test_a_mean_needs_k_trials_of_every_task() -> None:
    assert mean_pass_hat([(4, 4), (2, 4)], 2) == pytest.approx((1 + 1 / 6) / 2)
    assert mean_pass_hat([(4, 4), (2, 3)], 4) is None
    assert mean_pass_hat([], 1) is None


@pytest.mark.parametrize(
    ("successes", "trials", "k"), [(3, 2, 1), (1, 2, 3), (1, 2, 0), (-1, 2, 1)]
)
def test_impossible_counts_are_refused(successes: int, trials: int, k: int) -> None:
    with pytest.raises(ValueError):
        pass_hat(successes, trials, k)
