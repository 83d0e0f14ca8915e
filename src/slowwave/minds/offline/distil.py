"""Distils facts from a transcript by rule: what people say about themselves, other people, their work and plans."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from slowwave.minds.offline.languages.reading import statements
from slowwave.minds.offline.rules.claims import Claim, recall_likelihood
from slowwave.minds.offline.rules.first_person import classify_first_person
from slowwave.minds.offline.rules.introductions import introduced
from slowwave.minds.offline.rules.references import generalise_demonstratives, is_self_contained
from slowwave.minds.offline.rules.rewrite import third_person
from slowwave.minds.offline.rules.role_play import playing_at
from slowwave.minds.offline.rules.split import pieces
from slowwave.minds.offline.rules.third_party import dated_statement, instruction, named_statement, restore_subject
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.policy.comparison.alignment import prepare
from slowwave.policy.text import names as naming
from slowwave.policy.text.dates import resolve
from slowwave.policy.text.tokens import terms

if TYPE_CHECKING:
    from slowwave.model.memory import Kind

USER: Final = "The user"
SHORTEST, LONGEST = 4, 45  # words of a fact
_UNSURE: Final = re.compile(
    r"\b(?:maybe|perhaps|might|if|guess|not sure|wondering|wish|would have|could have|or something|hypothetically|suppose)\b",
    re.IGNORECASE,
)
_COURTESY: Final = re.compile(
    r"\b(?:thank|thanks|appreciate|congrat\w*|sorry|proud of|good luck|same here|count me in|keep (?:it|me) up)\b",
    re.IGNORECASE,
)
_FILLERS: Final = re.compile(
    r"(?<!not )(?<!n't )(?<!n’t )\b(?:also|really|just|actually|honestly|basically|literally|super|totally|definitely|pretty much|kind of|kinda|sort of|finally) (?!like\b)",
    re.IGNORECASE,
)
_PERSON: Final = re.compile(r"[Mm]y (?:\w+ ){0,2}\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A fact, its position in the transcript, and the likelihood that a later question needs it."""

    fact: Fact
    turn: int
    start: int
    worth: float


def distil(transcript: Transcript) -> tuple[tuple[Fact, ...], tuple[Rejected, ...]]:
    """The facts of a transcript in order, and the rejected ones over `transcript.most`: the most useful stay.

    Of equally useful facts the later one stays, because it has the newer value. Facts that differ in names and numbers
    only are equally useful, although the later one has fewer new words.

    In a conversation with an assistant (whose messages have no speaker) only the user is read, in one between people
    everyone. English is read by rules, German, French and Spanish by tables; messages in other languages give no facts and
    stay searchable.
    """
    conversation = _conversation(transcript)
    found = [f for turn in transcript.turns for f in _in_turn(turn, conversation)]
    best: dict[str, _Found] = {}
    worth_of: dict[str, float] = {}
    for candidate in _in_order(found):
        frame = _frame(candidate)
        worth_of[frame] = max(candidate.worth, worth_of.get(frame, 0.0))
    for candidate in sorted(found, key=lambda f: (-worth_of[_frame(f)], -f.turn, -f.start)):
        best.setdefault(candidate.fact.text.casefold(), candidate)
    ranked = list(best.values())
    kept, over = ([f.fact for f in _in_order(part)] for part in (ranked[: transcript.most], ranked[transcript.most :]))
    reason = f"over the {transcript.most} facts of one pass"
    return tuple(kept), tuple(Rejected(text=f.text, reason=reason, quote=f.quote or "") for f in over)


def _frame(found: _Found) -> str:
    """The text of a fact without its names and numbers."""
    return re.sub(r"\S*\d\S*|(?<=\s)[A-Z]\S*", "", found.fact.text).casefold()


def _in_order(found: list[_Found]) -> list[_Found]:
    return sorted(found, key=lambda f: (f.turn, f.start))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conversation:
    """The state of a conversation while its turns are read.

    `known` are the terms of the turns read so far; `first` is the number of the opening turn, 0 if it is not included.
    """

    assistant: bool
    speakers: frozenset[str]
    names: frozenset[str]
    known: set[str]
    first: int
    playing: frozenset[str]


