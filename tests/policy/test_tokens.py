"""Words, stems and term numbers."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.text.tokens import STOP_WORDS, _stemmer, stem, term_id, terms, word_id, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café at NOON, please", ["cafe", "at", "noon", "please"]),
        ("I don't know", ["i", "don't", "know"]),
        ("It’s Melanie’s", ["it's", "melanie"]),
        ("the kids' books", ["the", "kids", "books"]),
        ("C++ and C# run at 3 GB/s or 90 km/h, and/or slower", ["c++", "and", "c#", "run", "at", "3", "gb/s", "or", "90", "km/h", "and", "or", "slower"]),
        ("$1,200.50 of 1,000,000 in v1.2.3", ["1200.50", "of", "1000000", "in", "v1.2.3"]),
        ("call getUserById", ["call", "getuserbyid", "get", "user", "by", "id"]),
        ("MAX_RETRY_COUNT", ["maxretrycount", "max", "retry", "count"]),
        ("JavaScript on an iPhone", ["javascript", "on", "an", "iphone"]),
        ("l'homme qu'elle aime", ["l", "homme", "qu", "elle", "aime"]),
        ("straße Ørsted Łódź İstanbul", ["strasse", "orsted", "lodz", "istanbul"]),
        ("東京都へ", ["东京", "京都", "都へ"]),
        ("猫", ["猫"]),
        ("서울에서", ["서울", "울에", "에서"]),
        ("กรุง", ["กร", "รุ", "ุง"]),
        ("2023年5月", ["2023", "年", "5", "月"]),
        ("दिल्ली में", ["दिल्ली", "में"]),
        ("شَمْس", ["شمس"]),
        ("été 3,5 d'accord", ["ete", "3,5", "d", "accord"]),
        ("\U0001f600 \x00 \ud800", []),
        ("", []),
    ],
)  # fmt: skip
def test_words_of_any_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize("pair", [("Müller", "muller"), ("ＡＢＣ", "abc"), ("ガ", "ガ"), ("ñandú", "nandu")])
def test_spellings_of_one_word_are_one_word(pair: tuple[str, str]) -> None:
    assert words(pair[0]) == words(pair[1])


@given(st.text(max_size=60))
def test_words_contain_no_space_and_no_ascii_capital(text: str) -> None:
    for word in words(text):
        assert word
        assert not any(letter.isspace() or "A" <= letter <= "Z" for letter in word)


@given(st.lists(st.sampled_from(["cat", "don't", "GB/s", "東京", "3.14", "C++", "snake_case"]), max_size=8))
def test_words_of_a_sentence_are_the_words_of_its_parts(parts: list[str]) -> None:
    assert words(" ".join(parts)) == [word for part in parts for word in words(part)]


@given(st.text(alphabet="aB1v3 .,'+#/_-?!\n\t", max_size=30))
def test_the_fast_and_the_general_splitter_agree(text: str) -> None:
    assert words(f"{text} a_b") == [*words(text), "ab", "a", "b"]


def test_forms_of_a_word_share_a_stem() -> None:
    assert terms("painting painted paints") == ["paint"] * 3
    assert terms("children went") == [stem("child"), "go"]
    assert [stem(word) for word in ("is", "c++", "東京", "don't")] == [stem("be"), "c++", "東京", "don't"]


def test_term_numbers_never_change() -> None:
    assert term_id("paint") == 9672149797358188424
    assert word_id("painted") == term_id("paint")


@given(st.text())
def test_any_term_has_a_number_of_64_bits(term: str) -> None:
    assert 0 <= term_id(term) < 2**64


def test_stop_words_are_single_words() -> None:
    assert all(words(word) == [word] for word in STOP_WORDS)


def test_stems_are_equal_in_many_threads() -> None:
    words_alone = [
        f"{start}{end}" for start in ("paint", "relat", "hop", "organiz") for end in ("ing", "ed", "ation", "s")
    ] * 50
    alone = [str(_stemmer()().stemWord(word)) for word in words_alone]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(stem.__wrapped__, words_alone)) == alone


def test_only_the_stemmer_of_one_language_is_imported() -> None:
    program = "import sys\nfrom slowwave.policy.text.tokens import stem\nassert stem('painted') == 'paint'\nprint(*sys.modules)"
    words_alone = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "slowwave_stems.porter_stemmer" in words_alone
    assert not [name for name in words_alone if "snowballstemmer" in name or "french" in name]


@pytest.mark.parametrize(
    ("traditional", "simple"),
    [("廣東", "广东"), ("雲龍軟體", "云龙软体"), ("臺灣的頭髮", "台湾的头发"), ("裡面和後面", "里面和后面")],
)
def test_both_scripts_of_chinese_give_the_same_words(traditional: str, simple: str) -> None:
    assert words(traditional) == words(simple) == words(traditional[0] + simple[1:])
