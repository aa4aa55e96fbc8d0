"""Sketches: a fair sample of the different values in one place, so that two places can be compared."""

from __future__ import annotations

import zlib

_SIZE = 512


class Sketch:
    """The values with the smallest hashes, all of them where there are few.

    Whatever was left out here was left out elsewhere by the same measure, so that shares of values in
    common are not biased.
    """

    __slots__ = ("_limit", "_values")

    def __init__(self) -> None:
        self._values: dict[str, int] = {}
        self._limit = 1 << 32

    def add(self, value: str | int) -> None:
        """Takes a value in."""
        text = str(value)
        if text in self._values:
            return
        number = zlib.crc32(text.encode(errors="surrogatepass"))
        if number < self._limit:
            self._values[text] = number
            if len(self._values) > 2 * _SIZE:
                smallest = sorted(self._values.items(), key=lambda pair: pair[1])[:_SIZE]
                self._values, self._limit = dict(smallest), smallest[-1][1] + 1

    def merge(self, other: Sketch) -> None:
        """Takes in what the other place has."""
        self._limit = min(self._limit, other._limit)
        for text in (*other._values,):
            self.add(text)
        self._values = {t: n for t, n in self._values.items() if n < self._limit}

    def __len__(self) -> int:
        return len(self._values)

    def within(self, other: Sketch) -> tuple[int, int]:
        """(how many of these values the other place has too; how many could be compared)."""
        limit = min(self._limit, other._limit)
        own = [text for text, number in self._values.items() if number < limit]
        return sum(text in other._values for text in own), len(own)
