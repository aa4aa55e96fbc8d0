"""The explanation of a judged call of a recorded run, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledgeragent.journal.verdicts import evidence_json, plain_call
from ledgeragent.ledger import Entry, Stale
from ledgeragent.offline.explain import CallExplained, RuleRun
from ledgeragent.offline.judging import JudgedCall
from ledgeragent.offline.rows import run_row
from ledgeragent.render import line_of
from ledgeragent.report.explanation import run_json, run_line
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


def call_text(explanation: CallExplained) -> str:
    """The conversation in brief, the ledger, and what every rule read and said."""
    entries = sorted(explanation.this.ledger, key=lambda entry: entry.path)
    return joined(
        [
            [
                _head(explanation),
                f"  {call_line(plain_call(explanation.this.call))}",
                *_verdict(explanation.this),
            ],
            ["Conversation", *_conversation(explanation)],
            listed("Ledger", map(_entry, entries)) or ["Ledger: nothing was observed yet"],
            listed("Rules that ran", map(_rule_run, explanation.runs)),
        ]
    )


def call_json_report(explanation: CallExplained) -> str:
    """The same as one JSON object."""
    this = explanation.this
    return dump(
        {
            **run_row(explanation.trace),
            "domain": explanation.domain.name,
            "version": explanation.domain.version,
            "judged": this.number,
            "call": plain_call(this.call),
            "executed": this.executed,
            "outcome": this.outcome,
            "feedback": this.verdict.feedback,
            "conversation": [
                _message_json(m) for m in explanation.trace.messages[: this.message + 1]
            ],
            "ledger": [_entry_json(entry) for entry in sorted(this.ledger, key=lambda e: e.path)],
            "rules": [
                {
                    "rule": run.rule.id,
                    "clause": run.rule.clause,
                    "enforcement": run.rule.enforcement.value,
                    **run_json(run),
                }
                for run in explanation.runs
            ],
        }
    )


def _head(explanation: CallExplained) -> str:
    this, trace = explanation.this, explanation.trace
    task = f", task {shorten(trace.task_id)}" if trace.task_id is not None else ""
    reward = f", reward {trace.reward:g}" if trace.reward is not None else ""
    pack = f"{explanation.domain.name} {explanation.domain.version}"
    return (
        f"Judged call {this.number} of run {shorten(trace.run, SENTENCE)}{task}{reward}, by {pack}"
    )


def _verdict(this: JudgedCall) -> Iterator[str]:
    executed = "it executed" if this.executed else "it did not execute"
    yield f"  {this.outcome}; in the recorded run {executed}"
    yield from (f"  {shorten(line, SENTENCE)}" for line in this.verdict.feedback.splitlines())


def _conversation(explanation: CallExplained) -> Iterator[str]:
    """Every message up to the call on a line or two, judged calls with their numbers."""
    judgements = {id(one.call): one for one in explanation.judged}
    for message in explanation.trace.messages[: explanation.this.message + 1]:
        yield from _message_lines(message, judgements)


def _message_lines(message: Message, judgements: dict[int, JudgedCall]) -> Iterator[str]:
    match message:
        case UserMessage(text=text):
            yield f"  user: {shorten(text)}"
        case Reply(text=text, calls=calls):
            if text:
                yield f"  agent: {shorten(text)}"
            yield from (f"  agent calls {_called(call, judgements)}" for call in calls)
        case ToolReturn(content=content):
            failed = " (failed)" if message.failed else ""
            yield f"  tool{failed}: {shorten(str(content))}"


def _called(call: ToolCall, judgements: dict[int, JudgedCall]) -> str:
    one = judgements.get(id(call))
    verdict = f"  [judged {one.number}: {one.outcome}]" if one is not None else ""
    return f"{shorten(str(call))}{verdict}"


def _entry(entry: Entry) -> str:
    source = shorten(str(entry.source), SENTENCE)
    return f"  {shorten(line_of(entry), RECORD)}\n    from {source}, turn {entry.turn}"


def _rule_run(run: RuleRun) -> str:
    lines = [
        f"  {run.rule.id}{mark(run.rule.enforcement.value)}: {run_line(run)}",
        *(f"    read {line}" for line in fact_lines(evidence_json(run.evidence), turns=True)),
    ]
    return "\n".join(lines)


def _message_json(message: Message) -> Json:
    match message:
        case UserMessage(text=text):
            return {"role": "user", "text": text}
        case Reply(text=text, calls=calls):
            return {"role": "agent", "text": text, "calls": [plain_call(call) for call in calls]}
        case ToolReturn(content=content):
            return {"role": "tool", "content": content, "failed": message.failed}


def _entry_json(entry: Entry) -> Json:
    return {
        "path": str(entry.path),
        "value": entry.value,
        "read": plain_call(entry.source),
        "turn": entry.turn,
        "stale": list(_marks(entry.stale)),
    }


def _marks(stale: Iterable[Stale]) -> Iterator[Json]:
    """Which fields are stale (all of it: "") and by which write; null for the customer."""
    for one in stale:
        by = plain_call(one.by) if one.by is not None else None
        yield {"fields": ".".join(one.fields), "by": by}
