"""A conversation written down, step by step, so that it can be played again and cut shorter."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ledgeragent import ToolCall
from ledgeragent.plan import Order


class Fate(Enum):
    """What becomes of an allowed write.

    DONE, or REFUSED by its tool. Lost: nothing comes back. Cut: a failure of the transport comes
    back. Either way it may have been done or not. LATE is done now and told later, SLOW is done
    only then; the host waits for both. FORGOTTEN is done, and told after the host gave it up.
    """

    DONE = "done"
    REFUSED = "refused by the tool"
    LOST_DONE = "done, its result lost"
    LOST_UNDONE = "lost on the way there"
    CUT_DONE = "done, answered with a time-out"
    CUT_UNDONE = "not done, answered with a time-out"
    LATE = "done, its result late"
    SLOW = "done late"
    FORGOTTEN = "done, its result given up and late"


@dataclass(frozen=True, slots=True)
class Turn:
    """The customer says something, and does what is theirs to do (by `seed`)."""

    seed: int


@dataclass(frozen=True, slots=True)
class Look:
    """A read. With `odd`, a seed, one of its enumerated values comes back as an undeclared one."""

    call: ToolCall
    odd: int | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """A reply of several calls, each with its fate; `seed` orders execution and results."""

    calls: tuple[ToolCall, ...]
    fates: tuple[Fate, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Arrive:
    """The result of an earlier call, by its id, comes at last."""

    id: str


Step = Turn | Look | Send | Arrive


@dataclass(frozen=True, slots=True)
class Case:
    """A whole conversation: the world by name and seed, the order of execution, the tools at hand.

    `tools` is None where the run has all of them.
    """

    world: str
    seed: str
    order: Order
    tools: frozenset[str] | None
    steps: tuple[Step, ...] = ()
