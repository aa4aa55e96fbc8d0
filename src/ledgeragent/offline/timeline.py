"""A conversation step by step: what was said and called, what the ledger learned, what the gate answered.

Everything is ready to be shown: values are JSON text, so that no number is rounded on its way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ledgeragent.domain import Domain
from ledgeragent.ledger import Entry, Evidence, Ledger, Stale
from ledgeragent.offline.judging import JudgedCall, gate_of_records, judge
from ledgeragent.offline.traces import Trace
from ledgeragent.paths import quote
from ledgeragent.state import State
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision, Finding, Verdict

NEW, CHANGED, CONFIRMED, STALE = "new", "changed", "confirmed", "stale"
ASKED = "evidence"
_MOST_DIFFERENCES = 20


class FieldDifference(NamedTuple):
    """One field that a later read found otherwise; "" for a side on which it is absent."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A stale mark: which fields ("" for all) and by which call (None: by the customer)."""

    fields: str
    by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerChange:
    """What one step did to one record.

    `kind` is `new`, `changed` (read again, other values), `confirmed` (read again, the same) or
    `stale`. `value` is None where it is as it was before.
    """

    path: str
    kind: str
    value: str | None
    source: str
    turn: int
    typed: bool = True
    stale: tuple[Mark, ...] = ()
    differences: tuple[FieldDifference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFact:
    """A value that a rule read: its full path, and the read it came from."""

    path: str
    value: str
    source: str
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """What one rule had against a call. `enforced` is False where it changed nothing."""

    rule: str
    clause: str | None
    kind: str
    decision: str
    reason: str
    enforced: bool
    reads: tuple[str, ...] = ()
    facts: tuple[ShownFact, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """The gate's answer to one call: `allow`, `revise`, `evidence` or `block`, and why."""

    outcome: str
    executed: bool
    findings: tuple[ShownFinding, ...] = ()
    facts: tuple[ShownFact, ...] = ()
    checked: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """A call as the agent wrote it, with the answer of the gate if it was judged."""

    name: str
    arguments: str
    effect: str
    answer: ShownAnswer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineStep:
    """One message. `kind` is `user`, `agent` or `tool`; `of` is the call that a tool answered.

    `skipped` says why a return was not stored.
    """

    kind: str
    turn: int
    text: str = ""
    calls: tuple[ShownCall, ...] = ()
    of: str = ""
    failed: bool = False
    stored: tuple[str, ...] = ()
    skipped: str | None = None
    changes: tuple[LedgerChange, ...] = ()


Recorded = Sequence[Sequence[Mapping[str, Json]]]
"""The verdicts of a journal: per reply that had any, one per call."""


def timeline(trace: Trace, domain: Domain, recorded: Recorded | None = None) -> list[TimelineStep]:
    """Every message of a run with the ledger's changes and the gate's answers.

    The answers are those that a journal `recorded`, else what the gate answers now.
    """
    answers = _answers(trace, domain) if recorded is None else _as_recorded(trace, domain, recorded)
    steps: list[TimelineStep] = []
    state = State()
    for message in trace.messages:
        after = state.observe(message, domain)
        steps.append(_step(message, state, after, domain, answers))
        state = after
    return steps


def _answers(trace: Trace, domain: Domain) -> dict[int, ShownAnswer]:
    judged = judge(trace, gate_of_records(domain))
    return {id(one.call): _answer(one, domain) for one in judged}


def _as_recorded(trace: Trace, domain: Domain, recorded: Recorded) -> dict[int, ShownAnswer]:
    """A journal's verdicts, put beside the calls they were given on."""
    answers: dict[int, ShownAnswer] = {}
    returned = {m.call_id for m in trace.messages if isinstance(m, ToolReturn)}
    replies = [m for m in trace.messages if isinstance(m, Reply) and m.calls]
    for reply, verdicts in zip(replies, recorded, strict=False):
        for call, verdict in zip(reply.calls, verdicts, strict=False):
            guard = domain.guard(call.name)
            if guard is None or guard.judged:
                answers[id(call)] = _recorded_answer(verdict, call.id in returned)
    return answers


def _step(
    message: Message,
    before: State,
    after: State,
    domain: Domain,
    answers: Mapping[int, ShownAnswer],
) -> TimelineStep:
    changes = tuple(_changes(before.ledger, after.ledger))
    turn = after.ledger.turn
    match message:
        case UserMessage():
            return TimelineStep(kind="user", turn=turn, text=message.text, changes=changes)
        case Reply():
            calls = tuple(_called(call, domain, answers) for call in message.calls)
            return TimelineStep(kind="agent", turn=turn, text=message.text, calls=calls)
        case ToolReturn():
            return TimelineStep(
                kind="tool",
                turn=turn,
                text=message.content
                if isinstance(message.content, str)
                else shown(message.content),
                of=_answered(before, after),
                failed=message.failed,
                stored=tuple(map(str, after.last.stored)) if after.last else (),
                skipped=after.last.skipped if after.last else None,
                changes=changes,
            )


def _called(call: ToolCall, domain: Domain, answers: Mapping[int, ShownAnswer]) -> ShownCall:
    return ShownCall(
        name=call.name,
        arguments=shown(call.arguments) if call.malformed is None else call.malformed,
        effect=domain.effect(call.name).value if domain.guard(call.name) else "unknown",
        answer=answers.get(id(call)),
    )


def _answered(before: State, after: State) -> str:
    still_open = {id(call) for call in after.pending}
    return next((str(call) for call in before.pending if id(call) not in still_open), "")


def _changes(before: Ledger, after: Ledger) -> Iterator[LedgerChange]:
    for entry in after:
        known = before.get(entry.path)
        if known is not entry:
            yield _change(known, entry)


def _change(known: Entry | None, entry: Entry) -> LedgerChange:
    differences = () if known is None else tuple(differing(known.value, entry.value))
    if known is None:
        kind = NEW
    elif differences:
        kind = CHANGED
    else:
        kind = STALE if len(entry.stale) > len(known.stale) else CONFIRMED
    return LedgerChange(
        path=str(entry.path),
        kind=kind,
        value=shown(entry.value) if kind in (NEW, CHANGED) else None,
        source=str(entry.source),
        turn=entry.turn,
        typed=entry.typed,
        stale=tuple(dict.fromkeys(map(_mark, entry.stale))),
        differences=differences[:_MOST_DIFFERENCES],
    )


def _mark(stale: Stale) -> Mark:
    return Mark(fields=_dotted(stale.fields), by=stale.by.name if stale.by is not None else None)


def differing(before: Json, after: Json, at: tuple[str, ...] = ()) -> Iterator[FieldDifference]:
    """Every field in which two values differ, objects compared field by field."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            here = (*at, str(name))
            if name not in after:
                yield FieldDifference(_dotted(here), shown(before[name]), "")
            elif name not in before:
                yield FieldDifference(_dotted(here), "", shown(after[name]))
            else:
                yield from differing(before[name], after[name], here)
    elif before != after:
        yield FieldDifference(_dotted(at), shown(before), shown(after))


def _dotted(names: Iterable[str]) -> str:
    return ".".join(map(quote, names))


def shown(value: Json) -> str:
    """A value as indented JSON text."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _answer(judged: JudgedCall, domain: Domain) -> ShownAnswer:
    verdict = judged.verdict
    guard = domain.guard(judged.call.name)
    return ShownAnswer(
        outcome=_outcome(verdict),
        executed=judged.executed,
        findings=(
            *(_found(finding, enforced=True) for finding in verdict.findings),
            *(_found(finding, enforced=False) for finding in verdict.shadow),
        ),
        facts=_facts(verdict.evidence),
        checked=tuple(rule.id for rule in guard.predicates) if guard is not None else (),
        note=verdict.note,
    )


def _outcome(verdict: Verdict) -> str:
    asked = verdict.decision is Decision.REVISE and not verdict.violations
    return ASKED if asked else verdict.decision.name.lower()


def _found(finding: Finding, *, enforced: bool) -> ShownFinding:
    return ShownFinding(
        rule=finding.predicate,
        clause=finding.clause,
        kind=finding.kind.value,
        decision=finding.decision.name.lower(),
        reason=finding.reason,
        enforced=enforced,
        reads=tuple(map(str, finding.reads)),
        facts=_facts(finding.evidence),
        error=finding.error,
    )


def _facts(evidence: Iterable[Evidence]) -> tuple[ShownFact, ...]:
    return tuple({fact.path: _fact(fact) for fact in evidence}.values())


def _fact(evidence: Evidence) -> ShownFact:
    return ShownFact(
        path=evidence.path,
        value=shown(evidence.value),
        source=str(evidence.source),
        turn=evidence.turn,
    )


def _recorded_answer(verdict: Mapping[str, Json], executed: bool) -> ShownAnswer:
    findings = tuple(
        _recorded_finding(finding, enforced=part == "findings")
        for part in ("findings", "shadow")
        for finding in verdict[part]
    )
    decision = verdict["decision"].lower()
    kinds = {finding.kind for finding in findings if finding.enforced}
    asked = decision == "revise" and kinds == {ASKED}
    return ShownAnswer(outcome=ASKED if asked else decision, executed=executed, findings=findings)


def _recorded_finding(finding: Mapping[str, Json], *, enforced: bool) -> ShownFinding:
    return ShownFinding(
        rule=finding["predicate"],
        clause=finding["clause"],
        kind=finding["kind"],
        decision=finding["decision"].lower(),
        reason=finding["reason"],
        enforced=enforced,
        reads=tuple(
            str(ToolCall(name=c["name"], arguments=c["arguments"])) for c in finding["reads"]
        ),
        facts=tuple({f["path"]: _recorded_fact(f) for f in finding["evidence"]}.values()),
        error=finding["error"],
    )


def _recorded_fact(fact: Mapping[str, Json]) -> ShownFact:
    return ShownFact(
        path=fact["path"],
        value=shown(fact["value"]),
        source=fact["source"],
        turn=fact["turn"],
    )
