"""What `/metrics` shows, in Prometheus' text format."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ledgeragent.gate import Filtered
from ledgeragent.session.counters import ToolCounters

BUCKETS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0)
"""Upper bounds of the request durations that are counted, in seconds."""

_BOUNDS = (*BUCKETS, float("inf"))


@dataclass(slots=True)
class Metrics(ToolCounters):
    """The counters of one process."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    durations: Counter[float] = field(default_factory=Counter)
    seconds: float = 0.0
    upstream_calls: int = 0
    unjudged: int = 0
    unguarded: int = 0
    ended: int = 0
    shortened: int = 0
    active: int = 0

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Counts a request that is over."""
        self.requests[path, status] += 1
        self.seconds += seconds
        self.durations[_BOUNDS[bisect_left(BUCKETS, seconds)]] += 1

    def judged(self, replies: Iterable[Filtered]) -> None:
        """Counts the verdicts on these replies."""
        for filtered in replies:
            for verdict in filtered.verdicts:
                self.decided(verdict)

    def claimed(self, tool: str) -> None:
        """Counts a call that a client's history has, though the gateway never released it."""
        self.claims[self._label(tool)] += 1

    def text(self) -> str:
        """All of it, as Prometheus reads it."""
        return "\n".join([*self._counted(), *self._timed(), *self._plain()]) + "\n"

    def _counted(self) -> Iterable[str]:
        yield "# TYPE ledgeragent_requests_total counter"
        for (path, status), count in sorted(self.requests.items()):
            yield f'ledgeragent_requests_total{{path="{path}",status="{status}"}} {count}'
        yield from self.lines()
        yield "# TYPE ledgeragent_unreleased_calls_total counter"
        for tool, count in sorted(self.claims.items()):
            yield f'ledgeragent_unreleased_calls_total{{tool="{tool}"}} {count}'

    def _timed(self) -> Iterable[str]:
        yield "# TYPE ledgeragent_request_seconds histogram"
        total = 0
        for bound in _BOUNDS:
            total += self.durations[bound]
            label = "+Inf" if bound == float("inf") else bound
            yield f'ledgeragent_request_seconds_bucket{{le="{label}"}} {total}'
        yield f"ledgeragent_request_seconds_sum {self.seconds:.6f}"
        yield f"ledgeragent_request_seconds_count {total}"

    def _plain(self) -> Iterable[str]:
        yield "# TYPE ledgeragent_upstream_calls_total counter"
        yield f"ledgeragent_upstream_calls_total {self.upstream_calls}"
        yield "# TYPE ledgeragent_unjudged_total counter"
        yield f"ledgeragent_unjudged_total {self.unjudged}"
        yield "# TYPE ledgeragent_unguarded_requests_total counter"
        yield f"ledgeragent_unguarded_requests_total {self.unguarded}"
        yield "# TYPE ledgeragent_ended_conversations_total counter"
        yield f"ledgeragent_ended_conversations_total {self.ended}"
        yield "# TYPE ledgeragent_shortened_ledgers_total counter"
        yield f"ledgeragent_shortened_ledgers_total {self.shortened}"
        yield "# TYPE ledgeragent_active_requests gauge"
        yield f"ledgeragent_active_requests {self.active}"
