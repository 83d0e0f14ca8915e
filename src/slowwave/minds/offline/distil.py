"""Distils facts from a transcript by rule: the clauses that state plainly what lasts, in the words of who said them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, datetime, timedelta
from typing import Final

from slowwave.minds.offline.frames import Frame, framed
from slowwave.minds.offline.orders import orders
from slowwave.minds.offline.own_text import Sentence, asks, own_sentences
from slowwave.minds.offline.statements import Claim, claim_of, is_joke, news
from slowwave.minds.offline.words import abroad, anywhere
from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.policy.comparison.alignment import prepare
from slowwave.policy.text.clauses import unaddressed
from slowwave.policy.text.dates import dated, mentioned

USER: Final = "The user"
ONCE: Final = 0.6
"""The confidence of what somebody said once; a second conversation or a confirmation raises it."""
SURE: Final = 0.9
"""The confidence of what counts at once: names, health, diets, orders, what a person asks to be remembered."""
_JOINTS: Final = re.compile(
    r"\s*[;]\s+|\s+[-–—]+\s+|\s*—\s*|,?\s+(?:and|so|because|cause|cuz|plus|which is why)\s+(?=(?:i|we|my|our|i['’]?m|i['’]ve|im|me)\b)|,\s+(?=(?:i|we|my|our|i['’]?m|i['’]ve|im)\b)"
    r"|,?\s+so (?=(?:tell|please|can|could|what|how)\b)",
    re.IGNORECASE,
)
"""Where a new main clause of the speaker's begins. "but", "unless" and "except" stay with what they limit."""
_IF: Final = re.compile(
    r"^(?:and |but |so )?(?:if|when(?:ever)?|suppose|imagine|in case|unless|as if|would|wish)\b", re.IGNORECASE
)
_REMEMBER: Final = re.compile(
    r"^(?:(?:please|pls|also|and|ok|so) )*(?:remember(?: that|:|,)(?! (?:when|how|the time)\b)|(?:do not|don['’]?t) forget(?: that|:|,)|note(?: to self)?(?: that|:)|keep in mind(?: that|:|,)|for (?:later|next time|the future|your (?:info|information|memory))[:,]|(?:save|store) this[:,]|context for later[:,]|(?:you should )?know that|just so you know[:,]?|fyi[:,]?)\s*",
    re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"\s*(?P<name>[^\W\d_][\w'’.-]*(?: (?:(?:van|von|de|da|del|la|der|den|zu|al|el|bin) ){0,2}[A-ZÀ-Þ][\w'’.-]*){0,3})(?=[\s.,;:!?)]|$)"
)
_HELLO: Final = re.compile(
    r"^(?:hi|hello|hey|good (?:morning|evening|afternoon)|hallo|bonjour|salut|hola|oi|olá)\b[^.!?]{0,20}?\b(?:i['’]?m|i am|ich bin|je suis|soy|sou|eu sou)(?= [A-ZÀ-Þ])",
    re.IGNORECASE,
)
_NOT_CALLED: Final = re.compile(
    r"\s*(?:when|if|later|back|a|an|the|not|in|at|on|for|by|crazy|old|what|whatever|tomorrow|today|asap|please|going|from|so|very|really|just|always|never)\b",
    re.IGNORECASE,
)
_BACK: Final = re.compile(r"\b(?:that|this|it|isso|ça|cela|das|eso|esto)\b", re.IGNORECASE)
_ASKS_OF_USER: Final = re.compile(
    r"^(?:and |so )?(?:what(?:['’]s| is| are) your\b|where do you (?:live|work|study)|how old are you|any (?:allerg\w+|diet\w*|food|medical|pets?|kids|children|siblings)\b|do you have any (?:allerg\w+|diet\w*|food|medical)|which (?:\w+ ){1,3}do you (?:use|have|drive|own|speak|prefer|work)|what (?:\w+ )?(?:do you (?:do|use|drive|speak|study|teach|play|take)|is it called)|who is your|when is your|what(?:['’]s| is) (?:his|her|their) name)",
    re.IGNORECASE,
)
"""A question about the user whose short answer is worth keeping with it."""
_NO_ANSWER: Final = re.compile(
    r"^(?:yes|yeah|yep|no|nope|nah|ok|okay|sure|maybe|thanks|thank|none|nothing|not|dunno|idk|why|what|well|hm+|i|we|it|it['’]s|that)\b|\?|[😂🤣]|\b(?:lol|haha)",
    re.IGNORECASE,
)
_OFFERS: Final = re.compile(
    r"\b(?:shall i|should i|can i|do you want|would you like|want me|need (?:help|anything)|error|anything else|how can|code|function|file|output|see)\b",
    re.IGNORECASE,
)
"""A question about the work at hand, or an offer."""
_ANSWER_WORDS, _QUESTION_WORDS = 6, 20
_PHRASE_WORDS: Final = 3  # of a question without a verb: "High school?"
_REMEMBERED_LEAST: Final = 3  # words
_NAME_WITHIN: Final = 60  # characters of a sentence in which a name is told
_TOLD_WORDS, _TOLD_SENTENCES = 24, 3
"""Words of a message that is nothing but a statement."""
_UNTIL: Final = re.compile(r"\b(?:until|till|through) (?P<when>.{1,60})", re.IGNORECASE)
_PICTURES: Final = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
_ASIDE: Final = re.compile(
    r"^(?:(?:btw|by the way|anyway|well|ok|okay|so|and|but|also|plus|oh|yes|yeah|no|nah|hi|hey|hello|thanks|thx|k|actually|honestly|sorry|update|correction|fyi|besides|lately|recently|for context|as for me|to be honest|tbh|as you know)\b[\s,:;.!–—-]*)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A fact, and its rank: of two many the lower ranks stay."""

    fact: Fact
    rank: int


def distil(transcript: Transcript) -> tuple[tuple[Fact, ...], tuple[Rejected, ...]]:
    """The facts of a transcript in order, and the rejected ones over `transcript.most`: orders stay first, then what is sure.

    A fact is the clause as it was said, after the name of a speaker who has one; a day that it names relatively follows in
    brackets. In a conversation with an
    assistant (whose messages have no speaker) only the user is read, in one between people everyone. Statements are read in
    English, orders and names in each language that has a table; all else stays a message.
    """
    assistant = with_assistant(transcript)
    messages = [*transcript.before, *(turn.memory for turn in transcript.turns)]
    frames = framed(messages) if assistant else {}
    unsaid = _unsaid(messages)
    before: Memory | None = transcript.before[-1] if transcript.before else None
    found: dict[str, _Found] = {}
    for turn in transcript.turns:
        message = turn.memory
        if _is_person(message) and message.id not in unsaid:
            reader = _Reader(turn=turn, before=before, assistant=assistant, frame=frames.get(message.id))
            for each in reader.read():
                found[each.fact.text.casefold()] = each
        before = message
    ranked = sorted(found.values(), key=lambda each: (each.rank, -(each.fact.turn or 0)))
    kept = {id(each) for each in ranked[: transcript.most]}
    facts = tuple(each.fact for each in found.values() if id(each) in kept)
    reason = f"over the {transcript.most} facts of one pass"
    over = tuple(
        Rejected(text=each.fact.text, reason=reason, quote=each.fact.quote) for each in ranked[transcript.most :]
    )
    return facts, over


def with_assistant(transcript: Transcript) -> bool:
    """Whether the conversation is with an assistant, whose messages have no speaker.

    Two named users without a message of an assistant talk to one another: "let me know" is then no instruction.
    """
    messages = (*transcript.before, *(turn.memory for turn in transcript.turns))
    answers = [message for message in messages if message.role == "assistant"]
    if answers:
        return not any(message.speaker for message in answers)
    return len({message.speaker for message in messages if message.speaker}) <= 1


def _is_person(message: Memory) -> bool:
    return message.role in {"user", None} or (message.role == "assistant" and bool(message.speaker))


def _unsaid(messages: Sequence[Memory]) -> frozenset[str]:
    """The messages that a person asks not to remember, and those before them that such a request points to."""
    found: set[str] = set()
    last: dict[str, str] = {}
    for message in messages:
        who = message.speaker or str(message.role)
        if _is_person(message) and (request := anywhere("unsaid").search(message.text)):
            found.add(message.id)
            if who in last and _BACK.search(message.text[request.start() :][:60]):
                found.add(last[who])
        last[who] = message.id
    return frozenset(found)


class _Reader:
    """Reads one message."""

    def __init__(self, *, turn: Turn, before: Memory | None, assistant: bool, frame: Frame | None) -> None:
        self._turn, self._message, self._before = turn, turn.memory, before
        self._assistant = assistant
        self._own_from = frame.own_from if frame else 0
        self._scene = bool(frame and frame.scene)
        self._speaker = turn.memory.speaker or USER

    def read(self) -> Iterator[_Found]:
        """The facts of the message."""
        said = own_sentences(self._message.text)
        taken: set[int] = set()
        if self._assistant:
            for text, group in orders(said):
                if min(group) >= self._own_from or not self._scene:
                    taken |= set(group)
                    yield self._found(text, text, Claim(category="preference", kind="procedural", sure=True), rank=0)
        said = said[self._own_from :] if self._own_from else said
        taken = {number - self._own_from for number in taken}
        if self._own_from == 0 and self._assistant and (answer := self._answer(said)):
            yield answer
        told = self._assistant and self._is_told(said)
        english = _is_english(self._message.text)
        if told and english and not taken and (claim := self._news(said)):
            text = _clean(" ".join(each.text for each in said))
            yield self._found(text, " ".join(self._message.text.split()), claim, rank=2)
            return
        for number, sentence in enumerate(said):
            if number in taken:
                continue
            if self._assistant and (name := _introduced(sentence.text)):
                yield self._found(name, sentence.text, Claim(category="identity", sure=True), rank=1)
            elif english:
                yield from self._in_sentence(sentence, told=told)

    def _in_sentence(self, sentence: Sentence, *, told: bool) -> Iterator[_Found]:
        """The facts of an English sentence, clause by clause."""
        text = _PICTURES.sub("", sentence.text)
        if self._assistant and (request := _REMEMBER.match(text)):
            rest = text[request.end() :].strip()
            if len(rest.split()) >= _REMEMBERED_LEAST and not sentence.asks:
                yield self._found(rest.strip(" .!"), sentence.text, Claim(category="other", sure=True), rank=1)
            return
        if _IF.match(text) or is_joke(text):
            return
        parts = _JOINTS.split(text)
        if sentence.asks:
            parts = parts[:-1] if len(parts) > 1 else text.split(",")[:1] if "," in text else []
        for part in parts:
            clause = _clean(part)
            claim = claim_of(clause, dated=self._names_day(clause), told=told)
            if claim is not None:
                yield self._found(clause, sentence.text, claim, rank=1 if claim.sure else 2)

    def _news(self, said: Sequence[Sentence]) -> Claim | None:
        """The claim of a message that is short news without a subject."""
        text = " ".join(each.text for each in said)
        if any(is_joke(each.text) for each in said):
            return None
        return news(_clean(text), dated=self._names_day(text))

    def _names_day(self, text: str) -> bool:
        """Whether a text names a day, or a span of days that follows from the day of the message."""
        return dated(text, self._message.at) != text or any(written.readings[0][2] for written in mentioned(text))

    def _is_told(self, said: Sequence[Sentence]) -> bool:
        """Whether the message is nothing but a short statement: no question, no request, no talk of the writer's."""
        words = sum(len(each.text.split()) for each in said)
        whole = len(self._message.text.split())
        return (
            0 < words == whole <= _TOLD_WORDS and not any(each.asks for each in said) and len(said) <= _TOLD_SENTENCES
        )

    def _answer(self, said: Sequence[Sentence]) -> _Found | None:
        """The short answer to a question of the assistant about the user, with the question."""
        asked = self._before
        if asked is None or asked.role != "assistant" or not said or len(self._message.text.split()) > _ANSWER_WORDS:
            return None
        questions = [each for each in own_sentences(asked.text) if each.asks]
        reply = self._message.text.strip()
        if not questions or _NO_ANSWER.search(reply) or len(said) > 1 or "`" in reply:
            return None
        question = questions[-1].text
        if not (asks(question) or "," in question or len(question.split()) <= _PHRASE_WORDS):
            return None  # "Cap it at five minutes?" offers something
        if len(question.split()) > _QUESTION_WORDS or _OFFERS.search(question) or not _is_english(question):
            return None
        sure = _ASKS_OF_USER.match(question) is not None
        return self._found(f"{question} {reply}", reply, Claim(category="person", sure=sure), rank=1 if sure else 2)

    def _found(self, text: str, quote: str, claim: Claim, *, rank: int) -> _Found:
        words = dated(text, self._message.at) if claim.kind != "procedural" else text
        fact = Fact(
            text=f"{self._message.speaker}: {words}" if self._message.speaker else words,
            category=claim.category,
            kind=claim.kind,
            subject=self._speaker,
            confidence=SURE if claim.sure else ONCE,
            turn=self._turn.number,
            quote=quote,
            expires_at=_end(words, self._message.at),
        )
        return _Found(fact=fact, rank=rank)


def _end(text: str, at: datetime) -> datetime | None:
    """The end of the day that an "until" names, if it is to come."""
    until = _UNTIL.search(text)
    days = (written.readings[0] for written in mentioned(until["when"])) if until else ()
    year, month, day = next((parts for parts in days if all(parts)), (None, None, None))
    if not (year and month and day) or year == MAXYEAR:  # "until 31 December 9999" means for ever
        return None
    end = datetime(year, month, day, tzinfo=at.tzinfo) + timedelta(days=1)
    return end if end > at else None


def _is_english(text: str) -> bool:
    """Whether a text is English, or too short and plain to tell."""
    return prepare(text).english or not (abroad().search(text) or re.search(r"[^\x00-\x7f‘’“”–—…🌀-🫿]", text))


def _introduced(sentence: str) -> str | None:
    """The words in which somebody tells their own name, None if a sentence does not."""
    found = _HELLO.match(sentence) or anywhere("named").search(sentence)
    if found is None or found.start() > _NAME_WITHIN or "?" in sentence:
        return None
    if _NOT_CALLED.match(sentence, found.end()):
        return None
    name = _NAME.match(sentence, found.end())
    return sentence[found.start() : name.end()].strip(" .,;:!") if name else None


def _clean(part: str) -> str:
    """A clause without what opens it, on one line."""
    text = _ASIDE.sub("", unaddressed(_PICTURES.sub("", part)))
    return " ".join(text.split()).strip(" \t,;:-–—.!*#")
