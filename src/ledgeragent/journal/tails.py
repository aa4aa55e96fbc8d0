"""Tails of files of lines: found from the end, however much stands before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO

_BLOCK = 1 << 16


def end_of_lines(stream: IO[bytes]) -> int:
    """Where the last whole line of a file ends; behind it stands what is torn."""
    return next((place + 1 for place in _breaks(stream)), 0)


def begin_of_last(stream: IO[bytes], count: int) -> int:
    """Where the last `count` whole lines of a file begin; 0 where there are no more than those."""
    for number, place in enumerate(_breaks(stream)):
        if number == count:
            return place + 1
    return 0


def _breaks(stream: IO[bytes]) -> Iterator[int]:
    """Where line breaks stand, the last one first."""
    end = stream.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(end - _BLOCK, 0)
        stream.seek(begin)
        block = stream.read(end - begin)
        place = len(block)
        while (place := block.rfind(b"\n", 0, place)) >= 0:
            yield begin + place
        end = begin
