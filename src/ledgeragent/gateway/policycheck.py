"""What the model hears of calls that the client never saw: each judged again on the ledger it is shown.

What was against a call when it was made may be settled by now: the same reply may have held the read
that it lacked. A sentence from then would contradict the records above it.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgeragent.gate import Filtered, Gate
from ledgeragent.gateway.dialects.base import PendingAnswer
from ledgeragent.gateway.ledgertail import ledger_tail
from ledgeragent.ledger import Ledger
from ledgeragent.stores.memory import Memory, Unsent
from ledgeragent.text import visible
from ledgeragent.types import Reply, ToolCall

LEAD = "Policy check: of your last reply, "

_LONGEST_CALL = 300
# A third of what a named tuple's own constructor costs.
_tuple = tuple.__new__
_SETTLED = "; by the ledger, nothing stands against it now: send it again if it is still wanted"


class Briefing(NamedTuple):
    """The text behind the history, and what upstream must get for calls that it still waits for.

    `left_out` is how many records the text leaves out for length.
    """

    text: str
    owed: tuple[PendingAnswer, ...]
    left_out: int = 0


def briefing(memory: Memory, gate: Gate, most: int) -> Briefing:
    """The ledger as the next reply will be judged on it, and what became of the calls of the last.

    The records in it take at most `most` bytes.
    """
    state, ledger = memory.state, memory.state.ledger
    if state.pending or gate.domain.timed:
        ledger = state.observe(Reply(at=gate.clock()), gate.domain).ledger
    text, left_out = ledger_tail(ledger, most)
    if not memory.unsent and not memory.warnings:
        return _tuple(Briefing, (text, (), left_out))
    sentences = [_sentence(unsent, gate, ledger) for unsent in memory.unsent]
    spoken = "\n".join([*sentences, *memory.warnings])
    owed = (
        PendingAnswer(unsent.call.id, sentence, unsent.behind)
        for unsent, sentence in zip(memory.unsent, sentences, strict=True)
        if unsent.behind is not None
    )
    return Briefing(f"{text}\n{LEAD}{spoken}" if spoken else text, tuple(owed), left_out)


def warnings(filtered: Filtered) -> tuple[str, ...]:
    """What rules that only warn have against the calls that were let through."""
    return tuple(
        f"{_shown(verdict.call)} was let through, with a warning: {verdict.objection}"
        for verdict in filtered.verdicts
        if verdict.allowed and verdict.objection
    )


def _sentence(unsent: Unsent, gate: Gate, ledger: Ledger) -> str:
    verdict = gate.judge(unsent.call, ledger)
    beginning = f"{_shown(unsent.call)} was not executed"
    if verdict.allowed:
        since = f", since it had to wait for the result of {unsent.awaits}" if unsent.awaits else ""
        return f"{beginning}{since}{_SETTLED}"
    return "\n".join(filter(None, [f"{beginning}: {verdict.objection}", unsent.note]))


def _shown(call: ToolCall) -> str:
    text = visible(str(call))
    return text if len(text) <= _LONGEST_CALL else f"{text[:_LONGEST_CALL]}..."
