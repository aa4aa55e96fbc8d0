"""PersistentMap behaves as a dict that is copied before every update."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.persistent import PersistentMap

from .world import searched

put = st.tuples(st.integers(0, 60), st.integers(0, 5))
updates = st.one_of(st.lists(put, max_size=9), st.lists(put, min_size=60, max_size=120))
"""Few, and enough for the delta to be merged more than once."""


@searched
@given(updates)
def test_it_agrees_with_a_dict_after_every_put(puts: list[tuple[int, int]]) -> None:
    mapping: PersistentMap[int, int] = PersistentMap({})
    plain: dict[int, int] = {}
    for key, value in puts:
        mapping, plain = mapping.put(key, value), {**plain, key: value}
        assert mapping.get(key) == value
    assert list(mapping.plain().items()) == list(plain.items())
    assert all(mapping.get(key) == plain.get(key) for key in range(62))


@searched
@given(updates)
def test_older_versions_stay_as_they_were(puts: list[tuple[int, int]]) -> None:
    versions: list[tuple[PersistentMap[int, int], dict[int, int]]] = [(PersistentMap({}), {})]
    for key, value in puts:
        mapping, plain = versions[-1]
        versions.append((mapping.put(key, value), {**plain, key: value}))
    for mapping, plain in versions:
        assert mapping.plain() == plain


@searched
@given(updates)
def test_equality_looks_at_contents_not_at_history(puts: list[tuple[int, int]]) -> None:
    grown: PersistentMap[int, int] = PersistentMap({})
    for key, value in puts:
        grown = grown.put(key, value)
    assert grown == PersistentMap({}, (dict(puts),))
    assert grown.put(99, 1) != grown
