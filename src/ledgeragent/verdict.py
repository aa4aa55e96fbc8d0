"""The gate's answer (paper §Policy Gate): a decision, the findings behind it, and the facts read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum
from functools import lru_cache
from typing import NamedTuple

from ledgeragent.ledger import Evidence
from ledgeragent.text import Sentence, visible
from ledgeragent.types import ToolCall


class Decision(IntEnum):
    """What happens to a call; the strictest of several wins."""

    ALLOW = 0
    REVISE = 1
    BLOCK = 2


_visible_name = lru_cache(1024)(visible)  # tools are few
_OUTCOMES = ("", " was not executed", " was not executed, and stays refused")
"""What has become of a call, by its decision, in words that follow its name."""


class Enforcement(Enum):
    """Whether a predicate's finding decides (`ENFORCE`), is only told (`WARN`) or only recorded."""

    ENFORCE = "enforce"
    WARN = "warn"
    AUDIT = "audit"


class Kind(Enum):
    """Why a predicate did not simply pass.

    VIOLATION: observed facts contradict the call. EVIDENCE: a record it needs was never read, was
    written since, or may be changed by a call whose result is still to come. ERROR: the predicate
    itself failed, so the call is refused. UNDECIDED: the record cannot be had (no such tool in this
    run, or the read cannot succeed), which is no violation.
    """

    VIOLATION = "violation"
    EVIDENCE = "evidence"
    ERROR = "error"
    UNDECIDED = "undecided"


class Finding(NamedTuple):
    """What one predicate has against a call.

    `reason` is for the model; the user hears `public`, where that is another text. `reads` are the
    calls that would supply missing evidence (any one of them), `waits_for` those whose results have
    to come first. `evidence` are the facts this predicate read. `error` is what a failed predicate
    raised, never shown to the model.
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
    waits_for: tuple[ToolCall, ...] = ()
    public: str | Sentence = ""

    @property
    def facts(self) -> list[Evidence]:
        """The evidence, each fact once: a rule may read one a thousand times."""
        return list({id(fact): fact for fact in self.evidence}.values())


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
    def undecided(self) -> bool:
        """True if a rule could not be decided: whatever the decision, it is no plain ALLOW."""
        return any(f.kind is Kind.UNDECIDED for f in (*self.findings, *self.shadow))

    @property
    def word(self) -> str:
        """The decision in a word, for headers, metrics and reports: UNDECIDED is told apart."""
        only_undecided = all(f.kind is Kind.UNDECIDED for f in self.findings)
        return "UNDECIDED" if self.undecided and only_undecided else self.decision.name

    @property
    def waits_for(self) -> tuple[ToolCall, ...]:
        """The calls whose results would let it be judged: () where anything else is against it."""
        if not all(f.waits_for for f in self.findings):
            return ()
        return tuple(call for f in self.findings for call in f.waits_for)

    @property
    def decisive(self) -> tuple[Finding, ...]:
        """The findings that block the call, where some do; else all of them."""
        return tuple(f for f in self.findings if f.decision is Decision.BLOCK) or self.findings

    @property
    def objection(self) -> str:
        """What is wrong, what was observed, what would be accepted; "" where nothing is said.

        A blocked call is told why, and nothing else: no read would change the answer, and no other
        argument either.
        """
        if not self.shadow and not self.note and len(self.findings) == 1:
            return self.findings[0].reason
        spoken = [*self.decisive]
        spoken += [f for f in self.shadow if f.enforcement is Enforcement.WARN]
        return "\n".join([*dict.fromkeys(f.reason for f in spoken), *filter(None, [self.note])])

    @property
    def feedback(self) -> str:
        """What the model is told of this call, by its name: that it did not run, and why."""
        objection = self.objection
        if not objection:
            return ""
        return f"{_visible_name(self.call.name)}{_OUTCOMES[self.decision]}: {objection}"
