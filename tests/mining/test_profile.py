"""Profiles: types that fit the values, no narrower than several records show."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.compiler.shapes import Choice, ListOf, MapOf, Object, Shape, mismatches
from ledgeragent.mining.profile import Profile


def profile_of(*values: Any) -> Profile:
    profile = Profile()
    for number, value in enumerate(values, 1):
        profile.add(value, number, number)
    return profile


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        ([1, 2], "int"),
        ([1, 2.5], "float"),
        ([True], "bool"),
        (["a", None], "str"),
        (["2025-01-01", "2025-01-02T10:00:00Z"], "date"),
        (["2025-01-01", "soon"], "str"),
        ([1, "a"], "any"),
        ([None], "any"),
        ([[1], []], "list[int]"),
    ],
)
def test_types(values: list[Any], shape: str) -> None:
    assert str(profile_of(*values).shape("x")) == shape


def test_money_is_no_whole_number() -> None:
    assert str(profile_of(1, 2).shape("amount")) == "float"


def test_a_list_of_values_needs_several_records_for_each() -> None:
    several = profile_of(*["open", "closed"] * 5)
    assert several.shape("status") == Choice(("closed", "open"))
    one = Profile()
    for run in range(1, 21):  # one customer in every run
        one.add("Mei", run, record=1)
    assert str(one.shape("first_name")) == "str"
    assert str(profile_of(*["open"] * 9, *["shut"] * 9, "odd").shape("status")) == "str"


def test_tables_are_told_by_their_keys() -> None:
    cards = profile_of({"c1": {"id": "c1", "balance": 1.5}}, {"c2": {"id": "c2", "balance": 2.5}})
    shape = cards.shape("cards")
    assert isinstance(shape, MapOf) and isinstance(shape.item, Object)
    assert set(shape.item.fields) == {"id", "balance"}
    assert isinstance(profile_of({"name": "a", "size": "b"}).shape("x"), Object)


def test_fields_that_are_absent_or_null_at_times_are_optional() -> None:
    shape = profile_of({"a": 1, "b": None}, {"a": 2, "b": 1, "c": 3}).shape("x")
    assert isinstance(shape, Object)
    certain = {name: field.certain for name, field in shape.fields.items()}
    assert certain == {"a": True, "b": False, "c": False}


SCALARS = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "2025-01-01"])
JSON = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from("xy"), SCALARS)


@given(st.lists(st.dictionaries(st.sampled_from("abc"), JSON, max_size=3), min_size=1, max_size=6))
def test_every_value_fits_the_type_that_is_mined_from_it(values: list[Any]) -> None:
    shape: Shape = profile_of(*values).shape("x")
    for value in values:
        wrong = [text for _, text in mismatches(value, shape) if "null" not in text]
        assert wrong == []


def test_lists_in_lists() -> None:
    assert profile_of([[{"n": 1}]]).shape("x") == ListOf(
        ListOf(profile_of({"n": 1}).shape("x_item_item"))
    )
