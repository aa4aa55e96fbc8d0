"""Compressed files are read as what is in them, and damage is told as damage."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable

import pytest

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


def test_other_files_are_as_they_are() -> None:
    raw = io.BufferedReader(io.BytesIO(TEXT))
    assert plain(raw) is raw
