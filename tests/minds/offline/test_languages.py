"""Statements in German, French and Spanish become facts in their language; everything else stays a message."""

import pytest

from slowwave import AgentMemory, Message
from slowwave.minds.offline.languages.reading import language_of, statements
from slowwave.minds.offline.languages.table import tables

SAID = {
    "Hallo, ich heiße Ida Moser": ["Der Nutzer heißt Ida Moser"],
    "Ich bin 34 Jahre alt und ich wohne seit 2019 in Bern.": [
        "Der Nutzer ist 34 Jahre alt",
        "Der Nutzer wohnt seit 2019 in Bern",
    ],
    "Ich arbeite als Krankenschwester im Inselspital": ["Der Nutzer arbeitet als Krankenschwester im Inselspital"],
    "ich bin allergisch gegen Haselnüsse": ["Der Nutzer ist allergisch gegen Haselnüsse"],
    "Meine Tochter heißt Mia": ["Der Nutzer: „Meine Tochter heißt Mia“"],
    "Ich habe zwei Katzen und einen roten Roller": ["Der Nutzer hat zwei Katzen und einen roten Roller"],
    "Ich mag keinen Koriander": ["Der Nutzer mag keinen Koriander"],
    "Ich studiere Geologie in Graz": ["Der Nutzer studiert Geologie in Graz"],
    "Ich möchte im Herbst einen Segelkurs machen": ["Der Nutzer möchte im Herbst einen Segelkurs machen"],
    "Bitte antworte immer in kurzen Sätzen": ["Der Nutzer möchte: „Bitte antworte immer in kurzen Sätzen“"],
    "Ich wohne mit meiner Schwester in Thun": ["Der Nutzer: „Ich wohne mit meiner Schwester in Thun“"],
    "Ich wohne in Bern und trinke gern Tee": ["Der Nutzer: „Ich wohne in Bern und trinke gern Tee“"],
    "Bonjour, je m'appelle Léa Fournier": ["L'utilisateur s'appelle Léa Fournier"],
    "J'ai 41 ans et j'habite à Nantes.": ["L'utilisateur a 41 ans", "L'utilisateur habite à Nantes"],
    "Je travaille comme boulangère à Quimper": ["L'utilisateur travaille comme boulangère à Quimper"],
    "Je suis allergique aux arachides": ["L'utilisateur est allergique aux arachides"],
    "Ma fille s'appelle Zoé": ["L'utilisateur : « Ma fille s'appelle Zoé »"],
    "j’ai deux chats": ["L'utilisateur a deux chats"],
    "Je déteste les champignons": ["L'utilisateur déteste les champignons"],
    "J'étudie le droit à Lille": ["L'utilisateur étudie le droit à Lille"],
    "Je voudrais apprendre le violon": ["L'utilisateur voudrait apprendre le violon"],
    "Réponds toujours en deux phrases": ["L'utilisateur souhaite : « Réponds toujours en deux phrases »"],
    "Hola, me llamo Inés Robles": ["El usuario se llama Inés Robles"],
    "Tengo 29 años y vivo en Cádiz.": ["El usuario tiene 29 años", "El usuario vive en Cádiz"],
    "Trabajo como enfermera en un hospital": ["El usuario trabaja como enfermera en un hospital"],
    "Soy alérgica al marisco": ["El usuario es alérgica al marisco"],
    "Mi hija se llama Noa": ["El usuario: «Mi hija se llama Noa»"],
    "Tengo dos perros": ["El usuario tiene dos perros"],
    "No me gusta el cilantro": ["El usuario dice que no le gusta el cilantro"],
    "Estudio biología en Granada": ["El usuario estudia biología en Granada"],
    "Quiero aprender a navegar": ["El usuario quiere aprender a navegar"],
    "Por favor, responde siempre en pocas palabras": [
        "El usuario quiere: «Por favor, responde siempre en pocas palabras»"
    ],
}
TRAPS = [
    "Übersetze bitte: Ich heiße Bruno und ich wohne in Kassel.",
    "Stell dir vor, ich bin Bäcker in Wien. Ich habe drei Kinder.",
    "Meine Oma sagte immer: „Ich habe nie ein Auto besessen“",
    "Wenn ich in Rom wohne, esse ich nur Pizza",
    "Wohne ich in einem Risikogebiet?",
    "Lass uns ein Rollenspiel machen. Ich bin der König. Ich wohne in einer Burg.",
    "Schreib eine Geschichte: Ich wohne im Wald. Ich habe zwei Drachen.",
    "Vielleicht mag ich Jazz",
    "Traduis en anglais : Je suis allergique aux noix.",
    "Imagine que je suis pilote. J'habite à Lyon.",
    "Il m'a écrit « J'ai deux chiens »",
    "Si j'habite à Brest, est-ce loin ?",
    "Corrige ce texte : je m'appelle Paul et j'ai 12 ans",
    "Tu es un pirate. Je suis allergique au rhum.",
    "Traduce al inglés: Soy alérgico a las nueces.",
    "Imagina que soy piloto. Vivo en Lima.",
    "Mi abuela decía: «Nunca tuve coche»",
    "¿Vivo en una zona de riesgo?",
    "Si vivo en Quito, ¿hace frío?",
    "Escribe un cuento: Me llamo Lobo. Vivo en el bosque.",
    "Ik woon in Utrecht en ik heb twee katten",
    "Mi chiamo Carla e abito a Torino",
    "Eu moro em Braga e tenho dois gatos",
    "Jag bor i Lund",
    "私は東京に住んでいます",
]  # fmt: skip


