"""Ids: no two calls of a conversation share one, whatever the model calls them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.session.ids import CallIds

NAMES = st.none() | st.sampled_from(["", "a", "a-2", "a-3", "call", "call-2"])


@given(st.sets(st.sampled_from(["a", "a-2", "call"])), st.lists(NAMES))
def test_every_call_has_an_id_of_its_own(past: set[str], names: list[str | None]) -> None:
    ids = CallIds()
    ids.use(past)
    distinct = ids.distinct(names)
    assert len({*distinct, *past}) == len(names) + len(past)
    assert all(distinct)


@given(st.lists(st.sampled_from("abcdef"), unique=True))
def test_ids_that_are_free_are_kept(names: list[str]) -> None:
    assert CallIds().distinct(names) == names
