"""Types: JSON that can be written back as it was, calls as the model wrote them, one text for a value."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest

from ledgeragent.types import Json, ToolCall, ToolReturn, canonical, parse_distinct, parse_json

ENDLESS = ["1e999", "-1e999", "[0.5, 1E400]", '{"a": {"b": 9.9e308}}', "1" + "0" * 400 + ".0"]


def parse(arguments: Json) -> ToolCall:
    return ToolCall.parse(name="lend", arguments=arguments, id="c1")


@pytest.mark.parametrize("space", ["", " ", "\n", "\t "])
def test_json_is_read_whatever_space_is_in_it(space: str) -> None:
    text = '{"a":[1,{"a":":"}],"b":"x\\":y"}'.replace(",", f",{space}")
    value = {"a": [1, {"a": ":"}], "b": 'x":y'}
    for laid_out in (text, f"{space}{text}{space}", text.replace('":', f'"{space}:', 1)):
        assert parse_json(laid_out) == parse_distinct(laid_out) == value


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_a_number_that_json_does_not_have_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"(NaN|Infinity) is not JSON"):
        parse_json(text)


@pytest.mark.parametrize("text", ["", " ", "{", "[1] 2", "{'a': 1}", '{"a": 1}}'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_json(text)
    with pytest.raises(ValueError):
        parse_distinct(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a" : 1, "a" : 2}',
        '{"a"\n:1,"a":2}',
        '[{"b": {"a": 1, "a": 1}}]',
        '{"x": "\\":", "a": 1, "a": 2}',
        '{"a":1,"a":2,"x\\\\":3}',
    ],
)
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a key stands twice$"):
        parse_distinct(text)


@pytest.mark.parametrize(
    "value",
    [{"a": {"a": 1}}, [{"a": 1}, {"a": 2}], {"a": '":'}, {"a": '"a" : 1'}, {'"': 1, ":": 2}, '":'],
)
def test_the_same_key_in_two_objects_is_no_repeat(value: Json) -> None:
    assert parse_distinct(json.dumps(value)) == value


def test_a_call_is_read_from_text_and_from_an_object() -> None:
    expected = ToolCall(name="lend", arguments={"days": 3}, id="c1")
    assert parse('{"days": 3}') == parse({"days": 3}) == expected
    assert parse(MappingProxyType({"days": 3})) == expected


@pytest.mark.parametrize("arguments", [None, ""])
def test_a_call_without_arguments_has_none(arguments: str | None) -> None:
    assert parse(arguments) == ToolCall(name="lend", arguments={}, id="c1")


@pytest.mark.parametrize(
    "arguments", ["{", "[1]", "7", "null", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 5000, 7, [1]]
)
def test_what_is_no_object_is_malformed_and_kept(arguments: Json) -> None:
    assert parse(arguments) == ToolCall(name="lend", id="c1", malformed=str(arguments))


def nested(depth: int, *, lists: bool) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value] if lists else {"a": value}
    return {"a": value}


@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize("as_text", [True, False])
def test_arguments_may_be_nested_so_deep_and_no_deeper(lists: bool, as_text: bool) -> None:
    def call(depth: int) -> ToolCall:
        value = nested(depth, lists=lists)
        return parse(json.dumps(value) if as_text else value)

    assert call(199).malformed is None and call(199).arguments == nested(199, lists=lists)
    assert call(200) == ToolCall(
        name="lend", id="c1", malformed="arguments that are nested too deep"
    )


def test_calls_for_the_same_thing_have_the_same_intent() -> None:
    one, other = parse('{"a": 1, "b": 2}'), parse({"b": 2, "a": 1})
    assert one.intent == other.intent == ("lend", '{"a":1,"b":2}')
    assert parse("{oops").intent == ("lend", "{oops")


def test_a_call_is_written_as_python_would() -> None:
    assert (
        str(parse({"title": 'The "Ferns"', "days": 3})) == 'lend(title="The \\"Ferns\\"", days=3)'
    )
    assert str(parse({"when": object})) == f'lend(when="{object}")'
    assert str(parse(None)) == "lend()"
    assert str(parse("{oops")) == "lend({oops)"


@pytest.mark.parametrize(
    ("content", "error", "failed"),
    [
        ("Error: no such book", False, True),
        ("fine", True, True),
        ("fine", False, False),
        ("an Error", False, False),
        ({"Error": 1}, False, False),
        (["Error"], False, False),
    ],
)
def test_a_return_failed_by_its_flag_or_by_its_text(
    content: Json, error: bool, failed: bool
) -> None:
    assert ToolReturn(call_id="c1", content=content, error=error).failed is failed


def test_the_one_text_of_a_value_is_sorted_tight_and_in_its_own_script() -> None:
    assert canonical({"b": [1, 2], "a": "Zoë"}) == '{"a":"Zoë","b":[1,2]}'
    assert canonical({"a": Ellipsis}) == '{"a":"Ellipsis"}'


def test_what_is_nested_past_all_bounds_has_a_text_too() -> None:
    value: Json = []
    for _ in range(100_000):
        value = [value]
    assert canonical(value) == '"(nested too deep to be shown)"'


@pytest.mark.parametrize("text", ENDLESS)
def test_a_number_that_would_become_infinity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not JSON"):
        parse_json(text)


@pytest.mark.parametrize("text", ENDLESS)
def test_a_call_with_one_is_malformed(text: str) -> None:
    call = ToolCall.parse(name="refund", arguments=f'{{"amount": {text}}}')
    assert call.malformed is not None
    assert not call.arguments


def test_numbers_that_can_be_told_stay_as_they_are() -> None:
    assert parse_json("[1e300, -0.0, 1e-999, 24.50, 7]") == [1e300, 0.0, 0.0, 24.5, 7]
