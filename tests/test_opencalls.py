"""OpenCalls: what a tuple of calls is from which the first call of an answered id is taken."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.opencalls import OpenCalls, answer_first
from ledgeragent.types import ToolCall

IDS = st.sampled_from(["a", "b", "c", ""])


def calls(ids: list[str]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name=f"f{place}", id=one) for place, one in enumerate(ids))


@given(st.lists(IDS, max_size=12), st.lists(IDS, max_size=12))
def test_it_agrees_with_a_tuple_that_is_searched(sent: list[str], answered: list[str]) -> None:
    plain, pending = calls(sent), OpenCalls(calls(sent))
    for one in answered:
        place = next((n for n, call in enumerate(plain) if call.id == one), None)
        assert pending.first(one) == (None if place is None else plain[place])
        if place is not None:
            before, older = pending, plain
            plain, pending = plain[:place] + plain[place + 1 :], pending.without_first(one)
            assert before == older
        assert pending == plain and plain == pending and pending == OpenCalls(plain)
        assert len(pending) == len(plain) and bool(pending) == bool(plain)
        assert repr(pending) == repr(plain) and pending[:] == plain


@given(st.lists(IDS, max_size=24), st.lists(IDS, max_size=24))
def test_few_calls_and_many_are_answered_alike(sent: list[str], ids: list[str]) -> None:
    pending: Sequence[ToolCall] = calls(sent)
    plain = calls(sent)
    for one in ids:
        place = next((n for n, call in enumerate(plain) if call.id == one), None)
        call, pending = answer_first(pending, one)
        assert call == (None if place is None else plain[place])
        plain = plain if place is None else plain[:place] + plain[place + 1 :]
        assert tuple(pending) == plain


def test_it_is_pickled_and_equal_to_nothing_else() -> None:
    pending = OpenCalls(calls(["a", "b", "a"])).without_first("a")
    again = pickle.loads(pickle.dumps(pending))
    assert again == pending and again.first("a") == pending[1]
    assert pending != [*pending] and pending != pending[:1]
    with pytest.raises(IndexError):
        pending[2]
