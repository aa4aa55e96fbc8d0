"""What a figure shows: bars with intervals, bars of parts, in panels. `drawing` puts it on paper."""

from __future__ import annotations

from dataclasses import dataclass

from ledgeragent.bench.results.metrics import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar. `colour` is a place in `drawing.FILLS`; a `quoted` one, of others' numbers, is hollow."""

    label: str
    colour: int
    value: float
    rate: Rate | None = None
    quoted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A bar of parts in percent, each with the fill of its place; what is left to 100 is not known."""

    label: str
    parts: tuple[float, ...]
    remark: str = ""
    quoted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Bars under a heading."""

    heading: str
    bars: tuple[Bar | Stack, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A whole figure. `name` is that of its files; `legend` names the colours of stacks."""

    name: str
    title: str
    note: str
    panels: tuple[Panel, ...]
    legend: tuple[str, ...] = ()
