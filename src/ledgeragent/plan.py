"""A reply as a plan: each call judged as if the allowed ones before it had been done.

What an allowed write touches is unknown to the calls after it, and it counts among the writes that
may have happened. Hosts run the calls of one reply in any order, or at once: unless they are known to
run them as listed, no two calls are let through of which one touches what the other rests on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ledgeragent.domain import Domain
from ledgeragent.effects import Write
from ledgeragent.ledger import Evidence, Ledger, Touch, Unconfirmed
from ledgeragent.lookback import LookBack
from ledgeragent.paths import Path
from ledgeragent.text import visible
from ledgeragent.types import Arguments, Json, ToolCall
from ledgeragent.verdict import Decision, Finding, Kind, Verdict
from ledgeragent.view import View

Order = Literal["any", "listed", "snapshot"]
"""How a host runs the calls of a reply. `any`: in any order, or at once, so that no two that are let
through may disturb each other. `listed`: one after the other, as they stand. `snapshot`: the paper's
reading, each call judged as if it were alone."""

Judge: TypeAlias = "Callable[[ToolCall, Ledger, Plan | None], Verdict]"
"""`(call, ledger, plan) -> verdict`: the call judged where what the plan let through is to be done."""

WAIT = "gate/wait"
# A look at an enum costs as much as a rule.
_ALLOW = Decision.ALLOW
_tuple = tuple.__new__
_record_of = operator.itemgetter(0)


def spoken_calls(calls: Sequence[ToolCall]) -> str:
    """The calls in words: "f(x=1) and g(y=2)"."""
    return " and ".join(visible(str(call)) for call in calls)


class Claim(NamedTuple):
    """What an allowed call rests on and changes, until its result has come.

    `paths` are the records of what it `touches`.
    """

    call: ToolCall
    evidence: Sequence[Evidence]
    touches: Sequence[Touch]
    paths: set[Path[Json]]
    lookbacks: Sequence[LookBack]

    def meets(self, later: Claim) -> bool:
        """True if what the later one touches is among what this one rests on, or touches."""
        own = [*((fact.record, fact.fields) for fact in self.evidence), *self.touches]
        return any(
            touch.path == path
            and all(map(operator.eq, touch.fields, fields))  # one inside the other
            for touch in later.touches
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
        self._tool = domain.tool
        self._order = order
        self._snapshot = ledger
        self._claims: list[Claim] = []
        # The writes that may have happened, those of the plan last.
        self._doubts = ledger.unconfirmed
        self._changes: dict[Path[Json], list[tuple[ToolCall, Sequence[Touch]]]] = {}
        # The records that the claims touch, or rest on: most calls have none in common, and need no
        # more, unless a claim rests on which writes were done.
        self._held: set[Path[Json]] = set()
        self._looks_back = False
        # The latest call that was let through, until the next one is judged: most replies have one.
        self._latest: Claim | Verdict | None = None
        # What the judge of the latest call has read: its arguments, its view, and the satisfied rules
        # that asked which writes were done.
        self._arguments: Arguments | None = None
        self._view: View | None = None
        self.lookbacks: tuple[LookBack, ...] = ()

    def show(self, view: View, arguments: Arguments) -> None:
        """Has the rules of a call, read as these arguments, see the ledger as it is expected to be."""
        self._arguments, self._view = arguments, view
        if self._claims:
            view.unconfirmed, view.changes = self._doubts, self._changes

    def expect(self, call: ToolCall) -> None:
        """Takes a call for one that is about to be done, and rests on what its rules read."""
        # What it was let through on is read off the ledger once more: nobody keeps it.
        self._latest = self._judged(call)

    def judge(self, call: ToolCall) -> Verdict:
        """The verdict on the next call; an allowed one is part of the plan from here on."""
        if self._order == "snapshot":
            return self._judge(call, self._snapshot, None)
        verdict = self._judged(call)
        if verdict.decision is not _ALLOW:
            return verdict
        claim = self._claim(verdict) if self._claims else None
        if claim is not None and (earlier := self._conflict(claim)) is not None:
            return _wait(verdict, earlier.call)
        self._latest = claim or verdict
        return verdict

    def _judged(self, call: ToolCall) -> Verdict:
        """The verdict where the calls let through are expected to be done."""
        if self._latest is not None:
            self._let_through(self._latest)
        self._latest = self._arguments = self._view = None
        self.lookbacks = ()
        return self._judge(call, self._snapshot, self)

    def _claim(self, verdict: Verdict) -> Claim | None:
        """What an allowed call rests on and changes, None if it changes nothing."""
        call = verdict.call
        tool = self._tool(call.name)
        if not (isinstance(tool, Write) or tool is None):
            return None
        arguments = self._arguments or self._domain.arguments(call)
        touched = tool.touched(arguments, self._snapshot) if tool is not None else []
        paths = {*map(_record_of, touched)}
        # A third of what the class's own constructor costs.
        return _tuple(Claim, (call, verdict.evidence, touched, paths, self.lookbacks))

    def _let_through(self, latest: Claim | Verdict) -> None:
        claim = latest if isinstance(latest, Claim) else self._claim(latest)
        if claim is None:
            return
        self._claims.append(claim)
        self._doubts += (_tuple(Unconfirmed, (claim.call, True)),)
        self._looks_back |= bool(claim.lookbacks)
        view, paths = self._view, claim.paths
        self._held.update(paths, view or (), view.plain if view is not None else ())
        for path in paths:
            self._changes.setdefault(path, []).append((claim.call, claim.touches))

    def _conflict(self, later: Claim) -> Claim | None:
        """The earlier call that this one would disturb, or repeat, where order is not sure."""
        # The same call once more touches the same; of one that touches nothing, paths do not tell.
        apart = later.paths and later.paths.isdisjoint(self._held)
        if self._order != "any" or (apart and not self._looks_back):
            return None
        for claim in self._claims:
            disturbed = not apart and (claim.repeats(later.call) or claim.meets(later))
            if disturbed or (claim.lookbacks and not self._stands(claim, later)):
                return claim
        return None

    def _stands(self, claim: Claim, later: Claim) -> bool:
        """True if a claim that rests on which writes were done is right after this one as well.

        That may run before it, with any of the others, or alone.
        """
        others = tuple([doubt for doubt in self._doubts if doubt.call is not claim.call])
        latest = Unconfirmed(later.call, True)
        return all(lookback.stands_with(latest, others) for lookback in claim.lookbacks)


def _wait(verdict: Verdict, earlier: ToolCall) -> Verdict:
    reason = (
        f"it changes what another call of the same reply rests on or changes too; wait for the "
        f"result of {spoken_calls([earlier])}, then send this again"
    )
    finding = Finding(Kind.EVIDENCE, WAIT, None, Decision.REVISE, reason, waits_for=(earlier,))
    return verdict._replace(decision=Decision.REVISE, findings=(*verdict.findings, finding))
