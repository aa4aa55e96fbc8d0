"""PersistentMap: the values of a dict, in its order, and older versions that stay as they were."""

from __future__ import annotations

import pickle

import pytest

from ledgeragent.persistent import PersistentList, PersistentMap

SIZES = (0, 1, 31, 32, 33, 34, 65, 66, 67, 120, 300, 1000)
"""Around the end that is copied, and around layers of one, two and three kinds of length."""


def grown(size: int) -> PersistentMap[int, int]:
    """A map of 0..size-1, each put by itself."""
    mapping: PersistentMap[int, int] = PersistentMap({})
    for number in range(size):
        mapping = mapping.put(number, number * 2)
    return mapping


@pytest.mark.parametrize("size", SIZES)
def test_it_holds_what_was_put_in_the_order_it_was_put(size: int) -> None:
    mapping, plain = grown(size), {number: number * 2 for number in range(size)}
    assert list(mapping.plain().items()) == list(plain.items())
    assert list(mapping.values()) == list(plain.values())
    assert [mapping.get(number) for number in range(size)] == list(plain.values())
    assert mapping.get(size) is None and size not in mapping and len(mapping) == size
    assert list(mapping) == list(plain) and list(mapping.items()) == list(plain.items())
    assert bool(mapping) == bool(plain)
    with pytest.raises(KeyError):
        mapping[size]


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
    before.put(0, -1).put(2000, -1)
    assert before == grown(size) and before.get(2000) is None


def test_a_falsy_value_is_one() -> None:
    assert grown(40).put(1, 0).get(1) == 0 and PersistentMap({1: 0}).get(1) == 0


def test_it_is_equal_to_a_mapping_of_the_same_contents_and_to_nothing_else() -> None:
    mapping: PersistentMap[int, int] = PersistentMap({1: 1})
    assert mapping == PersistentMap({}, ({1: 1},)) and mapping != PersistentMap({1: 2})
    assert mapping == {1: 1} and mapping == {1: 1} and mapping != {1: 2} and mapping != [(1, 1)]
    assert repr(mapping) == "{1: 1}"


def test_all_of_it_as_a_dict_is_a_dict_of_its_own() -> None:
    mapping = grown(3)
    mapping.plain()[0] = 99
    assert mapping.get(0) == 0


@pytest.mark.parametrize("size", SIZES)
def test_many_at_once_are_what_one_by_one_is(size: int) -> None:
    items = {number: number * 3 for number in range(size // 2, size + 40)}
    mapping = grown(size)
    for number, value in items.items():
        mapping = mapping.put(number, value)
    at_once = grown(size).put_all(items)
    assert list(at_once.plain().items()) == list(mapping.plain().items())


def test_a_map_that_was_pickled_is_the_same() -> None:
    for size in (3, 1000):
        again = pickle.loads(pickle.dumps(grown(size)))
        assert again == grown(size) and again.get(2) == 4
        assert list(again.values()) == list(grown(size).values())


def test_a_large_map_has_few_layers_and_copies_little() -> None:
    mapping, copied = grown(0), 0
    for number in range(20_000):
        larger = mapping.put(number, number)
        copied += sum(
            len(new) for new in larger._layers if not any(new is o for o in mapping._layers)
        )
        mapping = larger
    assert len(mapping._layers) <= 4
    assert copied < 20_000 * 20  # with a base of one layer: 20,000 * 300


def lengthened(size: int) -> PersistentList[int]:
    items: PersistentList[int] = PersistentList()
    for number in range(size):
        items = items.append(number)
    return items


@pytest.mark.parametrize("size", SIZES)
def test_a_list_stands_for_the_tuple_of_what_was_appended(size: int) -> None:
    items, plain = lengthened(size), tuple(range(size))
    assert (
        items == plain and plain == items and items.plain() == plain and items == lengthened(size)
    )
    assert (*items,) == plain and len(items) == size and bool(items) == bool(plain)
    assert hash(items) == hash(plain) and repr(items) == repr(plain)
    assert [items[at] for at in range(-size, size)] == [plain[at] for at in range(-size, size)]
    assert items[1:-1] == plain[1:-1] and list(reversed(items)) == list(reversed(plain))
    assert pickle.loads(pickle.dumps(items)) == plain
    assert items != [*plain] and items != (*plain, -1) and items.append(-1) != items


@pytest.mark.parametrize("size", SIZES)
def test_lists_that_grew_from_one_do_not_see_each_other(size: int) -> None:
    before = lengthened(size)
    one, other = before.append(-1), before.append(-2)
    assert before == tuple(range(size)) and one[-1] == -1 and other[-1] == -2


@pytest.mark.parametrize("size", [0, 5])
def test_a_place_that_a_list_has_not_is_refused(size: int) -> None:
    with pytest.raises(IndexError):
        lengthened(size)[size]
    with pytest.raises(IndexError):
        lengthened(size)[-size - 1]
