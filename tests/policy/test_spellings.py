"""One text in many spellings is the same text; another number, accent or price is not."""

import html
import json
import time
import unicodedata
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, strategies as st

from slowwave.policy.text.spellings import Phrase, plain, spellings

TEXT = "Zoë Müller has PIN 4821"
SAME = [
    *(TEXT.upper(), unicodedata.normalize("NFD", TEXT), TEXT.replace(" ", "  "), TEXT.replace(" ", "\r\n")),
    *(TEXT.replace(" ", "\u00a0"), TEXT.replace(" ", "\u3000"), TEXT.replace("P", "\u200bP"), "Z\u00ad" + TEXT[1:]),
    *(
        TEXT.replace("4821", number)
        for number in ("48 21", "4-8-2-1", "4 8 2 1", "４８２１", "4.8.2.1", "4,821", "٤٨٢١")
    ),
    *(TEXT.replace("4821", number) for number in ("48–21", "48_21", "4 - 8 - 2 - 1")),
    *("𝐙" + TEXT[1:], TEXT.replace("PIN 4821", "PIN-4821")),
]
OTHER = [
    *("Zoe Müller has PIN 4821", TEXT.replace("4821", "4822")),
    *(
        TEXT.replace("4821", number)
        for number in ("48.21", "48,21", "48:21", "48/21", "01 48 21 33", "4-8-2-1-9", "+49 48 21 3")
    ),
]
PAIRS = [
    ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
    ("GB82 WEST 1234 5698 7654 32", "GB82WEST12345698765432"),
    ("+49 170 4821333", "+49-170-4821-333"),
    ("0171/4821333", "(0171) 4821-333"),
    ("O'Brien", "O’Brien"),
    ("Straße", "STRASSE"),
    ("İstanbul", "istanbul"),
    ("東京タワー", "東京 タワー"),
    ("مُحَمَّد", "محمد"),
]


ESCAPED = 'Zoë Straße\'s "key" is Finn – 4821 9930'
ESCAPES = [
    *(html.escape(ESCAPED), html.escape(html.escape(ESCAPED)), ESCAPED.replace("ë", "&euml;").replace(" ", "&nbsp;")),
    *(quote(ESCAPED), quote_plus(ESCAPED), json.dumps(ESCAPED), json.dumps(ESCAPED, ensure_ascii=False)),
    *(ESCAPED.replace("ë", r"\u{eb}"), ESCAPED.replace("4821", r"\4821"), ESCAPED.replace("Straße", "Stra-\nße")),
    *(ESCAPED.replace("Finn", marked) for marked in ("**Finn**", "F**in**n", "_Finn_", "`Finn`", "~~Finn~~")),
    *(ESCAPED.replace("Finn", marked) for marked in ("<b>Finn</b>", "[Finn](https://x.example)")),
    *(ESCAPED.replace("is Finn", broken) for broken in ("is\n> Finn", "is<br>Finn")),
    *(ESCAPED.replace("4821 9930", number) for number in ("48219930", "48-21-99-30")),
]


@pytest.mark.parametrize("text", ESCAPES)
def test_a_text_is_found_in_its_escapes_and_marks(text: str) -> None:
    assert Phrase(ESCAPED).is_in(f"I know: {text} today")


@pytest.mark.parametrize(
    ("phrase", "text"),
    [("see a_b", "see ab"), ("2*3", "23"), ("x A", r"x %4"), ("Finn", "F<i>um"), ("a b", "a+b")],
)
def test_marks_of_a_phrase_make_a_difference(phrase: str, text: str) -> None:
    assert not Phrase(phrase).is_in(text)


@pytest.mark.parametrize(
    ("phrase", "text"), [("a <b> c", "a &lt;b&gt; c"), ("AT&T", "AT&amp;T"), ("😀", r"\ud83d\ude00")]
)
def test_signs_are_found_in_their_escapes(phrase: str, text: str) -> None:
    assert Phrase(phrase).is_in(text)


