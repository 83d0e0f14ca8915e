"""Cutting into clauses and shortening them without loss."""

import time

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.text.clauses import SHORTEST, Clause, captions, clauses, note, only_a_date, prose, sentences, trim


def texts(text: str) -> list[str]:
    return [clause.text for clause in clauses(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went to Lisbon in May, and we ate far too much.", ["I went to Lisbon in May,", "and we ate far too much."]),
        ("She wanted to come along but her car broke down.", ["She wanted to come along", "but her car broke down."]),
        ("We moved last year; the new flat is bigger.", ["We moved last year;", "the new flat is bigger."]),
        ("Our dog ran away today - we found him later.", ["Our dog ran away today", "- we found him later."]),
        ("First sentence is here. Second one is there!", ["First sentence is here.", "Second one is there!"]),
        ("one line\nanother line", ["one line", "another line"]),
        ("昨日は東京に行った。楽しかった。", ["昨日は東京に行った。", "楽しかった。"]),
        ("On 23 June 2023, we went to the beach.", ["On 23 June 2023, we went to the beach."]),
        ("Since we last spoke, I took my kids to a park.", ["Since we last spoke, I took my kids to a park."]),
        ("Hey Mel, since we last chatted, I ran a race.", ["Hey Mel, since we last chatted, I ran a race."]),
        ("I have run two races already, since we last spoke.", ["I have run two races already, since we last spoke."]),
        ("When in town, it rained, and then we all left.", ["When in town, it rained,", "and then we all left."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_a_sentence_is_split_at_conjunctions_and_dashes(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize("text", ["On 23 June 2023,", "in the week of 5 June 2023", "Last summer.", "2 May"])
def test_a_date_alone_is_distinguished_from_an_event(text: str) -> None:
    assert only_a_date(text)
    assert not only_a_date(f"{text} we met")
    assert not only_a_date("")


def test_short_pieces_are_joined_to_their_neighbour() -> None:
    assert texts("Well, I think, but not today.") == ["Well, I think, but not today."]


def test_a_clause_has_the_properties_of_its_sentence() -> None:
    asked, follows, said = clauses("Did you see the new place, because I really liked it? Yes.")
    assert (asked.question, asked.opens) == (True, True)
    assert (follows.question, follows.opens) == (True, False)
    assert (said.question, said.opens) == (False, True)


def test_captions_are_separate_clauses_at_the_end() -> None:
    assert clauses("Look at [image: a photo of a dog] my new friend") == (
        Clause(text="Look at my new friend"),
        Clause(text="a photo of a dog", caption=True),
    )
    assert captions("[photo] and [Image: a cat, asleep]") == ["photo", "a cat, asleep"]


@given(st.text(st.sampled_from("abc ,.!?;—-\n'") | st.characters(), max_size=200))
def test_splitting_keeps_every_word_in_order(text: str) -> None:
    if "[" in text or "```" in text or "~~~" in text or "\n" in text:
        return
    assert (
        " ".join(texts(text)).split() == text.split()
        or "".join(texts(text)).split() == "".join(text.split()).split()
        or ("".join("".join(texts(text)).split()) == "".join(text.split()))
    )


@given(
    st.lists(
        st.sampled_from(["I", "saw", "her", "but", "she", "left", "town,", "and", "we", "stayed;", "then"]), max_size=40
    )
)
def test_only_a_whole_sentence_may_be_shorter_than_four_words(parts: list[str]) -> None:
    cut = texts(" ".join(parts))
    assert len(cut) < 2 or all(len(piece.split()) >= SHORTEST for piece in cut[:-1])


CODE = """Here is my function:
```python
def total(x):
    return x
```
and some more
import os
total = 3
for (int i = 0; i < 3; i++) {
run(x);
$ pip install it
{"a": 1}
My class starts at nine;
It fails."""


def test_code_is_excluded_and_similar_prose_is_kept() -> None:
    assert prose(CODE).split("\n") == [
        "Here is my function:",
        "",
        "and some more",
        "My class starts at nine;",
        "It fails.",
    ]
    assert prose("x = 1") == "x = 1"
    assert prose("~~~\nunclosed fence") == ""


def test_sentences_leave_captions_out() -> None:
    assert sentences('He said "go." Then [image: a door] he left.') == ['He said "go.', "Then he left."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hey Mel, I really loved that!", "I loved that!"),
        ("Oh wow, so cool, that's kind of a big step for you, Mel", "that's a big step for you"),
        ("and it was so that we could leave", "it was so that we could leave"),
        ("Thanks!", ""),
        ("I never said maybe, but it is not always even true", "I never said maybe, but it is not always even true"),
        ("likewise, greatness", "likewise, greatness"),
        ("Melody is here", "Melody is here"),
        ("The ramp isn't just for wheelchairs", "The ramp isn't just for wheelchairs"),
        ("I never really trusted that boat", "I never really trusted that boat"),
        ("We do not all just leave, it was really late", "We do not all just leave, it was late"),
        ("I only just missed it", "I only just missed it"),
        ("Great work on the fence", "Great work on the fence"),
        ("Thanks to Odile we have a roof", "Thanks to Odile we have a roof"),
        ("Absolutely not the red one", "Absolutely not the red one"),
        ("So much has changed so far", "So much has changed so far"),
        ("I know what kind of knot that is, I hope so", "I know what kind of knot that is, I hope so"),
    ],
)
def test_trimming_drops_only_filler(text: str, expected: str) -> None:
    assert trim(text, names=["Mel"]) == expected


@given(
    st.lists(
        st.sampled_from(["no", "not", "never", "but", "maybe", "probably", "always", "even", "Lisbon", "5"]),
        max_size=10,
    )
)
def test_trim_and_note_keep_words_that_change_the_meaning(parts: list[str]) -> None:
    assert trim(" ".join(parts)).split() == parts
    assert note(" ".join(parts)).split() == parts


@given(st.text(max_size=80))
def test_trim_is_idempotent(text: str) -> None:
    once = trim(text)
    assert len(once) <= len(text)
    assert note(text).count(" ") <= once.count(" ")


def test_a_note_leaves_out_grammatical_words() -> None:
    assert note("I'm so happy that I was at the charity race.") == "happy that at the charity race"
    assert note("it's a boy, she's the oldest") == "boy, oldest"
    assert note("I went to Iceland") == "went to Iceland"
    assert note("How have you been?") == "How have you been?"
    assert note("It is not just a shed, it's really a home") == "not just shed, home"


def test_a_note_keeps_the_article_after_a_preposition() -> None:
    assert note("Never call before nine in the morning.") == "Never call before nine in the morning"
    assert note("At the harbour I saw the ferry.") == "At the harbour saw ferry"
    assert note("It is in a box of the museum") == "in box of the museum"


def test_a_note_never_changes_who_does_what() -> None:
    assert note("Odile owns the ferry and is my aunt.") == "Odile owns ferry and is my aunt"
    assert note("He is late, but was kind") == "He late, but was kind"


@pytest.mark.parametrize(
    "unit", ["a", " ", "a(", "[image", "\n", "—", "1,000", "{ ", "so ", "@a ", '."', ", and", "=(", "</a"]
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    start = time.process_time()
    for clause in clauses(unit * (60_000 // len(unit)) + "\nend"):
        note(clause.text, names=["Al"])
    assert time.process_time() - start < 5  # a quadratic cut takes minutes
