"""Judges a recorded conversation: what a gate would have answered to each write in it.

The conversation is followed as it happened; every write is judged on the ledger as it was when its
reply was proposed, as a part of that reply. No model is called.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from ledgeragent.domain import EVERY_RULE, Domain
from ledgeragent.findings import UNKNOWN_ARGUMENT
from ledgeragent.gate import MALFORMED, UNKNOWN_TOOL, Gate
from ledgeragent.ledger import Ledger
from ledgeragent.offline.bulkfold import BulkFold, executed_by
from ledgeragent.offline.traces import Trace
from ledgeragent.plan import Plan
from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision, Enforcement, Finding, Verdict

ALLOW = "allow"
REVISE_VIOLATION = "revise_violation"
REVISE_EVIDENCE = "revise_evidence"
BLOCK = "block"

# A look at an enum costs as much as a rule.
_ALLOW, _BLOCK = Decision.ALLOW, Decision.BLOCK
_NO_LEVELS: Mapping[str, Enforcement] = {}


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
        decision = self.verdict.decision
        if decision is _ALLOW:
            return ALLOW
        if decision is _BLOCK:
            return BLOCK
        return REVISE_VIOLATION if self.verdict.violations else REVISE_EVIDENCE


Unknown: TypeAlias = Literal["ignore", "revise", "block"]
"""The answer to tools that a pack does not list; `ignore` does not judge their calls."""

_UNKNOWN = {"ignore": Decision.ALLOW, "revise": Decision.REVISE, "block": Decision.BLOCK}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGate(Gate):
    """A gate for recorded runs, whose own checks may stand in shadow too.

    `levels` are those of its checks by id; `gate/*` is for all of them, `*` for every rule and check.
    """

    levels: Mapping[str, Enforcement] = field(default_factory=dict)

    def judge(self, call: ToolCall, ledger: Ledger, plan: Plan | None = None) -> Verdict:
        """The verdict on one call, with what only checks in shadow say put there."""
        verdict = Gate.judge(self, call, ledger, plan)
        if not self.levels or not any(is_check(f.predicate) for f in verdict.findings):
            return verdict
        levelled = [f._replace(enforcement=self._level(f)) for f in verdict.findings]
        enforced = tuple(f for f in levelled if f.enforcement is Enforcement.ENFORCE)
        in_shadow = tuple(f for f in levelled if f.enforcement is not Enforcement.ENFORCE)
        return verdict._replace(
            decision=max((f.decision for f in enforced), default=Decision.ALLOW),
            findings=enforced,
            shadow=(*verdict.shadow, *in_shadow),
        )

    def _level(self, finding: Finding) -> Enforcement:
        """The level of a check; that of a rule was set before."""
        if not is_check(finding.predicate):
            return finding.enforcement
        names = (finding.predicate, EVERY_CHECK, EVERY_RULE)
        return next((self.levels[n] for n in names if n in self.levels), finding.enforcement)


EVERY_CHECK = "gate/*"


def is_check(rule: str) -> bool:
    """True for a check of the gate itself, or the name for all of them."""
    return rule in (MALFORMED, UNKNOWN_ARGUMENT, UNKNOWN_TOOL, EVERY_CHECK)


def gate_of_records(
    domain: Domain, unknown: Unknown = "revise", levels: Mapping[str, Enforcement] = _NO_LEVELS
) -> RecordedGate:
    """The gate for recorded runs: their calls ran as listed, and what is undecided counts apart."""
    return RecordedGate(
        domain=domain,
        order="listed",
        undecided=Decision.ALLOW,
        unknown=_UNKNOWN[unknown],
        levels=levels,
    )


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
    tools = {name for name in trace.calls_by_tool if _is_judged(name, gate, trace.nonstandard)}
    if not tools:
        return []
    fold = BulkFold(gate.domain)
    proposed: list[Proposed] = []
    begin = 0
    for place, calls in _calls_of(tools, trace.messages):
        fold.take(trace.messages[begin : place + 1])
        proposed += _proposed(calls, gate, fold.ledger(), place)
        begin = place + 1
    fold.end(trace.messages[begin:], {id(call) for call, *_ in proposed})
    return _judged_calls(proposed, fold.executed)


def _calls_of(
    tools: Set[str], messages: Sequence[Message]
) -> Iterator[tuple[int, Sequence[ToolCall]]]:
    """The calls of these tools, reply by reply, with the place of each reply that has some."""
    for place, message in enumerate(messages):
        if type(message) is Reply and message.calls:
            calls = [call for call in message.calls if call.name in tools]
            if calls:
                yield place, calls


def judge_followed(
    transitions: Iterable[Transition], gate: Gate, nonstandard: Collection[str] = ()
) -> list[JudgedCall]:
    """The judged calls of a run that was folded already; calls of `nonstandard` tools are none."""
    domain = gate.domain
    proposed: list[Proposed] = []
    executed: set[int] = set()
    for transition in transitions:
        # A reply is judged once its own words are heard and earlier calls are given up for lost.
        message = transition.message
        if type(message) is Reply and message.calls:
            calls = [call for call in message.calls if _is_judged(call.name, gate, nonstandard)]
            proposed += _proposed(calls, gate, transition.after.ledger, transition.place)
        elif proposed and type(message) is ToolReturn:
            executed.add(id(executed_by(message, transition.after, domain)))
    return _judged_calls(proposed, executed)


Proposed: TypeAlias = tuple[ToolCall, Verdict, Ledger, int]


def _proposed(calls: Sequence[ToolCall], gate: Gate, ledger: Ledger, place: int) -> list[Proposed]:
    """The calls of a reply that are judged, each with its verdict."""
    if len(calls) == 1:  # alone it needs no plan, as most are
        return [(calls[0], gate.judge(calls[0], ledger), ledger, place)]
    plan = gate.plan(ledger)
    return [(call, plan.judge(call), ledger, place) for call in calls]


def _judged_calls(proposed: Iterable[Proposed], executed: Container[int]) -> list[JudgedCall]:
    return [
        JudgedCall(call, verdict, ledger, id(call) in executed, number, place)
        for number, (call, verdict, ledger, place) in enumerate(proposed, 1)
    ]


def _is_judged(tool: str, gate: Gate, nonstandard: Collection[str]) -> bool:
    guard = gate.domain.guard(tool)
    if guard is not None:
        return guard.judged
    return gate.unknown is not Decision.ALLOW and tool not in nonstandard
