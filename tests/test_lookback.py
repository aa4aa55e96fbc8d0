"""Looking back: whether a rule's answer depends on which of the writes in doubt were done."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.ledger import Ledger, Unconfirmed
from ledgeragent.lookback import LookBack
from ledgeragent.predicates import Check, predicate, violation
from ledgeragent.types import ToolCall
from ledgeragent.view import View
from tests.lending.domain import BOOK, BOOK_IN, GET_BOOK, LEND, read

PAYMENTS = tuple(Unconfirmed(ToolCall(name="pay", id=str(n)), running=False) for n in range(8))


def asked(check: Check, doubts: tuple[Unconfirmed, ...], ledger: Ledger | None = None) -> LookBack:
    """A rule asked on a view in which just these writes are in doubt."""
    view = View(ledger or Ledger(), {})
    view.unconfirmed = doubts
    return LookBack(predicate("lending/paid", guards="lend_book")(check), LEND.arguments, view)


def ids(view: View) -> set[str]:
    return {doubt.call.id for doubt in view.unconfirmed}


def needs(*wanted: str) -> Check:
    """Satisfied where all of these payments were made."""
    return lambda call, view: None if ids(view).issuperset(wanted) else violation("unpaid")


def forbids(*unwanted: str) -> Check:
    """Satisfied unless all of these payments were made."""
    return lambda call, view: None if not ids(view).issuperset(unwanted) else violation("paid")


def test_a_rule_that_needs_nothing_in_doubt_does_not_depend_on_it() -> None:
    back = asked(needs(), PAYMENTS[:3])
    assert not back.depends_on(PAYMENTS[:3], satisfied=True)
    assert back.depends_on(PAYMENTS[:3], satisfied=False)


def test_without_doubts_nothing_depends_on_them() -> None:
    assert not asked(needs("0"), ()).depends_on((), satisfied=False)
    assert not asked(needs("0"), ()).depends_on((), satisfied=True)


@pytest.mark.parametrize("count", [1, 2, 5, 6, 8])
def test_one_write_that_decides_is_enough(count: int) -> None:
    doubts = PAYMENTS[:count]
    for last in {"0", str(count - 1)}:
        assert asked(needs(last), doubts).depends_on(doubts, satisfied=True)
        assert asked(forbids(last), doubts).depends_on(doubts, satisfied=False)


def test_of_many_writes_all_together_and_each_one_may_be_missing() -> None:
    alone = asked(forbids("7", "0"), PAYMENTS)
    assert alone.depends_on(PAYMENTS, satisfied=False)

    def any_paid(call: object, view: View) -> object:
        return None if ids(view) else violation("unpaid")

    assert asked(any_paid, PAYMENTS).depends_on(PAYMENTS, satisfied=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [5, 6, 8])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_where_the_latest_that_was_done_decides_it_may_be_any(count: int, place: int) -> None:
    doubts = PAYMENTS[:count]

    def check(call: object, view: View) -> object:
        latest = max(ids(view), default="")
        return violation("it was the last") if latest == str(place) else None

    assert asked(check, doubts).depends_on(doubts, satisfied=True)  # type: ignore[arg-type]


def test_a_write_that_is_not_in_question_stays_in_the_view() -> None:
    back = asked(needs("0"), PAYMENTS[:2])
    assert not back.depends_on(PAYMENTS[1:2], satisfied=True)
    assert back.depends_on(PAYMENTS[:1], satisfied=True)


def test_a_rule_that_lacks_evidence_is_not_satisfied() -> None:
    def check(call: object, view: View) -> None:
        view[BOOK("B1")]["status"]

    assert not asked(check, PAYMENTS[:1]).is_satisfied(())
    assert asked(check, (), read((GET_BOOK, BOOK_IN))).is_satisfied(())


def test_asking_again_leaves_the_view_as_it_was() -> None:
    def check(call: object, view: View) -> None:
        view[BOOK("B1")]["status"]
        if ids(view) == {"9"}:
            raise ZeroDivisionError

    back = asked(check, PAYMENTS[:2], read((GET_BOOK, BOOK_IN)))
    back.view[BOOK("B1")]["title"]
    back.is_satisfied(())
    with pytest.raises(ZeroDivisionError):
        back.is_satisfied((Unconfirmed(ToolCall(name="pay", id="9"), running=True),))
    assert back.view.unconfirmed == PAYMENTS[:2]
    assert [fact.fields for fact in back.view.evidence] == [("title",)]


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(1, 5), st.sets(st.integers(0, 4)), st.booleans())
def test_every_choice_of_a_few_writes_is_tried(
    count: int, wanted: set[int], is_exact: bool
) -> None:
    doubts = PAYMENTS[:count]
    names = {str(n) for n in wanted}

    def check(call: object, view: View) -> object:
        is_broken = ids(view) != names if is_exact else not ids(view) >= names
        return violation("no") if is_broken else None

    back = asked(check, doubts)  # type: ignore[arg-type]
    choices = chain.from_iterable(combinations(doubts, n) for n in range(count))
    answers = {back.is_satisfied(choice) for choice in choices}
    for satisfied in (True, False):
        assert back.depends_on(doubts, satisfied=satisfied) == (answers != {satisfied})
