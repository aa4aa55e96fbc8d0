"""Argument shapes: what is read as what, and what is refused with which words."""

from __future__ import annotations

import math
from typing import Any, Literal, NotRequired, Required, TypedDict

import pytest

from ledgeragent.arguments import reader
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


def read(annotation: Any, value: Json, place: str = "") -> tuple[Json, list[str]]:
    """The value as its type, and what stands against it."""
    objections: list[str] = []
    return reader(annotation)(value, place, objections), objections


@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [
        (str, "x", "x"),
        (str, "zwei\nZeilen\t", "zwei\nZeilen\t"),
        (int, 7, 7),
        (int, "7", 7),
        (int, " 7 ", 7),
        (int, 7.0, 7),
        (int, "7.0", 7),
        (float, 7, 7.0),
        (float, "7.50", 7.5),
        (bool, True, True),
        (Literal["a", "b"], "b", "b"),
        (Literal[1, 2], 2, 2),
        (Any, [1, {"a": 2}], [1, {"a": 2}]),
        (list[int], ["1", 2], [1, 2]),
        (list[int], "[1, 2]", [1, 2]),
        (list[str], ' ["a"]', ["a"]),
        (list[str], (), ()),
    ],
)
def test_arguments_are_read_leniently_where_it_changes_nothing(
    annotation: Any, given: Json, expected: Json
) -> None:
    assert read(annotation, given, "x") == (expected, [])


@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [
        (str, None, "text"),
        (str, True, "text"),
        (str, 7, "text"),
        (str, 7.5, "text"),
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
        (bool, "false", "true or false"),
        (bool, 1, "true or false"),
        (Literal["a", "b"], "A", "one of a, b"),
        (Literal["a"], {}, "one of a"),
        (Literal[1, 2], True, "one of 1, 2"),
        (list[int], "1,2", "a list"),
        (list[int], "[1,", "a list"),
        (list[int], {"1": 2}, "a list"),
        (Seat, "row 7", "an object"),
        (Seat, [7], "an object"),
    ],
)
def test_what_would_change_the_meaning_is_refused(
    annotation: Any, given: Json, expected: str
) -> None:
    [objection] = read(annotation, given, "x")[1]
    assert objection.startswith(f"x should be {expected}, got ")


def test_an_object_is_read_field_by_field() -> None:
    given = {"name": "Ada", "seats": [{"row": "3", "window": True}], "bags": "2", "price": "9.5"}
    assert read(Booking, given) == (
        {"name": "Ada", "seats": [{"row": 3, "window": True}], "bags": 2, "price": 9.5},
        [],
    )
    assert given["bags"] == "2"


def test_an_object_that_says_what_it_should_is_handed_on_as_it_is() -> None:
    given = {"name": "Ada", "seats": [{"row": 3}], "unknown": object()}
    value, objections = read(Booking, given)
    assert value is given and objections == []


def test_every_objection_is_told_with_its_place() -> None:
    given = {"seats": [{"window": 1}, {"row": "front"}], "cabin": "first", "bags": None}
    assert read(Booking, given)[1] == [
        "name is missing",
        "seats[0].row is missing (got window)",
        "seats[0].window should be true or false, got 1",
        "seats[1].row should be a whole number, got 'front'",
        "bags should be a whole number, got None",
        "cabin should be one of economy, business, got 'first'",
    ]


@pytest.mark.parametrize("sign", ["\x00", "\x1b", "\x7f", "\x85", "\ud800"])
@pytest.mark.parametrize("field", ["name", "extras", "inside"])
def test_no_argument_may_hold_a_control_character(sign: str, field: str) -> None:
    hostile = f"maya{sign},eve"
    given: dict[str, Json] = {"name": "Ada", field: hostile}
    if field == "inside":
        given = {"name": "Ada", "extras": {"a": [{"b": hostile}]}}
    [objection] = read(Booking, given)[1]
    assert objection.endswith("holds a control character, which no argument may")


