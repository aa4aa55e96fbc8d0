"""Argument shapes: what is read as what, and what is refused with which words."""

from __future__ import annotations

import math
from typing import Any, Literal, NotRequired, Required, TypedDict

import pytest

from ledgeragent.shapes import ShapeError, reader
from ledgeragent.types import Json


class Seat(TypedDict):
    """An object inside a list."""

    row: int
    window: NotRequired[bool]


class Booking(TypedDict, total=False):
    """Every kind of field."""

    name: Required[str]
    seats: list[Seat]
    bags: int
    price: float
    cabin: Literal["economy", "business"]
    extras: Any


@pytest.mark.parametrize(
    ("annotation", "given", "read"),
    [
        (str, "x", "x"),
        (str, 7, "7"),
        (str, 7.5, "7.5"),
        (int, 7, 7),
        (int, "7", 7),
        (int, " 7 ", 7),
        (int, 7.0, 7),
        (int, "7.0", 7),
        (float, 7, 7.0),
        (float, "7.50", 7.5),
        (bool, True, True),
        (bool, "false", False),
        (bool, "True", True),
        (Literal["a", "b"], "c", "c"),
        (Any, [1, {"a": 2}], [1, {"a": 2}]),
        (list[int], ["1", 2], [1, 2]),
        (list[str], (), ()),
    ],
)
def test_arguments_are_read_leniently(annotation: Any, given: Json, read: Json) -> None:
    assert reader(annotation)(given, "x") == read


@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [
        (str, None, "text"),
        (str, True, "text"),
        (str, ["x"], "text"),
        (int, "seven", "a whole number"),
        (int, 7.5, "a whole number"),
        (int, True, "a whole number"),
        (int, math.nan, "a whole number"),
        (int, math.inf, "a whole number"),
        (int, None, "a whole number"),
        (float, "nan", "a number"),
        (float, math.inf, "a number"),
        (float, 10**400, "a number"),
        (float, False, "a number"),
        (float, [], "a number"),
        (bool, "yes", "true or false"),
        (bool, 1, "true or false"),
        (Literal["a"], {}, "text"),
        (list[int], "1,2", "a list"),
        (list[int], {"1": 2}, "a list"),
        (Seat, "row 7", "an object"),
        (Seat, [7], "an object"),
    ],
)
def test_what_cannot_be_read_is_refused(annotation: Any, given: Json, expected: str) -> None:
    with pytest.raises(ShapeError, match=f"should be {expected}, got "):
        reader(annotation)(given, "x")


def test_an_object_is_read_field_by_field() -> None:
    read = reader(Booking)(
        {"name": 7, "seats": [{"row": "3", "window": "true"}], "bags": "2", "price": "9.5"}, ""
    )
    assert read == {"name": "7", "seats": [{"row": 3, "window": True}], "bags": 2, "price": 9.5}


def test_an_object_that_says_what_it_should_is_handed_on_as_it_is() -> None:
    given = {"name": "Ada", "seats": [{"row": 3}], "unknown": object()}
    read = reader(Booking)(given, "")
    assert read == given
    assert read["seats"][0] is given["seats"][0]  # type: ignore[index]
    lean = {"name": "Ada"}
    assert reader(Booking)(lean, "") is lean


def test_reading_never_changes_what_was_given() -> None:
    given = {"name": 7, "seats": [{"row": "3"}]}
    reader(Booking)(given, "")
    assert given == {"name": 7, "seats": [{"row": "3"}]}


def test_a_required_field_must_be_given_and_an_optional_one_need_not() -> None:
    with pytest.raises(ShapeError, match="name should be given"):
        reader(Booking)({"bags": 1}, "")
    with pytest.raises(ShapeError, match="row should be given"):
        reader(Seat)({"window": True}, "")
    assert reader(Seat)({"row": 1}, "") == {"row": 1}


def test_an_error_names_the_field() -> None:
    with pytest.raises(ShapeError, match="row should be a whole number, got 'front'"):
        reader(Booking)({"name": "Ada", "seats": [{"row": "front"}]}, "")
    with pytest.raises(ShapeError, match=r"^seats should be an object, got 'Anya Garcia'$"):
        reader(Booking)({"name": "Ada", "seats": ["Anya Garcia"]}, "")
    with pytest.raises(ShapeError, match=r"^arguments should be an object"):
        reader(Booking)("everything", "")


def test_an_error_stays_short() -> None:
    with pytest.raises(ShapeError) as refused:
        reader(int)("9" * 100_000 + "x", "bags")
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize("annotation", [str | None, bool | None, Literal["a"] | None])
def test_an_optional_argument_may_be_null_and_else_is_read_as_its_type(annotation: Any) -> None:
    assert reader(annotation)(None, "x") == (None, ())
    assert reader(annotation)(7, "x").objections
