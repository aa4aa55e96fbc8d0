"""Judges a recorded conversation: what a gate would have answered to each write in it.

The conversation is followed as it happened; every write is judged on the ledger as it was when its
reply was proposed, as a part of that reply. No model is called.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.offline.traces import Trace
from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn
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


class Transition(NamedTuple):
    """One step of the fold: a message at its `place` (from 0), and the states around it."""

    place: int
    message: Message
    before: State
    after: State


def follow(trace: Trace, domain: Domain) -> Iterator[Transition]:
    """The run, folded message by message."""
    state = State()
    for place, message in enumerate(trace.messages):
        words_alone = type(message) is Reply and not message.calls and not state.pending
        skipped = words_alone and not domain.listens
        after = state if skipped else state.observe(message, domain)
        yield Transition(place, message, state, after)
        state = after


def judge(trace: Trace, gate: Gate) -> list[JudgedCall]:
    """Every write (and guarded neutral call) of a run, judged where the agent proposed it."""
    return judge_followed(follow(trace, gate.domain), gate, trace.nonstandard)


def judge_followed(
    transitions: Iterable[Transition], gate: Gate, nonstandard: Collection[str] = ()
) -> list[JudgedCall]:
    """The judged calls of a run that was folded already; calls of `nonstandard` tools are none."""
    domain = gate.domain
    proposed: list[tuple[ToolCall, Verdict, Ledger, int]] = []
    executed: set[int] = set()
    for transition in transitions:
        # A reply is judged once its own words are heard and earlier calls are given up for lost.
        message, ledger = transition.message, transition.after.ledger
        if type(message) is Reply and message.calls:
            plan = gate.plan(ledger)
            proposed += [
                (call, plan.judge(call), ledger, transition.place)
                for call in message.calls
                if _is_judged(call, domain, nonstandard)
            ]
        elif proposed and type(message) is ToolReturn:
            executed.add(id(_executed(message, transition.after, domain)))
    return [
        JudgedCall(call, verdict, ledger, id(call) in executed, number, place)
        for number, (call, verdict, ledger, place) in enumerate(proposed, 1)
    ]


def _is_judged(call: ToolCall, domain: Domain, nonstandard: Collection[str]) -> bool:
    guard = domain.guard(call.name)
    return guard.judged if guard is not None else call.name not in nonstandard


def _executed(returned: ToolReturn, after: State, domain: Domain) -> ToolCall | None:
    """The write or neutral call that a return shows to have executed, None if it shows none."""
    call = after.last.call if after.last is not None else None
    if call is None:
        return None
    if domain.effect(call.name) is Effect.NEUTRAL:
        return None if returned.failed else call
    writes = after.ledger.writes
    return call if writes and writes[-1] is call else None