def test_an_objection_stays_short() -> None:
    [objection] = read(int, "9" * 100_000 + "x", "bags")[1]
    assert len(objection) < 200


@pytest.mark.parametrize("annotation", [str | None, bool | None, Literal["a"] | None])
def test_an_optional_argument_may_be_null_and_else_is_read_as_its_type(annotation: Any) -> None:
    objections: list[str] = []
    assert reader(annotation)(None, "x", objections) is None
    assert not objections
    reader(annotation)(7, "x", objections)
    assert objections


@pytest.mark.parametrize("text", ["1_0", "\u0661\u0662", "\uff11", "0x10", "1e", "--1", "1 0"])
@pytest.mark.parametrize("annotation", [int, float])
def test_only_what_every_language_takes_for_a_number_is_read_as_one(
    annotation: Any, text: str
) -> None:
    _, objections = read(annotation, text, "n")
    assert objections


def test_a_long_number_in_text_stays_the_same_number() -> None:
    assert read(int, "9007199254740993") == (9007199254740993, [])


def test_a_list_in_text_may_hold_no_key_twice() -> None:
    _, objections = read(list[Any], '[{"seat": "1A", "seat" : "2B"}]', "seats")
    assert objections


@pytest.mark.parametrize("price", [math.inf, math.nan, "nan"])
def test_a_number_inside_an_object_or_a_list_is_read_as_one_alone(price: Json) -> None:
    [objection] = read(Booking, {"name": "Ada", "price": price})[1]
    assert objection.startswith("price should be a number, got ")
    [objection] = read(list[float], [1.0, price], "prices")[1]
    assert objection.startswith("prices[1] should be a number, got ")


def test_an_object_that_lacks_everything_is_told_so() -> None:
    assert read(Booking, {"name": "Ada", "seats": [{}]})[1] == [
        "seats[0].row is missing (got nothing)"
    ]
    assert read(Booking, {})[1] == ["name is missing"]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("\x00", "extras"),
        ({"a": "\x00"}, "extras.a"),
        ({"a": {"b": ["x", "\x00"]}}, "extras.a.b[1]"),
        ({"a\x00": 1}, "extras"),
        ([{"b": "\x00"}], "extras[0].b"),
        (("\x00",), "extras[0]"),
    ],
)
def test_a_control_character_is_told_with_its_place(value: Json, place: str) -> None:
    assert read(Booking, {"name": "Ada", "extras": value})[1] == [
        f"{place} holds a control character, which no argument may"
    ]
    if place != "extras":
        [objection] = read(Any, value)[1]
        assert objection.startswith(place.removeprefix("extras").lstrip("."))


@pytest.mark.parametrize("is_list", [True, False])
@pytest.mark.parametrize(("depth", "is_too_deep"), [(60, False), (61, True), (200, True)])
def test_a_value_of_any_type_may_be_nested_so_deep(
    depth: int, is_too_deep: bool, is_list: bool
) -> None:
    value: Json = 1
    for _ in range(depth):
        value = [value] if is_list else {"a": value}
    objections = read(Any, value, "extras")[1]
    assert len(objections) == is_too_deep
    assert all(text.endswith(" is nested too deep") for text in objections)


def test_a_long_value_is_cut_in_an_objection() -> None:
    assert read(int, "x" * 78, "n")[1] == [f"n should be a whole number, got {'x' * 78!r}"]
    assert read(int, "x" * 79, "n")[1] == [
        f"n should be a whole number, got {repr('x' * 79)[:77]}..."
    ]


class Even:
    """A form of a declared argument: a whole number that two divides."""

    def objection(self, value: Json, place: str) -> str:
        return "" if type(value) is int and value % 2 == 0 else f"{place} should be even"


def test_a_form_says_itself_what_is_wrong_with_a_value() -> None:
    assert read(Even(), 4, "n") == (4, [])
    assert read(Even(), 3, "n")[1] == ["n should be even"]
