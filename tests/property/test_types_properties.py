"""Types: any value's text reads back, however it is laid out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.types import Json, RepeatedKeyError, canonical, parse_distinct, parse_json

from .world import searched

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@searched
@given(VALUES, st.sampled_from([None, 2]), st.sampled_from([(",", ":"), (" , ", " :\t")]))
def test_json_reads_back_however_it_is_laid_out(
    value: Json, indent: int | None, separators: tuple[str, str]
) -> None:
    text = json.dumps(value, indent=indent, separators=separators)
    assert parse_json(text) == value
    assert parse_json(f" {text}\n") == value
    assert parse_distinct(text) == value


@searched
@given(VALUES)
def test_the_one_text_of_a_value_reads_back(value: Json) -> None:
    assert json.loads(canonical(value)) == value


KEYS = st.sampled_from(["a", "b", '"', "\\", "a\\", "b\\", '":', '\\":', '\\\\":', " "])
SPOKEN = st.text(alphabet='a\\":{},x ', max_size=8)


def _object_text(pairs: list[tuple[str, str]], separator: str) -> str:
    return "{" + ",".join(separator.join(map(json.dumps, pair)) for pair in pairs) + "}"


@searched
@given(
    st.lists(st.tuples(KEYS, SPOKEN | KEYS), max_size=5), st.sampled_from([":", ": ", " :", "\t:"])
)
def test_a_repeated_key_is_seen_whatever_quotes_stand_around_it(
    pairs: list[tuple[str, str]], separator: str
) -> None:
    text = _object_text(pairs, separator)
    inside = json.dumps({"arguments": text})
    assert parse_distinct(inside) == {"arguments": text}
    if len(dict(pairs)) == len(pairs):
        assert parse_distinct(text) == dict(pairs)
        return
    with pytest.raises(RepeatedKeyError):
        parse_distinct(text)
