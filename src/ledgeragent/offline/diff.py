"""Two judgements of the same recorded runs: what is newly rejected, newly allowed, or for other reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from ledgeragent.engines.engine import Engine
from ledgeragent.journal.verdicts import FindingRow
from ledgeragent.offline.answers import CallAnswer, RecordedAnswer, answers_of, unasked
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.caselist import CaseList
from ledgeragent.offline.intake import Intake
from ledgeragent.offline.judging import ALLOW, REVISE_EVIDENCE
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.replay import ONE_PROCESS, over, wanted
from ledgeragent.offline.rows import RunRow, run_row
from ledgeragent.types import Json, canonical

NEWLY_REJECTED = "newly_rejected"
NEWLY_ALLOWED = "newly_allowed"
NEWLY_ASKED = "newly_asked"
CHANGED_REASON = "changed_reason"
SHADOW = "shadow"
CHANGES = (NEWLY_REJECTED, NEWLY_ALLOWED, NEWLY_ASKED, CHANGED_REASON, SHADOW)
"""The kinds of changes. NEWLY_ASKED: a read is asked for where before the call was allowed, or was
rejected. SHADOW: only rules that are not enforced say something else, so nothing is stopped, or let
through, for it."""

_Place: TypeAlias = tuple[int, str, int]
"""Where a call stands: the message, the call itself, and which of several equal ones it is."""


class Change(RunRow):
    """One call that is answered otherwise.

    `judged` is its number among the calls that are judged now, None where it no longer is one;
    `predicates` are those that say something else.
    """

    judged: int | None
    call: Json
    before: RecordedAnswer
    after: RecordedAnswer
    predicates: list[str]


def _no_changes() -> dict[str, CaseList[Change]]:
    return {kind: CaseList() for kind in CHANGES}


@dataclass(slots=True, kw_only=True)
class Difference(Intake):
    """The changes between two judgements; differences of different files add up.

    `calls` counts the calls that either side judged, `predicates` the rules of either. `changes` are the
    first of each rule, by kind. `only_before` and `only_after` are runs that only one side judged, as
    can be where one side was stored.
    """

    calls: int = 0
    predicates: set[str] = field(default_factory=set)
    changes: dict[str, CaseList[Change]] = field(default_factory=_no_changes)
    only_before: list[str] = field(default_factory=list)
    only_after: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """True if an agent would be answered otherwise, or the runs are not the same."""
        for_an_agent = any(changes for kind, changes in self.changes.items() if kind != SHADOW)
        return for_an_agent or bool(self.only_before or self.only_after)

    def add(self, other: Difference) -> None:
        """Counts `other` in, after everything so far."""
        self.take(other)
        self.calls += other.calls
        self.predicates |= other.predicates
        for kind, rows in other.changes.items():
            self.changes[kind].add(rows)

    def compare(
        self, run: RunRow, before: Sequence[CallAnswer], after: Sequence[CallAnswer]
    ) -> None:
        """Takes in the two judgements of one run."""
        self.runs += 1
        for then, now in _paired(before, after):
            self.calls += 1
            old, new = _answer(then), _answer(now)
            kind = _kind(old, new)
            answer = now or then
            if kind is not None and answer is not None:
                change = Change(
                    **run,
                    judged=now["judged"] if now is not None else None,
                    call=answer["call"],
                    before=old,
                    after=new,
                    predicates=_differing(old, new),
                )
                self.changes[kind].extend([change])


def diff(
    files: Sequence[str],
    before: Binding,
    after: Binding,
    *,
    nonstandard: bool = False,
    engine: Engine = ONE_PROCESS,
    progress: Callable[[Piece], None] = lambda piece: None,
) -> Difference:
    """The difference between two domains over the runs that `after` judges.

    Raises UsageError for a domain that does not exist.
    """
    total = Difference()
    for binding in (before, after):
        total.predicates |= {rule.id for rule in binding.domain().predicates}
    there = before.at(engine), after.at(engine)
    work = partial(diff_piece, before=there[0], after=there[1], nonstandard=nonstandard)
    for part in over(files, work, engine=engine, progress=progress):
        total.add(part)
    return total


def diff_piece(piece: Piece, before: Binding, after: Binding, nonstandard: bool) -> Difference:
    """The difference over the conversations in one piece of a file."""
    result = Difference()
    for trace in wanted(piece, after, nonstandard, result):
        result.compare(run_row(trace), answers_of(trace, before), answers_of(trace, after))
    return result


def _paired(
    before: Iterable[CallAnswer], after: Iterable[CallAnswer]
) -> Iterator[tuple[CallAnswer | None, CallAnswer | None]]:
    """The calls that either side judged, in their order, each with what both sides say of it."""
    old, new = _by_place(before), _by_place(after)
    for place in sorted({**new, **old}, key=lambda place: place[0]):
        yield old.get(place), new.get(place)


def _by_place(answers: Iterable[CallAnswer]) -> dict[_Place, CallAnswer]:
    seen: Counter[tuple[int, str]] = Counter()
    by_place: dict[_Place, CallAnswer] = {}
    for one in answers:
        call = one["message"], canonical(one["call"])
        seen[call] += 1
        by_place[(*call, seen[call])] = one
    return by_place


def _answer(one: CallAnswer | None) -> RecordedAnswer:
    return one["answer"] if one is not None else unasked()


def _kind(before: RecordedAnswer, after: RecordedAnswer) -> str | None:
    """The sort of change it is, None if it is none."""
    then, now = _class(before), _class(after)
    if then != now:
        return {ALLOW: NEWLY_ALLOWED, REVISE_EVIDENCE: NEWLY_ASKED}.get(now, NEWLY_REJECTED)
    if _told(before["findings"]) != _told(after["findings"]):
        return CHANGED_REASON
    return SHADOW if _told(before["shadow"]) != _told(after["shadow"]) else None


def _class(answer: RecordedAnswer) -> str:
    """Allowed, asked for a read, or rejected."""
    return answer["outcome"] if answer["outcome"] in (ALLOW, REVISE_EVIDENCE) else NEWLY_REJECTED


def _told(rows: Iterable[FindingRow]) -> set[tuple[str, ...]]:
    """The rows as a reader would notice them: who says it, how, and in which words."""
    return {
        (one["predicate"], one["kind"], one["decision"], one["enforcement"], one["reason"])
        for one in rows
    }


def _differing(before: RecordedAnswer, after: RecordedAnswer) -> list[str]:
    """The predicates that say something else, or with another force."""
    old = _told([*before["findings"], *before["shadow"]])
    new = _told([*after["findings"], *after["shadow"]])
    return sorted({row[0] for row in old ^ new})
