"""The policy gate (paper §Policy Gate): judges each call, filters a reply, never repairs anything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ledgeragent.domain import Domain, Guard
from ledgeragent.ledger import Evidence, Ledger, Unconfirmed
from ledgeragent.paths import quote
from ledgeragent.plan import Order, Plan, spoken_calls
from ledgeragent.predicates import Broken, Predicate, violation
from ledgeragent.text import visible
from ledgeragent.types import Arguments, Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict
from ledgeragent.view import MissingEvidence, StalePolicy, UnconfirmedGround, View

Delivery = Literal["drop", "tool_result"]
"""`drop`: a rejected call leaves the message (the paper). `tool_result`: it is answered with the
feedback, as chat APIs require of every call id. The verdicts are the same."""

# Made once a decision: a named tuple's own constructor, or a look at an enum, costs as much as a rule.
_new = tuple.__new__
_ALLOW, _ENFORCE, _VIOLATION = Decision.ALLOW, Enforcement.ENFORCE, Kind.VIOLATION

MALFORMED = "gate/arguments"
UNKNOWN_ARGUMENT = "gate/unknown-argument"
UNKNOWN_TOOL = "gate/unknown-tool"

NOT_EXECUTED = "Error: this call was not executed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections:
    """The loop guard's memory: how often each rejection was given.

    A rejection is a call, a predicate, the facts it rests on and the reads it asks for, in short:
    where one of them has changed there was progress, and nothing repeats.
    """

    counts: Mapping[tuple[str, str, str], int] = field(default_factory=dict)

    def of(self, verdict: Verdict) -> int:
        """How often this very rejection was given before."""
        if not self.counts:
            return 0
        keys = _rejection_keys(verdict)
        return max((self.counts.get(key, 0) for key in keys), default=0)

    def add(self, verdict: Verdict) -> Rejections:
        """This memory with one more rejection."""
        keys = _rejection_keys(verdict)
        return Rejections(counts={**self.counts, **{k: self.counts.get(k, 0) + 1 for k in keys}})


def _rejection_keys(verdict: Verdict) -> list[tuple[str, str, str]]:
    return [(*verdict.call.intent, _grounds(finding)) for finding in verdict.findings]


def _grounds(finding: Finding) -> str:
    """The predicate, and a digest of what its finding rests on and asks for."""
    facts = [(fact.record, fact.fields, fact.value) for fact in finding.evidence]
    asked = [call.intent for call in (*finding.reads, *finding.waits_for)]
    digest = hashlib.blake2b(
        repr((facts, asked)).encode("utf-8", "backslashreplace"), digest_size=8
    )
    return f"{finding.predicate} {digest.hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered:
    """A judged reply.

    `reply` belongs in the transcript, `execute` are the calls that may run, `returns` answer the
    rejected ones (`tool_result` only), `feedback` is what the model must hear, `decision` the
    strictest verdict.
    """

    reply: Reply
    execute: tuple[ToolCall, ...]
    verdicts: tuple[Verdict, ...]
    returns: tuple[ToolReturn, ...]
    rejections: Rejections

    @property
    def decision(self) -> Decision:
        """The strictest verdict, ALLOW if there was none."""
        return max((v.decision for v in self.verdicts), default=Decision.ALLOW)

    @property
    def feedback(self) -> str:
        """What the model is told: of rejected calls, and warnings on allowed ones; "" if nothing."""
        return "\n".join(told for v in self.verdicts if (told := v.feedback))

    @property
    def refusal(self) -> str:
        """What a customer is told of a reply that was rejected: the rules it breaks, in their own words.

        The rest of a rejection is for the model alone: which read comes first, what is wrong with the
        form of a call, that the same call was made before.
        """
        decisive = (finding for verdict in self.verdicts for finding in verdict.decisive)
        told = dict.fromkeys(
            f.public or f.reason
            for f in decisive
            if f.kind is _VIOLATION and not f.predicate.startswith("gate/")
        )
        return f"I can't do that: {'; '.join(told)}." if told else "I can't do that right now."


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Judges calls of one domain.

    `order` is how the host runs the calls of a reply. `budget` is how many times one intent may be
    rejected for the same reason before it is blocked. `undecided` answers calls with a rule whose
    record no tool of this run supplies. `unknown` answers tools that the domain does not list; one
    that it allows is taken to change none of the records, so list a tool that does.
    """

    domain: Domain
    stale: StalePolicy = "unknown"
    order: Order = "any"
    budget: int = 3
    undecided: Decision = Decision.BLOCK
    unknown: Decision = Decision.REVISE

    def judge(self, call: ToolCall, ledger: Ledger) -> Verdict:
        """The verdict on one call, on the ledger as it is. Pure: same inputs, same verdict."""
        guard = self.domain.guard(call.name)
        if guard is None:
            return self._judge_unknown(call)
        if not guard.judged:
            return Verdict(call=call, decision=Decision.ALLOW)
        arguments = _read_arguments(guard, call)
        if isinstance(arguments, Finding):
            return Verdict(call=call, decision=Decision.REVISE, findings=(arguments,))
        return self._apply(guard, call, arguments, ledger)

    def _judge_unknown(self, call: ToolCall) -> Verdict:
        if self.unknown is Decision.ALLOW:
            return Verdict(call=call, decision=Decision.ALLOW)
        reason = f"there is no tool named {visible(call.name)} here; use one of the tools listed"
        return Verdict(call, self.unknown, (_unusable(UNKNOWN_TOOL, self.unknown, reason),))

    def _apply(self, guard: Guard, call: ToolCall, arguments: Arguments, ledger: Ledger) -> Verdict:
        view = View(ledger, self.domain.parameters, self.stale, self.domain.shape)
        evidence = view.evidence
        findings: list[Finding] = []
        if guard.takes is not None and not guard.takes.issuperset(call.arguments):
            findings.append(_unknown_arguments(guard.takes, call))
        whose = True  # it is established, as far as judged, whose records the call is about
        for rule in guard.predicates:
            if not whose and not rule.identity:
                break
            first = len(evidence)
            try:
                try:
                    broken = rule.check(arguments, view)
                    if view.looked_back and ledger.unconfirmed:
                        self._look_back(rule, arguments, view, broken)
                except MissingEvidence as missing:
                    finding = self._ask(rule, missing, view, evidence[first:])
                else:
                    if broken is None:
                        continue
                    finding = _against(rule, evidence[first:], _VIOLATION, rule.decision, broken)
            except UnconfirmedGround as ground:
                finding = _wait(rule, ground.doubts, evidence[first:])
            except (Exception, SystemExit) as error:
                finding = _failed(rule, error, evidence[first:])
            findings.append(finding)
            whose = whose and not (rule.identity and finding.enforcement is _ENFORCE)
        return _verdict(call, findings, evidence)

    def _look_back(
        self, rule: Predicate, arguments: Arguments, view: View, broken: Broken | None
    ) -> None:
        """Raises UnconfirmedGround where the rule's answer rests on a write that may have happened."""
        view.looked_back = False
        doubts = view.unconfirmed
        if broken is None and self.order == "listed":
            doubts = tuple(doubt for doubt in doubts if not doubt.running)
        if doubts and (self._answer_without(rule, arguments, view, doubts) is None) != (
            broken is None
        ):
            raise UnconfirmedGround(doubts)

    def _answer_without(
        self, rule: Predicate, arguments: Arguments, view: View, doubts: tuple[Unconfirmed, ...]
    ) -> object:
        """The rule's answer if these writes did not happen: None where it is satisfied."""
        try:
            return rule.check(arguments, view.without(doubts))
        except MissingEvidence as missing:
            return missing

    def _ask(
        self, rule: Predicate, missing: MissingEvidence, view: View, evidence: list[Evidence]
    ) -> Finding:
        candidates = missing.reads or self.domain.reads_for(missing.path)
        present = [read for read in candidates if self.domain.has(read.name)]
        reads = tuple(read for read in present if view.unavailable(read) is None)
        running = _running(missing, view)
        reason = _request(missing, view, tuple(map(self._spelled, reads)), running)
        if reads or running:
            asked = _finding(rule, evidence, Kind.EVIDENCE, Decision.REVISE, reason)
            return asked._replace(reads=reads, waits_for=running)
        decision = rule.undecided if present else self.undecided
        undecided = _finding(rule, evidence, Kind.UNDECIDED, decision, reason)
        if decision is Decision.ALLOW:
            return undecided._replace(enforcement=Enforcement.AUDIT)
        return undecided._replace(reason=f"this cannot be checked here: {reason}")

    def _spelled(self, read: ToolCall) -> str:
        """A read as the model can make it; what it has to ask the user for stands as `?`."""
        asked = self.domain.asked_of_user(read)
        if not asked:
            return str(read)
        arguments = [f"{name}={json.dumps(value)}" for name, value in read.arguments.items()]
        return f"{read.name}({', '.join([*arguments, *(f'{name}=?' for name in asked)])})"

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
        memory = rejections or Rejections()
        plan = self.plan(ledger)
        for call in running:
            plan.expect(call)
        verdicts: list[Verdict] = []
        for call in reply.calls:
            verdict = plan.judge(call)
            if not verdict.allowed:
                verdict = self._guard_loop(verdict, memory.of(verdict))
                memory = memory.add(verdict)
            verdicts.append(verdict)
        execute = tuple(v.call for v in verdicts if v.allowed)
        rejected = tuple(v for v in verdicts if not v.allowed)
        dropped = bool(rejected) and delivery == "drop"
        return Filtered(
            reply=Reply(text=reply.text, calls=execute) if dropped else reply,
            execute=execute,
            verdicts=tuple(verdicts),
            returns=tuple(map(_answer, rejected)) if not dropped else (),
            rejections=memory,
        )

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
        reason = (
            f"the arguments of {visible(call.name)} are not a JSON object in which each key stands "
            "once; send them as one"
        )
        return _unusable(MALFORMED, Decision.REVISE, reason)
    if guard.read_arguments is None:
        return call.arguments
    objections: list[str] = []
    arguments: Arguments = guard.read_arguments(call.arguments, "", objections)
    if objections:
        reason = f"the arguments of {call.name} cannot be used: {visible('; '.join(objections))}"
        return _unusable(MALFORMED, Decision.REVISE, reason)
    return arguments


