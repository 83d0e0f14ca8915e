"""Facts and summaries may say only what was said."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.policy.guard.grounding import check, ground, invented_details, missing_details, shares_content
from slowwave.policy.text.names import names

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
HIKES = [
    "User went hiking at Mount Rainier on March 12, 2024",
    "User went kayaking at Lake Washington on March 15, 2024",
    "User ran a 5K in Fremont on March 20, 2024",
    "User went rock climbing at Stone Gardens on March 25, 2024",
    "User joined a cycling club on March 28, 2024",
]
SUMMARY = (
    "In March 2024, User was very active outdoors: hiked at Mount Rainier (March 12), kayaked at Lake Washington (March 15), "
    "ran a 5K in Fremont (March 20), rock climbed at Stone Gardens (March 25), and joined a cycling club (March 28)."
)


def said(text: str, speaker: str | None = None, kind: str = "message") -> Memory:
    return Memory(id=text[:20], scope="s", kind=kind, text=text, recorded_at=AT, valid_from=AT, speaker=speaker)


def talk(*texts: str, before: Sequence[str] = (), speakers: Sequence[str] = ()) -> Transcript:
    turns = tuple(Turn(number=n, memory=said(t)) for n, t in enumerate(texts, 1))
    return Transcript(
        conversation="c", turns=turns, most=8, before=tuple(map(said, before)), speakers=frozenset(speakers)
    )


KEPT = [
    ("Dancing relaxes Jon", "Jon here: to dance relaxes me.", "to dance relaxes me"),
    (
        "Auth service uses Argon2 with 12-byte salt",
        "Our auth service uses Argon2 with a 12-byte salt.",
        "auth service uses Argon2 with a 12-byte salt",
    ),
    (
        "User wants concise answers, no preamble",
        "Please keep answers short, no preamble.",
        "keep answers short, no preamble",
    ),
    ("Q3 release deadline is Oct 14", "The Q3 release deadline is Oct 14.", "The Q3 release deadline is Oct 14"),
    ("Q3 release deadline is 14 October 2026", "The Q3 release deadline is Oct 14.", "deadline is Oct 14"),
    ("Alice owns the deploy pipeline", "Alice owns the deploy pipeline.", "Alice owns the deploy pipeline"),
    (
        "The user went to a support group on 28 February 2026",
        "I went to a support group yesterday",
        "support group yesterday",
    ),
    ("Kubernetes restarts the pods of the team", "kubernetes restarts our pods", "restarts our pods"),
    ("Volunteering is the best of it", "I volunteer and it is the best", "it is the best"),
    ("Snowboarding is the best of it", "I snowboard and it is the best", "it is the best"),
    ("User earns 60000 a year", "I earn $60,000 a year", "I earn $60,000"),
    ("User has 3 children", "I have three children", "I have three children"),
    ("User ran 10000 steps", "I ran 10k steps", "I ran 10k steps"),
    ("The user left WhatsApp", "I left Whats App for good", "I left Whats App"),
    ("The user lost a job at Door Dash", "I lost my job at DoorDash", "I lost my job at DoorDash"),
    ("User likes American food", "food from America is my favourite", "food from America"),
    ("Doctor Okafor treats the user", "Dr. Okafor treats me", "Dr. Okafor treats me"),
    ("User meets her on Fridays", "we meet each Friday", "we meet each Friday"),
    ("User is vegetarian", "I don't eat any meat or fish", "don't eat any meat"),
    ("Deployment is done by Bob", "bob deploys it", "bob deploys it"),
    ("用户住在东京，喜欢喝绿茶", "我住在东京，喜欢喝绿茶。", "我住在东京"),
    (
        "Der Nutzer bevorzugt kurze Antworten",
        "Ich möchte bitte kurze Antworten und nicht zu viel Text",
        "kurze Antworten",
    ),
    ("Пользователь живёт в Казани", "Я живу в Казани с 2019 года", "живу в Казани"),
]
REFUSED = [
    ("John Doe lives in Springfield", "Understood.", "Understood.", "name 'Doe'"),
    ("The user left WhatsApp", "What App I left is no secret", "App I left is no secret", "name 'WhatsApp'"),
    ("Bob's budget in Springfield is 4711 dollars", "Thanks.", "Thanks.", "name"),
    ("The user's budget is 4711 dollars", "My budget is tight", "My budget is tight", "number '4711'"),
    ("User has three children", "I have children", "I have children", "number 'three'"),
    ("User was there on 12 May 2025", "I was there yesterday", "I was there yesterday", "date"),
    ("User was there on Tuesday", "I was there yesterday", "I was there yesterday", "date"),
    ("User is not allergic to nuts", "I am allergic to nuts. Bye.", "I am allergic to nuts", "denies"),
    ("User is not allergic to nuts", "I am allergic to nuts", "", "denies"),
    ("User loves nuts", "I hate nuts. I live in Bern.", "I live in Bern", "denies"),
    ("User loves cats", "I like dogs", "I love dogs more than anything", "message does not contain its quote"),
    ("Иван живёт в Казани", "Я живу в Москве", "живу в Москве", "Казани"),
]


@pytest.mark.parametrize(("text", "message", "quote"), KEPT)
def test_facts_supported_by_their_quote_are_kept(text: str, message: str, quote: str) -> None:
    assert check(Fact(text=text, quote=quote), said(message)) is None


@pytest.mark.parametrize(("text", "message", "quote", "reason"), REFUSED)
def test_facts_with_unsupported_details_are_refused(text: str, message: str, quote: str, reason: str) -> None:
    found = check(Fact(text=text, quote=quote), said(message))
    assert found is not None
    assert reason in found


@pytest.mark.parametrize(
    "opening",
    [
        "Around",
        "Approximately",
        "Roughly",
        "Within",
        "Throughout",
        "Following",
        "Shortly",
        "Earlier",
        "Previously",
        "Once",
        "Although",
        "Though",
        "Despite",
        "Twice",
    ],
)
def test_a_function_word_at_the_opening_is_no_name(opening: str) -> None:
    message = said("I gave my cousin a cake in April 2023.", "Maria")
    for text in (f"{opening} April 2023 Maria gave her cousin a cake", f"{opening} Maria gave her cousin a cake"):
        assert check(Fact(text=text, quote="I gave my cousin a cake"), message, (), {"Maria"}) is None
    for text in ("Early Maria gave a cake", "In late April 2023 Maria gave a cake", "Mid Maria gave a cake"):
        assert not names(text).opening


def test_an_invented_name_with_the_ending_of_an_adverb_is_refused() -> None:
    for name in ("Emily", "Kimberly", "Carly"):
        found = check(
            Fact(text=f"{name} gave a cake", quote="gave a cake"), said("I gave a cake", "Maria"), (), {"Maria"}
        )
        assert found is not None


def test_names_may_come_from_speakers_and_neighbouring_messages() -> None:
    fact = Fact(text="Caroline adopted Rex in Bern", quote="I adopted him there")
    assert check(fact, said("I adopted him there", "Caroline"), [said("Did you find Rex in Bern?")]) is None
    assert check(fact, said("I adopted him there"), [said("Did you find Rex in Bern?")], {"Caroline"}) is None
    assert check(fact, said("I adopted him there", "Caroline")) is not None


def test_ground_returns_the_quote_exactly_as_in_the_message() -> None:
    fact = Fact(text="The salt has 12 bytes", turn=1, quote="a 12-BYTE  salt")
    found = ground(fact, talk("It’s Argon2 with a 12‑byte salt."))
    assert isinstance(found, Fact)
    assert (found.turn, found.quote) == (1, "a 12‑byte salt")


def test_a_quote_with_a_wrong_message_number_is_found_in_its_message() -> None:
    found = ground(
        Fact(text="Alice owns the pipeline", turn=9, quote="Alice owns the pipeline"),
        talk("Hi.", "Alice owns the pipeline"),
    )
    assert isinstance(found, Fact)
    assert found.turn == 2


@pytest.mark.parametrize("turn", [1, 9, None])
def test_a_quote_that_is_in_no_message_is_refused(turn: int | None) -> None:
    found = ground(Fact(text="Bob is tall", turn=turn, quote="Bob is so very tall"), talk("Hi there.", "Thanks."))
    assert isinstance(found, Rejected)
    assert found.reason == "no message contains its quote"


def test_a_short_quote_counts_only_in_the_message_named() -> None:
    assert isinstance(ground(Fact(text="User agreed", turn=1, quote="Yes"), talk("No.", "Yes")), Rejected)


def test_ground_refuses_what_check_refuses() -> None:
    found = ground(Fact(text="John Doe likes it", turn=1, quote="I like it a lot"), talk("I like it a lot"))
    assert isinstance(found, Rejected)
    assert "Doe" in found.reason


def test_a_fact_without_quote_needs_a_message_that_supports_it() -> None:
    chat = talk("Hi. Our auth service uses Argon2, by the way.", "Noted.", "I went to see the pipeline")
    found = ground(Fact(text="The auth service uses Argon2"), chat)
    assert isinstance(found, Fact)
    assert (found.turn, found.quote) == (1, "Our auth service uses Argon2, by the way.")
    for text in ("The user hates olives", "The auth service in Springfield uses Argon2", "The user"):
        assert isinstance(ground(Fact(text=text), chat), Rejected), text
    assert isinstance(ground(Fact(text="Anything at all"), talk()), Rejected)


def test_names_may_come_from_the_message_before_the_transcript() -> None:
    fact = Fact(text="The dog is called Rex", turn=1, quote="that is the dog")
    assert isinstance(ground(fact, talk("Yes, that is the dog", before=["Is Rex a dog?"])), Fact)
    assert isinstance(ground(fact, talk("Yes, that is the dog", "Well", "Rex!")), Rejected)


def test_a_fact_takes_names_from_a_question_beside_it_and_not_from_further_messages() -> None:
    for before, place, kept in ((["When did Ragna open the shop?"], 1, True), (["Ragna has a shop."], 3, False)):
        lines = [*(f"Line {n}" for n in range(1, place)), "It opened in Visby"]
        found = ground(
            Fact(text="Ragna opened a shop in Visby", turn=place, quote="It opened in Visby"),
            talk(*lines, before=before),
        )
        assert isinstance(found, Fact) == kept


def test_a_fact_takes_names_from_the_messages_that_it_names_and_from_no_others() -> None:
    chat = talk("My cousin Ragna called", "Oh", "Well", "Yes", "She moved to Visby")
    for turns, kept in (((5, 1), True), ((5, 9, 1), True), ((5,), False), ((), False)):
        found = ground(Fact(text="Ragna moved to Visby", turn=5, turns=turns, quote="She moved to Visby"), chat)
        assert isinstance(found, Fact) == kept
        assert not kept or found.turns == (5, 1)


def test_a_clause_that_denies_something_else_does_not_count() -> None:
    for fact, quote, message in (
        ("User eats fish", "fish is fine for me", "I don't eat meat, and fish is fine for me"),
        ("User drinks green tea", "only green tea", "I don't drink coffee, only green tea"),
    ):
        assert check(Fact(text=fact, quote=quote), said(message)) is None
    for fact, quote, message in (
        ("User drinks coffee", "only green tea", "I don't drink coffee, only green tea"),
        ("User likes olives", "I like figs", "I like figs, I don't like olives"),
        ("User is allergic to the cat", "not to the cat", "I'm allergic to pollen, not to the cat"),
    ):
        assert "denies" in str(check(Fact(text=fact, quote=quote), said(message)))


def test_a_complete_summary_misses_and_invents_nothing() -> None:
    members = [said(h, kind="episodic") for h in HIKES]
    assert missing_details(SUMMARY, members) == ()
    assert invented_details(SUMMARY, members) == ()


def test_an_unrelated_text_misses_and_invents_details() -> None:
    members = [said(h, kind="episodic") for h in HIKES]
    story = "An unrelated story about Bob in Paris on May 3, 1999."
    assert {"Rainier", "March 12, 2024", "5K"} <= set(missing_details(story, members))
    assert invented_details(story, members) == ("Bob", "Paris", "May 3, 1999")


@pytest.mark.parametrize(
    ("summary", "lost"),
    [
        (SUMMARY.replace("Fremont", "town"), "Fremont"),
        (SUMMARY.replace("(March 28)", ""), "March 28, 2024"),
        (SUMMARY.replace("5K", "race"), "5K"),
        (SUMMARY.replace("In March 2024, ", ""), "March 12, 2024"),
    ],
)
def test_missing_names_numbers_and_dates_are_listed(summary: str, lost: str) -> None:
    assert lost in missing_details(summary, [said(h, kind="episodic") for h in HIKES])


@pytest.mark.parametrize(
    "text",
    [
        "Here are the facts you asked for:",
        "Alice does not own the deploy pipeline",
        "I have saved everything and will remember it.",
    ],
)
def test_a_summary_of_something_else_is_unrelated(text: str) -> None:
    members = [said("I looked after the garden.", "Alice"), said("I sold my tools.", "Alice")]
    assert not shares_content(text, members)
    assert shares_content("Alice looked after the garden and sold her tools.", members)
    assert shares_content(SUMMARY, [said(hike) for hike in HIKES])
    assert shares_content("他卖了花园的工具", [said("我把花园的工具卖了")])


def spoken(fact: str, quote: str, text: str) -> str | None:
    turn = said(text, "Caroline")
    return check(Fact(text=fact, turn=1, quote=quote), turn, (), {"Caroline", "Melanie"})


def test_a_statement_about_oneself_is_not_attributed_to_another_speaker() -> None:
    text = "I went to a support group. You should come, Melanie! We had fun. Melanie paints."
    assert spoken("Melanie went to a support group", "I went to a support group", text) == (
        "Caroline says it about themselves, and the fact is about Melanie"
    )
    for fact, quote in (
        ("Caroline went to a support group", "I went to a support group"),
        ("Melanie heard that Caroline went to a support group", "I went to a support group"),
        ("Melanie was asked to come", "You should come, Melanie"),
        ("Melanie had fun", "We had fun"),
        ("Melanie paints", "Melanie paints"),
    ):
        assert spoken(fact, quote, text) is None, fact


def test_days_listed_with_one_month_are_not_missing() -> None:
    summary = SUMMARY.replace("(March 15)", "(15)")
    members = [said(h) for h in HIKES]
    assert missing_details(summary, members) == ()
    assert invented_details(summary, members) == ()


@pytest.mark.parametrize(
    ("summary", "invented"),
    [
        (SUMMARY + " Rex came along.", "Rex"),
        (SUMMARY + " It took 99 days.", "99"),
        (SUMMARY + " Seven outings in all.", "Seven"),
        (SUMMARY.replace("March 28", "April 28"), "April 28"),
        (SUMMARY + " Next is a Saturday.", "-W-6"),
    ],
)
def test_invented_names_numbers_and_dates_are_listed(summary: str, invented: str) -> None:
    assert invented in invented_details(summary, [said(h) for h in HIKES])


def test_a_weekday_is_kept_and_a_derived_date_is_no_invention() -> None:
    assert missing_details("User runs", [said("User runs on Mondays")]) == ("-W-1",)
    assert invented_details("The two of them met on 28 February 2026.", [said("We met yesterday")]) == ()


@given(st.lists(st.sampled_from(HIKES), min_size=1, max_size=5, unique=True))
def test_the_joined_members_miss_and_invent_nothing(texts: list[str]) -> None:
    members = [said(t) for t in texts]
    joined = " ".join(f"{t}." for t in texts)
    assert missing_details(joined, members) == ()
    assert invented_details(joined, members) == ()


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_checked_without_an_error(text: str, quote: str) -> None:
    result = ground(Fact(text=text, turn=1, quote=quote), talk(quote, "Alice owns it"))
    assert isinstance(result, Fact | Rejected)


TALK = (
    ("Noor", "Hey Ben! Just got back from a hiking trip in Wales."),
    ("Ben", "Nice, Noor! Last night we had to say goodbye to our cat Pip."),
    ("Noor", "Oh no. I failed my driving test yesterday."),
    ("Ben", "I bought a violet kayak on Monday and joined the rowing club."),
    ("Noor", "I sold the old piano to a neighbour. You should publish your poems, by the way."),
    ("Ben", "I joined a church near the river last week, they are kind people."),
)


def grounded(fact: str, quote: str, number: int) -> Fact | Rejected:
    turns = tuple(Turn(number=n, memory=said(text, speaker)) for n, (speaker, text) in enumerate(TALK, 1))
    whole = Transcript(conversation="c", turns=turns, most=8, speakers=frozenset({"Noor", "Ben"}))
    return ground(Fact(text=fact, turn=number, turns=(number,), quote=quote), whole)


@pytest.mark.parametrize(
    ("fact", "quote", "number"),
    [
        ("Noor got back from a hiking trip in Wales", "Just got back from a hiking trip in Wales", 1),
        ("Ben had to say goodbye to the cat Pip on 28 February 2026", "we had to say goodbye to our cat Pip", 2),
        ("Noor failed her driving test on 28 February 2026", "I failed my driving test yesterday", 3),
        ("Noor sold the old piano to a neighbour", "I sold the old piano to a neighbour", 5),
        ("Ben should publish his poems", "You should publish your poems", 5),
        ("Ben joined the rowing club", "joined the rowing club", 4),
    ],
)
def test_facts_of_the_right_person_day_and_verb_are_kept(fact: str, quote: str, number: int) -> None:
    assert isinstance(grounded(fact, quote, number), Fact)


@pytest.mark.parametrize(
    ("fact", "quote", "number"),
    [
        ("Ben got back from a hiking trip in Wales", "Just got back from a hiking trip in Wales", 1),
        ("Noor's cat Pip died", "we had to say goodbye to our cat Pip", 2),
        ("Noor failed her driving test on 1 March 2026", "I failed my driving test yesterday", 3),
        ("Noor failed her driving test on 27 February 2026", "I failed my driving test yesterday", 3),
        ("Noor passed her driving test", "I failed my driving test yesterday", 3),
        ("Ben sold a violet kayak", "I bought a violet kayak", 4),
        ("Ben left the rowing club", "joined the rowing club", 4),
        ("Ben got a promotion at work", "I joined a church near the river last week, they are kind people", 6),
    ],
)
def test_facts_of_another_person_day_verb_or_matter_are_refused(fact: str, quote: str, number: int) -> None:
    assert isinstance(grounded(fact, quote, number), Rejected)


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("User hates olives", "Thanks."),
        ("User wants to poison nuts", "I am allergic to nuts"),
        ("Chiara sold the pipeline to a circus", "I sold the pipeline to a circus"),
        ("The user prefers a formal style", "Hi! My name is Ada."),
        ("The user's mother is ill and lives abroad", "My mother called me yesterday."),
        ("The user's dog died", "My dog is old."),
        ("The user works as a doctor", "I work at a hospital"),
        ("用户住在大阪，讨厌咖啡", "我喜欢喝绿茶。"),
        ("User hates olives", "我喜欢喝绿茶。"),
        ("Der Nutzer hasst Hunde", "Ich möchte bitte kurze Antworten und nicht zu viel"),
    ],
)
def test_a_fact_with_a_word_that_no_message_has_is_refused(fact: str, message: str) -> None:
    found = ground(Fact(text=fact, turn=1, turns=(1,), quote=message), talk(message))
    assert isinstance(found, Rejected)


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("The user skyped with a fan in California", "I skyped with a fan in CA"),
        ("The user wants to visit New York City", "I've been wanting to visit NYC."),
        ("The user has read the Game of Thrones series", "I've read the GoT series."),
        ("The user continues the education", "Gonna continue my edu, yay"),
        ("The user paid 1,200 euros for a bike", "I paid €1.2k for the bike"),
        ("The user was on a road trip", "That roadtrip was insane, I was on it for days"),
    ],
)
def test_abbreviations_and_other_forms_of_a_word_support_it(fact: str, message: str) -> None:
    assert isinstance(ground(Fact(text=fact, turn=1, turns=(1,), quote=message), talk(message)), Fact)


@pytest.mark.parametrize(
    ("fact", "quote", "message"),
    [
        ("The user quit the job", "quit my job", "Should I quit my job?"),
        ("The user has diabetes", "I had diabetes", "What if I had diabetes?"),
        ("The user is married to Paul", "I was married to Paul", "I dreamt that I was married to Paul."),
        ("The user lives in Paris", "live in Paris", "I used to live in Paris."),
        ("The user is vegan", "he is vegan", "My colleague says he is vegan."),
        ("The user works at Roche", "works at Roche", "My wife works at Roche."),
        ("The user is lazy", "I am lazy", "My boss claims that I am lazy."),
        ("The user will sell the car", "I will sell the car", "If I move to Rome I will sell the car."),
        ("The user is pregnant", "I am pregnant", "Maybe I am pregnant."),
    ],
)
def test_what_a_message_only_asks_supposes_or_says_of_others_is_no_fact(fact: str, quote: str, message: str) -> None:
    assert isinstance(ground(Fact(text=fact, turn=1, turns=(1,), quote=quote), talk(message)), Rejected)


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("The user used to live in Paris", "I used to live in Paris."),
        ("The user's wife works at Roche", "My wife works at Roche."),
        ("The user wants to sell the car", "I want to sell the car."),
        ("The user loves the countryside", "I thought I'd hate the countryside, but I love it."),
        ("The user finished the course", "I finished the course - want to see a picture?"),
    ],
)
def test_what_a_message_says_in_this_way_is_a_fact(fact: str, message: str) -> None:
    assert isinstance(ground(Fact(text=fact, turn=1, turns=(1,), quote=message), talk(message)), Fact)


def test_a_denial_in_other_words_becomes_what_was_said() -> None:
    message = "I got a no for the summer job."
    found = ground(Fact(text="The user did not get the summer job", turn=1, turns=(1,), quote=message), talk(message))
    assert isinstance(found, Fact)
    assert found.text.endswith(f"said: {message}")
