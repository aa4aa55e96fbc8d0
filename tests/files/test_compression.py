"""Compressed files are read as what is in them, and damage is told as damage."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import time
import zlib
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


def headed(flags: int, fields: bytes = b"", checksum: int | None = None) -> bytes:
    """A gzip file with these flags and fields in its header, and the checksum of it or another."""
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + fields
    right = zlib.crc32(head) & 0xFFFF
    sum_of_it = (right if checksum is None else checksum) if flags & 2 else None
    return head + (struct.pack("<H", sum_of_it) if sum_of_it is not None else b"") + PACKED[10:]


HEADS = {
    "a checksum": headed(2),
    "a wrong checksum": headed(2, checksum=1),
    "a name": headed(8, b"a.jsonl\0"),
    "a name without end": b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * 50,
    "all fields": headed(31, b"\2\0abname\0comment\0"),
    "all fields, a wrong checksum": headed(31, b"\2\0abname\0comment\0", checksum=1),
    "a wrong checksum, second": PACKED + headed(2, checksum=1),
    "flags that mean nothing": PACKED[:3] + b"\x20" + PACKED[4:],
    "flags that mean nothing, second": PACKED + PACKED[:3] + b"\x80" + PACKED[4:],
    "another method": PACKED[:2] + b"\7" + PACKED[3:],
    "nothing else": b"\x1f\x8b",
    "a wrong sum": PACKED[:-8] + bytes(4) + PACKED[-4:],
    "a wrong length": PACKED[:-4] + bytes(4),
    "two": PACKED + PACKED,
    "an empty one first": gzip.compress(b"") + PACKED,
    "padding": PACKED + bytes(300_000),
    "padding between": PACKED + bytes(300_000) + PACKED,
    "padding, and no end": PACKED + bytes(300_000) + b"x",
    "the first byte of another": PACKED + b"\x1f",
}
DAMAGED = {
    "a wrong checksum",
    "a name without end",
    "all fields, a wrong checksum",
    "a wrong checksum, second",
    "flags that mean nothing",
    "flags that mean nothing, second",
    "another method",
    "nothing else",
    "a wrong sum",
    "a wrong length",
    "padding, and no end",
    "the first byte of another",
}


@pytest.mark.parametrize("library", ["fast", "plain"])
@pytest.mark.parametrize("kind", HEADS)
def test_a_file_is_damaged_whichever_library_reads_it(
    kind: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library == "plain":
        monkeypatch.setattr(compression, "_gzip_library", zlib)
    else:
        pytest.importorskip("isal")
    assert lines_of(HEADS[kind])[1] == (kind in DAMAGED)


@pytest.mark.parametrize("flags", range(32))
@pytest.mark.parametrize("library", ["fast", "plain"])
def test_a_header_may_come_in_parts(
    flags: int, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is cut: files are read in parts of a fixed size, and pipes give what they have."""
    if library == "plain":
        monkeypatch.setattr(compression, "_gzip_library", zlib)
    parts = {4: b"\5\0extra", 8: b"name\0", 16: b"comment\0"}
    member = headed(flags, b"".join(text for flag, text in parts.items() if flags & flag))
    header = len(member) - len(PACKED) + 10
    for inside in range(1, header + 2):
        monkeypatch.setattr(compression, "_READ_BYTES", len(PACKED) + inside)
        assert lines_of(PACKED + member) == (2 * lines_of(PACKED)[0], False)


TINY = {
    "gzip": gzip.compress(b""),
    "bzip2": bz2.compress(b""),
    "xz": lzma.compress(b"", check=lzma.CHECK_NONE),
}


@pytest.mark.parametrize("kind", TINY)
@pytest.mark.parametrize("library", ["fast", "plain"])
def test_very_many_empty_streams_are_passed_over_soon(
    kind: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library == "plain":
        monkeypatch.setattr(compression, "_gzip_library", zlib)
    begun = time.process_time()
    assert lines_of(TINY[kind] * (1_000_000 // len(TINY[kind]))) == ([], False)
    assert time.process_time() - begun < 6


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
        patch.setattr(compression, "_gzip_library", zlib)
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
