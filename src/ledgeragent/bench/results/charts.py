"""Charts as SVG, drawn from text: lying bars with intervals, and bars of parts.

Bars lie because what stands beside them is long: names of models and arms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain

from ledgeragent.bench.results.metrics import Rate
from ledgeragent.text import visible

COLOURS = ("#4c78a8", "#e07b39", "#54a24b", "#8c6bb1", "#c9a227", "#c44e52", "#2f9e9e", "#8a8a8a")
_WIDTH, _LEFT, _RIGHT = 860, 190, 150
_PLOT = _WIDTH - _LEFT - _RIGHT
_ROW, _HEAD, _TOP, _LEGEND = 20, 30, 70, 20
_LONGEST_LABEL, _LONGEST_HEAD = 30, 110
_STYLE = (
    "text{font-family:sans-serif;font-size:12px;fill:#333}.h{font-weight:bold}.t{font-size:16px;"
    "font-weight:bold}.n{font-size:11px;fill:#666}.g{stroke:#999;stroke-opacity:.35}"
    ".i{stroke:#222;stroke-width:1.5}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}.n{fill:#aaa}.i{stroke:#eee}}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar. `colour` is a place in COLOURS; a `quoted` bar, of somebody else's number, is hollow."""

    label: str
    colour: int
    value: float
    rate: Rate | None = None
    quoted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A bar of parts in percent, each in the colour of its place; what is left to 100 is not known."""

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

    def svg(self) -> str:
        """The chart from 0 to 100 %, readable on light and dark ground."""
        legend_rows = -(-len(self.legend) // 3)
        top = _TOP + legend_rows * _LEGEND
        bottom = top + sum(_HEAD + _ROW * len(panel.bars) for panel in self.panels) + 8
        parts = chain(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {bottom + 26}" '
                f'width="{_WIDTH}" height="{bottom + 26}" role="img" '
                f'aria-label="{_escaped(self.title)}">',
                f"<style>{_STYLE}</style>",
                _text(16, 26, self.title, "t"),
                _text(16, 46, self.note, "n"),
            ],
            _legend(self.legend),
            _panels(self.panels, top),
            _axis(bottom),
            ["</svg>"],
        )
        return "\n".join(parts) + "\n"


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}>{_escaped(text)}</text>'


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _legend(names: Sequence[str]) -> Iterator[str]:
    for place, name in enumerate(names):
        x, y = 16 + 270 * (place % 3), _TOP + _LEGEND * (place // 3)
        yield f'<rect x="{x}" y="{y - 10}" width="11" height="11" fill="{_colour(place)}"/>'
        yield _text(x + 17, y, _short(name, 40))


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def _axis(bottom: float) -> Iterator[str]:
    for share, x in _ticks():
        yield _text(x, bottom + 16, f"{share}%", "n", "middle")


def _ticks() -> Iterator[tuple[int, float]]:
    for share in (0, 25, 50, 75, 100):
        yield share, _LEFT + _PLOT * share / 100


def _panels(panels: Iterable[Panel], top: float) -> Iterator[str]:
    down = top
    for panel in panels:
        yield _text(16, down + 20, _short(panel.heading, _LONGEST_HEAD), "h")
        down += _HEAD
        for _, x in _ticks():
            yield f'<path class="g" d="M{x:.1f} {down}v{_ROW * len(panel.bars)}"/>'
        for bar in panel.bars:
            yield _text(_LEFT - 8, down + 14, _short(bar.label, _LONGEST_LABEL), anchor="end")
            yield from _bar(bar, down) if isinstance(bar, Bar) else _stack(bar, down)
            down += _ROW


def _rect(x: float, y: float, width: float, colour: str, quoted: bool, tooltip: str) -> str:
    hollow = f'fill-opacity=".15" stroke="{colour}" stroke-dasharray="3 2"' if quoted else ""
    return (
        f'<rect x="{x:.1f}" y="{y + 3:.1f}" width="{width:.1f}" height="{_ROW - 6}" '
        f'fill="{colour}" {hollow}><title>{_escaped(tooltip)}</title></rect>'
    )


def _bar(bar: Bar, down: float) -> Iterator[str]:
    end = _LEFT + _PLOT * bar.value
    figure = f"{100 * bar.value:.1f}"
    yield _rect(
        _LEFT, down, end - _LEFT, _colour(bar.colour), bar.quoted, f"{bar.label}: {figure} %"
    )
    if bar.rate is not None:
        low, high = (_LEFT + _PLOT * share for share in (bar.rate.low, bar.rate.high))
        middle = down + _ROW / 2
        ends = f"M{low:.1f} {middle - 3}v6M{high:.1f} {middle - 3}v6"
        yield f'<path class="i" fill="none" d="M{low:.1f} {middle}H{high:.1f}{ends}"/>'
        figure += f" [{100 * bar.rate.low:.1f}, {100 * bar.rate.high:.1f}]"
    yield _text(_WIDTH - _RIGHT + 12, down + 14, figure)


def _stack(stack: Stack, down: float) -> Iterator[str]:
    left = float(_LEFT)
    for place, part in enumerate(stack.parts):
        width = _PLOT * part / 100
        if width:
            tooltip = f"{stack.label}: {part:.1f} %"
            yield _rect(left, down, width, _colour(place), stack.quoted, tooltip)
        left += width
    yield _text(_WIDTH - _RIGHT + 12, down + 14, stack.remark)


def _escaped(text: str) -> str:
    """The text as XML holds it: there are characters that it has no way to say."""
    return escape(visible(text)) if not text.isprintable() else escape(text)
