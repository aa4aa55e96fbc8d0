"""JSON as the gateway reads and writes it: the same value, whichever library does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgeragent.gateway import wirejson
from ledgeragent.types import canonical, parse_distinct, parse_json
from tests.jsontexts import texts, told, told_of_deep

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.fixture(params=["quick", "plain"], scope="module", autouse=True)
def library(request: pytest.FixtureRequest) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "plain":
            patch.setattr(wirejson, "orjson", None)
        yield request.param


@given(values)
def test_it_is_read_back_as_it_was(value: Any) -> None:
    assert json.loads(wirejson.encoded(value)) == value


@pytest.mark.parametrize("odd", ["\ud800", 2**64, -(2**70), [[[0]]]], ids=repr)
def test_what_the_quick_library_refuses_is_written_too(odd: Any) -> None:
    for _ in range(300):  # deeper than it goes
        odd = [odd]
    assert json.loads(wirejson.encoded({"odd": odd})) == {"odd": odd}
    assert wirejson.canonical_text(odd) == canonical(odd)


NUMBERS = [1e16, 1e22, 1e-5, 0.00001234, -9.9e-05, 1.5e300, 1e15, 0.0001, 49.0, -0.0, 2**63, 2**64]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_has_one_canonical_text(number: float) -> None:
    assert wirejson.canonical_text({"x": [number]}) == canonical({"x": [number]})


@given(values)
def test_a_value_has_one_canonical_text(value: Any) -> None:
    assert wirejson.canonical_text(value) == canonical(value)


@given(values)
def test_events_are_ascii(value: Any) -> None:
    assert wirejson.ascii_text(value).isascii()
    assert wirejson.ascii_encoded(value).isascii()
    assert json.loads(wirejson.ascii_encoded(value)) == value


def slowly(text: bytes) -> Any:
    return parse_json(text.decode())


def slowly_distinct(text: bytes) -> Any:
    return parse_distinct(text.decode())


@given(texts)
@example('{"a": 1, "b": 2, "a": 3}')
@example('{"a": 1, "a": 2, "b": "\\u003a"}')
@example('{"a": 1, "a": 2, "b": "\\u003A"}')
@example('{"a": {"b": ":"}, "a": "\\u003a:"}')
@example('{"a": 1, "\\u0061": ":"}')
@example('{"a": "\\\\u003a", "b": ": \\":\\" :"}')
@example("123456789012345678901234567890")
@example("-9223372036854775809")
@example("[1e400, 1]")
@example("[1e-400, 0e999, -0, -0.0]")
@example('"\\ud83d\\ude00 \\udc00"')
@example("[NaN]")
@example("1" * 5_000)
def test_what_is_read_is_what_the_plain_library_reads(text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    assert told(raw, wirejson.decoded) == told(raw, slowly)
    assert told(raw, wirejson.decoded_distinct) == told(raw, slowly_distinct)


@given(st.binary(max_size=40))
def test_so_it_is_with_any_bytes(raw: bytes) -> None:
    assert told(raw, wirejson.decoded) == told(raw, slowly)
    assert told(raw, wirejson.decoded_distinct) == told(raw, slowly_distinct)


@pytest.mark.parametrize("depth", [100, 253, 255, 500, 980, 1_023, 1_025, 5_000])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"[": ', "}")])
def test_so_it_is_at_any_depth(depth: int, begin: str, end: str) -> None:
    raw = (begin * depth + "1" + end * depth).encode()
    assert len(told_of_deep(raw, wirejson.decoded, slowly)) == 1
    assert len(told_of_deep(raw, wirejson.decoded_distinct, slowly_distinct)) == 1


def test_not_every_text_takes_the_slow_way(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if library == "plain":
        pytest.skip("there is no other")
    monkeypatch.setattr(wirejson, "parse_json", None)
    monkeypatch.setattr(wirejson, "parse_distinct", None)
    text = b'{"id": 1234567890123456, "text": "a: [ b", "ratio": 0.25, "name": {"id": []}}'
    assert wirejson.decoded(text) == wirejson.decoded_distinct(text) == json.loads(text)


ALIKE = [1, 1.0, True, "1", "true", [1], [True], {"1": 1}, {"1": "1"}, None, "null", [], {}, ""]


def test_no_two_values_have_one_fingerprint(library: str) -> None:
    marks = [wirejson.fingerprint([value]) for value in ALIKE]
    assert len(set(marks)) == len(ALIKE) if library == "quick" else set(marks) == {None}
    assert wirejson.fingerprint("\ud800") is None
