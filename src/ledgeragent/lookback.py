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
    if len(doubts) > _MOST_COMBINED:
        yield doubts
        for place, doubt in enumerate(doubts):
            yield (doubt,)
            yield (*doubts[:place], *doubts[place + 1 :])
        return
    for size in range(len(doubts), 0, -1):
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
        """True if the rule is satisfied once the latest was done, whichever of the others were.

        Of many others: all, or none.
        """
        few = len(others) <= _MOST_COMBINED
        exclusions = ((), *(_selections(others) if few else (others,)))
        choices = [tuple([o for o in others if o not in without]) for without in exclusions]
        return all(self.is_satisfied((*choice, latest)) for choice in choices)

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
