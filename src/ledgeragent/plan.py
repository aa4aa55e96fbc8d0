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
from ledgeragent.ledger import Ledger, Touch, Unconfirmed
from ledgeragent.lookback import LookBack
from ledgeragent.paths import Path
from ledgeragent.text import visible
from ledgeragent.types import Arguments, Json, ToolCall
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict
from ledgeragent.view import View

Order = Literal["any", "listed", "snapshot"]
"""How a host runs the calls of a reply. `any`: in any order, or at once, so that no two that are let
through may disturb each other. `listed`: one after the other, as they stand. `snapshot`: the paper's
reading, each call judged as if it were alone."""

Judge: TypeAlias = "Callable[[ToolCall, Ledger, Plan | None], Verdict]"
"""`(call, ledger, plan) -> verdict`: the call judged where what the plan let through is to be done."""

WAIT = "gate/wait"
# A look at an enum costs as much as a rule.
_ALLOW, _ENFORCE = Decision.ALLOW, Enforcement.ENFORCE
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
        self.lookbacks = lookbacks and [b for b in lookbacks if b.rule.enforcement is _ENFORCE]

    def meets(self, touched: Iterable[Touch]) -> bool:
        """True if what is touched is among what the call rests on, or changes."""
        own = [*((fact.record, fact.fields) for fact in self._evidence), *self._touched]
        return any(
            touch.path == path
            and all(map(operator.eq, touch.fields, fields))  # one inside the other
            for touch in touched
            for path, fields in own
        )

    def repeats(self, call: ToolCall) -> bool:
        """True if `call` is the same once more."""
        own = self.call
        return own.name == call.name and own.arguments == call.arguments and not call.malformed


class Plan:
    """The calls let through so far, and what is expected of them."""

    def __init__(self, judge: Judge, domain: Domain, order: Order, ledger: Ledger) -> None:
        self._judge = judge
        self._domain = domain
        self._order = order
        self._snapshot = ledger
        self._claims: list[Claim] = []
        self._expected: tuple[Unconfirmed, ...] = ()
        # Which records the claims touch, and rest on: most calls have none in common, and need no more.
        self._changes: dict[Path[Json], list[tuple[ToolCall, Sequence[Touch]]]] = {}
        self._relied_on: set[Path[Json]] = set()
        # What the judge of the latest call has read: its arguments, and the satisfied rules that
        # asked which writes were done.
        self._arguments: Arguments | None = None
        self.lookbacks: list[LookBack] = []

    def show(self, view: View, arguments: Arguments) -> None:
        """Has the rules of a call, read as these arguments, see the ledger as it is expected to be."""
        self._arguments = arguments
        if self._claims:
            view.unconfirmed = (*view.unconfirmed, *self._expected)
            view.changes = self._changes

    def expect(self, call: ToolCall) -> None:
        """Takes a call for one that is about to be done, and rests on what its rules read."""
        if self._is_write(call):
            # What it was let through on is read off the ledger once more: nobody keeps it.
            verdict = self._judged(call)
            self._let_through(verdict, self._touched(call))

    def judge(self, call: ToolCall, *, last: bool = False) -> Verdict:
        """The verdict on the next call; an allowed one is part of the plan, unless it is the `last`."""
        if self._order == "snapshot":
            return self._judge(call, self._snapshot, None)
        verdict = self._judged(call)
        if verdict.decision is not _ALLOW or (last and not self._claims):
            return verdict
        if not self._is_write(call):
            return verdict
        touched = self._touched(call)
        if self._claims and (claim := self._conflict(call, touched)) is not None:
            return _wait(verdict, claim.call)
        if not last:
            self._let_through(verdict, touched)
        return verdict

    def _judged(self, call: ToolCall) -> Verdict:
        """The verdict where the calls let through are expected to be done."""
        self._arguments, self.lookbacks = None, []
        return self._judge(call, self._snapshot, self)

    def _let_through(self, verdict: Verdict, touched: list[Touch]) -> None:
        call = verdict.call
        self._claims.append(Claim(verdict, touched, self.lookbacks))
        self._expected = (*self._expected, Unconfirmed(call, True))
        self._relied_on.update(map(_record_of, verdict.evidence))
        change = (call, touched)
        for path in set(map(_record_of, touched)):
            self._changes.setdefault(path, []).append(change)

    def _is_write(self, call: ToolCall) -> bool:
        return self._domain.effect(call.name) is Effect.WRITE

    def _touched(self, call: ToolCall) -> list[Touch]:
        return touched_by(self._snapshot, call, self._domain, self._arguments)

    def _conflict(self, call: ToolCall, touched: list[Touch]) -> Claim | None:
        """The earlier call that this one would disturb, or repeat, where order is not sure."""
        if self._order != "any":
            return None
        paths = set(map(_record_of, touched))
        near = not (paths.isdisjoint(self._relied_on) and paths.isdisjoint(self._changes))
        for claim in self._claims:
            if claim.repeats(call) or (near and claim.meets(touched)):
                return claim
            if claim.lookbacks and not self._stands(claim, call):
                return claim
        return None

    def _stands(self, claim: Claim, call: ToolCall) -> bool:
        """True if a claim that rests on which writes were done is right with one more as well."""
        others = [doubt for doubt in self._expected if doubt.call is not claim.call]
        doubts = (*self._snapshot.unconfirmed, *others, Unconfirmed(call, True))
        return all(lookback.is_satisfied(doubts) for lookback in claim.lookbacks)


def _wait(verdict: Verdict, earlier: ToolCall) -> Verdict:
    reason = (
        f"it changes what another call of the same reply rests on or changes too; wait for the "
        f"result of {spoken_calls([earlier])}, then send this again"
    )
    finding = Finding(Kind.EVIDENCE, WAIT, None, Decision.REVISE, reason, waits_for=(earlier,))
    return verdict._replace(decision=Decision.REVISE, findings=(*verdict.findings, finding))
