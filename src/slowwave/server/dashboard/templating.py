"""The templates of the dashboard: their environment, and the filters that print dates, numbers and charts."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from slowwave.model.counted import counted
from slowwave.policy.charts import PLOT_ONLY, Picture, Series, swatch, to_svg
from slowwave.server.dashboard.rows import phase_tag
from slowwave.server.dashboard.words import LINES, PAIRS, PHASES

CHART_ROWS: Final = 8
"""Entries of a legend at most."""
LEAST_SHARE: Final = 0.01
"""A probability below it is printed as "under 1 %"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart of a page: its title, its drawing, what its axes mean, and its legend.

    `legend` has the sign, the name and the id of the memory of each line; the id is empty for a line that counts memories.
    """

    title: str
    drawing: Markup
    axes: str
    legend: tuple[tuple[Markup, str, str], ...]


def create_environment() -> Environment:
    """The templates. Every value is escaped unless a function here returns it as Markup."""
    environment = Environment(
        loader=PackageLoader("slowwave.server.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "day": _day,
        "minute": _minute,
        "moment": _moment,
        "share": _share,
        "ago": _ago,
        "number": "{:,}".format,
        "counted": counted,
        "tag": phase_tag,
        "capital": _capital,
    }
    environment.globals |= {"phases": PHASES, "pair_questions": PAIRS}
    environment.globals["icon"] = Markup(  # noqa: S704 - a file of this package
        files(__package__).joinpath("static/logo.svg").read_text(encoding="utf-8")
    )
    return environment


def chart_of(picture: Picture) -> Chart | None:
    """A picture as a part of a page; None if there is nothing to draw."""
    if not any(series.points for series in picture.series):
        return None
    picture = replace(picture, lines=tuple((height, LINES.get(name, name)) for height, name in picture.lines))
    return Chart(
        title=picture.title,
        drawing=Markup(to_svg(picture, PLOT_ONLY)),  # noqa: S704 - `policy.charts` escapes every text
        axes=f"{picture.up}; {picture.across}",
        legend=tuple(
            (Markup(swatch(number, bars=picture.bars)), _name(series), series.memory)  # noqa: S704 - it has no text
            for number, series in enumerate(picture.series[:CHART_ROWS])
        ),
    )


def _name(series: Series) -> str:
    """The text of the memory that a line is about, or the words for what it counts."""
    return series.name if series.memory else LINES.get(series.name, series.name)


def _day(at: date | None) -> str:
    return f"{at.day}{at: %B %Y}" if at else ""


def _capital(text: str) -> str:
    """The text with a capital first letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def _minute(at: datetime | None) -> str:
    return f"{at.day}{at: %B %Y, %H:%M}" if at else ""


def _moment(at: datetime | None) -> str:
    return f"{at:%A} {_minute(at)}" if at else ""


def _share(probability: float) -> str:
    """A probability in per cent.

    >>> _share(0.004), _share(0.062), _share(1)
    ('under 1 %', '6 %', '100 %')
    """
    return "under 1 %" if probability < LEAST_SHARE else f"{probability:.0%}".replace("%", " %")


_STEPS: Final[tuple[tuple[int, str], ...]] = ((86400, "day"), (3600, "hour"), (60, "minute"))


def _ago(at: datetime | None, now: datetime) -> str:
    """How long ago, in the largest whole unit."""
    if at is None:
        return "never"
    seconds = int((now - at).total_seconds())
    for size, name in _STEPS:
        if abs(seconds) >= size:
            count = abs(seconds) // size
            return f"{counted(count, name)} {'ago' if seconds > 0 else 'from now'}"
    return "just now"
