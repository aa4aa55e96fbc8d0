"""The shape of records: a value that is not what its type declares is evidence of nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from ledgeragent.domain import Domain
from ledgeragent.effects import Read, Write, one_of, touch
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.paths import PathTemplate
from ledgeragent.predicates import Broken, MissingEvidence, View, predicate, violation
from ledgeragent.shape import ANYTHING, shape_of
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Verdict
from tests.lending.domain import read


class Part(TypedDict):
    """Inside a list."""

    price: float


class Parcel(TypedDict):
    """A record with every kind of field."""

    status: Literal["open", "shipped"]
    weight: int
    parts: list[Part]
    owner: str | None
    labels: dict[str, str]
    paid: NotRequired[bool]
    more: Any
    inside: NotRequired[Parcel]


GOOD: dict[str, Json] = {
    "status": "open",
    "weight": 3,
    "parts": [{"price": 1.5}, {"price": 2}],
    "owner": None,
    "labels": {"a": "b"},
    "more": {"x": ["é", 1, None]},
}


def test_a_value_that_is_what_its_type_declares_has_no_objection() -> None:
    nested = {**GOOD, "inside": {**GOOD, "paid": True}, "unheard": "of"}
    assert shape_of(Parcel).objection(nested, "") == ""


@pytest.mark.parametrize(
    ("change", "objection"),
    [
        ({"status": "SHIPPED"}, "status should be one of open, shipped, not 'SHIPPED'"),
        ({"status": None}, "status should be one of open, shipped, not None"),
        ({"weight": "3"}, "weight should be a whole number, not '3'"),
        ({"weight": True}, "weight should be a whole number, not True"),
        ({"parts": {}}, "parts should be a list, not {}"),
        ({"parts": [{"price": 1}, {"price": "2"}]}, "parts[1].price should be a number, not '2'"),
        ({"parts": [{}]}, "parts[0] has no `price`"),
        ({"owner": 7}, "owner should be text, not 7"),
        ({"owner": "a\x00b"}, "owner holds a control character"),
        ({"labels": {"a": 1}}, "labels.a should be text, not 1"),
        ({"paid": "yes"}, "paid should be true or false, not 'yes'"),
        ({"more": [["\ud800"]]}, "more holds a control character"),
        ({"inside": {**GOOD, "weight": 1.5}}, "inside.weight should be a whole number, not 1.5"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(change: dict[str, Json], objection: str) -> None:
    assert shape_of(Parcel).objection({**GOOD, **change}, "") == objection


def test_a_missing_field_is_named() -> None:
    lean = {name: value for name, value in GOOD.items() if name != "weight"}
    assert shape_of(Parcel).objection(lean, "") == "it has no `weight`"


PARCEL = PathTemplate("parcels.{parcel_id}", Parcel)
STATE = PathTemplate("states.{parcel_id}", str)


class Ship(TypedDict):
    """Arguments of `ship`."""

    parcel_id: str


@predicate("post/open", guards="ship")
def is_open(call: Ship, ledger: View) -> Broken | None:
    """Only an open parcel can be shipped."""
    status = ledger[PARCEL(call["parcel_id"])]["status"]
    return violation("it is {status}", status=status) if status == "shipped" else None


@predicate("post/free", guards="ship")
def is_free(call: Ship, ledger: View) -> Broken | None:
    """A parcel that is held stays."""
    return violation("it is held") if ledger[STATE(call["parcel_id"])] == "held" else None


POST = Domain(
    name="post",
    version="1",
    tools=(
        Read(tool="get_parcel", to=PARCEL, parameters=("parcel_id",)),
        Read(
            tool="get_state",
            to=STATE,
            parameters=("parcel_id",),
            parse=one_of("free", "held"),
        ),
        Write(tool="ship", arguments=Ship, touches=(touch(PARCEL, "status"),)),
    ),
    predicates=(is_open,),
)
GET = ToolCall(name="get_parcel", arguments={"parcel_id": "P"}, id="1")
SHIP = ToolCall(name="ship", arguments={"parcel_id": "P"}, id="2")


def verdict_on(record: Json) -> Verdict:
    return Gate(domain=POST).judge(SHIP, read((GET, record), domain=POST))


def test_a_word_outside_the_list_is_no_evidence_for_a_rule() -> None:
    verdict = verdict_on({**GOOD, "status": "SHIPPED"})
    assert verdict.decision is Decision.REVISE and not verdict.violations
    assert "was read, but status should be one of open, shipped" in verdict.feedback
    assert verdict_on(GOOD).allowed
    assert verdict_on({**GOOD, "status": "shipped"}).violations


def test_a_record_without_a_declared_field_is_said_to_lack_it() -> None:
    verdict = verdict_on({"weight": 3})
    assert "was read, but its answer has no `status`" in verdict.feedback
    assert "has not been read yet" not in verdict.feedback


def test_a_return_that_lacks_a_declared_field_is_told_when_it_is_absorbed() -> None:
    from ledgeragent.absorb import absorb
    from tests.lending.domain import answer

    absorption = absorb(Ledger(), GET, answer(GET, {"weight": 3}), POST)
    assert (
        absorption.stored and absorption.problems[0] == "the answer of get_parcel has no `labels`"
    )


STATES = replace(POST, predicates=(is_free,))
ASK = ToolCall(name="get_state", arguments={"parcel_id": "P"}, id="1")


@pytest.mark.parametrize(
    ("content", "decision"),
    [
        ("free", Decision.ALLOW),
        ({"result": "free"}, Decision.ALLOW),
        ("FREE", Decision.REVISE),
        ("I am sorry, it is free of charge", Decision.REVISE),
        ("Unavailable", Decision.REVISE),
        ({"state": "free"}, Decision.REVISE),
    ],
)
def test_a_plain_answer_has_one_of_its_words_or_says_nothing(
    content: Json, decision: Decision
) -> None:
    ledger = read((ASK, content), domain=STATES)
    verdict = Gate(domain=STATES).judge(SHIP, ledger)
    assert verdict.decision is decision and not verdict.violations
    if decision is Decision.REVISE:
        assert "what came back could not be understood" in verdict.feedback


UNTIL = PathTemplate[str | None]("until.{parcel_id}", str | None)
LENT = Domain(
    name="lent", version="1", tools=(Read(tool="get_until", to=UNTIL, parameters=("parcel_id",)),)
)


@pytest.mark.parametrize("day", ["2024-12-01", None])
def test_a_family_may_hold_a_value_or_none(day: str | None) -> None:
    ledger = read((replace(ASK, name="get_until"), {"result": day}), domain=LENT)
    until: str | None = View(ledger, {}, shapes=LENT.shape)[UNTIL("P")]
    assert until == day
    odd = read((replace(ASK, name="get_until"), {"result": 7}), domain=LENT)
    with pytest.raises(MissingEvidence, match=r"until\.P"):
        View(odd, {}, shapes=LENT.shape)[UNTIL("P")]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Literal[1, 2], True),
        (Literal[True], 1),
        (float, float("nan")),
        (float, float("inf")),
        (Any, [float("nan")]),
        (float | None, float("-inf")),
    ],
)
def test_what_only_python_takes_for_the_declared_value_is_none(
    annotation: Any, value: Json
) -> None:
    assert shape_of(annotation).objection(value, "it")


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (Part, 7, "an object, not 7"),
        (dict[str, int], [1], "an object, not [1]"),
        (list[int], {"a": 1}, "a list, not {'a': 1}"),
        (Literal["a", 1], "b", "one of a, 1, not 'b'"),
        (Literal["a", 1], True, "one of a, 1, not True"),
        (int | str, None, "a whole number, not None"),
        (str | int | None, [], "text, not []"),
        (float, "x" * 59, f"a number, not '{'x' * 59}..."),
    ],
)
def test_an_objection_says_what_was_declared_and_what_was_found(
    annotation: Any, value: Json, expected: str
) -> None:
    object_to = shape_of(annotation).objection
    assert object_to(value, ".a") == f"a should be {expected}"
    assert object_to(value, "") == f"it should be {expected}"


def test_a_number_that_json_does_not_have_is_told_wherever_it_stands() -> None:
    assert ANYTHING.objection([float("nan")], "x") == "x should be a number, not nan"
    assert shape_of(float).objection(float("inf"), "x") == "x should be a number, not inf"


@pytest.mark.parametrize(
    ("annotation", "values"),
    [
        (Part, [{"price": 1}, {"price": 1.5, "more": []}]),
        (dict[str, int], [{}, {"a": 1}]),
        (list[int], [[], [1, 2]]),
        (Literal["a", 1, None, True], ["a", 1, None, True]),
        (int | str, [1, "a"]),
        (int | str | None, [1, "a", None]),
        (Part | None, [{"price": 1}, None]),
        (Any, [None, "a", 1.5, {"a": [{}]}, True]),
        (object, [None, "a", [1]]),
    ],
)
def test_what_was_declared_has_no_objection(annotation: Any, values: list[Json]) -> None:
    assert [shape_of(annotation).objection(value, "a") for value in values] == [""] * len(values)


def test_of_many_words_the_first_are_listed() -> None:
    few, many = tuple("abcdefghijkl"), tuple("abcdefghijklm")
    listed = ", ".join(few)
    assert shape_of(Literal[few]).objection(1, "x") == f"x should be one of {listed}, not 1"
    assert shape_of(Literal[many]).objection(1, "x") == f"x should be one of {listed}, ..., not 1"


@pytest.mark.parametrize(
    ("annotation", "required", "holds_objects"),
    [
        (Part, {"price"}, True),
        (Part | None, {"price"}, True),
        (Parcel, {"status", "weight", "parts", "owner", "labels", "more"}, True),
        (dict[str, Part], set(), True),
        (Any, set(), True),
        (list[Part], set(), False),
        (str | None, set(), False),
        (int | Part, set(), False),
    ],
)
def test_a_shape_says_whether_a_rule_may_read_it_field_by_field(
    annotation: Any, required: set[str], holds_objects: bool
) -> None:
    shape = shape_of(annotation)
    assert shape.required == required and shape.holds_objects is holds_objects


def test_the_shape_of_a_field_is_what_its_type_declares() -> None:
    assert shape_of(Part).of("price").objection("x", "p") == "p should be a number, not 'x'"
    assert shape_of(Part | None).of("price") is shape_of(Part).of("price")
    assert shape_of(dict[str, int]).of("any").objection("x", "p") != ""
    assert shape_of(Part).of("unheard") is shape_of(Any) is ANYTHING


@pytest.mark.parametrize("is_list", [True, False])
@pytest.mark.parametrize(("depth", "objection"), [(60, ""), (61, "x is nested too deep")])
def test_a_value_of_any_type_may_be_nested_so_deep(
    depth: int, objection: str, is_list: bool
) -> None:
    value: Json = []
    for _ in range(depth):
        value = [value] if is_list else {"a": value}
    assert ANYTHING.objection(value, "x") == objection


@pytest.mark.parametrize("value", ["\x00", {"a\x00": 1}, [{"a": "\x00"}]])
def test_a_control_character_anywhere_in_a_value_is_told(value: Json) -> None:
    assert ANYTHING.objection(value, ".x") == "x holds a control character"
    assert ANYTHING.objection(value, "") == "it holds a control character"


def test_tabs_and_line_breaks_are_no_control_characters() -> None:
    for annotation in (str, Any):
        assert shape_of(annotation).objection("a\tb\r\n", "x") == ""
        assert shape_of(annotation).objection("a\x0b", "x") == "x holds a control character"
