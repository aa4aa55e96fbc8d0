"""Explanations of a rule, and of a check of the gate, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator

from ledgeragent.effects import Effect
from ledgeragent.journal.verdicts import evidence_json, finding_row, plain_call
from ledgeragent.offline.explain import Reading, RuleExplained, RuleRun, SampleRun
from ledgeragent.offline.gatechecks import GateCheck, gate_samples
from ledgeragent.offline.wording import WrittenPart
from ledgeragent.report.parts import (
    SENTENCE,
    call_line,
    dump,
    joined,
    listed,
    mark,
    shorten,
)
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Enforcement

_LEVELS = {
    Enforcement.ENFORCE: "enforced",
    Enforcement.WARN: "warn: the model is told, nothing is stopped",
    Enforcement.AUDIT: "audit: recorded, nothing is stopped",
}


# ── A rule ──────────────────────────────────────────────────────────────────────────────────────


def rule_text(explanation: RuleExplained) -> str:
    """The rule: what it decides and reads, with its samples."""
    rule, clause = explanation.rule, explanation.clause
    facts = [
        ("clause", rule.clause if clause is None else f"{clause.id} ({clause.section})"),
        *([("", clause.summary)] if clause is not None else []),
        ("guards", ", ".join(map(_tool, explanation.guards))),
        ("verdict", f"{rule.decision.name.lower()}, {_LEVELS[rule.enforcement]}"),
        ("versions", f"{explanation.domain.name} {', '.join(explanation.versions)}"),
    ]
    return joined(
        [
            [f"{rule.id}{mark(rule.enforcement.value)}", *explanation.about.splitlines()],
            [f"{name:<10}{text}" for name, text in facts],
            listed("As it is written", map(_written, explanation.written)),
            listed("Evidence it reads, as its samples show", map(_reading, explanation.readings)),
            listed("Samples", map(_sample, explanation.samples)),
        ]
    )


def rule_json(explanation: RuleExplained) -> str:
    """The same as one JSON object."""
    rule, clause = explanation.rule, explanation.clause
    return dump(
        {
            "rule": rule.id,
            "domain": explanation.domain.name,
            "versions": explanation.versions,
            "about": explanation.about,
            "clause": {
                "id": rule.clause,
                "section": clause.section if clause else None,
                "summary": clause.summary if clause else None,
                "checkable": clause.checkable if clause else None,
                "why": clause.why if clause else None,
            },
            "guards": [
                {"tool": tool, "effect": effect.value} for tool, effect in explanation.guards
            ],
            "decision": rule.decision.name.lower(),
            "enforcement": rule.enforcement.value,
            "written": [part._asdict() for part in explanation.written],
            "reads": [
                {"path": r.family, "fields": r.fields, "tools": r.tools}
                for r in explanation.readings
            ],
            "samples": [
                {
                    "side": sample.outcome.sample.side,
                    "call": plain_call(sample.outcome.sample.call),
                    "passed": sample.outcome.passed,
                    "problem": sample.outcome.problem,
                    **run_json(sample.alone),
                }
                for sample in explanation.samples
            ],
        }
    )


def _tool(guarded: tuple[str, Effect]) -> str:
    tool, effect = guarded
    return tool if effect is Effect.WRITE else f"{tool} ({effect.value})"


def _written(part: WrittenPart) -> str:
    lines = part.text.splitlines()
    place = f"  {part.file}:{part.line}: {part.part}"
    return "\n".join([place, *(f"    {line}" for line in lines)])


def _reading(reading: Reading) -> str:
    fields = ", ".join(name or "its value" for name in reading.fields) or "asked for"
    return f"  {reading.family}: {fields}; from {' or '.join(reading.tools)}"


def _sample(sample: SampleRun) -> str:
    side, call = sample.outcome.sample.side, plain_call(sample.outcome.sample.call)
    lines = [f"  {side:<9}{call_line(call)}", f"           {run_line(sample.alone)}"]
    if not sample.outcome.passed:
        lines.append(f"           NOT AS EXPECTED: {shorten(sample.outcome.problem, SENTENCE)}")
    return "\n".join(lines)


def run_line(run: RuleRun) -> str:
    """The outcome of a rule on a call, with its reason, on a line."""
    finding = run.finding
    if finding is None:
        return run.outcome
    reason = finding.error or finding.reason
    return f"{run.outcome}, {finding.decision.name.lower()}: {shorten(reason, SENTENCE)}"


def run_json(run: RuleRun) -> dict[str, Json]:
    """The outcome of a rule on a call, with the reads it asked for and the facts it read."""
    finding = run.finding
    return {
        "outcome": run.outcome,
        "decision": finding_row(finding)["decision"] if finding else "allow",
        "reason": finding.reason if finding else "",
        "error": finding.error if finding else None,
        "reads": [plain_call(call) for call in finding.reads] if finding else [],
        "evidence": evidence_json(run.evidence),
    }


# ── A check of the gate ─────────────────────────────────────────────────────────────────────────


def check_text(check: GateCheck) -> str:
    """The check: what it judges, when it answers, and what it would accept."""
    facts = [
        ("checks", "the gate itself, in every pack"),
        ("judges", check.judges),
        ("answers", f"where {check.answers}"),
        ("accepts", check.accepts),
        ("verdict", f"{check.decision.name.lower()}, {_LEVELS[check.enforcement]}"),
    ]
    samples = (
        f"  {side:<9}{call_line(plain_call(call))}\n           {_problem(side, run) or run_line(run)}"
        for side, call, run in _check_runs(check)
    )
    return joined(
        [
            [check.id, check.about],
            [f"{name:<10}{text}" for name, text in facts],
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
            "written": [],
            "reads": [],
            "samples": [
                {
                    "side": side,
                    "call": plain_call(call),
                    "passed": (problem := _problem(side, run)) == "",
                    "problem": problem,
                    **run_json(run),
                }
                for side, call, run in _check_runs(check)
            ],
        }
    )


def _problem(side: str, run: RuleRun) -> str:
    """The fault of a sample of the gate's own, "" if it is as it says."""
    if (run.finding is not None) == (side == "rejected"):
        return ""
    return "NOT AS EXPECTED: the gate " + ("rejects it" if run.finding else "does not reject it")


def _check_runs(check: GateCheck) -> Iterator[tuple[str, ToolCall, RuleRun]]:
    for side, call, finding in gate_samples(check):
        yield side, call, RuleRun(rule=check, finding=finding, evidence=())
