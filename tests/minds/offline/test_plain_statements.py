"""Plain statements of every kind become facts in readable English; moods, hedges and half sentences do not."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slowwave.minds.offline.distil import distil
from slowwave.minds.offline.rules.morphology import finite_base, is_base, past_base, third_person
from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Transcript, Turn

AT = datetime(2024, 4, 10, 9, tzinfo=UTC)
EXAMPLES = Path(__file__).parents[2] / "examples"


def facts(text: str, *, speaker: str | None = None, at: datetime = AT) -> tuple[Fact, ...]:
    """The facts of one message, to an assistant or, with a speaker, to a friend called Ben."""
    said = [("user", speaker, text)]
    if speaker:
        said.append(("assistant", "Ben", "Nice!"))
    turns = tuple(
        Turn(
            number=n,
            memory=Memory(
                id=f"m{n}",
                scope="s",
                kind="message",
                text=words,
                recorded_at=at,
                valid_from=at,
                role=role,
                speaker=who,
                seq=n,
                conversation="c",
            ),
        )
        for n, (role, who, words) in enumerate(said, 1)
    )
    return distil(Transcript(conversation="c", turns=turns, most=20, speakers=frozenset({speaker} if speaker else ())))[
        0
    ]


def texts(text: str, *, speaker: str | None = None) -> list[str]:
    return [fact.text for fact in facts(text, speaker=speaker)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I'm Oluwaseun, 42, a crane operator in Rotterdam.", ["The user's name is Oluwaseun", "The user was 42 years old in April 2024", "The user is a crane operator in Rotterdam"]),
        ("My name is Nomvula but everyone calls me Vula.", ["The user's name is Nomvula", "The user is called Vula"]),
        ("Myself Harish, I run a garage in Kochi.", ["The user's name is Harish", "The user runs a garage in Kochi"]),
        ("i will be moving to Ghent in July 2024", ["The user will be moving to Ghent in July 2024"]),
        ("I can't have shellfish so no prawns for me", ["The user can't have shellfish"]),
        ("I GOT THE JOB AT NASA!", ["The user got the job at NASA"]),
        ("I LOVE MY NEW BOSS", ["The user loves the user's new boss"]),
        ("I use the SQL API at work.", ["The user uses the SQL API at work"]),
        ("Elsa is allergic to eggs.", ["Elsa is allergic to eggs"]),
        ("Rose turns 5 on 14 March 2025.", ["Rose turns 5 on 14 March 2025"]),
        ("On our team Dagny owns the billing and Femi does the support", ["Dagny owns the billing and Femi does the support"]),
        ("My name's Bettina but call me Betty.", ["The user's name is Bettina", "The user is called Betty"]),
        ("hi there, Marek here", ["The user's name is Marek"]),
        ("I lead a team of six at Northwind.", ["The user leads a team of six at Northwind"]),
        ("I crochet hats and sell them at the market", ["The user crochets hats and sells them at the market"]),
        ("I work nights on Tuesdays and Fridays.", ["The user works nights on Tuesdays and Fridays"]),
        ("been a paramedic since 2011", ["The user has been a paramedic since 2011"]),
        ("My daughter Lotte has taken up fencing.", ["The user's daughter Lotte has taken up fencing"]),
        ("Anna leaves the company on 31 March 2025.", ["Anna leaves the company on 31 March 2025"]),
        ("Mum lives in a care home in Truro.", ["The user's mum lives in a care home in Truro"]),
        ("my sister's a nurse in Leith", ["The user's sister is a nurse in Leith"]),
        ("My best friend is Tamsin. She's a pilot.", ["The user's best friend is Tamsin", "Tamsin is a pilot"]),
        ("We keep bees behind the old quarry.", ["The user keeps bees behind the old quarry"]),
        ("I ran with my sister Ada. We finished in 54 minutes.", ["The user ran with the user's sister Ada", "The user and the user's sister Ada finished in 54 minutes"]),
        ("Our new address: 17 Larch Rise, Kendal", ["The user's new address is 17 Larch Rise, Kendal"]),
        ("I refuse to fly.", ["The user refuses to fly"]),
        ("I'm severely allergic to wasps so please warn me.", ["The user is severely allergic to wasps"]),
        ("I gave up my beehives because of my knees.", ["The user gave up the user's beehives because of the user's knees"]),
        ("As a physio, I often work at St Mary's.", ["The user is a physio", "The user often works at St Mary's"]),
        ("Our landlady is called Mrs Oak and the rent is 1,310 a month.", ["The user's landlady is called Mrs Oak and the rent is 1,310 a month"]),
        ("looking for a secondhand kiln, budget 300 max", ["The user is looking for a secondhand kiln, budget 300 max"]),
        ("I don't like surprises.", ["The user doesn't like surprises"]),
        ("haven't smoked for 214 days!!", ["The user hasn't smoked for 214 days"]),
        ("The deposit was 400 euros.", ["The deposit was 400 euros"]),
        ("Please remember: the garage code is 8812.", ["The garage code is 8812"]),
        ("save this for later: booking reference QJ7TLP for the ferry", ["Booking reference QJ7TLP for the ferry"]),
    ],
)  # fmt: skip
def test_a_clause_that_stands_alone_becomes_a_fact(text: str, wanted: list[str]) -> None:
    assert texts(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("don't use emojis with me", "The user wants the assistant not to use emojis with the user"),
        ("Stop calling me mate.", "The user wants the assistant to stop calling the user mate"),
        ("No more bullet points from now on.", "The user wants the assistant to give no more bullet points"),
        ("Metric units only please.", "The user wants the assistant to give metric units only"),
        ("When you give me temperatures use celsius", "The user wants the assistant to use celsius when it gives the user temperatures"),
        ("whenever I mention a price convert it to zloty", "The user wants the assistant to convert it to zloty whenever the user mentions a price"),
        ("Don't suggest meat dishes.", "The user wants the assistant not to suggest meat dishes"),
        ("No screens for the kids after seven, that's our rule.", "The user's house rule: no screens for the kids after seven"),
    ],
)  # fmt: skip
def test_a_standing_instruction_in_natural_words_is_procedural(text: str, wanted: str) -> None:
    assert [(f.text, f.kind) for f in facts(text)] == [(wanted, "procedural")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I'm still vegetarian but I eat fish now", ["The user is still vegetarian but the user eats fish now"]),
        ("I walk to work unless it rains in the morning", ["The user walks to work unless it rains in the morning"]),
        ("I'm still vegetarian but you know how it is", []),
    ],
)
def test_a_restriction_is_kept_with_its_clause_or_the_clause_is_refused(text: str, wanted: list[str]) -> None:
    assert texts(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I taught myself the violin in 2019", ["Mia taught themselves the violin in 2019"]),
        ("I bought myself a kayak in Bergen", ["Mia bought a kayak in Bergen"]),
        ("My brother says I'm stubborn", ["Mia's brother says Mia is stubborn"]),
        ("I left because my boss ignored me and my team", ["Mia left because Mia's boss ignored Mia and Mia's team"]),
        ("I live by myself in Ghent", ["Mia lives alone in Ghent"]),
        ("I went to Rome with my dad when we had no car", ["Mia went to Rome with Mia's dad when Mia had no car"]),
    ],
)
def test_a_second_mention_of_the_speaker_repeats_the_name(text: str, wanted: list[str]) -> None:
    assert texts(text, speaker="Mia") in (wanted, [])  # a refusal is right too, a wrong sentence is not


@pytest.mark.parametrize(
    "text",
    [
        "I bought another one yesterday",
        "I decided in March",
        "I need a few more",
        "I'm so tired today",
        "I'm excited about the whole thing",
        "I think the weather is strange",
        "Working out together is a great way of bonding",
        "Don't quit, failures lead to success",
        "We need to look after the planet",
        "We last spoke in March",
        "I met them there",
        "Gonna be a great night at the club",
        "Horses have such grace",
        "Love and acceptance should be everyone's",
    ],
)
def test_moods_dangling_objects_and_general_remarks_give_no_fact(text: str) -> None:
    assert texts(text, speaker="Mia") == []


@pytest.mark.parametrize(
    ("text", "wanted", "expires"),
    [
        ("I'm pregnant", "The user is pregnant as of April 2024", None),
        ("I'm 34 years old", "The user was 34 years old in April 2024", None),
        ("I live in Leeds at the moment", "The user lives in Leeds as of April 2024", None),
        ("I work at Acme until 30 June 2025", "The user works at Acme until 30 June 2025", datetime(2025, 7, 1, tzinfo=UTC)),
    ],
)  # fmt: skip
def test_a_state_that_ends_says_when_it_was_so(text: str, wanted: str, expires: datetime | None) -> None:
    assert [(f.text, f.expires_at) for f in facts(text)] == [(wanted, expires)]


@pytest.mark.parametrize("text", ['I called it "the cave', "I read “Emma by the lake in Bern"])
def test_no_fact_has_an_unpaired_quotation_mark(text: str) -> None:
    assert texts(text, speaker="Mia") == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I lied, I'm not vegetarian", "The user is not vegetarian"),
        ("Turns out I'm not allergic to nuts", "The user is not allergic to nuts"),
        ("I don't live in Bern", "The user doesn't live in Bern"),
        ("Forget what I said about Leeds, I live in Bristol", "The user lives in Bristol"),
        ("Scratch that, I live in Bristol", "The user lives in Bristol"),
    ],
)
def test_a_retraction_is_the_new_statement_and_its_quote_keeps_the_announcement(text: str, wanted: str) -> None:
    assert [(f.text, f.quote) for f in facts(text)] == [(wanted, text)]


def test_regular_rules_read_verbs_that_no_table_has() -> None:
    assert [third_person(verb) for verb in ("crochet", "fish", "carry", "do")] == [
        "crochets",
        "fishes",
        "carries",
        "does",
    ]
    assert [past_base(word) for word in ("knitted", "carried", "hiked", "sped", "bed")] == [
        "knit",
        "carry",
        "hike",
        "",
        "",
    ]
    assert is_base("commute")
    assert not is_base("scuba")
    assert finite_base("classes") == ("", "")
    assert finite_base("teaches") == ("teach", "present")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Favourite author: Ali Smith.", ["The user's favourite author is Ali Smith"]),
        ("Allergies: nuts and kiwi", ["The user's allergies are nuts and kiwi"]),
        ("my locker number at work = 77-314", ["The user's locker number at work is 77-314"]),
        ("no dairy for me", ["The user wants no dairy"]),
        ("going to a wedding in Palermo in August", ["The user is going to a wedding in Palermo in August 2024"]),
        ("sold the caravan, bought a canoe instead", ["The user sold the caravan, bought a canoe instead"]),
        ("not a morning person at all", ["The user is not a morning person at all"]),
        ("would like to retire to Madeira", ["The user would like to retire to Madeira"]),
        ("Foreman on a building site since 2011.", ["The user is a foreman on a building site since 2011"]),
        ("two kids, Ansel (7) and Mina (4)", ["The user has two kids, Ansel (7) and Mina (4)"]),
        ("nut allergy since school", ["The user has a nut allergy since school"]),
        ("Flat is on the ninth floor.", ["The user's flat is on the ninth floor"]),
        ("There's a persimmon tree in our garden.", ["There is a persimmon tree in the user's garden"]),
        ("I don't have a television", ["The user doesn't have a television"]),
        ("the hamster died in January, his name was Colonel", ["The user's hamster died in January 2024, his name was Colonel"]),
        ("Uncle Raymond broke his hip", ["The user's uncle Raymond broke his hip"]),
        ("The doctor put me on iron tablets", ["The user's doctor put the user on iron tablets"]),
        ("Aubergine is slimy. I hate it.", ["Aubergine is slimy and the user hates it"]),
        ("Crime podcasts bore me.", ["Crime podcasts bore the user"]),
        ("I much prefer blinds to curtains", ["The user much prefers blinds to curtains"]),
        ("cats over dogs, always", ["The user prefers cats to dogs"]),
        ("I will not lend money to relatives again.", ["The user will not lend money to relatives again"]),
        ("I'm an only child.", ["The user is an only child"]),
        ("We're a team of six at the surgery", ["The user is in a team of six at the surgery"]),
        ("Evening! Petra Vance, pleased to meet you.", ["The user's name is Petra Vance"]),
        ("It's Mika, not Mike", ["The user's name is Mika"]),
        ("use she/her for me please", ["The user goes by she/her"]),
        ("Remember my blood type, it's AB negative.", ["The user's blood type is AB negative"]),
        ("deadline for the grant moved to the 4th.", ["The deadline for the grant moved to the 4th"]),
        ("Eye test, 12 January, 9:15 at Hale's", ["Eye test, 12 January 2024, 9:15 at Hale's"]),
    ],
)  # fmt: skip
def test_a_note_without_a_subject_or_a_verb_becomes_a_readable_fact(text: str, wanted: list[str]) -> None:
    assert texts(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("start every summary with the weather please", "The user wants the assistant to start every summary with the weather"),
        ("Ask me before you put anything in my calendar.", "The user wants the assistant to ask the user before it puts anything in the user's calendar"),
        ("Short answers, please.", "The user wants the assistant to give short answers"),
        ("Distances in miles please, not kilometres.", "The user wants the assistant to give distances in miles, not kilometres"),
        ("bullet points only from here on", "The user wants the assistant to give bullet points only"),
    ],
)  # fmt: skip
def test_an_order_for_every_case_to_come_is_a_standing_instruction(text: str, wanted: str) -> None:
    assert [(f.text, f.kind) for f in facts(text)] == [(wanted, "procedural")]


@pytest.mark.parametrize(
    "text",
    [
        "Question: which of the two is older?",
        "Topic: the fall of Rome in 476",
        "Summarise the meeting on Friday",
        "Book a table for Friday at 8",
        "Good morning, happy Friday!",
        "Add a section about 12 January 2024",
        "The results in my code are wrong",
        "Day one: the gulls left",
    ],
)
def test_requests_headings_and_greetings_are_no_notes(text: str) -> None:
    assert texts(text) == []


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the example statements are not beside the tests")
@pytest.mark.parametrize(
    "name",
    [
        "statements.jsonl",
        "statements_second.jsonl",
        "statements_third.jsonl",
        "statements_fourth.jsonl",
        "statements_fifth.jsonl",
        "statements_sixth.jsonl",
        "statements_held.jsonl",
    ],
)
def test_nine_of_ten_plain_statements_are_stored(name: str) -> None:
    import re  # noqa: PLC0415

    lines = [json.loads(line) for line in (EXAMPLES / name).read_text().splitlines()]
    found = [" | ".join(f.text for f in facts(one["message"], at=datetime.fromisoformat(one["at"]))) for one in lines]
    stored = sum(
        all(re.search(w, text, re.IGNORECASE) for w in one["wanted"]) for one, text in zip(lines, found, strict=True)
    )
    assert stored >= 0.9 * len(lines)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("I live in Bern my sister lives in Basel", ["The user lives in Bern", "The user's sister lives in Basel"]),
        ("I work at Roche I am a chemist", ["The user works at Roche", "The user is a chemist"]),
        (
            "I'm 34 years old I work as a nurse in Graz",
            ["The user was 34 years old in April 2024", "The user works as a nurse in Graz"],
        ),
    ],
)
def test_two_clauses_without_a_mark_between_them_are_two_facts(text: str, stated: list[str]) -> None:
    assert [fact.text for fact in facts(text)] == stated


@pytest.mark.parametrize(
    "text", ["When I was in Bern I met Paul at a fair.", "I love the house in Bern I bought for my parents."]
)
def test_a_subordinate_clause_is_not_split_from_its_noun(text: str) -> None:
    assert not [
        fact
        for fact in facts(text)
        if fact.text.startswith(("The user met", "The user bought", "The user loves the house in Bern,"))
    ]
