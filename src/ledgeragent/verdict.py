"""The gate's answer (paper §Policy Gate): a decision, the findings behind it, and the facts read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum
from typing import NamedTuple

from ledgeragent.ledger import Evidence
from ledgeragent.types import ToolCall


class Decision(IntEnum):
    """What happens to a call; the strictest of several wins."""

    ALLOW = 0
    REVISE = 1
    BLOCK = 2


class Enforcement(Enum):
    """Whether a predicate's finding decides (`ENFORCE`), is only told (`WARN`) or only recorded."""

    ENFORCE = "enforce"
    WARN = "warn"
    AUDIT = "audit"


class Kind(Enum):
    """Why a predicate did not simply pass.

    VIOLATION: observed facts contradict the call. EVIDENCE: a record it needs was never read, or
    was written since. ERROR: the predicate itself failed, so the call is refused. UNDECIDED: the
    record cannot be had (no such tool in this run, or the read cannot succeed), which is no violation.
    """

    VIOLATION = "violation"
    EVIDENCE = "evidence"
    ERROR = "error"
    UNDECIDED = "undecided"


class Finding(NamedTuple):
    """What one predicate has against a call.

    `reason` is for the model and may be shown to a customer. `reads` are the calls that would
    supply missing evidence (any one of them). `evidence` are the facts this predicate read.
    `error` is what a failed predicate raised, never shown to the model.
    """

    kind: Kind
    predicate: str
    clause: str | None
    decision: Decision
    reason: str
    reads: tuple[ToolCall, ...] = ()
    evidence: Sequence[Evidence] = ()
    enforcement: Enforcement = Enforcement.ENFORCE
    error: str | None = None


class Verdict(NamedTuple):
    """The answer for one call, with every fact that any predicate read for it (`evidence`).

    `findings` decided it; `shadow` ones are from rules that are not enforced, or undecided. `note`
    is the loop guard's remark on a call that was rejected before.
    """

    call: ToolCall
    decision: Decision
    findings: tuple[Finding, ...] = ()
    shadow: tuple[Finding, ...] = ()
    evidence: Sequence[Evidence] = ()
    note: str = ""

    @property
    def allowed(self) -> bool:
        """True if the call may execute."""
        return self.decision is Decision.ALLOW

    @property
    def violations(self) -> tuple[Finding, ...]:
        """Findings in which observed facts contradict the call."""
        return tuple(f for f in self.findings if f.kind is Kind.VIOLATION)

    @property
    def missing(self) -> tuple[Finding, ...]:
        """Findings that ask for evidence."""
        return tuple(f for f in self.findings if f.kind is Kind.EVIDENCE)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Predicates that failed; the call was refused for it."""
        return tuple(f for f in self.findings if f.kind is Kind.ERROR)

    @property
    def feedback(self) -> str:
        """What the model is told: what is wrong, what was observed, what would be accepted.

        A blocked call is not followed by requests for evidence: no read would change the answer.
        """
        if not self.shadow and not self.note and len(self.findings) == 1:
            return self.findings[0].reason
        blocked = any(f.decision is Decision.BLOCK for f in self.findings)
        told = [f for f in self.findings if f.kind is not Kind.EVIDENCE or not blocked]
        told += [f for f in self.shadow if f.enforcement is Enforcement.WARN]
        return "\n".join([*dict.fromkeys(f.reason for f in told), *filter(None, [self.note])])
