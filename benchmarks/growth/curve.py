"""A curve of what something costs at several sizes, and how its points are measured."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ledgeragent.engines.collection import collected_seldom

STEEPEST = 1.15
"""The largest exponent that is allowed."""


def least(work: Callable[[], object], times: int = 3) -> float:
    """The least processor time of this process, in seconds."""
    spent = []
    for _ in range(times):
        gc.collect()
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


@contextmanager
def as_in_a_gateway() -> Iterator[None]:
    """Looks for circles of garbage as seldom as the gateway has it."""
    before = gc.get_threshold()
    collected_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def repeated(work: Callable[[], object], least_seconds: float = 0.02) -> float:
    """The processor time of one of many, in seconds."""
    count = 1
    while (spent := least(partial(_again, work, count))) < least_seconds:
        count *= 4
    return spent / count


def _again(work: Callable[[], object], count: int) -> None:
    for _ in range(count):
        work()


class Curve:
    """What something costs at several sizes."""

    def __init__(self, name: str, unit: str) -> None:
        self.name = name
        self.unit = unit
        self.points: list[tuple[int, float]] = []

    def add(self, size: int, seconds: float) -> None:
        """One more point."""
        self.points.append((size, seconds))
        print(f"  {self.name}: {size:,} {self.unit}: {seconds * 1e3:,.3f} ms", flush=True)

    @property
    def exponent(self) -> float:
        """How the cost grows between the last two points."""
        (n, cost), (m, later) = self.points[-2:]
        return math.log(max(later, 1e-9) / max(cost, 1e-9)) / math.log(m / n)

    def report(self) -> dict[str, Any]:
        """The curve as the result file has it."""
        return {
            "what": self.name,
            "of": self.unit,
            "milliseconds": {str(n): round(s * 1e3, 4) for n, s in self.points},
            "exponent": round(self.exponent, 2),
        }
