"""Text that is not its writer's own statement yields no fact; the statements beside it do."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from slowwave.minds.offline.distil import distil
from slowwave.minds.offline.rules.split import pieces
from slowwave.model.memory import Memory, Role
from slowwave.model.mind import Transcript, Turn
from slowwave.policy.text.foreign.cues import REACH, Words, cue, group
from slowwave.policy.text.foreign.own_text import own_text
from slowwave.policy.text.foreign.role_play import playing_at

FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y(?! lyrics))\b")
AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
TRAPS = sorted((Path(__file__).parents[2] / "examples").glob("traps*.jsonl"))

FOREIGN = [
    "Let's roleplay: I'm Batman and I live in Gotham",
    "You're a smuggler and I'm a customs officer called Pavel. I have two sons.",
    "Act as my landlord. I'm a tenant named Rosa and I owe two months of rent.",
    "Pretend you are my boss and I'm asking for a raise. I earn 40000 a year.",
    "My character is an elf. I was raised by owls and I fear fire.",
    "In this scene you're the judge. I am innocent and I live in Harrow.",
    "Let's do a mock interview where you ask me questions. I'm a pilot with six children.",
    "Imagine I'm a farmer with 90 sheep. What would shearing cost?",
    "Suppose I had diabetes and lived in Norway, what would insulin cost me?",
    "What if I moved to Chile and sold my house?",
    "If I were rich I'd buy a boat and live in Monaco.",
    "Hypothetically, I'm 70 and I have no pension.",
    "Translate this to German: I am allergic to nuts.",
    "Please translate into Italian\n\nI am lost. My hotel is the Miramar.",
    "proofread: I has a dog and my wife are nurse.",
    "I has lived in Oslo for ten year and my wife are nurse.\n\nPlease proofread this.",
    "Rewrite this more politely:\nI hate my neighbour and I want his fence gone.\nI will sue.",
    "Summarise the following text.\nI grew up in Kenya. I own a bakery.",
    "tl;dr this: I (40M) left my job. I have three cats.",
    "Is the grammar right here? I am a widow and I lives in Hull.",
    'How do you say "I am pregnant" in Greek?',
    "Feedback on my lyrics please\nI lost my job in Cleveland\nI drink until the dawn",
    "Here's a short story I like:\nI was born on a ship. My father was the cook.",
    "Chapter one begins like this: I had three brothers and a wooden leg.",
    "Poem draft:\nI am the son of the sea\nI own no land",
    "Write a poem in which I am a baker from Lyon.",
    "Write a story. I am a dragon. I live in a cave. My name is Smaug.",
    "Please tell me a bedtime story about the sea! Make it funny. I am a whale and I own two shells.",
    "Can you compose a ballad?\nI am a miller from Kent. My son is a thief.",
    'My grandmother always said "I never owned a car and I never will".',
    'The witness wrote: "I was at home in Leeds. I own no gun."',
    "My neighbour keeps saying: I'm selling up, I'm moving to Spain.",
    "As the old song goes, I was born a rambling man",
    'got this from a client, is it rude? "I do not eat with bankers. I live in Zug."',
    "From: Ida Berg <ida@example.org>\nTo: me\nI have left the club and I am moving to Bonn.",
    "What should I reply?\n\nDear neighbours,\nI am the new tenant. I have two drums.\nKind regards,\nTed Moss",
    "Dear Mr Finch,\nI live at 4 Elm Road and I have no heating.\nYours sincerely,\nOna Hill\nHead of Sales, Acme",
    "Here is the CV I have to screen:\nI have ten years of experience in Java. I speak Latvian.",
    "applicant's cover letter below\n\nI graduated from Porto and I live nearby.",
    "Q: Where do you live?\nA: I live in Accra with my two dogs.",
    "Anna: I live in Riga.\nBert: I live in Turku.\nAnna: I have a cat.",
    "I need sample sentences such as: I work at Acme. I am 30 years old.",
    'Say something like "I have a red bicycle and a dog called Rex".',
    "Use a name, e.g. I live in Springfield.",
    "haha yeah right, I live on the moon",
    "I'm the queen of Denmark, just kidding",
    "test test, my name is Tester and I live in Testville",
    "Last night I dreamed that I was married to a baker and we had ten children.",
    "// I live in the comment\nx = 1",
    "play along: I'm a time traveller from 2380 and I live in New Geneva",
    "New game! You're the dungeon keeper. I wake up in a cell. I am a thief named Sly.",
    "Roleplay scenario - customer complaint. I bought a toaster from you and I want my money back. My order number is 5512.",
    "be my shrink for a sec, character: lonely millionaire. I own six houses and I hate people",
    "This is from the book I'm reading: I am an invisible man. I live in a basement.",
    "song idea: I'm a cowboy, I got a horse named Blue, I sleep under stars",
    "Can you draft a reply to this email?\n\nHi there,\n\nI'm the landlord of 12 Oak St. I need the rent by Friday.\n\nBest,\nTom Finch",
    "Subject: Sick leave\nDear Ms Ott, I have the flu and I am staying home until Monday. Regards, Uwe",
    "Which of these cover letters is better? A) I am a chef with 12 years of experience. B) I have cooked in Lyon.",
    "Make this sound nicer: I hate working on Sundays and I want a raise.",
    "What is the Japanese for 'I am allergic to eggs'?",
    "Summarize in one line: I moved to Canada in 2009, I opened a café and I sold it last year.",
    "My teacher wrote on the board: I will not be late again.",
    "On the cup it says: I love my dog more than people.",
    'My colleague goes "I\'m vegan" and then eats ham lol',
    "Assuming I earn 90k and I'm single, what tax do I pay in Germany?",
    "Would it be ok if I was vegan and lived in Texas?",
    "Say my name was Bob and I lived in Utah. What county?",
    'Store facts about me like these: "I own a Volvo", "I\'m left-handed"',
    "my toddler says: I am a dinosaur and I eat cars",
    "Do you think I am pregnant if I feel sick every morning?",
    "how do I write 'I have been a nurse for ten years' on a CV",
    "README:\n# About\nI am a library for parsing dates. I support Python 3.9.\n\nImprove this readme",
    "In my dream I was married to a dragon and lived in a tower",
    "My horoscope says: I will move house and I will meet a tall stranger",
    "imagine you're me: I work at a zoo and I have a python. What gift would you like?",
]
OWN = [
    "Help me write a novel. I am a retired teacher from Kent.",
    "I live in Bern and I work as a nurse.",
    "My name is Ida, I have two sons and a dog called Rex.",
    "You are a helpful assistant. I'm 34 and vegetarian.",
    "Act as a nutritionist. I'm allergic to nuts.",
    'I play the piano in a band called "The Late Birds".',
    "I love roleplaying games and I play D&D every Friday.",
    "I want to improve my French because I move to Lyon in May.",
    "I write poems in my free time.",
    "I translate novels for a living.",
    "I practise my speech every day, I am the best man.",
    'My favourite book is "Gone with the Wind".',
    "I said yes: I'm engaged!",
    "Can you review my essay? I study law at Leiden.",
    "If I ask for code, answer in Rust.",
    "I'd like to learn Greek, my wife is from Athens.",
    "Hi,\nI'm Ona and I live in Hull.\nI need a plumber.",
    "Name: Ida\nAge: 34\nCity: Bern",
    "I act in a theatre group on Tuesdays.",
    "I play the cello, you know.",
    "In the book club we read Dune. I loved it.",
    "My story is simple: I grew up on a farm.",
    "You are a great help. I'm Ida.",
    "I work as a proofreader. My wife is a translator.",
    "My character flaw is impatience. I work on it.",
    "I had a job interview on Monday. I got the job.",
    "My therapist told me I have ADHD.",
    "I told my boss I'm leaving in May.",
    "When I was a child I lived in Ghana.",
    "I'd love to learn pottery.",
    "Please always answer in bullet points if I ask for a list.",
    "I have allergies, e.g. to cats and pollen.",
    "I was just kidding around with my kids yesterday at the zoo.",
    "We're the Millers. I'm Ann, the mother.",
    "Can you translate? I don't speak French.",
    "I'm a guest at my sister's: she lives in Rome.",
    "My patient, Mr. Bo, is 80. I am a nurse.",
    "I'd like you to be honest with me. I have cancer.",
    "Act fast. I have 2 hours.",
    'My nickname is "the Bear" because I\'m tall.',
    "My mother says hi. I live with her.",
    "I wrote a letter to my landlord. My flat has mould.",
    "Note: I am vegetarian.",
    "About me: I'm 30 and I live in Oslo.",
    "My test results came: I have low iron.",
    "On my desk I have: a cactus and two screens.",
    "I suppose I like jazz.",
    "let's play chess later, I'm a beginner",
    "Quick update: I moved to Hull.",
    "Big news: we're having a baby!",
    "Diet: I'm vegan.",
    "Recommend a book: I like sci-fi.",
    "I said it before: I hate olives.",
    "PS: my wife is allergic to nuts.",
    "Edit: I meant that I live in Bonn.",
    "I work in Cork - it rains a lot.",
    "My problem: I can't sleep.",
    "Reason: I work nights.",
    "*sighs* I have to work on Sundays.",
    "Important: I can't eat gluten.",
    "Do I smoke? No, not anymore. I quit in 2010.",
    "My dream: I want to open a bakery.",
    "Help me plan a trip: I have two kids and I hate flying.",
    "Plan a menu: I'm diabetic.",
    "Fun fact: I was born on a train.",
    "I *really* love jazz.",
    "I'm learning Spanish because my boyfriend is from Lima.",
    "My English is bad: I grew up in Minsk.",
    "I'm a German teacher: I live in Ulm.",
    "I'll be a dad in May and you are the first to know.",
    "In short: I love my job.",
    "Honestly - I hate my job.",
    "I play the drums and I have two kids.",
    "My mother's name is Ida: I call her every Sunday.",
    "Two things: I moved to Leeds and my number changed.",
    "Work stuff: I got promoted.",
    "Heads up: I'm away in May.",
    "I just want to let you know - I'm vegetarian",
    "Suggest a laptop. I edit videos and I have 900 euros.",
    "One more thing about food: I can't stand celery.",
    "Reading list: I want to read Dune next.",
    "My kids: I have two boys, Leo and Max.",
    "Regarding my health: I have asthma.",
    "Concerning work: I'm now at Acme.",
    "As for pets: I have a parrot.",
    "For your files: my passport expires in May.",
    "Please store this: I live at 4 Elm Road.",
    "Save this: my locker code is 4412.",
    "Please remember the following: I'm allergic to bees.",
    "Here's something about me: I collect stamps.",
    "Correction to what I said: I live in Bern.",
    "Answer to your question: I have three cats.",
    "Well I guess it's official: I got the job.",
    "Just so that you know: I don't drink.",
    "Tip for next time: I prefer tea.",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_foreign_text_gives_no_piece_in_the_first_person(text: str) -> None:
    assert [piece.text for piece in pieces(text) if FIRST_PERSON.search(piece.text)] == []


@pytest.mark.parametrize("text", OWN)
def test_own_statements_stay(text: str) -> None:
    assert own_text(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I live in Bern. Translate this: I live in Rome.", "I live in Bern. Translate this:"),
        ('My gran said "I hate trams, I really do". I work in Thun.', "I work in Thun."),
        ("Imagine I'm a king.\nI live in Bern.", "I live in Bern."),
        ("Let's roleplay, I'm a knight. OK, back to reality. I work in Thun.", "OK, back to reality. I work in Thun."),
        ("Proofread this:\nI has a dog.\nBy the way, I live in Bern.", "Proofread this:\nBy the way, I live in Bern."),
        ("I'm not sure if I need a visa, I'm using a Swiss passport, can you check?", "I'm not sure , I'm using a Swiss passport, can you check?"),
    ],
)  # fmt: skip
def test_statements_beside_foreign_text_stay(text: str, left: str) -> None:
    kept = own_text(text)
    assert [line.strip() for line in kept.split("\n") if line.strip()] == left.split("\n") or " ".join(
        kept.split()
    ) == left


def _said(*texts: tuple[Role, str], pause: timedelta = timedelta(minutes=1)) -> list[Memory]:
    return [
        Memory(
            id=str(n),
            scope="s",
            kind="message",
            text=text,
            recorded_at=AT + n * pause,
            valid_from=AT + n * pause,
            role=role,
            seq=n,
            conversation="c",
        )
        for n, (role, text) in enumerate(texts)
    ]


def test_a_role_play_lasts_over_the_following_messages_until_it_ends() -> None:
    messages = _said(
        ("user", "Let's roleplay, you are the innkeeper"),
        ("assistant", "Welcome, stranger."),
        ("user", "I'm Batman and I live in Gotham"),
        ("user", "OK, end of the roleplay. I live in Bern."),
        ("user", "I work in Thun"),
    )
    assert playing_at(messages) == {"1", "2", "3"}


def test_a_role_play_ends_with_a_long_pause() -> None:
    messages = _said(("user", "Let's roleplay"), ("user", "I'm a knight"), pause=timedelta(hours=4))
    assert playing_at(messages) == frozenset()


def test_stage_directions_of_the_assistant_show_a_play_whose_beginning_is_not_read() -> None:
    messages = _said(
        ("assistant", "*draws her sword* Who goes there?"), ("user", "I'm Sir Aldous and I own three horses")
    )
    assert playing_at(messages) == {"1"}


@pytest.mark.parametrize("text", ["if I " * 3000, "\n" * 20000, "\"'" * 5000, "you are " * 2000])
def test_hostile_text_is_read_in_time(text: str) -> None:
    assert len(own_text(text)) == len(text)


@pytest.mark.skipif(not TRAPS, reason="the example traps are not beside the tests")
@pytest.mark.parametrize("path", TRAPS, ids=lambda path: path.stem)
def test_no_trap_of_the_examples_becomes_a_fact(path: Path) -> None:
    stored = []
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        messages = _said(*((m["role"], m["content"]) for m in one["messages"]))
        turns = tuple(Turn(number=n, memory=message) for n, message in enumerate(messages, 1))
        facts = distil(Transcript(conversation="c", turns=turns, most=20, speakers=frozenset()))[0]
        stored += [one["id"] for word in one["must_not"] for fact in facts if re.search(word, fact.text, re.IGNORECASE)]
    assert stored == []


@given(
    st.lists(
        st.sampled_from(
            [*FOREIGN, *OWN, "İ", "ǅ", "\n", "I live in Bern. ", "fix typos: ", "lol not", "*bows deeply* ", '"', "“"]
        ),
        max_size=6,
    )
)
def test_what_is_kept_stays_in_its_place(parts: list[str]) -> None:
    text = " ".join(parts)
    kept = own_text(text)
    assert len(kept) == len(text)
    assert all(left in (given_, "\n") for left, given_ in zip(kept, text, strict=True))


@given(st.text(alphabet="aİ \nX.:", max_size=900), st.integers(0, 900))
def test_a_cue_finds_its_word_wherever_it_is(around: str, place: int) -> None:
    text = f"{around[:place]} needle: I am {around[place:]}"
    wanted = [match.span() for match in re.finditer(r"\bneedle:\s+I\b", text)]
    assert [match.span() for match in cue(r"\bneedle:\s+I\b", "needle", ":").find(Words(text))] == wanted


def test_a_cue_reads_only_the_text_near_its_words() -> None:
    words = Words("x" * 10_000 + " needle " + "x" * 10_000)
    assert sum(end - start for start, end in words.near(group("needle"))) == 3 * REACH
    assert words.near(group("pin")) == ()


def test_a_match_longer_than_the_reach_is_found_whole() -> None:
    text = "needle" + "x" * 3 * REACH
    assert [match.end() for match in cue(r"needlex*", "needle").find(Words(text))] == [len(text)]
    assert list(cue(r"needlex*$", "needle").find(Words(text + "\n."))) == []
