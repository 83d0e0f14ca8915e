import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Picture, Series, to_svg, to_text

values = st.tuples(st.floats(0, 1000), st.floats(0, 1e6))
lines = st.lists(
    st.builds(
        Series,
        name=st.text(max_size=60).filter(lambda t: t.isprintable()),
        points=st.lists(values, max_size=8).map(lambda p: tuple(sorted(p))),
    ),
    max_size=9,
)


def picture(*series: Series, **fields: object) -> Picture:
    return Picture(**({"title": "T", "across": "days", "up": "facts", "series": series} | fields))  # type: ignore[arg-type]


LINE = Series(name="tea & <jazz>", points=((0.0, 1.0), (10.0, 0.5)), dots=((5.0, 1.0),))


@given(lines, st.booleans())
def test_any_chart_is_valid_xml_inside_its_frame(series: list[Series], bars: bool) -> None:
    root = ET.fromstring(to_svg(picture(*series, bars=bars)))  # the text is our own
    for line in root.iter("{http://www.w3.org/2000/svg}polyline"):
        for pair in (line.get("points") or "").split():
            x, y = map(float, pair.split(","))
            assert LEFT <= x <= WIDTH - RIGHT
            assert TOP - 0.1 <= y <= HEIGHT - BOTTOM
    for bar in list(root.iter("{http://www.w3.org/2000/svg}rect"))[1:]:
        assert float(bar.get("x") or 0) + float(bar.get("width") or 0) <= WIDTH
        assert float(bar.get("height") or 0) >= -0.1
    assert to_text(picture(*series, bars=bars))


def test_names_are_escaped_and_dots_and_thresholds_are_drawn() -> None:
    drawn = to_svg(picture(LINE, lines=((0.2, "cold below"),), ticks=((0.0, "1 Jan"),), now=6.0, top=1.0))
    assert "tea &amp; &lt;jazz&gt;" in drawn
    assert drawn.count("<circle") == 1
    for words in ("cold below", "1 Jan", "now", "days", "facts"):
        assert f">{words}</text>" in drawn
    assert re.findall(r'text-anchor="end"[^>]*>([\d.,]+)<', drawn) == ["0", "0.25", "0.5", "0.75", "1"]


def test_lines_differ_in_colour_and_every_other_pair_in_dashes() -> None:
    drawn = to_svg(picture(*(Series(name=str(n), points=((0.0, 1.0), (1.0, 2.0))) for n in range(8))))
    looks = re.findall(r'<polyline[^>]*stroke="(#\w+)"[^>]*stroke-dasharray="([^"]*)"', drawn)
    assert len(set(looks)) == 8


def test_bars_of_the_same_day_are_stacked() -> None:
    drawn = to_svg(picture(Series(name="a", points=((1.0, 2.0),)), Series(name="b", points=((1.0, 3.0),)), bars=True))
    (_, low, low_tall), (_, high, high_tall) = [
        tuple(map(float, found))
        for found in re.findall(r'x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)" fill="#[0d]', drawn)
    ][:2]
    assert high + high_tall == pytest.approx(low, abs=0.2)
    assert high_tall == pytest.approx(1.5 * low_tall, abs=0.2)


def test_an_empty_chart_contains_a_note() -> None:
    assert "nothing to show yet" in to_svg(picture())
    assert to_text(picture()) == "T\nnothing to show yet"


def test_the_text_chart_has_blocks_names_and_the_scale() -> None:
    chart = to_text(
        picture(LINE, Series(name="none", points=()), ticks=((0.0, "1 Jan"), (0.5, "2 Jan"), (9.0, "9 Jan")), top=1.0),
        columns=20,
    )
    assert chart.splitlines() == [
        "T",
        "███████████████████▄  tea & <jazz> (last 0.5, 1 uses)",
        "none",
        "1 Jan          9 Jan",
        "days; facts, full block 1",
    ]
    bars = to_text(picture(Series(name="a", points=((0.0, 4.0), (10.0, 2.0))), bars=True), columns=10)
    assert bars.splitlines()[1] == "█        ▄  a (last 2)"


@pytest.mark.parametrize(("top", "highest"), [(0.9, "1"), (3.0, "3"), (7.0, "8"), (30.0, "30"), (950.0, "1,000")])
def test_the_axis_ends_at_a_round_number(top: float, highest: str) -> None:
    drawn = to_svg(picture(Series(name="a", points=((0.0, 0.0), (1.0, top)))))
    assert re.findall(r'text-anchor="end"[^>]*>([\d.,]+)<', drawn)[-1] == highest
