"""Relative dates of other languages than English support the dates that facts name."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.text.date_spans import span_follows, written_spans
from slowwave.policy.text.foreign_spans import foreign_spans

AT = datetime(2023, 6, 14, 9, tzinfo=UTC)  # a Wednesday


def follows(said: str, fact: str) -> bool:
    spans = written_spans(fact)
    assert spans, fact
    return all(span_follows(span, said, AT) for span in spans)


@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        ("Letzte Woche bin ich umgezogen.", "in der Woche vom 5. Juni 2023", "in der Woche vom 22. Mai 2023"),
        ("Ich bin vor zwei Jahren umgezogen.", "2021", "2019"),
        ("Seit drei Monaten rudere ich.", "März 2023", "Januar 2023"),
        ("Nächsten Monat fange ich an.", "Juli 2023", "Mai 2023"),
        ("Am Wochenende waren wir in Passau.", "10. Juni 2023", "27. Mai 2023"),
        ("El mes pasado me mudé a Vigo.", "mayo de 2023", "abril de 2023"),
        ("Hace dos años me mudé.", "2021", "2020"),
        ("Me caso la semana que viene.", "20 de junio de 2023", "28 de junio de 2023"),
        ("Il y a deux ans, j'ai déménagé.", "2021", "2022"),
        ("Je commence dans trois semaines.", "5 juillet 2023", "28 juillet 2023"),
        ("Ho traslocato la settimana scorsa.", "5 giugno 2023", "22 maggio 2023"),
        ("Mudei-me há quatro meses.", "fevereiro de 2023", "outubro de 2022"),
        ("Ik ben twee weken geleden verhuisd.", "31 mei 2023", "17 mei 2023"),
        ("Letzte Nacht ist Lea geboren.", "13. Juni 2023", "11. Juni 2023"),
        ("La noche pasada nació Lea.", "13 de junio de 2023", "11 de junio de 2023"),
        ("Lea est née la nuit dernière.", "13 juin 2023", "11 juin 2023"),
        ("Lea è nata la notte scorsa.", "13 giugno 2023", "11 giugno 2023"),
        ("A Lea nasceu na noite passada.", "13 junho 2023", "11 junho 2023"),
        ("Gisteravond is Lea geboren.", "13 juni 2023", "11 juni 2023"),
        ("Eergisteren is hij geboren.", "12 juni 2023", "2 juni 2023"),
    ],
)
def test_a_relative_date_supports_what_it_means_and_no_other(said: str, right: str, wrong: str) -> None:
    assert follows(said, right)
    assert not follows(said, wrong)


def test_english_says_nothing_in_these_languages() -> None:
    said = "We met over 2 weekends, in two weeks or in 3 months, at the hotel Pasada on this day next week; a week ago I was ill"
    assert list(foreign_spans(said, AT)) == []


@given(st.text(), st.datetimes())
def test_any_text_is_read_without_an_error(text: str, at: datetime) -> None:
    for first, last in foreign_spans(f"gestern, hace 90 años, nächstes Jahr {text} letzten Monat", at):
        assert first <= last
