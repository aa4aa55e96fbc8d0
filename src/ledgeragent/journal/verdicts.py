"""The gate's answers as data, and back: calls, facts, findings, verdicts. Nobody else writes them.

A journal keeps all of a finding and can be read back; rows of reports hold what people compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from ledgeragent.errors import PathError
from ledgeragent.journal.redaction import Redaction
from ledgeragent.ledger import Evidence
from ledgeragent.paths import Path
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict

NOTHING = Redaction(())
"""The redaction that leaves everything in."""


def call_json(call: ToolCall, redaction: Redaction = NOTHING) -> dict[str, Json]:
    """A call as data: `id`, `name`, `arguments`, and `malformed` where it is."""
    arguments = redaction.value(("args",), dict(call.arguments))
    data = {"id": call.id, "name": call.name, "arguments": arguments}
    return data if call.malformed is None else {**data, "malformed": redaction.text(call.malformed)}


def fact_json(fact: Evidence, redaction: Redaction = NOTHING) -> dict[str, Json]:
    """A fact as data: its `path`, of which the last segments are `fields`, `value`, `source`, `turn`."""
    return {
        "path": fact.path,
        "fields": list(fact.fields),
        "value": redaction.value((*fact.record, *fact.fields), fact.value),
        "source": fact.source.name,
        "turn": fact.turn,
    }


def plain_call(call: ToolCall) -> Json:
    """A call as reports have it: no id, and arguments that were no object as the text they were."""
    arguments = call.malformed if call.malformed is not None else dict(call.arguments)
    return {"name": call.name, "arguments": arguments}


def evidence_json(evidence: Iterable[Evidence]) -> list[Json]:
    """Facts as reports have them: each path once, with the read that supplied it and when."""
    facts = {fact.path: fact for fact in evidence}
    return [
        {"path": path, "value": fact.value, "read": plain_call(fact.source), "turn": fact.turn}
        for path, fact in facts.items()
    ]


class FindingRow(TypedDict):
    """The objection of one rule to a call. `decision` is what it asks for by itself.

    `reason` is for whoever operates the agent: of a rule that failed, what it raised.
    """

    predicate: str
    clause: str | None
    kind: str
    decision: str
    enforcement: str
    reason: str


def finding_row(finding: Finding) -> FindingRow:
    """The row of a finding, without the facts."""
    return FindingRow(
        predicate=finding.predicate,
        clause=finding.clause,
        kind=finding.kind.value,
        decision=finding.decision.name.lower(),
        enforcement=finding.enforcement.value,
        reason=finding.error or finding.reason,
    )


def verdict_row(verdict: Verdict) -> Json:
    """A verdict as runs keep it: the call, the decision, each objection, and the facts they rest on."""
    findings = (*verdict.findings, *verdict.shadow)
    return {
        "call": plain_call(verdict.call),
        "decision": verdict.decision.name,
        "findings": [finding_row(finding) for finding in findings],
        "facts": evidence_json(fact for finding in findings for fact in finding.evidence),
    }


def finding_json(finding: Finding, redaction: Redaction = NOTHING) -> dict[str, Json]:
    """A finding as data. Texts that could repeat a redacted value are left out whole."""
    return {
        **finding_row(finding),
        "decision": finding.decision.name,
        "reason": redaction.text(finding.reason),
        "public": redaction.text(str(finding.public)),
        "reads": [call_json(call, redaction) for call in finding.reads],
        "waits_for": [call_json(call, redaction) for call in finding.waits_for],
        "evidence": [fact_json(fact, redaction) for fact in finding.facts],
        "error": redaction.text(finding.error),
    }


def verdict_json(verdict: Verdict, redaction: Redaction = NOTHING) -> dict[str, Json]:
    """A verdict as data. `word` is its decision, with UNDECIDED told apart."""
    return {
        "call": call_json(verdict.call, redaction),
        "decision": verdict.decision.name,
        "word": verdict.word,
        "findings": [finding_json(finding, redaction) for finding in verdict.findings],
        "shadow": [finding_json(finding, redaction) for finding in verdict.shadow],
    }


def tool_call_of(data: Mapping[str, Json]) -> ToolCall:
    """The call for its data; ValueError if it is none, as for all that follow."""
    try:
        arguments, malformed = data["arguments"], data.get("malformed")
        if not isinstance(arguments, Mapping):  # redacted as a whole
            arguments, malformed = {}, str(arguments)
        return ToolCall(name=data["name"], arguments=arguments, id=data["id"], malformed=malformed)
    except (KeyError, TypeError, AttributeError) as problem:
        raise _unreadable("call", problem) from None


def fact_of(data: Mapping[str, Json]) -> Evidence:
    """The fact for its data. Of the call that read it only the name was written.

    Data without `fields`, which older journals have, is taken for a fact about a whole record.
    """
    try:
        fields = tuple(data.get("fields", ()))
        segments = Path.parse(data["path"])
        record: Path[Json] = Path(segments[: len(segments) - len(fields)])
        source = ToolCall(name=data["source"])
        return Evidence(record, fields, data["value"], source, data["turn"])
    except (KeyError, TypeError, AttributeError, ValueError, PathError) as problem:
        raise _unreadable("fact", problem) from None


def finding_of(data: Mapping[str, Json]) -> Finding:
    """The finding for its data. `waits_for` and `public`, which older journals lack, may be missing."""
    try:
        return Finding(
            kind=Kind(data["kind"]),
            predicate=data["predicate"],
            clause=data["clause"],
            decision=Decision[data["decision"]],
            reason=data["reason"],
            reads=tuple(map(tool_call_of, data["reads"])),
            evidence=tuple(map(fact_of, data["evidence"])),
            enforcement=Enforcement(data["enforcement"]),
            error=data["error"],
            waits_for=tuple(map(tool_call_of, data.get("waits_for", ()))),
            public=data.get("public", ""),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise _unreadable("finding", problem) from None


def verdict_of(data: Mapping[str, Json]) -> Verdict:
    """The verdict for its data, without the loop guard's note and what rules read that passed."""
    try:
        return Verdict(
            call=tool_call_of(data["call"]),
            decision=Decision[data["decision"]],
            findings=tuple(map(finding_of, data["findings"])),
            shadow=tuple(map(finding_of, data["shadow"])),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise _unreadable("verdict", problem) from None


def _unreadable(noun: str, problem: Exception) -> ValueError:
    words = f"there is no {problem}" if isinstance(problem, KeyError) else str(problem)
    return ValueError(f"this is no {noun}: {words}")
