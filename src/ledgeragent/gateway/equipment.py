"""Equipment: all that the requests of one domain are judged with, whichever program asks the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ledgeragent.domain import Domain
from ledgeragent.gate import Filtered, Gate
from ledgeragent.gateway.dialects.base import Body, Dialect, Request
from ledgeragent.gateway.exchange import Exchange
from ledgeragent.gateway.memory import Histories
from ledgeragent.gateway.metrics import Metrics
from ledgeragent.gateway.notices import Notices
from ledgeragent.gateway.placement import Placements
from ledgeragent.gateway.readings import Readings
from ledgeragent.gateway.recorder import MemoryRecorder
from ledgeragent.gateway.rosters import Rosters
from ledgeragent.gateway.settings import ExchangeLimits, Settings
from ledgeragent.gateway.storage import SessionStorage
from ledgeragent.gateway.values import ValueBound
from ledgeragent.gateway.visits import Visit, Visitor, Visits
from ledgeragent.journal import Journal
from ledgeragent.session.clock import ticking

GateOf: TypeAlias = Callable[[Visit, Gate], Gate]
"""The gate to judge a visit by, where it is not the roster's own."""


class Admission(NamedTuple):
    """A request that may be answered: whose it is, and its way to an answer."""

    visit: Visit
    exchange: Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What every request of a gateway is judged with."""

    rosters: Rosters
    visits: Visits
    placements: Placements
    readings: Readings
    notices: Notices
    metrics: Metrics
    limits: ExchangeLimits

    @property
    def bound(self) -> ValueBound:
        """How many values one JSON text may hold."""
        return self.limits.bound

    @classmethod
    def of(
        cls,
        domain: Domain,
        settings: Settings,
        *,
        journal: Journal | None,
        memories: Histories,
        store: SessionStorage,
        metrics: Metrics,
    ) -> Equipment:
        """The equipment for one domain."""
        notices = Notices(metrics)
        return cls(
            rosters=Rosters(
                gate=ticking(
                    Gate(domain=domain, unknown=settings.unknown, undecided=settings.undecided)
                ),
                recorder=MemoryRecorder(domain, journal, notices=notices),
                names=settings.tool_names,
                notices=notices,
                require_tools=settings.require_tools,
            ),
            visits=Visits(memories, store, settings.require_session),
            placements=Placements(),
            readings=Readings(settings.max_remembered // 4),
            notices=notices,
            metrics=metrics,
            limits=settings.limits,
        )

    async def admit(
        self,
        dialect: Dialect,
        body: Body,
        conversation: Request,
        visitor: Visitor,
        gate_of: GateOf,
    ) -> Admission:
        """The request with its conversation found and its new messages taken in."""
        roster = self.rosters.of(conversation)
        visit = await self.visits.open(roster.conversation(conversation), visitor, roster.recorder)
        dialect = roster.dialect(dialect).refusing(conversation.structured)
        model = str(body.get("model", ""))
        # By place, since each name costs as much as what it names.
        exchange = Exchange(
            dialect,
            gate_of(visit, roster.gate),
            roster.passes,
            body,
            visit.memory,
            roster.recorder,
            visit.settle,
            self.placements.begin(dialect.path, model, dialect.forms),
            self.limits,
        )
        return Admission(visit, exchange)

    def judged(self, exchange: Exchange) -> None:
        """Counts and tells what came of an exchange that is over."""
        self.metrics.upstream_calls += exchange.upstream_calls
        self.metrics.judged(exchange.verdicts)
        self.notices.judged(exchange.memory.session, exchange.verdicts)
        if exchange.left_out:
            self.notices.shortened(exchange.memory.session, exchange.left_out)

    def shadowed(self, session: str, verdicts: list[Filtered]) -> None:
        """Counts and tells verdicts that changed nothing."""
        self.metrics.judged(verdicts)
        self.notices.judged(session, verdicts)