def _unknown_arguments(known: frozenset[str], call: ToolCall) -> Finding:
    """No rule has heard of an argument that the tool doesn't take: nobody would have judged it."""
    unknown = sorted(quote(str(name)) for name in call.arguments.keys() - known)
    template = "{tool} takes no argument {unknown}; it takes {known}"
    told = violation(template, tool=call.name, unknown=unknown, known=", ".join(sorted(known)))
    return _unusable(UNKNOWN_ARGUMENT, Decision.REVISE, told.reason)


def _verdict(call: ToolCall, findings: list[Finding], evidence: list[Evidence]) -> Verdict:
    decision = _ALLOW
    enforced: tuple[Finding, ...] = ()
    shadow: tuple[Finding, ...] = ()
    for finding in findings:
        if finding.enforcement is not _ENFORCE:
            shadow = (*shadow, finding)
            continue
        enforced = (*enforced, finding)
        if finding.decision > decision:
            decision = finding.decision
    return _new(Verdict, (call, decision, enforced, shadow, evidence, ""))


def _finding(
    rule: Predicate, evidence: list[Evidence], kind: Kind, decision: Decision, reason: str
) -> Finding:
    return _against(rule, evidence, kind, decision, Broken(reason))


def _against(
    rule: Predicate, evidence: list[Evidence], kind: Kind, decision: Decision, broken: Broken
) -> Finding:
    reason, public = broken
    level = rule.enforcement
    fields = (kind, rule.id, rule.clause, decision, reason, (), evidence, level, None, (), public)
    return _new(Finding, fields)


