"""Draws charts of lines, dots and bars: as SVG with or without its title and legend, and as plain text for a terminal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape as escape_markup
from itertools import pairwise
from typing import Final

WIDTH: Final = 800
HEIGHT: Final = 440
LEFT: Final = 60
RIGHT: Final = 250
TOP: Final = 48
BOTTOM: Final = 52
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d1f")
"""The palette of Okabe and Ito, distinguishable with any colour vision. Lines also differ in their dashes."""
DASHES: Final = ("", "7 3", "2 3", "10 3 2 3")
_LABEL_LONGEST: Final = 30
_STEPS: Final = (1, 2, 2.5, 5, 10)
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line: points (x, y) in order of x, and dots on it. In a bar chart y is the height of the bar part at x.

    `memory` is the id of the memory that the line is about; empty if it is about a number of memories.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    dots: tuple[tuple[float, float], ...] = ()
    memory: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The content of a chart.

    Attributes:
        title: the heading.
        across, up: the labels of the axes. x counts days from the first one.
        series: the lines, or the parts of the bars.
        ticks: labels of some days.
        lines: horizontal thresholds with their labels.
        now: the day of the mark "now".
        bars: whether the series are stacked bars.
        top: the greatest y; by default computed from the series.
    """

    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    ticks: tuple[tuple[float, str], ...] = ()
    lines: tuple[tuple[float, str], ...] = ()
    now: float | None = None
    bars: bool = False
    top: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The size of a chart and the space around its plot, in pixels.

    Attributes:
        is_whole: whether it has its title, its legend and the label of its vertical axis. Otherwise a page prints them, and
            labels are fewer and stand inside the plot, so that the chart can be read on a telephone.
    """

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    is_whole: bool

    @property
    def edge(self) -> int:
        """The right edge of the plot."""
        return self.width - self.right

    @property
    def floor(self) -> int:
        """The lower edge of the plot."""
        return self.height - self.bottom


WHOLE: Final = Frame(width=WIDTH, height=HEIGHT, left=LEFT, right=RIGHT, top=TOP, bottom=BOTTOM, is_whole=True)
PLOT_ONLY: Final = Frame(width=480, height=250, left=38, right=14, top=20, bottom=26, is_whole=False)

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may contain (XML 1.0, section 2.2)."""


def escape(text: str) -> str:
    """A text that SVG may contain. A character that XML does not allow becomes U+FFFD."""
    return escape_markup(_NOT_XML.sub("\ufffd", text))


def to_svg(picture: Picture, frame: Frame = WHOLE) -> str:
    """The chart as SVG."""
    scale = _Scale(picture, frame)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame.width} {frame.height}" width="{frame.width}" '
        f'height="{frame.height}" font-family="Helvetica, Arial, sans-serif" font-size="12" role="img">',
        f"<title>{escape(picture.title)}</title>",
        f'<rect width="{frame.width}" height="{frame.height}" fill="#ffffff"/>',
        *_axes(picture, scale),
    ]
    if not any(series.points for series in picture.series):
        middle = (frame.left + frame.edge) / 2, frame.height / 2
        parts.append(_text(*middle, "nothing to show yet", anchor="middle", size=14))
    parts += _stacked(picture, scale) if picture.bars else _curves(picture, scale)
    if frame.is_whole:
        parts += [_text(frame.left, 26, picture.title, size=16, weight="bold"), *_legend(picture, frame)]
    return "\n".join([*parts, "</svg>"])


def swatch(number: int, *, bars: bool) -> str:
    """The sign of a series by its number in a picture, as SVG, for the legend of a page."""
    sign = _sign(number, 0, 6, bars=bars)
    return f'<svg viewBox="0 0 22 12" width="22" height="12" aria-hidden="true">{sign}</svg>'


