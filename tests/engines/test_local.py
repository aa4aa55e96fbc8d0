"""The engine of one machine: the order of results, and workers that die."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ledgeragent.engines import local
from ledgeragent.engines.engine import DEADLY
from ledgeragent.engines.local import LocalEngine
from ledgeragent.errors import DataError, LedgerAgentError


@dataclass(frozen=True)
class Numbers:
    """Some numbers that are worked on; or why they are not."""

    values: tuple[int, ...]
    why: str = ""

    def parts(self) -> Sequence[Numbers]:
        middle = len(self.values) // 2
        return (Numbers(self.values[:middle]), Numbers(self.values[middle:])) if middle else ()

    def lost(self, why: str) -> Numbers:
        return Numbers(self.values, why)

    def emptied(self) -> Numbers:
        return Numbers(())


BAD = 13


def reader(number: int, name: str) -> Iterator[Numbers]:
    start = number * 12
    yield from (Numbers(tuple(range(n, n + 4))) for n in range(start, start + 12, 4))


def later_ones_first(share: Numbers) -> list[int]:
    time.sleep(max(0.0, 0.1 - share.values[0] / 200))
    return [value * value for value in share.values]


def deadly(share: Numbers) -> list[int | str]:
    if share.why:
        return [share.why]
    if BAD in share.values:
        os._exit(1)
    return [*share.values]


def failing(share: Numbers) -> list[int]:
    raise DataError("it is broken", file="numbers", line=share.values[0])


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processors, wherever this runs."""
    monkeypatch.setattr(local, "processors", lambda: 2)


def test_results_come_in_the_order_of_the_input_whenever_they_are_ready() -> None:
    results = LocalEngine(jobs=2).run(["a", "b"], reader, later_ones_first)
    assert [value for _, part in results for value in part] == [n * n for n in range(24)]


def test_what_kills_a_worker_is_left_out_and_nothing_else_is_lost() -> None:
    results = LocalEngine(jobs=2).run(["a", "b"], reader, deadly)
    values = [value for _, part in results for value in part]
    assert values == [*range(BAD), DEADLY, *range(BAD + 1, 24)]


def test_what_a_worker_raises_on_purpose_is_raised_here() -> None:
    with pytest.raises(LedgerAgentError, match="numbers:0: it is broken"):
        list(LocalEngine(jobs=2).run(["a"], reader, failing))


def test_one_process_needs_no_other(tmp_path: Path) -> None:
    here: list[int] = []

    def work(share: Numbers) -> int:
        here.append(os.getpid())
        return len(share.values)

    assert [n for _, n in LocalEngine().run(["a"], reader, work)] == [4, 4, 4]
    assert set(here) == {os.getpid()}
