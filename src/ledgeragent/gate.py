"""The policy gate (paper §Policy Gate): judges each call, filters a reply, never repairs anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ledgeragent.domain import Domain, Guard
from ledgeragent.findings import (
    against,
    failure_of,
    finding_of,
    request_for,
    running_write,
    spelled,
    unknown_arguments,
    unusable,
    wait_for,
)
from ledgeragent.ledger import Evidence, Ledger, UnconfirmedGround
from ledgeragent.lookback import LookBack
from ledgeragent.missing import MissingEvidence
from ledgeragent.plan import Order, Plan
from ledgeragent.predicates import Broken, Predicate
from ledgeragent.rejections import Rejections
from ledgeragent.text import visible
from ledgeragent.types import Arguments, Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict
from ledgeragent.view import StalePolicy, View

Delivery = Literal["drop", "tool_result"]
"""`drop`: a rejected call leaves the message (the paper). `tool_result`: it is answered with the
feedback, as chat APIs require of every call id. The verdicts are the same."""

# A look at an enum costs as much as a rule, and so does a named tuple's own constructor.
_tuple = tuple.__new__
_ALLOW, _ENFORCE, _VIOLATION = Decision.ALLOW, Enforcement.ENFORCE, Kind.VIOLATION

MALFORMED = "gate/arguments"
_NO_OBJECT = "its arguments are not a JSON object in which each key stands once; send them as one"
UNKNOWN_TOOL = "gate/unknown-tool"

NOT_EXECUTED = "Error: this call was not executed"

_NONE_YET = Rejections()


@dataclass(frozen=True, slots=True)
class Filtered:
    """A judged reply.

    `reply` belongs in the transcript, `execute` are the calls that may run, `returns` answer the
    rejected ones (`tool_result` only), `feedback` is what the model must hear, `decision` the
    strictest verdict. `now` is the time by which it was judged, "" where no rule asks for it.
    """

    reply: Reply
    execute: tuple[ToolCall, ...]
    verdicts: tuple[Verdict, ...]
    returns: tuple[ToolReturn, ...]
    rejections: Rejections
    now: str = ""

    @property
    def decision(self) -> Decision:
        """The strictest verdict, ALLOW if there was none."""
        return max([v.decision for v in self.verdicts]) if self.verdicts else _ALLOW

    @property
    def feedback(self) -> str:
        """What the model is told: of rejected calls, and warnings on allowed ones; "" if nothing."""
        return "\n".join(text for v in self.verdicts if (text := v.feedback))

    @property
    def refusal(self) -> str:
        """The answer to a user whose request was rejected: the rules it breaks, in their own words.

        The rest of a rejection is for the model alone: which read comes first, what is wrong with the
        form of a call, that the same call was made before.
        """
        decisive = (finding for verdict in self.verdicts for finding in verdict.decisive)
        reasons = dict.fromkeys(
            str(f.public) or f.reason
            for f in decisive
            if f.kind is _VIOLATION and not f.predicate.startswith("gate/")
        )
        return (
            f"I can't do that: {'; '.join(reasons)}." if reasons else "I can't do that right now."
        )


def no_clock() -> str:
    """The clock of a gate that was told none."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Judges calls of one domain.

    `order` is how the host runs the calls of a reply. `budget` is how many times one intent may be
    rejected for the same reason before it is blocked. `undecided` answers calls with a rule whose
    record no tool of this run supplies. `unknown` answers tools that the domain does not list; one
    that it allows is taken to change none of the records, so list a tool that does. `clock` tells the
    time of a reply that does not say it, as ISO 8601 with its zone, once for all of its calls.
    """

    domain: Domain
    stale: StalePolicy = "unknown"
    order: Order = "any"
    budget: int = 3
    undecided: Decision = Decision.BLOCK
    unknown: Decision = Decision.REVISE
    clock: Callable[[], str] = no_clock

    def judge(self, call: ToolCall, ledger: Ledger, plan: Plan | None = None) -> Verdict:
        """The verdict on one call, on the ledger as it is. Pure: same inputs, same verdict.

        With a `plan`, where the calls that it let through are about to be done as well.
        """
        guard = self.domain.guard(call.name)
        if guard is None:
            return self._judge_unknown(call)
        if not guard.judged:
            return Verdict(call=call, decision=Decision.ALLOW)
        arguments = _read_arguments(guard, call)
        if isinstance(arguments, Finding):
            return Verdict(call=call, decision=Decision.REVISE, findings=(arguments,))
        view = View(ledger, self.domain.parameters, self.stale, self.domain.shape)
        if plan is not None:
            plan.show(view, arguments)
        return self._apply(guard, call, arguments, view, plan)

    def _judge_unknown(self, call: ToolCall) -> Verdict:
        if self.unknown is Decision.ALLOW:
            return Verdict(call=call, decision=Decision.ALLOW)
        reason = f"there is no tool named {visible(call.name)} here; use one of the tools listed"
        return Verdict(call, self.unknown, (unusable(UNKNOWN_TOOL, self.unknown, reason),))

    def _apply(
        self, guard: Guard, call: ToolCall, arguments: Arguments, view: View, plan: Plan | None
    ) -> Verdict:
        evidence = view.evidence
        findings: list[Finding] = []
        if guard.takes is not None and not guard.takes.issuperset(call.arguments):
            findings.append(unknown_arguments(guard.takes, call))
        whose = True  # it is established, as far as judged, whose records the call is about
        for rule in guard.predicates:
            if not whose and not rule.identity:
                break
            first = len(evidence)
            try:
                try:
                    broken = rule.check(arguments, view)
                    if view.looked_back:
                        lookback = LookBack(rule, arguments, view)
                        self._look_back(lookback, broken)
                        # What a rule that is not enforced would say holds nobody back.
                        if broken is None and plan is not None and rule.enforcement is _ENFORCE:
                            plan.lookbacks += (lookback,)
                    if broken is None:
                        continue
                    finding = against(rule, evidence[first:], _VIOLATION, rule.decision, broken)
                except MissingEvidence as missing:
                    finding = self._ask(rule, missing, view, evidence[first:])
            except UnconfirmedGround as ground:
                finding = wait_for(rule, ground.doubts, evidence[first:])
            except (Exception, SystemExit) as error:
                finding = failure_of(rule, error, evidence[first:])
            findings.append(finding)
            whose = whose and not (rule.identity and finding.enforcement is _ENFORCE)
        return _verdict(call, findings, evidence)

    def _look_back(self, lookback: LookBack, broken: Broken | None) -> None:
        """Raises UnconfirmedGround where the rule's answer rests on a write that may have happened."""
        view = lookback.view
        view.looked_back = False
        doubts = view.unconfirmed
        if lookback.depends_on(doubts, satisfied=broken is None):
            raise UnconfirmedGround(doubts)

    def _ask(
        self, rule: Predicate, missing: MissingEvidence, view: View, evidence: list[Evidence]
    ) -> Finding:
        candidates = missing.reads or self.domain.reads_for(missing.path)
        present = [call for call in candidates if self.domain.has(call.name)]
        # One that lacks arguments may fail for just that, which says nothing of the read that is meant.
        lacking = self.domain.asked_of_user
        reads = tuple(c for c in present if view.unavailable(c) is None or lacking(c))
        running = running_write(missing, view)
        calls = tuple(spelled(call, lacking(call)) for call in reads)
        more = tuple(call for path in missing.others for call in self.domain.reads_for(path)[:1])
        reason = request_for(missing, view, calls, running, more, nameless=rule.identity)
        if reads or running:
            request = finding_of(rule, evidence, Kind.EVIDENCE, Decision.REVISE, reason)
            return request._replace(reads=(*reads, *more), waits_for=running)
        decision = rule.undecided if present else self.undecided
        undecided = finding_of(rule, evidence, Kind.UNDECIDED, decision, reason)
        if decision is Decision.ALLOW:
            return undecided._replace(enforcement=Enforcement.AUDIT)
        return undecided._replace(reason=f"this cannot be checked here: {reason}")

    def plan(self, ledger: Ledger) -> Plan:
        """An empty plan on a ledger, for whoever judges the calls of a reply one by one."""
        return Plan(self.judge, self.domain, self.order, ledger)

    def filter(
        self,
        reply: Reply,
        ledger: Ledger,
        rejections: Rejections | None = None,
        delivery: Delivery = "drop",
        running: Sequence[ToolCall] = (),
    ) -> Filtered:
        """The reply judged as a plan: each call as if the allowed ones before it had been done.

        So had `running` calls, which were let through earlier and have no result yet.
        """
        memory = rejections or _NONE_YET
        if not reply.calls:  # Words alone need no plan.
            return Filtered(reply, (), (), (), memory, ledger.now)
        plan = self.plan(ledger)
        for call in running:
            plan.expect(call)
        rejected: list[Verdict] = []
        verdicts: list[Verdict] = []
        for call in reply.calls:
            verdict = plan.judge(call)
            if verdict.decision is not _ALLOW:
                verdict = self._guard_loop(verdict, memory.of(verdict))
                rejected.append(verdict)
            verdicts.append(verdict)
        allowed = tuple([v.call for v in verdicts if v.decision is _ALLOW])
        dropped = bool(rejected) and delivery == "drop"
        spoken = Reply(text=reply.text, calls=allowed) if dropped else reply
        returns = tuple(map(_answer, rejected)) if not dropped else ()
        after = memory.add(*rejected) if rejected else memory
        return Filtered(spoken, allowed, tuple(verdicts), returns, after, ledger.now)

    def _guard_loop(self, verdict: Verdict, times: int) -> Verdict:
        """A firmer answer to a rejection given before; past the budget, BLOCK."""
        if times == 0:
            return verdict
        if times < self.budget:
            return verdict._replace(note=_AGAIN if verdict.violations else _READ_FIRST)
        note = "this same call was rejected too often; it stays refused as long as nothing changes"
        return verdict._replace(decision=Decision.BLOCK, note=note)


