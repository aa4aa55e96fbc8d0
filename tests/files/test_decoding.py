"""Decoding: whichever library decodes, the value or the refusal is that of the standard library."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgeragent.files import decoding
from ledgeragent.files.decoding import decode, decode_slowly
from tests.jsontexts import texts, told, told_of_deep


@given(texts)
@example('{"a": 1, "b": 2, "a": 3}')
@example("123456789012345678901234567890")
@example("-9223372036854775809")
@example("[1e400, -1e400, 1e-400, 0e999]")
@example('"\\ud83d\\ude00 \\udc00"')
@example("[NaN, Infinity, -Infinity]")
@example("1" * 5_000)
def test_the_fast_decoder_says_what_the_library_says(text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    assert told(raw, decode) == told(raw, decode_slowly)


@given(st.binary(max_size=40))
def test_so_it_is_with_any_bytes(raw: bytes) -> None:
    assert told(raw, decode) == told(raw, decode_slowly)


@pytest.mark.parametrize("depth", [100, 253, 255, 500, 1_023, 1_025, 5_000])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"[": ', "}")])
def test_so_it_is_at_any_depth(depth: int, begin: str, end: str) -> None:
    raw = (begin * depth + "1" + end * depth).encode()
    assert len(told_of_deep(raw, decode, decode_slowly)) == 1


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"[": ', "}")])
def test_both_give_up_at_the_same_depth(
    begin: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deepest() -> int:
        low, high = 0, 100_000
        while high - low > 1:
            middle = (low + high) // 2
            try:
                decode((begin * middle + "1" + end * middle).encode())
            except RecursionError:
                high = middle
            else:
                low = middle
        return low

    by_the_fast_one = deepest()
    monkeypatch.setattr(decoding, "_fast", None)
    assert by_the_fast_one == deepest() > 100


def test_not_every_text_takes_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("msgspec")
    monkeypatch.setattr(decoding, "decode_slowly", None)
    assert decode(b'[{"id": 1234567890123456, "text": "a [ b", "ratio": 0.25}]')


def test_without_the_extra_it_is_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "_fast", None)
    assert decode(b'{"a": [1, NaN]}') == {"a": [1, "NaN"]}
