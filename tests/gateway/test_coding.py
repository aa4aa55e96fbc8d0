"""Packed bodies: unpacked in a time that goes by their size, however they are put together."""

from __future__ import annotations

import gzip
import os
import time
import zlib

import pytest

from ledgeragent.gateway.coding import Unpacker, unpacked

LIMIT = 8 << 20
PARTS = {"gzip": gzip.compress(b"", mtime=0), "deflate": zlib.compress(b"")}


@pytest.mark.parametrize("coding", PARTS)
@pytest.mark.parametrize("count", [20_000, 300_000])
def test_a_body_of_very_many_parts_is_refused_soon(coding: str, count: int) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError, match="more than 10,000 parts"):
        unpacked(PARTS[coding] * count, coding, LIMIT)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("coding", PARTS)
def test_a_body_of_many_parts_is_read(coding: str) -> None:
    pack = gzip.compress if coding == "gzip" else zlib.compress
    texts = [str(number).encode() for number in range(5_000)]
    assert unpacked(b"".join(map(pack, texts)), coding, LIMIT) == b"".join(texts)


@pytest.mark.parametrize("size", [1, 1 << 14, (1 << 14) + 1, 1 << 20])
@pytest.mark.parametrize("kind", [os.urandom, bytes])
def test_a_body_is_the_same_in_whatever_pieces_it_comes(size: int, kind: type[bytes]) -> None:
    text = kind(size)
    packed = gzip.compress(text) + gzip.compress(b"end")
    for length in (1 << 12, 1 << 14, 1 << 24):
        unpacker = Unpacker("gzip")
        pieces = [packed[i : i + length] for i in range(0, len(packed), length)]
        assert b"".join(part for piece in pieces for part in unpacker.feed(piece)) == text + b"end"
        assert unpacker.is_whole