_AGAIN = "this same call was rejected before; repeating it unchanged will not succeed"
_READ_FIRST = "this same call was rejected before; what it waits for has to come first"


def _read_arguments(guard: Guard, call: ToolCall) -> Arguments | Finding:
    if call.malformed is not None:
        return unusable(MALFORMED, Decision.REVISE, _NO_OBJECT)
    if guard.read_arguments is None:
        return call.arguments
    objections: list[str] = []
    arguments: Arguments = guard.read_arguments(call.arguments, "", objections)
    if objections:
        reason = f"its arguments cannot be used: {visible('; '.join(objections))}"
        return unusable(MALFORMED, Decision.REVISE, reason)
    return arguments


def _verdict(call: ToolCall, findings: list[Finding], evidence: list[Evidence]) -> Verdict:
    if not findings:
        return _tuple(Verdict, (call, _ALLOW, (), (), evidence, ""))
    first = findings[0]
    if len(findings) == 1 and first.enforcement is _ENFORCE:
        return _tuple(Verdict, (call, first.decision, (first,), (), evidence, ""))
    shadow = tuple([f for f in findings if f.enforcement is not _ENFORCE])
    enforced = tuple([f for f in findings if f.enforcement is _ENFORCE])
    decision = max([finding.decision for finding in enforced], default=_ALLOW)
    return Verdict(call, decision, enforced, shadow, evidence)


def _answer(verdict: Verdict) -> ToolReturn:
    """The answer to a rejected call. It begins with `Error`, so that a history read again is right."""
    content = f"{NOT_EXECUTED}. {verdict.objection}"
    return ToolReturn(call_id=verdict.call.id, content=content, error=True)
