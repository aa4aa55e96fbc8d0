"""JSON as the gateway writes it: the same value, whichever library writes it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.gateway import wirejson
from ledgeragent.types import canonical

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
