"""The report's figures, as SVG drawn from text: grouped bars with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ledgeragent.bench.metrics import Rate, reliability
from ledgeragent.bench.results import Run
from ledgeragent.bench.tables import grouped

_COLOURS = ("#4c6f9c", "#c8743c", "#5b8c5a", "#8a5fa0", "#b3a13f", "#7d7d7d", "#3f9c9c", "#a05050")
_BAR, _GAP, _HEIGHT, _LEFT, _TOP, _BOTTOM = 26, 30, 220, 46, 40, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar: its group, its series, its rate."""

    group: str
    series: str
    rate: Rate


def bars(runs: Sequence[Run], k: int) -> list[Bar]:
    """pass^k of every arm, grouped by domain and model."""
    found = []
    for (domain, model, arm), some in grouped(runs).items():
        rate = reliability(some).by_k.get(k)
        if rate is not None:
            found.append(Bar(group=f"{domain}, {model}", series=arm, rate=rate))
    return found


def svg(title: str, drawn: Sequence[Bar]) -> str:
    """A bar chart from 0 to 100 %, with a legend; readable on light and dark ground."""
    series = list(dict.fromkeys(bar.series for bar in drawn))
    groups = list(dict.fromkeys(bar.group for bar in drawn))
    wide = len(series) * _BAR + _GAP
    width = _LEFT + max(len(groups) * wide, 110 * len(series), 320)
    height = _TOP + _HEIGHT + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}" font-family="sans-serif" font-size="11" fill="#777">',
        f'<text x="{_LEFT}" y="18" font-size="14">{escape(title)}</text>',
        *(_line(width, share) for share in (0, 25, 50, 75, 100)),
    ]
    for bar in drawn:
        left = _LEFT + _GAP / 2 + groups.index(bar.group) * wide + series.index(bar.series) * _BAR
        parts += _drawn(bar, left, _COLOURS[series.index(bar.series) % len(_COLOURS)])
    for place, group in enumerate(groups):
        middle = _LEFT + place * wide + wide / 2
        label = f'<text x="{middle:.0f}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle">'
        parts.append(f"{label}{escape(group)}</text>")
    for place, name in enumerate(series):
        left, down = _LEFT + 110 * place, _TOP + _HEIGHT + 34
        colour = _COLOURS[place % len(_COLOURS)]
        parts.append(f'<rect x="{left}" y="{down}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{left + 14}" y="{down + 9}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _at(share: float) -> float:
    return _TOP + _HEIGHT * (1 - share / 100)


def _line(width: int, share: int) -> str:
    down = _at(share)
    return (
        f'<path d="M{_LEFT} {down:.1f}H{width}" stroke="#777" stroke-opacity=".3"/>'
        f'<text x="{_LEFT - 6}" y="{down + 4:.1f}" text-anchor="end">{share}</text>'
    )


def _drawn(bar: Bar, left: float, colour: str) -> list[str]:
    value, low, high = (_at(100 * v) for v in (bar.rate.value, bar.rate.low, bar.rate.high))
    middle = left + _BAR / 2 - 2
    told = f"{bar.group}, {bar.series}: {100 * bar.rate.value:.1f} %"
    return [
        f'<rect x="{left:.1f}" y="{value:.1f}" width="{_BAR - 4}" '
        f'height="{_at(0) - value:.1f}" fill="{colour}"><title>{escape(told)}</title></rect>',
        f'<path d="M{middle:.1f} {low:.1f}V{high:.1f}" stroke="#777"/>',
    ]
