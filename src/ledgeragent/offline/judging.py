"""Judges a recorded conversation: what a gate would have answered to each write in it.

The conversation is followed as it happened; every write is judged on the ledger as it was when its
reply was proposed, as a part of that reply. No model is called.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.offline.traces import Trace
from ledgeragent.state import State
from ledgeragent.types import Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision, Verdict

ALLOW = "allow"
REVISE_VIOLATION = "revise_violation"
REVISE_EVIDENCE = "revise_evidence"
BLOCK = "block"


class JudgedCall(NamedTuple):
    """A call that the gate judged, on which ledger, and whether it really executed.

    `number` counts the judged calls of a run from 1; `message` is the place of the reply among its
    messages, from 0.
    """

    call: ToolCall
    verdict: Verdict
    ledger: Ledger
    executed: bool
    number: int
    message: int

    @property
    def outcome(self) -> str:
        """The verdict in one word; a revision that only asks for evidence is told apart."""
        if self.verdict.decision is Decision.ALLOW:
            return ALLOW
        if self.verdict.decision is Decision.BLOCK:
            return BLOCK
        return REVISE_VIOLATION if self.verdict.violations else REVISE_EVIDENCE


def gate_of_records(domain: Domain) -> Gate:
    """The gate for recorded runs: their calls ran as listed, and what is undecided counts apart."""
    return Gate(domain=domain, order="listed", undecided=Decision.ALLOW)


def judge(trace: Trace, gate: Gate) -> list[JudgedCall]:
    """Every write (and guarded neutral call) of a run, judged where the agent proposed it."""
    domain = gate.domain
    state = State()
    proposed: list[tuple[ToolCall, Verdict, Ledger, int]] = []
    executed: set[int] = set()
    for place, message in enumerate(trace.messages):
        if type(message) is Reply:
            if not message.calls and not state.pending:
                continue  # words alone change nothing
            plan = gate.plan(state.ledger)
            proposed += [
                (call, plan.judge(call), state.ledger, place)
                for call in message.calls
                if _is_judged(call, domain, trace)
            ]
        before, state = state, state.observe(message, domain)
        if proposed and type(message) is ToolReturn:
            executed.add(id(_executed(message, before, state, domain)))
    return [
        JudgedCall(call, verdict, ledger, id(call) in executed, number, place)
        for number, (call, verdict, ledger, place) in enumerate(proposed, 1)
    ]


def _is_judged(call: ToolCall, domain: Domain, trace: Trace) -> bool:
    guard = domain.guard(call.name)
    return guard.judged if guard is not None else call.name not in trace.nonstandard


def _executed(returned: ToolReturn, before: State, after: State, domain: Domain) -> ToolCall | None:
    """The write or neutral call that a return shows to have executed, None if it shows none."""
    if after.ledger.writes is not before.ledger.writes:
        return after.ledger.writes[-1]
    if returned.failed or len(after.pending) == len(before.pending):
        return None
    still_open = {id(call) for call in after.pending}
    call = next(call for call in before.pending if id(call) not in still_open)
    return call if domain.effect(call.name) is Effect.NEUTRAL else None
