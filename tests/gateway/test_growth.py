"""How cost grows, as measured and committed: nothing is steep, and the simulation is one of queues."""

from __future__ import annotations

import asyncio
import json

import pytest

from benchmarks.growth.curve import STEEPEST, Curve
from benchmarks.growth.port import _so_many
from benchmarks.growth.report import PARTS, RESULT, steep
from benchmarks.load import Load
from benchmarks.queueing import Service, capacity, simulated

KNOWN = {
    "a return is taken in where the collector is left as it is": "Python's collector goes through all "
    "that a process holds: not once for 32,000 records, once for 64,000, twice for 100,000"
}
"""What is steep still, with its cause. This list only shrinks."""


def test_nothing_that_was_measured_is_steep() -> None:
    parts = json.loads(RESULT.read_text())["parts"]
    assert tuple(parts) == PARTS
    steep_ones = {line.partition(":")[0] for line in steep(parts)}
    assert steep_ones <= KNOWN.keys()


def test_what_is_steep_is_seen() -> None:
    curve = Curve("squares", "numbers")
    curve.add(100, 1.0)
    curve.add(1_000, 100.0)
    assert curve.report()["exponent"] == 2.0
    assert steep({"rules": [curve.report()]}) == ["squares: 2.0"]
    assert STEEPEST < 2


class Quick(Load):
    """Connections that are answered at once."""

    async def run(self, connections: int, seconds: float) -> None:
        self.milliseconds += [1.0] * connections


def test_so_many_conversations_are_begun_as_are_asked_for() -> None:
    load = Quick(0)
    asyncio.run(_so_many(load, 3))
    assert load.asked == 3


def test_alone_a_request_takes_what_it_takes() -> None:
    run = simulated(Service([0.003], [0.002]), 4, 1.0, 2_000, 8)
    assert run.p50 == pytest.approx(0.005)
    assert run.workers_busy == pytest.approx(0.003 / 4, rel=0.1)


def test_a_queue_waits_as_theory_says() -> None:
    """M/D/1, at half of what it can: the mean wait is half a service, so the median one is less."""
    run = simulated(Service([0.01], [0.0]), 1, 50.0, 20_000, 1)
    assert run.workers_busy == pytest.approx(0.5, rel=0.05)
    assert 0.010 <= run.p50 < 0.015 < run.p99 < 0.06


def test_the_database_bounds_what_workers_can() -> None:
    service = Service([0.02], [0.01])
    rates = [capacity(service, workers, 2, 0.25) for workers in (1, 2, 12)]
    assert rates[0] < 51.5
    assert 1.8 < rates[1] / rates[0] < 2.3
    assert rates[2] < 206
