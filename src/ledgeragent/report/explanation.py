"""Explanations of a rule and of a judged call, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledgeragent.effects import Effect
from ledgeragent.ledger import Entry, Stale
from ledgeragent.offline.explain import CallExplained, Reading, RuleExplained, RuleRun, SampleRun
from ledgeragent.offline.gatechecks import GateCheck, gate_samples
from ledgeragent.offline.judging import JudgedCall
from ledgeragent.offline.rows import call_json, evidence_json, run_row
from ledgeragent.render import line_of
from ledgeragent.report.parts import (
    RECORD,
    SENTENCE,
    call_line,
    dump,
    fact_lines,
    joined,
    listed,
    mark,
    shorten,
)
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Enforcement

_LEVELS = {
    Enforcement.ENFORCE: "enforced",
    Enforcement.WARN: "warn: the model is told, nothing is stopped",
    Enforcement.AUDIT: "audit: recorded, nothing is stopped",
}


# ── A rule ──────────────────────────────────────────────────────────────────────────────────────


def rule_text(found: RuleExplained) -> str:
    """What a rule decides and reads, with its samples."""
    rule, clause = found.rule, found.clause
    known = [
        ("clause", rule.clause if clause is None else f"{clause.id} ({clause.section})"),
        *([("", clause.summary)] if clause is not None else []),
        ("guards", ", ".join(map(_tool, found.guards))),
        ("verdict", f"{rule.decision.name.lower()}, {_LEVELS[rule.enforcement]}"),
        ("versions", f"{found.domain.name} {', '.join(found.versions)}"),
    ]
    return joined(
        [
            [f"{rule.id}{mark(rule.enforcement.value)}", *found.about.splitlines()],
            [f"{name:<10}{text}" for name, text in known],
            listed("Evidence it reads, as its samples show", map(_reading, found.readings)),
            listed("Samples", map(_sample, found.samples)),
        ]
    )


def rule_json(found: RuleExplained) -> str:
    """The same as one JSON object."""
    rule, clause = found.rule, found.clause
    return dump(
        {
            "rule": rule.id,
            "domain": found.domain.name,
            "versions": found.versions,
            "about": found.about,
            "clause": {
                "id": rule.clause,
                "section": clause.section if clause else None,
                "summary": clause.summary if clause else None,
                "checkable": clause.checkable if clause else None,
                "why": clause.why if clause else None,
            },
            "guards": [{"tool": tool, "effect": effect.value} for tool, effect in found.guards],
            "decision": rule.decision.name.lower(),
            "enforcement": rule.enforcement.value,
            "reads": [
                {"path": r.family, "fields": r.fields, "tools": r.tools} for r in found.readings
            ],
            "samples": [
                {
                    "side": sample.outcome.sample.side,
                    "call": call_json(sample.outcome.sample.call),
                    "passed": sample.outcome.passed,
                    "problem": sample.outcome.problem,
                    **_run_json(sample.alone),
                }
                for sample in found.samples
            ],
        }
    )


def _tool(guarded: tuple[str, Effect]) -> str:
    tool, effect = guarded
    return tool if effect is Effect.WRITE else f"{tool} ({effect.value})"


def _reading(reading: Reading) -> str:
    fields = ", ".join(name or "its value" for name in reading.fields) or "asked for"
    return f"  {reading.family}: {fields}; from {' or '.join(reading.tools)}"


def _sample(sample: SampleRun) -> str:
    side, call = sample.outcome.sample.side, call_json(sample.outcome.sample.call)
    lines = [f"  {side:<9}{call_line(call)}", f"           {_said(sample.alone)}"]
    if not sample.outcome.passed:
        lines.append(f"           NOT AS EXPECTED: {shorten(sample.outcome.problem, SENTENCE)}")
    return "\n".join(lines)


def _said(run: RuleRun) -> str:
    finding = run.finding
    if finding is None:
        return run.outcome
    told = finding.error or finding.reason
    return f"{run.outcome}, {finding.decision.name.lower()}: {shorten(told, SENTENCE)}"


def _run_json(run: RuleRun) -> dict[str, Json]:
    finding = run.finding
    return {
        "outcome": run.outcome,
        "decision": finding.decision.name.lower() if finding else "allow",
        "reason": finding.reason if finding else "",
        "error": finding.error if finding else None,
        "reads": [call_json(read) for read in finding.reads] if finding else [],
        "evidence": evidence_json(run.evidence),
    }


# ── A check of the gate ─────────────────────────────────────────────────────────────────────────


def check_text(check: GateCheck) -> str:
    """What the gate itself checks, when it answers, and what it would accept."""
    known = [
        ("checks", "the gate itself, in every pack"),
        ("judges", check.judges),
        ("answers", f"where {check.answers}"),
        ("accepts", check.accepts),
        ("verdict", f"{check.decision.name.lower()}, {_LEVELS[check.enforcement]}"),
    ]
    samples = (
        f"  {side:<9}{call_line(call_json(call))}\n           {_problem(side, run) or _said(run)}"
        for side, call, run in _check_runs(check)
    )
    return joined(
        [
            [check.id, check.about],
            [f"{name:<10}{text}" for name, text in known],
            listed("Samples", samples),
        ]
    )


def check_json(check: GateCheck) -> str:
    """The same as one JSON object, with the keys that a rule has."""
    return dump(
        {
            "rule": check.id,
            "domain": None,
            "versions": [],
            "about": check.about,
            "clause": None,
            "guards": [],
            "judges": check.judges,
            "answers": check.answers,
            "accepts": check.accepts,
            "decision": check.decision.name.lower(),
            "enforcement": check.enforcement.value,
            "reads": [],
            "samples": [
                {
                    "side": side,
                    "call": call_json(call),
                    "passed": (problem := _problem(side, run)) == "",
                    "problem": problem,
                    **_run_json(run),
                }
                for side, call, run in _check_runs(check)
            ],
        }
    )


def _problem(side: str, run: RuleRun) -> str:
    """What is wrong with a sample of the gate's own, "" if it is as it says."""
    if (run.finding is not None) == (side == "rejected"):
        return ""
    return "NOT AS EXPECTED: the gate " + ("rejects it" if run.finding else "does not reject it")


