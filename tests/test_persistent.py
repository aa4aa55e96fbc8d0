"""PersistentMap: the values of a dict, in its order, and older versions that stay as they were."""

from __future__ import annotations

import pytest

from ledgeragent.persistent import PersistentMap

SIZES = (0, 1, 31, 32, 33, 34, 65, 66, 67, 120)


def grown(size: int) -> PersistentMap[int, int]:
    """A map of 0..size-1, each put by itself."""
    mapping: PersistentMap[int, int] = PersistentMap({}, {})
    for number in range(size):
        mapping = mapping.put(number, number * 2)
    return mapping


@pytest.mark.parametrize("size", SIZES)
def test_it_holds_what_was_put_in_the_order_it_was_put(size: int) -> None:
    mapping, plain = grown(size), {number: number * 2 for number in range(size)}
    assert list(mapping.plain().items()) == list(plain.items())
    assert list(mapping.values()) == list(plain.values())
    assert [mapping.get(number) for number in range(size)] == list(plain.values())
    assert mapping.get(size) is None


@pytest.mark.parametrize("size", SIZES)
def test_a_value_set_again_stands_where_the_first_one_did(size: int) -> None:
    mapping = grown(size).put(0, 7).put(size, 8)
    assert mapping.get(0) == (7 if size else 8)
    expected = {**{number: number * 2 for number in range(size)}, 0: 7}
    expected[size] = 8
    assert list(mapping.values()) == list(expected.values())


@pytest.mark.parametrize("size", SIZES)
def test_an_older_version_stays_as_it_was(size: int) -> None:
    before = grown(size)
    before.put(0, -1).put(1000, -1)
    assert before == grown(size) and before.get(1000) is None


def test_a_falsy_value_is_one() -> None:
    assert grown(40).put(1, 0).get(1) == 0 and PersistentMap({}, {1: 0}).get(1) == 0


def test_it_is_equal_to_a_map_of_the_same_contents_and_to_nothing_else() -> None:
    mapping: PersistentMap[int, int] = PersistentMap({}, {1: 1})
    assert mapping == PersistentMap({1: 1}, {}) and mapping != PersistentMap({1: 2}, {})
    assert mapping != {1: 1}


def test_all_of_it_as_a_dict_is_a_dict_of_its_own() -> None:
    mapping = grown(3)
    mapping.plain()[0] = 99
    assert mapping.get(0) == 0