class _Scale:
    """The scale from values to pixels of a frame."""

    def __init__(self, picture: Picture, frame: Frame) -> None:
        points = [point for series in picture.series for point in (*series.points, *series.dots)]
        self.last = max([x for x, _ in (*points, *picture.ticks)] + [picture.now or 0.0, 1.0])
        heights = _totals(picture).values() if picture.bars else [y for _, y in points]
        self.step = _round_step(max([*heights, 0.0]) or 1.0) if picture.top is None else picture.top / 4
        self.top = picture.top or self.step * max(1, -(-max([*heights, 0.0]) // self.step))
        self.frame = frame
        self.width = frame.edge - frame.left

    def x(self, value: float) -> float:
        return round(self.frame.left + self.width * value / self.last, 1)

    def y(self, value: float) -> float:
        return round(self.frame.floor - (self.frame.floor - self.frame.top) * value / self.top, 1)


def _round_step(top: float) -> float:
    """The least round number of which four reach the top: 0.25, 1, 2, 2.5, 5, 10, 20, 25, 50 and so on."""
    if top <= 1:
        return 0.25
    unit = 1.0
    while 4 * 10 * unit < top:
        unit *= 10
    return next(unit * step for step in _STEPS if 4 * unit * step >= top)


def _totals(picture: Picture) -> dict[float, float]:
    totals: dict[float, float] = {}
    for series in picture.series:
        for x, y in series.points:
            totals[x] = totals.get(x, 0.0) + y
    return totals


def _axes(picture: Picture, scale: _Scale) -> list[str]:
    frame, parts = scale.frame, []
    left, right, floor = frame.left, frame.edge, frame.floor
    value = 0.0
    while value <= scale.top + 1e-9:
        y = scale.y(value)
        parts.append(f'<line x1="{left}" y1="{y}" x2="{right}" y2="{y}" stroke="#e4e4e4"/>')
        parts.append(
            _text(left - 8, y + 4, f"{value:,.2f}".rstrip("0").rstrip(".") or "0", anchor="end", colour="#555")
        )
        value += scale.step
    for height, words in picture.lines:
        y = scale.y(height)
        parts.append(f'<line x1="{left}" y1="{y}" x2="{right}" y2="{y}" stroke="#777" stroke-dasharray="4 4"/>')
        beside = (right + 6, y + 4) if frame.is_whole else (left + 6, y - 4)
        parts.append(_text(*beside, words, colour="#555", size=11))
    for place, words in picture.ticks if frame.is_whole else picture.ticks[::2]:
        x = scale.x(place)
        parts.append(f'<line x1="{x}" y1="{floor}" x2="{x}" y2="{floor + 5}" stroke="#555"/>')
        shift = 0 if frame.is_whole else max(0, 40 - x) - max(0, x + 40 - frame.width)
        parts.append(_text(x + shift, floor + 19, words, anchor="middle", colour="#555"))
    if picture.now is not None:
        x = scale.x(picture.now)
        parts.append(f'<line x1="{x}" y1="{frame.top}" x2="{x}" y2="{floor}" stroke="#999"/>')
        parts.append(_text(x, frame.top - 6, "now", anchor="middle", colour="#555", size=11))
    parts.append(f'<line x1="{left}" y1="{floor}" x2="{right}" y2="{floor}" stroke="#555"/>')
    return [*parts, *_labels(picture, frame)] if frame.is_whole else parts


def _labels(picture: Picture, frame: Frame) -> list[str]:
    """The labels of the two axes."""
    middle = (frame.top + frame.floor) / 2
    turned = f'transform="rotate(-90 16 {middle})"'
    return [
        _text((frame.left + frame.edge) / 2, frame.height - 12, picture.across, anchor="middle", colour="#555"),
        f'<text x="16" y="{middle}" {turned} text-anchor="middle" fill="#555">{escape(picture.up)}</text>',
    ]


def _curves(picture: Picture, scale: _Scale) -> list[str]:
    parts = []
    for number, series in enumerate(picture.series):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // 2 % len(DASHES)]
        path = " ".join(f"{scale.x(x)},{scale.y(y)}" for x, y in series.points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        parts += [
            f'<circle cx="{scale.x(x)}" cy="{scale.y(y)}" r="4" fill="{colour}" stroke="#fff"/>' for x, y in series.dots
        ]
    return parts


def _stacked(picture: Picture, scale: _Scale) -> list[str]:
    parts: list[str] = []
    base: dict[float, float] = {}
    days = sorted(_totals(picture))
    gap = min((after - before for before, after in pairwise(days)), default=scale.last / 8)
    wide = max(2.0, min(36.0, 0.8 * scale.width * gap / scale.last))
    for number, series in enumerate(picture.series):
        for x, y in series.points:
            low = base.get(x, 0.0)
            base[x] = low + y
            left = min(max(scale.x(x) - wide / 2, scale.frame.left), scale.frame.edge - wide)
            tall = scale.y(low) - scale.y(low + y)
            place = f'x="{left:.1f}" y="{scale.y(low + y)}" width="{wide:.1f}" height="{tall:.1f}"'
            parts.append(f'<rect {place} fill="{COLOURS[number % len(COLOURS)]}" stroke="#fff" stroke-width="0.5"/>')
    return parts


def _legend(picture: Picture, frame: Frame) -> list[str]:
    parts = []
    x = frame.edge + 18
    for number, series in enumerate(picture.series):
        y = frame.top + 14 + number * 22
        parts.append(_sign(number, x, y - 4, bars=picture.bars))
        parts.append(_text(x + (18 if picture.bars else 28), y, truncate_label(series.name), size=12))
    return parts


def _sign(number: int, x: float, y: float, *, bars: bool) -> str:
    """The sign of a series, 22 pixels wide: a piece of its line, or a square of its bars. y is its middle."""
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // 2 % len(DASHES)]
    if bars:
        return f'<rect x="{x}" y="{y - 6}" width="12" height="12" fill="{colour}"/>'
    ends = f'x1="{x}" y1="{y}" x2="{x + 22}" y2="{y}"'
    return f'<line {ends} stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    colour: str = "#222",
    size: int = 12,
    weight: str = "normal",
) -> str:
    style = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(words)}</text>'


def truncate_label(words: str, longest: int = _LABEL_LONGEST) -> str:
    """The beginning of a text, on one line.

    >>> truncate_label("a very long name of a line in a picture", 12)
    'a very long…'
    """
    flat = " ".join(words.split())
    return flat if len(flat) <= longest else flat[: longest - 1].rstrip() + "…"


def to_text(picture: Picture, columns: int = 60) -> str:
    """The chart for a terminal: one row of block characters per series, with its name and its last value."""
    scale = _Scale(picture, WHOLE)
    rows = [picture.title]
    for series in picture.series:
        cells = _cells(series.points, scale.last, columns, stacked=picture.bars)
        drawn = "".join(_BLOCKS[min(8, round(8 * cell / scale.top))] if cell else " " for cell in cells)
        uses = f", {len(series.dots)} uses" if series.dots else ""
        rows.append(
            f"{drawn}  {truncate_label(series.name)} (last {series.points[-1][1]:,.4g}{uses})"
            if series.points
            else series.name
        )
    if not any(series.points for series in picture.series):
        return f"{picture.title}\nnothing to show yet"
    marks = [" "] * columns
    for place, words in picture.ticks:
        at = min(columns - len(words), int(place / scale.last * (columns - 1)))
        if all(mark == " " for mark in marks[max(0, at - 1) : at + len(words) + 1]):
            marks[at : at + len(words)] = words
    return "\n".join([*rows, "".join(marks).rstrip(), f"{picture.across}; {picture.up}, full block {scale.top:,.4g}"])


def _cells(points: Sequence[tuple[float, float]], last: float, columns: int, *, stacked: bool) -> list[float]:
    """The value of each column: the last value up to it, or for bars the sum of the values in it."""
    cells = [0.0] * columns
    if stacked:
        for x, y in points:
            cells[min(columns - 1, int(x / last * (columns - 1)))] += y
        return cells
    for column in range(columns):
        known = [y for x, y in points if x <= (column + 1) / columns * last]
        cells[column] = known[-1] if known else 0.0
    return cells
