"""The policy gate (paper §Policy Gate): judges each call, filters a reply, never repairs anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ledgeragent.domain import Domain, Guard
from ledgeragent.ledger import Entry, Evidence, Ledger
from ledgeragent.paths import quote, visible
from ledgeragent.predicates import MissingEvidence, Predicate, StalePolicy, View, violation
from ledgeragent.shapes import ShapeError
from ledgeragent.types import Arguments, Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict

Delivery = Literal["drop", "tool_result"]
"""`drop`: a rejected call leaves the message (the paper). `tool_result`: it is answered with the
feedback, as chat APIs require of every call id. The verdicts are the same."""

# Made once a decision: a named tuple's own constructor, or a look at an enum, costs as much as a rule.
_new = tuple.__new__
_ALLOW, _ENFORCE, _VIOLATION = Decision.ALLOW, Enforcement.ENFORCE, Kind.VIOLATION

MALFORMED = "gate/arguments"
UNKNOWN_ARGUMENT = "gate/unknown-argument"
UNKNOWN_TOOL = "gate/unknown-tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections:
    """The loop guard's memory: how often each intent was rejected by each predicate."""

    counts: Mapping[tuple[str, str, str], int] = field(default_factory=dict)

    def of(self, verdict: Verdict) -> int:
        """How often this very rejection was given before."""
        keys = _rejection_keys(verdict)
        return max((self.counts.get(key, 0) for key in keys), default=0)

    def add(self, verdict: Verdict) -> Rejections:
        """This memory with one more rejection."""
        keys = _rejection_keys(verdict)
        return Rejections(counts={**self.counts, **{k: self.counts.get(k, 0) + 1 for k in keys}})


def _rejection_keys(verdict: Verdict) -> list[tuple[str, str, str]]:
    return [(*verdict.call.intent, finding.predicate) for finding in verdict.findings]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Judges calls of one domain.

    `budget` is how many times one intent may be rejected for the same reason before it is blocked.
    `unknown` answers tools that the domain does not list; one that it allows is taken to change none
    of the records, so list a tool that does.
    """

    domain: Domain
    stale: StalePolicy = "unknown"
    budget: int = 3
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
        view = View(ledger, self.domain.parameters, self.stale)
        evidence = view.evidence
        findings: list[Finding] = []
        if guard.takes is not None and not guard.takes.issuperset(call.arguments):
            findings.append(_unknown_arguments(guard.takes, call))
        for rule in guard.predicates:
            first = len(evidence)
            try:
                try:
                    broken = rule.check(arguments, view)
                except MissingEvidence as missing:
                    findings.append(self._ask(rule, missing, view, evidence[first:]))
                    continue
                if broken is not None:
                    found = evidence[first:]
                    findings.append(_against(rule, found, _VIOLATION, rule.decision, broken.reason))
            except (Exception, SystemExit) as error:
                findings.append(_failed(rule, error, evidence[first:]))
        return _verdict(call, findings, evidence)

    def _ask(
        self, rule: Predicate, missing: MissingEvidence, view: View, evidence: list[Evidence]
    ) -> Finding:
        candidates = missing.reads or self.domain.reads_for(missing.path)
        reads = tuple(
            r for r in candidates if self.domain.has(r.name) and view.unavailable(r) is None
        )
        reason = _request(missing, view.entry(missing.path), reads)
        if reads:
            asked = _against(rule, evidence, Kind.EVIDENCE, Decision.REVISE, reason)
            return asked._replace(reads=reads)
        undecided = _against(rule, evidence, Kind.UNDECIDED, Decision.ALLOW, reason)
        return undecided._replace(enforcement=Enforcement.AUDIT)

    def filter(
        self,
        reply: Reply,
        ledger: Ledger,
        rejections: Rejections | None = None,
        delivery: Delivery = "drop",
    ) -> Filtered:
        """The reply with every call judged independently, all on this one ledger snapshot."""
        memory = rejections or Rejections()
        verdicts: list[Verdict] = []
        for call in reply.calls:
            verdict = self.judge(call, ledger)
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
        """A firmer answer to an intent rejected before; past the budget, BLOCK."""
        if times == 0:
            return verdict
        if times < self.budget:
            note = "this same call was rejected before; repeating it unchanged will not succeed"
            return verdict._replace(note=note)
        note = "this same call was rejected too often; it stays refused as long as nothing changes"
        return verdict._replace(decision=Decision.BLOCK, note=note)


def _read_arguments(guard: Guard, call: ToolCall) -> Arguments | Finding:
    if call.malformed is not None:
        reason = f"the arguments of {call.name} are not a JSON object; send them as one"
        return _unusable(MALFORMED, Decision.REVISE, reason)
    if guard.read_arguments is None:
        return call.arguments
    try:
        read: Arguments = guard.read_arguments(call.arguments, "")
    except ShapeError as problem:
        reason = f"the arguments of {call.name} cannot be used: {visible(str(problem))}"
        return _unusable(MALFORMED, Decision.REVISE, reason)
    return read


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


def _against(
    rule: Predicate, evidence: list[Evidence], kind: Kind, decision: Decision, reason: str
) -> Finding:
    told = (kind, rule.id, rule.clause, decision, reason, (), evidence, rule.enforcement, None)
    return _new(Finding, told)


def _failed(rule: Predicate, error: BaseException, evidence: list[Evidence]) -> Finding:
    reason = "this action could not be checked against the policy, so it was not done"
    failed = _against(rule, evidence, Kind.ERROR, Decision.BLOCK, reason)
    try:
        told = str(error)
    except Exception:  # pack code may raise anything, even what has no text
        told = "it has no text"
    return failed._replace(error=f"{type(error).__name__}: {told}")


def _unusable(id: str, decision: Decision, reason: str) -> Finding:
    return Finding(kind=Kind.VIOLATION, predicate=id, clause=None, decision=decision, reason=reason)


def _request(missing: MissingEvidence, entry: Entry | None, reads: tuple[ToolCall, ...]) -> str:
    subject = ".".join((str(missing.path), *map(quote, missing.fields)))
    if not reads:
        return f"{subject} is needed to decide this, and no tool here can supply it"
    calls = " or ".join(visible(str(read)) for read in reads)
    if entry is not None and not entry.typed:
        state = "was read, but what came back could not be understood"
    elif missing.stale is None:
        state = "has not been read yet"
    elif missing.stale.by is None:
        state = "may have been changed by the customer since it was read"
    else:
        state = f"was changed by {missing.stale.by.name} since it was read"
    return f"{subject} {state}; call {calls} first"


def _answer(verdict: Verdict) -> ToolReturn:
    return ToolReturn(call_id=verdict.call.id, content=verdict.feedback, error=True)
