"""The templates of the dashboard: their environment, and the filters that print dates, numbers and charts."""

from datetime import datetime
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from slowwave.model.counted import counted
from slowwave.server.dashboard.rows import phase_tag


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
        "ago": _ago,
        "number": "{:,}".format,
        "counted": counted,
        "tag": phase_tag,
        "capital": _capital,
    }
    environment.globals["icon"] = Markup(  # noqa: S704 - a file of this package
        files(__package__).joinpath("static/logo.svg").read_text(encoding="utf-8")
    )
    return environment


def drawing(svg: str) -> Markup:
    """A chart of the library, which escapes the texts that it prints, as part of a page."""
    return Markup(svg)  # noqa: S704 - `policy.charts` escapes every text


def _day(at: datetime | None) -> str:
    return f"{at:%-d %B %Y}" if at else ""


def _capital(text: str) -> str:
    """The text with a capital first letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def _minute(at: datetime | None) -> str:
    return f"{at:%-d %b %Y, %H:%M}" if at else ""


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
