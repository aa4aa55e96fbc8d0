"""A conversation step by step: what was said and called, what the ledger learned, what the gate answered.

Everything is ready to be shown: values are JSON text, so that no number is rounded on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ledgeragent.domain import Domain
from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.offline.changes import LedgerChange, changes, shown
from ledgeragent.offline.judging import Transition, follow, gate_of_records, judge_followed
from ledgeragent.offline.shown import ShownAnswer, answer_of
from ledgeragent.offline.traces import Trace
from ledgeragent.returned import unwrapped
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Verdict


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


Recorded = Sequence[Sequence[Verdict]]
"""The verdicts of a journal: per reply that had any, one per call."""


def timeline(trace: Trace, domain: Domain, recorded: Recorded | None = None) -> list[TimelineStep]:
    """Every message of a run with the ledger's changes and the gate's answers.

    The answers are those that a journal `recorded`, else what the gate answers now.
    """
    transitions = [*follow(trace, domain)]
    answers = (
        _answers(transitions, trace, domain)
        if recorded is None
        else _as_recorded(trace, domain, recorded)
    )
    return [_step(transition, domain, answers) for transition in transitions]


def _answers(
    transitions: Iterable[Transition], trace: Trace, domain: Domain
) -> dict[int, ShownAnswer]:
    calls = judge_followed(transitions, gate_of_records(domain), trace.nonstandard)
    return {
        id(one.call): answer_of(one.verdict, one.executed, _rules(one.call, domain))
        for one in calls
    }


def _rules(call: ToolCall, domain: Domain) -> Iterator[str]:
    guard = domain.guard(call.name)
    yield from (rule.id for rule in (guard.predicates if guard is not None else ()))


def _as_recorded(trace: Trace, domain: Domain, recorded: Recorded) -> dict[int, ShownAnswer]:
    """A journal's verdicts, put beside the calls they were given on."""
    answers: dict[int, ShownAnswer] = {}
    executed = {
        m.call_id
        for m in trace.messages
        if isinstance(m, ToolReturn) and not str(unwrapped(m.content)).startswith(NOT_EXECUTED)
    }
    replies = [m for m in trace.messages if isinstance(m, Reply) and m.calls]
    for reply, verdicts in zip(replies, recorded, strict=False):
        for call, verdict in zip(reply.calls, verdicts, strict=False):
            guard = domain.guard(call.name)
            if guard is None or guard.judged:
                answers[id(call)] = answer_of(verdict, call.id in executed)
    return answers


def _step(
    transition: Transition, domain: Domain, answers: Mapping[int, ShownAnswer]
) -> TimelineStep:
    message, after = transition.message, transition.after
    turn = after.ledger.turn
    if isinstance(message, Reply):
        calls = tuple(_call(call, domain, answers) for call in message.calls)
        return TimelineStep(kind="agent", turn=turn, text=message.text, calls=calls)
    learnt = tuple(changes(transition.before.ledger, after.ledger))
    if isinstance(message, UserMessage):
        return TimelineStep(kind="user", turn=turn, text=message.text, changes=learnt)
    content, last = message.content, after.last
    return TimelineStep(
        kind="tool",
        turn=turn,
        text=content if isinstance(content, str) else shown(content),
        of=str(last.call) if last is not None and last.call is not None else "",
        failed=message.failed,
        stored=tuple(map(str, last.stored)) if last is not None else (),
        skipped=last.skipped if last is not None else None,
        changes=learnt,
    )


def _call(call: ToolCall, domain: Domain, answers: Mapping[int, ShownAnswer]) -> ShownCall:
    return ShownCall(
        name=call.name,
        arguments=shown(call.arguments) if call.malformed is None else call.malformed,
        effect=domain.effect(call.name).value if domain.guard(call.name) else "unknown",
        answer=answers.get(id(call)),
    )
