"""A queueing simulation: gateways with measured service times, and the database that they share.

Requests come as a Poisson process. Each is taken by one worker at random, as a load balancer without sticky
sessions does, waits for it, and asks the database several times, which serves a few at once.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Service(NamedTuple):
    """What a request costs, in seconds of processor: samples of a worker, and of the database."""

    worker: Sequence[float]
    base: Sequence[float]


class Simulated(NamedTuple):
    """Latencies of a run (s), and how busy the two kinds of servers were."""

    p50: float
    p99: float
    workers_busy: float
    base_busy: float


class _Station:
    """Some servers with one queue."""

    def __init__(self, servers: int) -> None:
        self._free = servers
        self._waiting: deque[tuple[float, Callable[[float], None]]] = deque()
        self.busy = 0.0

    def enter(self, clock: _Clock, seconds: float, then: Callable[[float], None]) -> None:
        """Takes a job, now or when a server is free."""
        if self._free:
            self._free -= 1
            self._serve(clock, seconds, then)
        else:
            self._waiting.append((seconds, then))

    def _serve(self, clock: _Clock, seconds: float, then: Callable[[float], None]) -> None:
        self.busy += seconds

        def end(now: float) -> None:
            if self._waiting:
                self._serve(clock, *self._waiting.popleft())
            else:
                self._free += 1
            then(now)

        clock.at(clock.now + seconds, end)


class _Clock:
    """What happens, in the order of time."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._count = 0

    def at(self, time: float, what: Callable[[float], None]) -> None:
        """Has something happen."""
        self._count += 1
        heapq.heappush(self._events, (time, self._count, what))

    def run(self) -> None:
        """Until nothing happens any more."""
        while self._events:
            self.now, _, what = heapq.heappop(self._events)
            what(self.now)


def simulated(
    service: Service, workers: int, rate: float, requests: int, base_servers: int, seed: int = 17
) -> Simulated:
    """So many requests, `rate` of them a second."""
    chance, clock = random.Random(seed), _Clock()
    stations = [_Station(1) for _ in range(workers)]
    base = _Station(base_servers)
    latencies: list[float] = []

    def request(began: float) -> None:
        def done(now: float) -> None:
            latencies.append(now - began)

        def ask_base(now: float) -> None:
            base.enter(clock, chance.choice(service.base), done)

        worker = chance.choice(stations)
        worker.enter(clock, chance.choice(service.worker), ask_base)

    time = 0.0
    for _ in range(requests):
        time += chance.expovariate(rate)
        clock.at(time, request)
    clock.run()
    latencies.sort()
    return Simulated(
        p50=latencies[len(latencies) // 2],
        p99=latencies[len(latencies) * 99 // 100],
        workers_busy=sum(station.busy for station in stations) / (workers * clock.now),
        base_busy=base.busy / (base_servers * clock.now),
    )


def capacity(service: Service, workers: int, base_servers: int, p99: float) -> float:
    """The most requests a second whose 99th percentile stays below `p99` seconds, within 2%."""
    low, high = 0.0, 2 * workers * len(service.worker) / sum(service.worker)
    while high - low > 0.02 * high:
        rate = (low + high) / 2
        # Some seconds: of a load that is a few percent too high the queue has outgrown `p99` by then.
        requests = max(3_000, int(min(rate * 10, 60_000)))
        held = simulated(service, workers, rate, requests, base_servers).p99 <= p99
        low, high = (rate, high) if held else (low, rate)
    return low