@pytest.mark.parametrize(("said", "facts"), SAID.items())
def test_a_statement_becomes_a_fact_in_its_language(said: str, facts: list[str]) -> None:
    found = statements(said)
    assert [each.text for each in found] == facts
    assert all(said[each.start : each.start + len(each.quote)] == each.quote for each in found)


@pytest.mark.parametrize("text", TRAPS)
def test_what_is_no_statement_of_the_writer_gives_nothing(text: str) -> None:
    assert statements(text) == ()


def test_a_speaker_with_a_name_is_named() -> None:
    assert [each.text for each in statements("Ich wohne in Bern", "Ida")] == ["Ida wohnt in Bern"]


def test_instructions_are_procedural() -> None:
    (found,) = statements("Bitte antworte immer auf Deutsch")
    assert (found.kind, found.category) == ("procedural", "preference")


def test_a_language_needs_a_word_of_its_table() -> None:
    assert language_of("Zürich Genf Basel") is None
    assert language_of("I have a friend in Die and we like no rain") is None
    assert {table.name for table in tables()} == {"German", "French", "Spanish"}


@pytest.mark.parametrize(
    ("said", "again", "question", "fact"),
    [
        (
            "Ich bin allergisch gegen Haselnüsse",
            "Ich bin allergisch gegen Haselnüsse!",
            "Wogegen bin ich allergisch?",
            "Der Nutzer ist allergisch gegen Haselnüsse",
        ),
        ("Ma fille s'appelle Zoé", "Ma fille s’appelle Zoé.", "Comment s'appelle ma fille ?", "L'utilisateur : « Ma fille s'appelle Zoé »"),
        ("Mi hija se llama Noa", "Mi hija se llama Noa.", "¿Cómo se llama mi hija?", "El usuario: «Mi hija se llama Noa»"),
    ],
)  # fmt: skip
def test_a_statement_made_twice_is_one_fact_and_is_found(said: str, again: str, question: str, fact: str) -> None:
    with AgentMemory.in_memory() as memory:
        for text in (said, again):
            memory.add_message(Message(role="user", content=text), "talk")
            memory.consolidate("talk", force=True)
        assert [hit.text for hit in memory.search_knowledge(question)] == [fact]
