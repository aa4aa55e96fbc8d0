"""Values as they come over the wire: what is not JSON, or could not be written back as it was."""

from __future__ import annotations

import pytest

from ledgeragent.types import ToolCall, parse_json

ENDLESS = ["1e999", "-1e999", "[0.5, 1E400]", '{"a": {"b": 9.9e308}}', "1" + "0" * 400 + ".0"]


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
