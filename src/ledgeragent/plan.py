"""A reply as a plan: each call judged as if the allowed ones before it had been done.

What an allowed write touches is unknown to the calls after it, and it counts among the writes that
may have happened. Hosts run the calls of one reply in any order, or at once: unless they are known to
run them as listed, no two calls are let through of which one touches what the other rests on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from ledgeragent.absorb import touched_by
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.ledger import Ledger, Stale, Touch, Unconfirmed
from ledgeragent.lookback import LookBack
from ledgeragent.paths import Path
from ledgeragent.text import visible
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict

Order = Literal["any", "listed", "snapshot"]
"""How a host runs the calls of a reply. `any`: in any order, or at once, so that no two that are let
through may disturb each other. `listed`: one after the other, as they stand. `snapshot`: the paper's
reading, each call judged as if it were alone."""

Judge: TypeAlias = Callable[[ToolCall, Ledger, list[LookBack]], Verdict]
"""`(call, ledger, lookbacks) -> verdict`; adds the satisfied rules that asked which writes were done."""

WAIT = "gate/wait"
_ENFORCE = Enforcement.ENFORCE
_record_of = operator.itemgetter(0)


def spoken_calls(calls: Sequence[ToolCall]) -> str:
    """The calls in words: "f(x=1) and g(y=2)"."""
    return " and ".join(visible(str(call)) for call in calls)


class Claim:
    """What an allowed call rests on and changes, until its result has come."""

    __slots__ = ("_evidence", "_touched", "call", "lookbacks")

    def __init__(
        self, verdict: Verdict, touched: list[Touch], lookbacks: Sequence[LookBack]
    ) -> None:
        self.call = verdict.call
        self._evidence = verdict.evidence
        self._touched = touched
        # What a rule that is not enforced would say holds nobody back.
        self.lookbacks = [back for back in lookbacks if back.rule.enforcement is _ENFORCE]

    def meets(self, touched: Iterable[Touch]) -> bool:
        """True if what is touched is among what the call rests on, or changes."""
        own = [*((fact.record, fact.fields) for fact in self._evidence), *self._touched]
        return any(
            touch.path == path
            and all(map(operator.eq, touch.fields, fields))  # one inside the other
            for touch in touched
            for path, fields in own
        )

    def stands(self, doubts: tuple[Unconfirmed, ...]) -> bool:
        """True if the rules that asked which writes were done are satisfied with these as well."""
        return all(lookback.is_satisfied(doubts) for lookback in self.lookbacks)

    def repeats(self, call: ToolCall) -> bool:
        """True if `call` is the same once more."""
        own = self.call
        return own.name == call.name and own.arguments == call.arguments and not call.malformed


class Plan:
    """The calls let through so far, and what is expected of them."""

    __slots__ = (
        "_claims",
        "_domain",
        "_expected",
        "_judge",
        "_marks",
        "_order",
        "_relied_on",
        "_snapshot",
    )

    def __init__(self, judge: Judge, domain: Domain, order: Order, ledger: Ledger) -> None:
        self._judge = judge
        self._domain = domain
        self._order = order
        self._snapshot = ledger
        self._claims: list[Claim] = []
        self._expected: tuple[Unconfirmed, ...] = ()
        self._marks: dict[Path[Json], list[Stale]] = {}
        # Which records the claims rest on: most calls have none in common, and need no more.
        self._relied_on: set[Path[Json]] = set()

    def expect(self, call: ToolCall) -> None:
        """Takes a call for one that is about to be done, and rests on what its rules read."""
        if self._is_write(call):
            # What it was let through on is read off the ledger once more: nobody keeps it.
            lookbacks: list[LookBack] = []
            verdict = self._judge(call, self._expected_ledger(), lookbacks)
            self._let_through(verdict, self._touched(call), lookbacks)

    def judge(self, call: ToolCall, *, last: bool = False) -> Verdict:
        """The verdict on the next call; an allowed one is part of the plan, unless it is the `last`."""
        if self._order == "snapshot":
            return self._judge(call, self._snapshot, [])
        lookbacks: list[LookBack] = []
        verdict = self._judge(call, self._expected_ledger(), lookbacks)
        if not verdict.allowed or not self._is_write(call) or (last and not self._claims):
            return verdict
        touched = self._touched(call)
        if (claim := self._conflict(call, touched)) is not None:
            return _wait(verdict, claim.call)
        if not last:
            self._let_through(verdict, touched, lookbacks)
        return verdict

    def _expected_ledger(self) -> Ledger:
        """The ledger where the calls let through are expected to be done."""
        if not self._claims:
            return self._snapshot
        return self._snapshot.expecting(self._expected, self._marks)

    def _let_through(
        self, verdict: Verdict, touched: list[Touch], lookbacks: Sequence[LookBack]
    ) -> None:
        call = verdict.call
        self._claims.append(Claim(verdict, touched, lookbacks))
        self._expected = (*self._expected, Unconfirmed(call, True))
        self._relied_on.update(map(_record_of, verdict.evidence))
        for path, fields in touched:
            self._marks.setdefault(path, []).append(Stale(fields, call))

    def _is_write(self, call: ToolCall) -> bool:
        return self._domain.effect(call.name) is Effect.WRITE

    def _touched(self, call: ToolCall) -> list[Touch]:
        return touched_by(self._snapshot, call, self._domain)

    def _conflict(self, call: ToolCall, touched: list[Touch]) -> Claim | None:
        """The earlier call that this one would disturb, or repeat, where order is not sure."""
        if self._order != "any":
            return None
        for claim in self._claims:
            if claim.repeats(call):
                return claim
        near = [t for t in touched if t.path in self._relied_on or t.path in self._marks]
        for claim in self._claims if near else ():
            if claim.meets(near):
                return claim
        for claim in self._claims:
            if claim.lookbacks and not self._stands(claim, call):
                return claim
        return None

    def _stands(self, claim: Claim, call: ToolCall) -> bool:
        """True if a claim that rests on which writes were done is right with one more as well."""
        others = [doubt for doubt in self._expected if doubt.call is not claim.call]
        return claim.stands((*self._snapshot.unconfirmed, *others, Unconfirmed(call, True)))


def _wait(verdict: Verdict, earlier: ToolCall) -> Verdict:
    reason = (
        f"it changes what another call of the same reply rests on or changes too; wait for the "
        f"result of {spoken_calls([earlier])}, then send this again"
    )
    finding = Finding(Kind.EVIDENCE, WAIT, None, Decision.REVISE, reason, waits_for=(earlier,))
    return verdict._replace(decision=Decision.REVISE, findings=(*verdict.findings, finding))
