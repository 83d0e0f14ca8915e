"""Text that is not its writer's own statement yields no fact; the statements beside it do."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from slowwave.minds.offline.rules.foreign_text import own_text
from slowwave.minds.offline.rules.role_play import playing_at
from slowwave.minds.offline.rules.split import pieces
from slowwave.model.memory import Memory, Role

FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y(?! lyrics))\b")
AT = datetime(2026, 3, 1, 9, tzinfo=UTC)

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
]
OWN = [
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