def _conversation(transcript: Transcript) -> _Conversation:
    messages = [*transcript.before, *(t.memory for t in transcript.turns)]
    names = frozenset(name for m in messages for name in naming.names(m.text).inside)
    first = 0 if transcript.before else next((t.number for t in transcript.turns if t.memory.role == "user"), 0)
    return _Conversation(
        assistant=with_assistant(transcript),
        speakers=transcript.speakers,
        names=names,
        known=set(),
        first=first,
        playing=playing_at(messages),
    )


def with_assistant(transcript: Transcript) -> bool:
    """Whether the conversation is with an assistant: its messages have no speaker."""
    messages = (*transcript.before, *(t.memory for t in transcript.turns))
    return not any(m.speaker for m in messages if m.role == "assistant")


def _in_turn(turn: Turn, conversation: _Conversation) -> Iterator[_Found]:
    message = turn.memory
    is_person = message.role in {"user", None} or (message.role == "assistant" and message.speaker)
    if not is_person:
        return
    speaker = message.speaker or USER
    abroad = list(
        _in_other_language(turn, speaker, conversation)
    )  # a short message can look English: "Ich arbeite als Arzt"
    if abroad or not prepare(message.text).english:
        yield from abroad
        return
    opens = conversation.assistant and turn.number == conversation.first
    read = pieces(message.text, conversation.speakers - {speaker}, playing=message.id in conversation.playing)
    for place, piece in enumerate(read):
        words = generalise_demonstratives(resolve(piece.text, message.at))
        draft = (introduced(piece, speaker) if opens and not place else None) or _draft(words, speaker, conversation)
        if draft is None:
            continue
        text, subject, claim = draft
        text = clean_text(text)
        if not SHORTEST <= len(text.split()) <= LONGEST:
            continue
        fact = Fact(
            text=text,
            category=claim.category,
            kind=cast("Kind", claim.kind),  # a rule names no other
            subject=subject,
            confidence=claim.confidence,
            turn=turn.number,
            quote=message.text[piece.head : piece.start] + piece.text,
        )
        yield _Found(
            fact=fact,
            turn=turn.number,
            start=piece.start,
            worth=recall_likelihood(piece.text, claim, conversation.known),
        )
    conversation.known.update(terms(message.text))


def _in_other_language(turn: Turn, speaker: str, conversation: _Conversation) -> Iterator[_Found]:
    """The facts of a message that is not English, in its own language; none for languages without a table."""
    message = turn.memory
    for found in statements(message.text, speaker, playing=message.id in conversation.playing):
        claim = Claim(category=found.category, kind=found.kind, confidence=found.confidence)
        fact = Fact(
            text=found.text,
            category=found.category,
            kind=found.kind,
            subject=speaker,
            confidence=found.confidence,
            turn=turn.number,
            quote=found.quote,
        )
        worth = recall_likelihood(found.quote, claim, conversation.known)
        yield _Found(fact=fact, turn=turn.number, start=found.start, worth=worth)


def _draft(words: str, speaker: str, conversation: _Conversation) -> tuple[str, str, Claim] | None:
    """The text, subject and claim of a piece, if a rule applies and the piece is self-contained."""
    if conversation.assistant and (order := instruction(words, speaker)):
        return order[0], speaker, order[1]
    if _UNSURE.search(words) or _COURTESY.search(words):
        return None
    if not is_self_contained(words, person=bool(_PERSON.match(words))):
        return None
    other = dated_statement(words, speaker) if conversation.assistant else None
    other = other or named_statement(words, speaker, conversation.names)
    if other:
        return other
    sentence = words if conversation.assistant else (restore_subject(words) or words)
    statement = third_person(sentence, speaker)
    claim = classify_first_person(statement, assistant=conversation.assistant) if statement else None
    return (statement.text, speaker, claim) if statement and claim else None


def clean_text(text: str) -> str:
    """The text of a fact on one line, without intensifiers and end marks."""
    text = re.sub(
        r"(?<=\b(?:are|was) )so (?!that)|(?<=\bis )so (?!that)|(?<=\bwere )so (?!that)", "", _FILLERS.sub("", text)
    )
    text = re.sub(r"\s+", " ", text).strip(" \t,;:-–—.!")
    return text[:1].upper() + text[1:]
