"""Compressed files are read as what is in them, and damage is told as damage."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.files import compression
from ledgeragent.files.compression import DAMAGES, plain

TEXT = b'{"id": 1}\n' * 50_000


def zstandard(content: bytes) -> bytes:
    pa = pytest.importorskip("pyarrow")
    return bytes(pa.compress(content, "zstd", asbytes=True))


KINDS = [gzip.compress, bz2.compress, lzma.compress, zstandard]


@pytest.mark.parametrize("compress", KINDS)
def test_it_is_read_as_what_is_in_it(compress: Callable[[bytes], bytes]) -> None:
    with plain(io.BufferedReader(io.BytesIO(compress(TEXT)))) as stream:
        assert stream.readline() == b'{"id": 1}\n'
        assert stream.read() == TEXT[10:]


@pytest.mark.parametrize("compress", KINDS[:3])
def test_streams_that_follow_each_other_are_one(compress: Callable[[bytes], bytes]) -> None:
    twice = compress(b"a\n") + compress(b"b\n")
    assert plain(io.BufferedReader(io.BytesIO(twice))).read() == b"a\nb\n"


@pytest.mark.parametrize("compress", KINDS)
def test_what_ends_early_is_damaged(compress: Callable[[bytes], bytes]) -> None:
    whole = compress(TEXT)
    with pytest.raises(DAMAGES):
        plain(io.BufferedReader(io.BytesIO(whole[: len(whole) // 2]))).read()


@pytest.mark.parametrize("compress", KINDS[:3])
def test_what_stands_behind_it_is_damage(compress: Callable[[bytes], bytes]) -> None:
    with pytest.raises(DAMAGES):
        plain(io.BufferedReader(io.BytesIO(compress(b"a\n") + b"no such thing"))).read()


RECORDS = b"".join(b'{"id": %d, "text": "order %d"}\n' % (n, n * n) for n in range(9_000))
PACKED = gzip.compress(RECORDS)
damages = st.one_of(
    st.integers(0, len(PACKED)).map(lambda end: PACKED[:end]),
    st.tuples(st.integers(3, len(PACKED) - 1) | st.integers(10, 300), st.binary(min_size=1)).map(
        lambda spot: PACKED[: spot[0]] + spot[1] + PACKED[spot[0] + len(spot[1]) :]
    ),
    st.binary(max_size=40).map(lambda rest: PACKED + rest),
)


@settings(max_examples=300)
@given(damages)
def test_the_fast_library_reads_up_to_the_same_damage(packed: bytes) -> None:
    pytest.importorskip("isal")
    with pytest.MonkeyPatch.context() as patch:
        by_the_fast_one = lines_of(packed)
        patch.setattr(compression, "_GzipFile", gzip.GzipFile)
        assert lines_of(packed) == by_the_fast_one


def lines_of(packed: bytes) -> tuple[list[bytes], bool]:
    """What can be read, and whether there is damage behind it."""
    stream, lines = plain(io.BufferedReader(io.BytesIO(packed))), []
    try:
        while line := stream.readline():
            lines.append(line)
    except DAMAGES:
        return lines, True
    return lines, False


def test_other_files_are_as_they_are() -> None:
    raw = io.BufferedReader(io.BytesIO(TEXT))
    assert plain(raw) is raw
