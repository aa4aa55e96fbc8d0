"""The summary of the runs of the shop's benchmark: pass^k per arm, by kind of task, and what it cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from ledgeragent.bench.results.passk import mean_pass_hat
from ledgeragent.bench.shop.tasks import KINDS
from ledgeragent.types import Json

EpisodeRow = dict[str, Any]

_WIDTH = 19


def summary(rows: Iterable[EpisodeRow]) -> Json:
    """Per arm: pass^k for every k that the trials allow, pass^1 by kind, and means per run."""
    by_arm: dict[str, list[EpisodeRow]] = defaultdict(list)
    for row in rows:
        by_arm[row["arm"]].append(row)
    return {arm: _arm(runs) for arm, runs in by_arm.items()}


def _arm(runs: Sequence[EpisodeRow]) -> Json:
    by_task = _counts(runs)
    most = min(trials for _, trials in by_task.values())
    kinds = {row["task_id"]: row["kind"] for row in runs}
    return {
        "tasks": len(by_task),
        "runs": len(runs),
        "pass": {k: mean_pass_hat(by_task.values(), k) for k in range(1, most + 1)},
        "by_kind": {
            kind: mean_pass_hat([c for task, c in by_task.items() if kinds[task] == kind], 1)
            for kind in KINDS
        },
        "generations": _mean(row["generations"] for row in runs),
        "rejected": _mean(row["rejected"] for row in runs),
        "prompt_tokens": _mean(row["usage"]["prompt_tokens"] for row in runs),
        "cached_tokens": _mean(row["usage"]["cached_tokens"] for row in runs),
        "completion_tokens": _mean(row["usage"]["completion_tokens"] for row in runs),
    }


def _counts(runs: Iterable[EpisodeRow]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for row in runs:
        good, trials = counts.get(row["task_id"], (0, 0))
        counts[row["task_id"]] = (good + (row["reward"] == 1), trials + 1)
    return counts


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def text(totals: Json) -> str:
    """The summary as a table: an arm a column."""
    arms = list(totals)
    most = max(max(totals[arm]["pass"]) for arm in arms)
    rows: list[tuple[str, list[float | None]]] = [
        (f"pass^{k}", [totals[arm]["pass"].get(k) for arm in arms]) for k in range(1, most + 1)
    ]
    rows += [(f"pass^1, {k}", [totals[arm]["by_kind"][k] for arm in arms]) for k in KINDS]
    lines = ["".join(f"{cell:>{_WIDTH}}" for cell in ("", *arms))]
    lines += [
        "".join((f"{name:>{_WIDTH}}", *(f"{_share(v):>{_WIDTH}}" for v in values)))
        for name, values in rows
    ]
    for name in ("generations", "rejected", "prompt_tokens", "cached_tokens", "completion_tokens"):
        cells = (f"{totals[arm][name]:>{_WIDTH},.1f}" for arm in arms)
        lines.append("".join((f"{name.replace('_', ' '):>{_WIDTH}}", *cells)))
    lines.append(
        "".join(f"{cell:>{_WIDTH}}" for cell in ("runs", *(totals[arm]["runs"] for arm in arms)))
    )
    return "\n".join(lines) + "\n"


def _share(value: float | None) -> str:
    return f"{100 * value:.1f}%" if value is not None else "-"
