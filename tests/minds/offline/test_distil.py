"""What the offline mind takes for a fact, how it says it, and what it leaves alone."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from slowwave.minds.offline.distil import clean_text, distil
from slowwave.minds.offline.mind import OfflineMind
from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Transcript, Turn
from slowwave.model.query import Item, Section
from slowwave.policy.guard.fence import fence_tag, render
from slowwave.policy.guard.grounding import ground
from slowwave.policy.retention.categories import REGISTRY

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def said(number: int, text: str, role: str = "user", speaker: str | None = None, at: datetime = AT) -> Memory:
    return Memory(
        id=f"m{number}",
        scope="s",
        kind="message",
        text=text,
        recorded_at=at,
        valid_from=at,
        role=role,
        speaker=speaker,
        seq=number,
        conversation="c",
    )


def transcript(*memories: Memory, most: int = 20) -> Transcript:
    turns = tuple(Turn(number=n, memory=m) for n, m in enumerate(memories, 1))
    speakers = frozenset(m.speaker for m in memories if m.speaker)
    return Transcript(conversation="c", turns=turns, most=most, speakers=speakers)


def facts(chat: Transcript) -> tuple[Fact, ...]:
    return distil(chat)[0]


def facts_of(text: str) -> tuple[Fact, ...]:
    """What is distilled of one message to an assistant."""
    return facts(transcript(said(1, text)))


def talked(text: str, answer: str = "Wow, nice!") -> tuple[Fact, ...]:
    """What is distilled of one message from Melanie to Caroline."""
    return facts(transcript(said(1, text, speaker="Melanie"), said(2, answer, role="assistant", speaker="Caroline")))


TO_ASSISTANT = {
    "Please keep answers short, no preamble.": ("preference", "procedural", "The user wants the assistant to keep answers short, no preamble"),
    "Don't use emojis in your answers, please.": ("preference", "procedural", "The user wants the assistant not to use emojis in its answers"),
    "Always answer in German from now on.": ("preference", "procedural", "The user wants the assistant to always answer in German from now on"),
    "Never use tabs in code examples.": ("preference", "procedural", "The user wants the assistant to never use tabs in code examples"),
    "From now on, use British English.": ("preference", "procedural", "The user wants the assistant to use British English from now on"),
    "Avoid giving long explanations when I ask for code.": ("preference", "procedural", "The user wants the assistant to avoid giving long explanations when the user asks for code"),
    "Always format all code snippets with syntax highlighting when I ask about implementation details.": ("preference", "procedural", "The user wants the assistant to always format all code snippets with syntax highlighting when the user asks about implementation details"),
    "Always itemise the costs when I ask about a trip.": ("preference", "procedural", "The user wants the assistant to always itemise the costs when the user asks about a trip"),
    "Always double-check totals when I ask about money.": ("preference", "procedural", "The user wants the assistant to always double-check totals when the user asks about money"),
    "When I ask about SQL, please show the query plan.": ("preference", "procedural", "The user wants the assistant to show the query plan when the user asks about SQL"),
    "Always provide error messages when I ask about debugging issues.": ("preference", "procedural", "The user wants the assistant to always provide error messages when the user asks about debugging issues"),
    "Remember to answer in German when I ask about Bern.": ("preference", "procedural", "The user wants the assistant to answer in German when the user asks about Bern"),
    "I do not eat meat.": ("preference", "semantic", "The user does not eat meat"),
    "I am not planning anything, but I have not written any Rust code since 2019": ("goal", "semantic", "The user is not planning anything, but the user has not written any Rust code since 2019"),
    "I try to avoid sugar, and I enjoy tea": ("preference", "semantic", "The user enjoys tea"),
    "I've been using GitHub 2.34 and have a branching strategy": ("project", "semantic", "The user has been using GitHub 2.34 and has a branching strategy"),
    "Call me Matt.": ("preference", "procedural", "The user wants the assistant to call the user Matt"),
    "Our auth service uses Argon2 with a 12-byte salt.": ("project", "semantic", "The user's auth service uses Argon2 with a 12-byte salt"),
    "The Q3 release deadline is Oct 14.": ("goal", "semantic", "The Q3 release deadline is 14 October 2026"),
    "The staging cluster runs in Frankfurt.": ("project", "semantic", "The staging cluster runs in Frankfurt"),
    "Alice owns the deploy pipeline.": ("person", "semantic", "Alice owns the deploy pipeline"),
    "My name is Matteo Rossi.": ("identity", "semantic", "The user's name is Matteo Rossi"),
    "I'm a colour technologist and nurse from Port Michael": ("identity", "semantic", "The user is a colour technologist and nurse from Port Michael"),
    "I'm German.": ("identity", "semantic", "The user is German"),
    "I live in Zurich.": ("identity", "semantic", "The user lives in Zurich"),
    "I work as a data analyst at Acme.": ("identity", "semantic", "The user works as a data analyst at Acme"),
    "I'm 44 years old.": ("identity", "semantic", "The user was 44 years old in March 2026"),
    "I was born in Lisbon.": ("identity", "semantic", "The user was born in Lisbon"),
    "I'm allergic to peanuts.": ("identity", "semantic", "The user is allergic to peanuts"),
    "My birthday is on 5 June.": ("identity", "semantic", "The user's birthday is on 5 June"),
    "My sister Anna lives in Bern with her two kids.": ("person", "semantic", "The user's sister Anna lives in Bern with her two kids"),
    "My manager is Bob.": ("person", "semantic", "The user's manager is Bob"),
    "I have three children.": ("person", "semantic", "The user has three children"),
    "I prefer tea over coffee.": ("preference", "semantic", "The user prefers tea over coffee"),
    "I don't eat meat.": ("preference", "semantic", "The user doesn't eat meat"),
    "I can't eat gluten.": ("preference", "semantic", "The user can't eat gluten"),
    "I never drink alcohol.": ("preference", "semantic", "The user never drinks alcohol"),
    "I'd rather use tabs than spaces.": ("preference", "semantic", "The user would rather use tabs than spaces"),
    "My favorite color is blue.": ("preference", "semantic", "The user's favorite color is blue"),
    "I've switched from Vim to Emacs.": ("decision", "semantic", "The user has switched from Vim to Emacs"),
    "We decided to go with Postgres 15.": ("decision", "episodic", "The user decided to go with Postgres 15"),
    "I no longer use a standing desk.": ("observation", "semantic", "The user no longer uses a standing desk"),
    "I've never written any Flask routes.": ("observation", "semantic", "The user has never written any Flask routes"),
    "I usually run on Mondays.": ("observation", "semantic", "The user usually runs on Mondays"),
    "I have a meeting with Dr. Smith on May 3.": ("goal", "semantic", "The user has a meeting with Dr. Smith on 3 May 2026"),
    "My goal is to finish the thesis by June 2027.": ("goal", "semantic", "The user's goal is to finish the thesis by June 2027"),
    "I need to submit the tax forms by Friday.": ("goal", "semantic", "The user needs to submit the tax forms by 6 March 2026"),
    "I'm planning a trip to Japan next spring.": ("goal", "semantic", "The user is planning a trip to Japan in spring 2027"),
    "I'm trying to migrate the app to Flask 2.3.1": ("project", "semantic", "The user is trying to migrate the app to Flask 2.3.1"),
    "I'm working on a budget tracker in Django": ("project", "semantic", "The user is working on a budget tracker in Django"),
    "We use Postgres 15 for analytics.": ("project", "semantic", "The user uses Postgres 15 for analytics"),
    "I was diagnosed with diabetes last year.": ("observation", "episodic", "The user was diagnosed with diabetes in 2025"),
    "I moved from Rome to Berlin in 2019.": ("identity", "episodic", "The user moved from Rome to Berlin in 2019"),
    "Remember that my flight is at 9am on Friday.": ("project", "semantic", "The user's flight is at 9am on 6 March 2026"),
}  # fmt: skip
BETWEEN_PEOPLE = {
    "Hey Caro! I went to a pottery class yesterday.": ("observation", "episodic", "Melanie went to a pottery class on 28 February 2026"),
    "Last Fri I finally took my kids to the museum": ("observation", "episodic", "On 27 February 2026 Melanie took Melanie's kids to the museum"),
    "My husband and I went hiking last weekend": ("observation", "episodic", "Melanie and Melanie's husband went hiking on the weekend of 21 February 2026"),
    "We went camping in the mountains": ("observation", "episodic", "Melanie went camping in the mountains"),
    "Just got a tattoo of a phoenix": ("observation", "episodic", "Melanie got a tattoo of a phoenix"),
    "I just adopted this cute pup from a shelter last week.": ("observation", "episodic", "Melanie adopted a cute pup from a shelter in the week before 1 March 2026"),
    "I lost my job as a banker.": ("observation", "episodic", "Melanie lost Melanie's job as a banker"),
    "I used to go horseback riding with my dad": ("observation", "semantic", "Melanie used to go horseback riding with Melanie's dad"),
    "I'm learning the violin with Anna": ("observation", "semantic", "Melanie is learning the violin with Anna"),
    "I run a charity and have a dog called Rex": ("observation", "semantic", "Melanie runs a charity and has a dog called Rex"),
    "I did a pottery course in Rome": ("observation", "episodic", "Melanie did a pottery course in Rome"),
    "I carry my violin to school every day": ("observation", "semantic", "Melanie carries Melanie's violin to school every day"),
    "I study Japanese and try new recipes": ("observation", "semantic", "Melanie studies Japanese and tries new recipes"),
    "We're gonna open a bakery in Oslo": ("goal", "semantic", "Melanie is going to open a bakery in Oslo"),
    "We've got a pup and a kitty.": ("person", "semantic", "Melanie has got a pup and a kitty"),
    "I'm a big fan of pottery classes": ("preference", "semantic", "Melanie is a big fan of pottery classes"),
    'I loved "Becoming Nicole" by Amy Ellis Nutt': ("preference", "semantic", 'Melanie loved "Becoming Nicole" by Amy Ellis Nutt'),
    "Next month I'm having an art show": ("goal", "semantic", "In April 2026 Melanie is having an art show"),
    "I'm getting ready for a dance contest next month": ("goal", "semantic", "Melanie is getting ready for a dance contest in April 2026"),
    "I'm gonna open a dance studio downtown": ("goal", "semantic", "Melanie is going to open a dance studio downtown"),
    "I wanna visit my aunt in Oslo": ("goal", "semantic", "Melanie wants to visit Melanie's aunt in Oslo"),
    "I'm thinking of adopting a rescue dog": ("goal", "semantic", "Melanie is thinking of adopting a rescue dog"),
    "I'm looking for a flat near the lake": ("goal", "semantic", "Melanie is looking for a flat near the lake"),
    "I was in town. Bas, my old bandmaster, leads the brass band.": ("person", "semantic", "Bas, Melanie's old bandmaster, leads the brass band"),
    "Caroline, my flatmate, leads the brass band": ("person", "semantic", "Caroline, Melanie's flatmate, leads the brass band"),
    "Odile, my aunt, owns the ferry": ("person", "semantic", "Odile, Melanie's aunt, owns the ferry"),
    "My aunt Odile owns the ferry": ("person", "semantic", "Melanie's aunt Odile owns the ferry"),
    "My car broke down last Friday on my way to work": ("observation", "episodic", "Melanie's car broke down on 27 February 2026 on Melanie's way to work"),
}  # fmt: skip
NOTHING = [
    "Never the same when I cook.",
    "Always late the first day when I ask for a taxi.",
    "Never boring the evenings.",
    "Can you help me fix this bug?",
    "What's the best way to learn Spanish?",
    "I should go to Rome?",
    "Thanks, that's amazing!",
    "I think it's going to rain.",
    "I loved it there.",
    "I love how you did that.",
    "I bought it yesterday.",
    "If I had a dog, I would walk every day.",
    "Maybe I moved to Bern in 2019.",
    "You bought a car yesterday.",
    "I want to make sure that everything works.",
    "I'm so happy for you!",
    "I have a question about Flask.",
    "Always!",
    "I decided to colocate them in Bern.",
    "The probability of heads is 0.5",
    "Remember to buy milk.",
    "Write answers for my three questions.",
    "Alice is happy with everything.",
    "Alice owns it.",
    "Alice owns something.",
    "I",
    "I not",
    "I really",
    "I should've",
    "From now on, it is late.",
    "When I ask, answer.",
    "I've a cold",
    "I live in " + "a very " * 50 + "old house in Zurich",
    "Please write a function that sorts names.",
    "Ik woon in Gent en drink graag thee.",
    "我住在东京，喜欢喝绿茶。",
    "```\nI live in Zurich.\n```",
    "> I live in Zurich.",
    "On Mon, Mar 2, Bob wrote:\nI live in Zurich.",
    "I live in https://example.com/zurich",
    "",
]


@pytest.mark.parametrize(("text", "wanted"), TO_ASSISTANT.items())
def test_a_statement_of_a_user_to_an_assistant_becomes_a_fact(text: str, wanted: tuple[str, str, str]) -> None:
    if not wanted[2]:
        assert facts_of(text) == ()
        return
    (fact,) = facts_of(text)
    assert (fact.category, fact.kind, fact.text) == wanted
    assert fact.quote in text
    assert fact.turn == 1
    assert fact.importance is None


@pytest.mark.parametrize(("text", "wanted"), BETWEEN_PEOPLE.items())
def test_a_statement_between_two_people_becomes_a_fact(text: str, wanted: tuple[str, str, str]) -> None:
    found = [(f.category, f.kind, f.text) for f in talked(text)]
    assert found == ([wanted] if wanted[2] else found[:0])


@pytest.mark.parametrize("text", NOTHING)
def test_questions_chat_code_quotes_and_other_languages_yield_no_fact(text: str) -> None:
    assert facts_of(text) == ()
    assert talked(text) == ()


def test_several_facts_of_one_message_keep_its_order() -> None:
    text = "My name is Ada and I'm a nurse. What should I cook, considering I'm 65 years old, and I have two dogs?"
    assert [f.text for f in facts_of(text)] == [
        "The user's name is Ada",
        "The user is a nurse",
        "The user was 65 years old in March 2026",
        "The user has two dogs",
    ]


def test_the_limit_keeps_the_most_useful_facts_in_order() -> None:
    chat = [said(1, "I bought a lamp in Rome"), said(2, "Always answer in German."), said(3, "I have two dogs")]
    assert [f.turn for f in facts(transcript(*chat, most=2))] == [2, 3]


def test_facts_over_the_limit_are_rejected_and_of_equal_ones_the_later_stays() -> None:
    chat = transcript(said(1, "My deadline is 14 April."), said(2, "My deadline is 21 April."), most=1)
    proposal = OfflineMind().distil(chat)
    assert [f.text for f in proposal.value] == ["The user's deadline is 21 April 2026"]
    assert [(r.text, r.reason, r.quote) for r in proposal.rejected] == [
        ("The user's deadline is 14 April 2026", "over the 1 facts of one pass", "My deadline is 14 April")
    ]


def test_the_same_fact_is_proposed_once() -> None:
    assert len(facts(transcript(said(1, "I live in Zurich."), said(2, "I live in Zurich!")))) == 1


@pytest.mark.parametrize(
    ("role", "speaker", "heard"),
    [
        ("user", None, True),
        ("assistant", None, False),
        ("assistant", "Ada", True),
        ("system", None, False),
        ("tool", "Ada", False),
    ],
)
def test_only_messages_of_people_are_distilled(role: str, speaker: str | None, heard: bool) -> None:
    found = facts(transcript(said(1, "I live in Zurich near the lake.", role=role, speaker=speaker)))
    assert bool(found) is heard


def test_context_blocks_are_never_distilled() -> None:
    block = render([Section(name="core", items=(Item(text="I live in Zurich", tokens=4),))], fence_tag(b"k", "s", "c"))
    assert [f.text for f in facts_of(f"Known:\n{block}\nI live in Bern.")] == ["The user lives in Bern"]
    assert facts_of(f"I live in Bern. {block} I do.") == ()


def test_names_are_known_from_other_messages() -> None:
    chat = [
        said(1, "Yesterday I met Rex at the shelter", speaker="Melanie"),
        said(2, "Rex is a rescue dog from Spain", speaker="Melanie"),
    ]
    assert "Rex is a rescue dog from Spain" in [f.text for f in facts(transcript(*chat))]
    chat.append(said(3, "Rex is happy with all of us", speaker="Melanie"))
    assert len(facts(transcript(*chat))) == 2
    assert not talked("Pottery is a huge part of life in Spain")


@given(st.lists(st.sampled_from([*TO_ASSISTANT, *BETWEEN_PEOPLE, *NOTHING]), min_size=1, max_size=6), st.integers(1, 4))
def test_every_fact_has_a_quote_and_is_grounded(texts: list[str], most: int) -> None:
    chat = transcript(*(said(n, t, at=AT + timedelta(days=n)) for n, t in enumerate(texts, 1)), most=most)
    found = OfflineMind().distil(chat).value
    assert len(found) <= most
    for fact in found:
        assert fact.turn is not None
        assert fact.quote in texts[fact.turn - 1]
        assert fact.category in REGISTRY
        assert ground(fact, chat) == replace(fact, turns=(fact.turn,))


@given(st.text(max_size=300))
def test_any_text_is_read_without_failing(text: str) -> None:
    for fact in (*facts_of(text), *talked(text)):
        assert fact.quote in text


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("Correction: the deadline is 21 April.", ["The deadline is 21 April 2026"]),
        ("The deadline moved to 21 April.", ["The deadline moved to 21 April 2026"]),
        ("I'm not allergic to penicillin after all.", ["The user is not allergic to penicillin after all"]),
        ("I don't work at St James anymore.", ["The user doesn't work at St James anymore"]),
        ("I am not vegetarian any more.", ["The user is not vegetarian any more"]),
        ("My budget is 500 euros. Scratch that, my budget is 700 euros.", ["The user's budget is 700 euros"]),
        ("I live in Leeds, no wait, I live in Bristol.", ["The user lives in Bristol"]),
        ("I live in Leeds. I mean, I live in Bristol.", ["The user lives in Bristol"]),
    ],
)
def test_corrections_are_facts_and_a_statement_withdrawn_at_once_is_not(text: str, texts: list[str]) -> None:
    assert [f.text for f in facts_of(text)] == texts


def test_the_quote_of_a_correction_contains_its_signal_word() -> None:
    chat = transcript(said(1, "Correction: the deadline is 21 April."))
    (fact,) = facts(chat)
    assert fact.quote == "Correction: the deadline is 21 April"
    assert ground(fact, chat) == replace(fact, turns=(fact.turn,))


@pytest.mark.parametrize(
    "text",
    [
        "In my novel, I'm a detective and I live in Paris.",
        "Translate to French: I live in London and I work at Acme.",
        "Please proofread the following: I live in London. I work at Acme.",
        "Can you summarise this email?\nHi Tom, I live in London.",
        "Write a story where I live on Mars and I own a dog called Rex.",
        "I quit in 2019.",
    ],
)
def test_fiction_texts_to_edit_and_verbs_without_an_object_give_no_facts(text: str) -> None:
    assert facts_of(text) == ()


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("I'm vegetarian, but I eat fish sometimes.", ["The user is vegetarian, but the user eats fish sometimes"]),
        ("I used to smoke but I quit in 2019.", ["The user used to smoke but the user quit in 2019"]),
    ],
)
def test_a_statement_keeps_what_qualifies_it(text: str, texts: list[str]) -> None:
    assert [f.text for f in facts_of(text)] == texts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I'm Priya.", ["The user's name is Priya"]),
        ("Hi! I'm Jean Valjean!", ["The user's name is Jean Valjean"]),
        ("I'm Tired.", []),
        ("I'm Priya and tall.", []),
        ("Thanks. I'm Nobody?", []),
    ],
)
def test_people_introduce_themselves_at_the_start_of_a_talk_alone(text: str, names: list[str]) -> None:
    assert [f.text for f in facts_of(text)] == names
    assert facts(transcript(said(1, "Good morning."), said(2, text))) == ()


@pytest.mark.skipif("SLOWWAVE_DATA" not in os.environ, reason="SLOWWAVE_DATA does not name the development data")
def test_facts_of_real_conversations_are_grounded_in_their_sources() -> None:
    data = json.loads((Path(os.environ["SLOWWAVE_DATA"]) / "locomo" / "locomo-dev.json").read_text())[0]
    evidence = {e for qa in data["qa"] for e in qa["evidence"] if qa["category"] != 5}
    talk, found, hit = data["conversation"], 0, 0
    for number in range(1, 20):
        turns = talk.get(f"session_{number}", [])
        chat = transcript(
            *(
                said(
                    n,
                    t["text"],
                    role="user" if t["speaker"] == talk["speaker_a"] else "assistant",
                    speaker=t["speaker"],
                )
                for n, t in enumerate(turns, 1)
            ),
            most=8,
        )
        for fact in facts(chat):
            assert ground(fact, chat) == replace(fact, turns=(fact.turn,))
            found += 1
            hit += turns[(fact.turn or 0) - 1]["dia_id"] in evidence
    assert found >= 50
    assert hit / found > 0.5, "a quarter of all turns is evidence; what is distilled should do twice as well"


def test_a_fact_keeps_what_limits_a_denial() -> None:
    assert clean_text("Odile isn't just building a shed") == "Odile isn't just building a shed"
    assert clean_text("Odile has never really liked the red boat") == "Odile has never really liked the red boat"
    assert clean_text("Odile really likes the red boat") == "Odile likes the red boat"


def test_named_users_without_an_assistant_give_each_other_no_instructions() -> None:
    order = said(1, "Please give me a checklist when I ask about the move.", speaker="Melanie")
    answer = said(2, "I start at the bakery in Lund on Monday.", speaker="Caroline")
    assert [fact.category for fact in facts(transcript(order))] == ["preference"]
    assert [fact.subject for fact in facts(transcript(order, answer))] == ["Caroline"]
