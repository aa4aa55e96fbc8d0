"""What each rule did: how often it allowed, asked, rejected, failed, and its latest cases."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ledgeragent.domain import Domain
from ledgeragent.text import printable
from ledgeragent.types import Json
from ledgeragent.verdict import Enforcement, Kind

OUTCOMES = {
    Kind.VIOLATION.value: "rejected",
    Kind.EVIDENCE.value: "asked",
    Kind.ERROR.value: "failed",
    Kind.UNDECIDED.value: "undecided",
}
"""What a rule with a finding did, by the finding's kind."""

ALLOWED = "allowed"

_LATEST = 8
_LONGEST = 500
_MOST_RULES = 1_000


@dataclass(slots=True)
class RuleCount:
    """One rule's outcomes. `enforced` counts those that decided, `shadow` those that would have."""

    summary: str
    clause: str
    enforced: Counter[str] = field(default_factory=Counter)
    shadow: Counter[str] = field(default_factory=Counter)
    latest: deque[Json] = field(default_factory=lambda: deque(maxlen=_LATEST))

    def data(self, rule: str) -> Json:
        """The rule as the page has it."""
        return {
            "rule": rule,
            "summary": self.summary,
            "clause": self.clause,
            "enforced": dict(self.enforced),
            "shadow": dict(self.shadow),
            "latest": list(self.latest),
        }


class RuleTally:
    """The counts of every rule of a domain."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        clauses = {clause.id: clause.summary for clause in domain.clauses}
        self._rules = {
            rule.id: RuleCount(rule.summary, clauses.get(rule.clause, ""))
            for rule in domain.predicates
        }

    def count(self, record: Mapping[str, Json]) -> Iterator[Json]:
        """Counts the verdicts of a journal's record; each as the page has it."""
        for verdict in record["verdicts"]:
            yield self._counted(record, verdict)

    def _counted(self, record: Mapping[str, Json], verdict: Mapping[str, Json]) -> Json:
        findings = [*verdict["findings"], *verdict["shadow"]]
        tool = str(verdict["call"]["name"])
        for rule in self._silent(tool, findings):
            self._of(rule).enforced[ALLOWED] += 1
        case = {
            "time": record["time"],
            "session": record["session"],
            "tool": _clipped(tool),
            "decision": verdict["word"],
            "shadow": record["shadow"],
            "findings": [_finding(finding) for finding in findings],
        }
        for finding in findings:
            count = self._of(str(finding["predicate"]))
            decides = finding["enforcement"] == Enforcement.ENFORCE.value and not record["shadow"]
            (count.enforced if decides else count.shadow)[OUTCOMES[finding["kind"]]] += 1
            count.latest.appendleft({**case, "findings": [_finding(finding)]})
        return case

    def _silent(self, tool: str, findings: list[Json]) -> Iterator[str]:
        """The rules that were asked about a call and had nothing against it.

        While it is open whose records a call is about, only the rules that tell that are asked.
        """
        guard = self._domain.guard(tool)
        if guard is None or not guard.judged:
            return
        spoken = {finding["predicate"]: finding for finding in findings}
        if spoken.keys() - {rule.id for rule in guard.predicates} and len(spoken) == 1:
            return  # Its arguments could not be read, so that no rule was asked.
        whose = True
        for rule in guard.predicates:
            if not whose and not rule.identity:
                return
            finding = spoken.get(rule.id)
            if finding is None:
                yield rule.id
            elif rule.identity and finding["enforcement"] == Enforcement.ENFORCE.value:
                whose = False

    def _of(self, rule: str) -> RuleCount:
        if rule not in self._rules and len(self._rules) >= _MOST_RULES:
            rule = "other"
        return self._rules.setdefault(rule, RuleCount("", ""))

    def rows(self) -> list[Json]:
        """Every rule, those with most to tell first."""
        return [count.data(rule) for rule, count in sorted(self._rules.items(), key=_weight)]


def _weight(item: tuple[str, RuleCount]) -> tuple[int, str]:
    rule, count = item
    objections: Iterable[int] = (
        n for name, n in (count.enforced + count.shadow).items() if name != ALLOWED
    )
    return -sum(objections), rule


def _finding(finding: Mapping[str, Json]) -> Json:
    return {
        "rule": finding["predicate"],
        "outcome": OUTCOMES[finding["kind"]],
        "enforcement": finding["enforcement"],
        "reason": _clipped(str(finding["error"] or finding["reason"])),
    }


def _clipped(text: str) -> str:
    # What turns the reading round, or cannot be seen, would make a name look like another.
    text = printable(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
