"""A rule that asked which writes were done, ready to be asked again where there may be others."""

from __future__ import annotations

from typing import NamedTuple

from ledgeragent.ledger import Unconfirmed
from ledgeragent.predicates import Predicate
from ledgeragent.types import Arguments
from ledgeragent.view import MissingEvidence, View


class LookBack(NamedTuple):
    """A rule with the arguments and the view that it was asked on."""

    rule: Predicate
    arguments: Arguments
    view: View

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
