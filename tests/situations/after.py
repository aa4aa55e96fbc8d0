"""A write with an outcome, then another call: what was done, refused, unheard of, told late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ledgeragent.types import ToolCall

from .rows import NEVER, Answered, Late, Rows, Step, done, may

REFUSED = "Error: this is not possible"
UNKNOWN = "ask"
CLOSED = "ask or reject"


class After(NamedTuple):
    """What may be answered to a call once the one before it was done, and once it was refused.

    `answer` is what the first says when done. `seen` are reads that show it as done, `unseen` as not
    done, both with what may be answered then.
    """

    done: str
    refused: str
    answer: Any = "done"
    unknown: str = UNKNOWN
    seen: tuple[Sequence[Answered], str] | None = None
    unseen: tuple[Sequence[Answered], str] | None = None


def outcomes(
    rows: Rows, note: str, known: Sequence[Step], first: ToolCall, then: ToolCall, after: After
) -> None:
    """Every outcome of `first`, then the other call."""
    lost = (NEVER, "Error: 504 Gateway Timeout", "Error: connection reset by peer")
    for heard, answer, accept in (
        ("done", after.answer, after.done),
        ("refused", REFUSED, after.refused),
        ("done, told late", Late(after.answer), after.done),
        ("refused, told late", Late(REFUSED), after.refused),
        ("never heard of", lost[0], after.unknown),
        ("timed out", lost[1], after.unknown),
        ("cut off", lost[2], after.unknown),
    ):
        rows.add(f"{note}: {heard}", *known, done(first, answer), "Go on.", may(accept, then))
    for heard, shown in (("as done", after.seen), ("as not done", after.unseen)):
        if shown is not None:
            reads, accept = shown
            steps = (*known, done(first, NEVER), "And?", *reads)
            rows.add(f"{note}: read again {heard}", *steps, may(accept, then))


def mixed(
    rows: Rows, note: str, known: Sequence[Step], reply: list[Answered], *then: tuple[str, ToolCall]
) -> None:
    """A reply of several writes with an outcome each, then calls that rest on them."""
    for accept, call in then:
        rows.add(f"{note}, then {call.name}", *known, reply, "Go on.", may(accept, call))
