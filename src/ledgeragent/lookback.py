"""A rule that asked which writes were done, ready to be asked again where there may be others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from ledgeragent.ledger import Unconfirmed
from ledgeragent.missing import MissingEvidence
from ledgeragent.predicates import Predicate
from ledgeragent.types import Arguments
from ledgeragent.view import View

_MOST_COMBINED = 5


def _selections(doubts: tuple[Unconfirmed, ...]) -> Iterator[tuple[Unconfirmed, ...]]:
    """Which of the writes may not have been done: every choice; of many all, each one, all but each.

    All but one matter where the latest that was done decides: it may be any of them.
    """
    count = len(doubts)
    sizes = range(count, 0, -1) if count <= _MOST_COMBINED else (count, count - 1, 1)
    for size in sizes:
        yield from combinations(doubts, size)


class LookBack(NamedTuple):
    """A rule with the arguments and the view that it was asked on."""

    rule: Predicate
    arguments: Arguments
    view: View

    def depends_on(self, doubts: tuple[Unconfirmed, ...], *, satisfied: bool) -> bool:
        """True if the answer is another one where only some of these writes were done, or none."""
        if not doubts:
            return False
        all_doubts = self.view.unconfirmed
        for left_out in _selections(doubts):
            others = tuple(doubt for doubt in all_doubts if doubt not in left_out)
            if self.is_satisfied(others) != satisfied:
                return True
        return False

    def stands_with(self, latest: Unconfirmed, others: tuple[Unconfirmed, ...]) -> bool:
        """True if the rule is satisfied after one write more, whichever of the others were done.

        Of many others: all, or none.
        """
        choices = _selections(others) if len(others) <= _MOST_COMBINED else (others,)
        rests = [tuple([each for each in others if each not in gone]) for gone in ((), *choices)]
        return all(self.is_satisfied((*rest, latest)) for rest in rests)

    def is_satisfied(self, doubts: tuple[Unconfirmed, ...]) -> bool:
        """True if the rule has nothing against the call where just these writes may have been done."""
        view = self.view
        unconfirmed, noted = view.unconfirmed, len(view.evidence)
        view.unconfirmed = doubts
        try:
            return self.rule.check(self.arguments, view) is None
        except MissingEvidence:
            return False
        finally:
            view.unconfirmed = unconfirmed
            del view.evidence[noted:]