@pytest.mark.parametrize("text", SAME)
def test_spellings_of_one_text_contain_each_other(text: str) -> None:
    assert Phrase(TEXT).is_in(f"I know: {text}.")
    assert Phrase(text).is_in(TEXT)


@pytest.mark.parametrize("text", OTHER)
def test_another_text_is_not_the_same(text: str) -> None:
    assert not Phrase(TEXT).is_in(text)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_pairs_that_a_person_reads_as_the_same(one: str, other: str) -> None:
    assert Phrase(one).is_in(f"so {other}, yes")
    assert Phrase(other).is_in(f"so {one}, yes")


@given(st.text(max_size=20))
@example("`rm -rf plan`")
def test_a_text_is_in_itself_whatever_is_beside_it(text: str) -> None:
    assert Phrase(text).is_in(text)
    assert Phrase(text).is_in(f"so {text} é")


def test_the_spellings_to_look_for_in_files_are_all_the_same_text() -> None:
    assert {plain(form).replace(" ", "").replace("-", "") for form in spellings(TEXT)} == {"zoëmüllerhaspin4821"}
    assert {TEXT.replace("4821", "48 21"), unicodedata.normalize("NFD", TEXT)} <= set(spellings(TEXT))


@pytest.mark.parametrize(
    "unit",
    [
        "1 ",
        "4821",
        "4 8 2 ",
        "é",
        "(",
        "4......8",
        "4 8 2 1",
        "&amp;",
        "&",
        "%20",
        "*",
        "_a",
        "[a](",
        "<a ",
        "a-\n",
        "\\u00eb",
    ],
)
def test_the_time_is_in_proportion_to_the_length(unit: str) -> None:
    begun = time.process_time()
    Phrase("4 8 2 1 9 9 9 9").is_in(unit * (200_000 // len(unit)))
    Phrase(unit * (5_000 // len(unit))).is_in(unit * 5_000)
    assert time.process_time() - begun < 3


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("Born on 11.2.2024", "Born on 1.12.2024"),
        ("1122024", "Born on 1.12.2024"),
        ("Due 2024-11-1 noon", "Due 2024-1-11 noon"),
        ("Host 10.20.11.1 is down", "Host 10.20.1.11 is down"),
        ("Version 11.1.0 fails", "Version 1.11.0 fails"),
        ("Pages 1-234 copied", "Pages 12-34 copied"),
        ("Table 1 234 guests", "Table 12 34 guests"),
        ("The factor is 105", "The factor is 10⁵"),
        ("Area x2 wide", "Area x² wide"),
    ],
)
def test_dates_addresses_other_groups_and_superscripts_are_other_texts(phrase: str, text: str) -> None:
    assert not Phrase(phrase).is_in(text)
    assert not Phrase(text).is_in(phrase)
    assert Phrase(text).is_in(text)


LONG = "the letter says that " * 30


@pytest.mark.parametrize("said", [f"{LONG}4821 {LONG}", f"{LONG}, PIN 4821", f"4821{LONG}9377{LONG}"])
def test_a_long_text_is_found_with_its_numbers_in_other_groups(said: str) -> None:
    phrase = Phrase(said)
    other = said.replace("4821", "48 21").replace("9377", "9-3-7-7")
    assert phrase.is_in(f"x {other} y")
    assert phrase.is_in(f"{LONG}{other}"), "the place before has the same beginning"
    assert not phrase.is_in(other.replace("says", "sayz"))
    middle = len(other) // 4
    assert not phrase.is_in(f"{other[:middle]}q{other[middle + 1 :]}")
    assert not phrase.is_in(other.replace("48 21", "48.21"))


def test_a_text_that_expands_is_not_spelled_out_to_be_found_in_itself() -> None:
    text = "\ufdfa" * 20_000
    phrase = Phrase(text)
    begun = time.process_time()
    shown = plain(text)
    compared = time.process_time()
    assert phrase.is_in(text)
    assert len(shown) == 18 * len(text)
    assert time.process_time() - compared < (compared - begun) / 5
