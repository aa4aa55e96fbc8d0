"""A reply as a plan: each call judged as if the allowed ones before it had been done.

What an allowed write touches is unknown to the calls after it, and it counts among the writes that
may have happened. Hosts run the calls of one reply in any order, or at once: unless they are known to
run them as listed, no two calls are let through of which one touches what the other rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from ledgeragent.absorb import touched_by
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.ledger import Fields, Ledger, Touch
from ledgeragent.paths import Path
from ledgeragent.text import visible
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Finding, Kind, Verdict

Order = Literal["any", "listed", "snapshot"]
"""How a host runs the calls of a reply. `any`: in any order, or at once, so that no two that are let
through may disturb each other. `listed`: one after the other, as they stand. `snapshot`: the paper's
reading, each call judged as if it were alone."""

Judge: TypeAlias = Callable[[ToolCall, Ledger], Verdict]

WAIT = "gate/wait"


def spoken_calls(calls: Sequence[ToolCall]) -> str:
    """The calls in words: "f(x=1) and g(y=2)"."""
    return " and ".join(visible(str(call)) for call in calls)


class Plan:
    """The calls let through so far, on a ledger that expects them."""

    def __init__(self, judge: Judge, domain: Domain, order: Order, ledger: Ledger) -> None:
        self._judge = judge
        self._domain = domain
        self._order = order
        self._snapshot = ledger
        self._expected = ledger
        self._claims: list[Claim] = []

    def expect(self, call: ToolCall) -> None:
        """Takes a call for one that is about to be done, and rests on what its rules read."""
        if self._domain.effect(call.name) is Effect.WRITE:
            self._let_through(self._judge(call, self._expected))

    def judge(self, call: ToolCall) -> Verdict:
        """The verdict on the next call; an allowed one is part of the plan from here on."""
        if self._order == "snapshot":
            return self._judge(call, self._snapshot)
        verdict = self._judge(call, self._expected)
        if not verdict.allowed or self._domain.effect(call.name) is not Effect.WRITE:
            return verdict
        if self._order == "any" and (claim := self._conflict(call)) is not None:
            return _wait(verdict, claim.call)
        self._let_through(verdict)
        return verdict

    def _let_through(self, verdict: Verdict) -> None:
        call = verdict.call
        if self._domain.effect(call.name) is not Effect.WRITE:
            return
        touched = self._touched(call)
        self._claims.append(Claim(verdict, touched))
        self._expected = self._expected.doubted(call, touched, running=True)

    def _touched(self, call: ToolCall) -> list[Touch]:
        return touched_by(self._expected, call, self._domain.tool(call.name))

    def _conflict(self, call: ToolCall) -> Claim | None:
        """The earlier call that this one would disturb, or repeat."""
        if not self._claims:
            return None
        touched = self._touched(call)
        intent = call.intent
        claims = (c for c in self._claims if c.call.intent == intent or c.meets(touched))
        return next(claims, None)


class Claim:
    """What an allowed call rests on and changes, until its result has come."""

    def __init__(self, verdict: Verdict, touched: Iterable[Touch]) -> None:
        self.call = verdict.call
        self._verdict = verdict
        self._touched = touched
        self._places: dict[Path[Json], list[Fields]] | None = None

    def meets(self, touched: Iterable[Touch]) -> bool:
        """True if what is touched is among what this call rests on, or changes."""
        if self._places is None:
            self._places = {}
            for fact in self._verdict.evidence:
                self._places.setdefault(fact.record, []).append(fact.fields)
            for touch in self._touched:
                self._places.setdefault(touch.path, []).append(touch.fields)
        return any(
            _overlap(fields, touch.fields)
            for touch in touched
            for fields in self._places.get(touch.path, ())
        )


def _overlap(one: Fields, other: Fields) -> bool:
    """True if one of the places lies inside the other."""
    return all(a == b for a, b in zip(one, other, strict=False))


def _wait(verdict: Verdict, earlier: ToolCall) -> Verdict:
    reason = (
        f"it changes what another call of the same reply rests on or changes too; wait for the "
        f"result of {spoken_calls([earlier])}, then send this again"
    )
    finding = Finding(Kind.EVIDENCE, WAIT, None, Decision.REVISE, reason, waits_for=(earlier,))
    return verdict._replace(decision=Decision.REVISE, findings=(*verdict.findings, finding))
