"""Render: one block whatever the records say, byte-stable, one line a record."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.ledger import Ledger
from ledgeragent.render import CLOSE, OPEN, render

from .world import Step, after, ledgers, reads, searched

budgets = st.one_of(st.none(), st.integers(0, 200))


@searched
@given(ledgers, budgets)
def test_nothing_in_a_record_opens_or_ends_the_block(ledger: Ledger, budget: int | None) -> None:
    text = render(ledger, budget)
    assert text.count(OPEN) == text.count(CLOSE) == 1
    assert text.startswith(f"{OPEN}\n")
    assert text.endswith(f"\n{CLOSE}")
    assert "<" not in text[len(OPEN) : -len(CLOSE)]


@searched
@given(ledgers, budgets)
def test_each_record_has_exactly_one_line(ledger: Ledger, budget: int | None) -> None:
    shown = render(ledger, budget).splitlines()[2:-1]
    for line, entry in zip(shown, sorted(ledger, key=lambda e: e.path), strict=True):
        assert line.startswith(f"{entry.path} ")


@searched
@given(ledgers, budgets)
def test_the_text_can_be_sent(ledger: Ledger, budget: int | None) -> None:
    assert render(ledger, budget).encode("utf-8")


@searched
@given(st.lists(reads, max_size=5))
def test_the_order_in_which_paths_were_first_seen_leaves_no_mark(taken: list[Step]) -> None:
    ledger = after(Ledger(), *taken)
    rebuilt = Ledger()
    for entry in reversed(list(ledger)):
        rebuilt = rebuilt.put(entry)
    assert rebuilt == ledger
    assert render(rebuilt) == render(ledger)


@searched
@given(ledgers)
def test_what_is_unknown_is_shown_as_such(ledger: Ledger) -> None:
    by_path = {str(e.path): e for e in ledger}
    for line in render(ledger).splitlines()[2:-1]:
        path = next(p for p in by_path if line.startswith(f"{p} = "))
        assert ("[STALE: " in line.removeprefix(path).replace(by_path[path].shown, "", 1)) == bool(
            by_path[path].stale
        )
