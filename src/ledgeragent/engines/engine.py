"""What an engine is: it has the shares of some files worked on, and hands results out in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from ledgeragent.errors import LedgerAgentError


class Share(Protocol):
    """A share of the work, which one worker takes. It can be sent to another process."""

    def parts(self) -> Sequence[Self]:
        """The same in smaller ones; none where it cannot be divided."""
        ...

    def lost(self, why: str) -> Self:
        """What stands for it where no worker survives it: it only says what was left out, and why."""
        ...

    def emptied(self) -> Self:
        """Only how far it goes."""
        ...


S = TypeVar("S", bound=Share)
T = TypeVar("T")

DEADLY = "each worker that took it died"
"""Why a share is lost."""


class Engine(Protocol):
    """Has the shares of sources worked on. `share_bytes` is how much one should hold, at least."""

    @property
    def share_bytes(self) -> int: ...

    def there(self, name: str) -> str:
        """What a pack is called where the work is done."""
        ...

    def run(
        self,
        sources: Sequence[str],
        reader: Callable[[int, str], Iterator[S]],
        work: Callable[[S], T],
    ) -> Iterator[tuple[S, T]]:
        """Each result of `work` beside its share, which may be emptied, in the order of the sources.

        `reader` gives the shares of a source from its number and name, always the same. A share that no
        worker survives is divided until what kills is found; that is worked on as `lost`.
        """
        ...


class WorkerDied(Exception):
    """A worker ended in the middle of a share."""


def salvaged(share: S, attempt: Callable[[S], T], work: Callable[[S], T]) -> Iterator[tuple[S, T]]:
    """The results of the parts of a deadly share; `attempt` raises WorkerDied for one that is deadly."""
    parts = share.parts()
    if not parts:
        lost = share.lost(DEADLY)
        yield lost, work(lost)
    for part in parts:
        try:
            result = attempt(part)
        except WorkerDied:
            yield from salvaged(part, attempt, work)
        else:
            yield part, result


@dataclass(frozen=True, slots=True)
class Failure:
    """What a worker raised on purpose, as text: not every error can be sent to another process."""

    problem: str


def guarded(work: Callable[[S], T], share: S) -> T | Failure:
    """The result of a share, or what is to be told of it."""
    try:
        return work(share)
    except LedgerAgentError as problem:
        return Failure(str(problem))


def outcome(result: T | Failure) -> T:
    """The result; raises LedgerAgentError where there is none."""
    if isinstance(result, Failure):
        raise LedgerAgentError(result.problem)
    return result
