"""Figures by matplotlib, one column of a paper wide, readable without colour: PDF, PNG, SVG.

Bars lie because what stands beside them is long: names of models and arms.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ledgeragent.bench.results.charts import Bar, Chart, Panel, Stack
from ledgeragent.errors import MissingExtraError
from ledgeragent.text import visible

FORMATS = ("pdf", "png", "svg")

FILLS = (
    *(("#d9d9d9", ""), ("#2b5c8a", ""), ("#9ecae1", "////"), ("#fdd0a2", "....")),
    *(("#7f4f24", "\\\\\\\\"), ("#ffffff", "xxxx"), ("#74a57f", "----"), ("#4d4d4d", "++")),
)
"""Colour and hatching by place: two that are alike in grey differ in hatching."""

_WIDTH = 3.35
"""Inches: a column of a two-column paper."""

_ROW, _FRAME = 0.15, 0.75
_LONGEST_LABEL, _LONGEST_HEAD, _NOTE_WIDTH = 24, 60, 80
_STYLE = {
    "font.size": 6.5,
    "font.family": "sans-serif",
    "hatch.linewidth": 0.4,
    "axes.linewidth": 0.5,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "ledgeragent",
    "text.parse_math": False,
}
_WITHOUT_DATE: Mapping[str, dict[str, None]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {},
}


def library() -> Any:
    """matplotlib; MissingExtraError without the extra `figures`."""
    try:
        import matplotlib.figure
    except ImportError:
        raise MissingExtraError("matplotlib", "figures") from None
    return matplotlib


def drawn(chart: Chart, formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """The chart, from 0 to 100 %, in each format; MissingExtraError without the extra `figures`."""
    matplotlib = library()
    with matplotlib.rc_context(_STYLE):
        figure = _figure(matplotlib, chart)
        return {name: _saved(figure, name) for name in formats}


def _saved(figure: Any, name: str) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=name, dpi=300, bbox_inches="tight", metadata=_WITHOUT_DATE[name])
    return stream.getvalue()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the figure, from the top: a heading, or a bar."""

    place: int
    heading: str = ""
    bar: Bar | Stack | None = None


def _lines(panels: Sequence[Panel]) -> Iterator[_Line]:
    place = 0
    for panel in panels:
        yield _Line(place, heading=short(panel.heading, _LONGEST_HEAD))
        for bar in panel.bars:
            place += 1
            yield _Line(place, bar=bar)
        place += 1


def _figure(matplotlib: Any, chart: Chart) -> Any:
    lines = list(_lines(chart.panels))
    legend_rows = -(-len(chart.legend) // 2)
    height = _FRAME + _ROW * (len(lines) + legend_rows)
    figure = matplotlib.figure.Figure(figsize=(_WIDTH, height))
    axes = figure.add_axes((0.33, 0.0, 0.42, 1.0))
    axes.set(xlim=(0, 100), ylim=(len(lines) - 0.4, -0.8), xlabel="%")
    axes.grid(axis="x", color="#bbbbbb", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=2, width=0.5)
    axes.set_yticks(
        [line.place for line in lines if line.bar is not None],
        [short(line.bar.label, _LONGEST_LABEL) for line in lines if line.bar is not None],
    )
    axes.tick_params(axis="y", length=0)
    for line in lines:
        _draw(axes, line)
    _explain(figure, axes, matplotlib, chart)
    return figure


def _draw(axes: Any, line: _Line) -> None:
    match line.bar:
        case None:
            axes.text(
                -0.78,
                line.place,
                line.heading,
                weight="bold",
                va="center",
                transform=axes.get_yaxis_transform(),
            )
        case Bar() as bar:
            _box(axes, line.place, 0.0, 100 * bar.value, bar.colour, bar.quoted)
            _note(axes, line.place, _figures(bar))
            if bar.rate is not None:
                low, high = 100 * bar.rate.low, 100 * bar.rate.high
                axes.plot([low, high], [line.place] * 2, "|-k", linewidth=0.7, markersize=3)
        case Stack() as stack:
            left = 0.0
            for place, part in enumerate(stack.parts):
                if part:
                    _box(axes, line.place, left, part, place, stack.quoted)
                left += part
            _note(axes, line.place, visible(stack.remark))


def _figures(bar: Bar) -> str:
    interval = "" if bar.rate is None else f" [{100 * bar.rate.low:.1f}, {100 * bar.rate.high:.1f}]"
    return f"{100 * bar.value:.1f}{interval}"


def _box(axes: Any, place: int, left: float, width: float, fill: int, quoted: bool) -> None:
    colour, hatch = FILLS[fill % len(FILLS)]
    axes.barh(
        place,
        width,
        left=left,
        height=0.7,
        color="none" if quoted else colour,
        hatch=None if quoted else hatch,
        edgecolor="black",
        linewidth=0.5,
        linestyle="--" if quoted else "-",
        gid="quoted" if quoted else "measured",
    )


def _note(axes: Any, place: int, text: str) -> None:
    axes.text(1.03, place, text, va="center", transform=axes.get_yaxis_transform())


def _explain(figure: Any, axes: Any, matplotlib: Any, chart: Chart) -> None:
    import matplotlib.patches

    axes.set_title(visible(chart.title), loc="left", x=-0.78, fontsize=8, weight="bold", pad=4)
    # Beneath the axis with its label, whatever the figure's height.
    note = textwrap.wrap(visible(chart.note), _NOTE_WIDTH)
    axes.annotate(
        "\n".join(note),
        (-0.78, 0),
        xytext=(0, -26),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=5.5,
        color="#444444",
        va="top",
        wrap=False,
    )
    if chart.legend:
        boxes = [
            matplotlib.patches.Patch(
                facecolor=colour, hatch=hatch, edgecolor="black", linewidth=0.5, label=visible(name)
            )
            for name, (colour, hatch) in zip(chart.legend, FILLS, strict=False)
        ]
        figure.legend(
            handles=boxes,
            ncols=2,
            frameon=False,
            loc="upper left",
            bbox_to_anchor=(-0.78, -(34 + 7 * len(note)) / (72 * figure.get_figheight())),
            bbox_transform=axes.transAxes,
            fontsize=6,
        )


def short(text: str, most: int) -> str:
    """The text, or its end where it is too long: organisations stand before models' own names."""
    text = visible(text)
    text = text if len(text) <= most else text.replace("/", "/ ").split("/ ")[-1]
    return text if len(text) <= most else f"{text[: most - 1]}…"