def _failed(rule: Predicate, error: BaseException, evidence: list[Evidence]) -> Finding:
    reason = "this action could not be checked against the policy, so it was not done"
    failed = _finding(rule, evidence, Kind.ERROR, Decision.BLOCK, reason)
    try:
        text = str(error)
    except Exception:  # pack code may raise anything, even what has no text
        text = "it has no text"
    return failed._replace(error=f"{type(error).__name__}: {text}")


def _wait(rule: Predicate, doubts: tuple[Unconfirmed, ...], evidence: list[Evidence]) -> Finding:
    """The finding of a rule whose answer depends on writes that may have happened."""
    running = tuple(doubt.call for doubt in doubts if doubt.running)
    if running:
        reason = f"wait for the result of {spoken_calls(running)}, then send this again"
    else:
        lost = spoken_calls([doubt.call for doubt in doubts])
        reason = f"it is not known whether {lost} was done, since its result never came"
    finding = _finding(rule, evidence, Kind.EVIDENCE, Decision.REVISE, reason)
    return finding._replace(waits_for=running)


def _unusable(id: str, decision: Decision, reason: str) -> Finding:
    return Finding(kind=Kind.VIOLATION, predicate=id, clause=None, decision=decision, reason=reason)


def _running(missing: MissingEvidence, view: View) -> tuple[ToolCall, ...]:
    """The write whose result has to come before the evidence can be read, if one is to come."""
    if missing.stale is None:
        return ()
    writes = (d.call for d in view.unconfirmed if d.running and d.call is missing.stale.by)
    return tuple(writes)


def _request(
    missing: MissingEvidence, view: View, reads: Sequence[str], running: Sequence[ToolCall]
) -> str:
    subject = ".".join((str(missing.path), *map(quote, missing.fields)))
    if not reads and not running:
        return f"{subject} is needed to decide this, and no tool here can supply it"
    calls = " or ".join(map(visible, reads))
    if running:
        then = f", then call {calls}" if reads else ""
        return (
            f"{subject} may be changed by another call; wait for the result of "
            f"{spoken_calls(running)}{then} and send this again"
        )
    asking = "; ask the user for what stands as ?" if "=?" in calls else ""
    return f"{subject} {_state_of(missing, view)}; call {calls} first{asking}"


def _state_of(missing: MissingEvidence, view: View) -> str:
    """Why a fact is not known, in words that follow its path."""
    entry = view.entry(missing.path)
    if entry is not None and not entry.typed:
        return "was read, but what came back could not be understood"
    if missing.objection:
        return f"was read, but {visible(missing.objection)}"
    if missing.stale is None:
        return "has not been read yet"
    if missing.stale.by is None:
        return "may have been changed by the user since it was read"
    if any(doubt.call is missing.stale.by for doubt in view.unconfirmed):
        name = missing.stale.by.name
        return f"may have been changed by {name}, whose result never came, since it was read"
    return f"was changed by {missing.stale.by.name} since it was read"


def _answer(verdict: Verdict) -> ToolReturn:
    """The answer to a rejected call. It begins with `Error`, so that a history read again is right."""
    content = f"{NOT_EXECUTED}. {verdict.objection}"
    return ToolReturn(call_id=verdict.call.id, content=content, error=True)