def _check_runs(check: GateCheck) -> Iterator[tuple[str, ToolCall, RuleRun]]:
    for side, call, finding in gate_samples(check):
        yield side, call, RuleRun(rule=check, finding=finding, evidence=())


# ── A judged call ───────────────────────────────────────────────────────────────────────────────


def call_text(found: CallExplained) -> str:
    """The conversation in brief, the ledger, and what every rule read and said."""
    entries = sorted(found.this.ledger, key=lambda entry: entry.path)
    return joined(
        [
            [_head(found), f"  {call_line(call_json(found.this.call))}", *_verdict(found.this)],
            ["Conversation", *_conversation(found)],
            listed("Ledger", map(_entry, entries)) or ["Ledger: nothing was observed yet"],
            listed("Rules that ran", map(_rule_run, found.runs)),
        ]
    )


def call_json_report(found: CallExplained) -> str:
    """The same as one JSON object."""
    this = found.this
    return dump(
        {
            **run_row(found.trace),
            "domain": found.domain.name,
            "version": found.domain.version,
            "judged": this.number,
            "call": call_json(this.call),
            "executed": this.executed,
            "outcome": this.outcome,
            "feedback": this.verdict.feedback,
            "conversation": [_message_json(m) for m in found.trace.messages[: this.message + 1]],
            "ledger": [_entry_json(entry) for entry in sorted(this.ledger, key=lambda e: e.path)],
            "rules": [
                {
                    "rule": run.rule.id,
                    "clause": run.rule.clause,
                    "enforcement": run.rule.enforcement.value,
                    **_run_json(run),
                }
                for run in found.runs
            ],
        }
    )


def _head(found: CallExplained) -> str:
    this, trace = found.this, found.trace
    task = f", task {shorten(trace.task_id)}" if trace.task_id is not None else ""
    reward = f", reward {trace.reward:g}" if trace.reward is not None else ""
    pack = f"{found.domain.name} {found.domain.version}"
    return (
        f"Judged call {this.number} of run {shorten(trace.run, SENTENCE)}{task}{reward}, by {pack}"
    )


def _verdict(this: JudgedCall) -> Iterator[str]:
    executed = "it executed" if this.executed else "it did not execute"
    yield f"  {this.outcome}; in the recorded run {executed}"
    yield from (f"  {shorten(line, SENTENCE)}" for line in this.verdict.feedback.splitlines())


def _conversation(found: CallExplained) -> Iterator[str]:
    """Every message up to the call on a line or two, judged calls with their numbers."""
    judged = {id(one.call): one for one in found.judged}
    for message in found.trace.messages[: found.this.message + 1]:
        yield from _message_lines(message, judged)


def _message_lines(message: Message, judged: dict[int, JudgedCall]) -> Iterator[str]:
    match message:
        case UserMessage(text=text):
            yield f"  user: {shorten(text)}"
        case Reply(text=text, calls=calls):
            if text:
                yield f"  agent: {shorten(text)}"
            yield from (f"  agent calls {_called(call, judged)}" for call in calls)
        case ToolReturn(content=content):
            failed = " (failed)" if message.failed else ""
            yield f"  tool{failed}: {shorten(str(content))}"


def _called(call: ToolCall, judged: dict[int, JudgedCall]) -> str:
    one = judged.get(id(call))
    verdict = f"  [judged {one.number}: {one.outcome}]" if one is not None else ""
    return f"{shorten(str(call))}{verdict}"


def _entry(entry: Entry) -> str:
    source = shorten(str(entry.source), SENTENCE)
    return f"  {shorten(line_of(entry), RECORD)}\n    from {source}, turn {entry.turn}"


def _rule_run(run: RuleRun) -> str:
    lines = [
        f"  {run.rule.id}{mark(run.rule.enforcement.value)}: {_said(run)}",
        *(f"    read {line}" for line in fact_lines(evidence_json(run.evidence), turns=True)),
    ]
    return "\n".join(lines)


def _message_json(message: Message) -> Json:
    match message:
        case UserMessage(text=text):
            return {"role": "user", "text": text}
        case Reply(text=text, calls=calls):
            return {"role": "agent", "text": text, "calls": [call_json(call) for call in calls]}
        case ToolReturn(content=content):
            return {"role": "tool", "content": content, "failed": message.failed}


def _entry_json(entry: Entry) -> Json:
    return {
        "path": str(entry.path),
        "value": entry.value,
        "read": call_json(entry.source),
        "turn": entry.turn,
        "stale": list(_marks(entry.stale)),
    }


def _marks(stale: Iterable[Stale]) -> Iterator[Json]:
    """Which fields are stale (all of it: "") and by which write; null for the customer."""
    for found in stale:
        by = call_json(found.by) if found.by is not None else None
        yield {"fields": ".".join(found.fields), "by": by}
