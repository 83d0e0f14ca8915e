"""Distils facts from a transcript by rule: every clause that stands alone, if a later question may need it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from slowwave.minds.offline.languages.reading import statements
from slowwave.minds.offline.rules.antecedents import only_person_in, person_in, with_antecedent
from slowwave.minds.offline.rules.claims import PROCEDURAL, Claim, has_time_word, recall_likelihood, time_of
from slowwave.minds.offline.rules.clause import Clause, read_clause
from slowwave.minds.offline.rules.company import company_of, joined_by_it, person_of, thing_of, with_person, with_thing
from slowwave.minds.offline.rules.completeness import is_argument, is_cut, is_open, without_connective
from slowwave.minds.offline.rules.endings import ending
from slowwave.minds.offline.rules.fragments import is_labelled, reworded
from slowwave.minds.offline.rules.introductions import introductions, is_own_name
from slowwave.minds.offline.rules.joining import is_restricted, joined
from slowwave.minds.offline.rules.momentary import is_momentary
from slowwave.minds.offline.rules.notes import note
from slowwave.minds.offline.rules.project_rules import project_rule, without_place
from slowwave.minds.offline.rules.pronouns import inside, plain
from slowwave.minds.offline.rules.reading import claim_of
from slowwave.minds.offline.rules.references import generalise_demonstratives, is_self_contained, points_back
from slowwave.minds.offline.rules.referents import Statement, has_open_noun, names_something, with_referents
from slowwave.minds.offline.rules.remembered import is_asked_for, remembered, without_request
from slowwave.minds.offline.rules.replacements import with_each_month, with_new_day
from slowwave.minds.offline.rules.session_work import WorkMessage, is_session_work, without_fault
from slowwave.minds.offline.rules.spelling import spelled_out, with_subject
from slowwave.minds.offline.rules.split import StatementPiece, pieces
from slowwave.minds.offline.rules.standing import instruction
from slowwave.minds.offline.rules.whereabouts import whereabouts
from slowwave.minds.offline.rules.words import FAMILIAR
from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.policy.comparison.alignment import prepare
from slowwave.policy.text import names as naming
from slowwave.policy.text.clauses import without_fillers
from slowwave.policy.text.dates import resolve
from slowwave.policy.text.foreign.role_play import PAUSE, playing_at
from slowwave.policy.text.tokens import terms

if TYPE_CHECKING:
    from slowwave.model.memory import Kind

USER: Final = "The user"
SHORTEST, LONGEST = 3, 40  # words of a fact
NOTE_WORDS: Final = 40  # words of a message in which a phrase without a verb can be a fact
_UNSURE: Final = re.compile(
    r"\b(?:maybe|perhaps|might|if|guess|not sure|wondering|wish|would have|could have|or something|hypothetically|suppose)\b",
    re.IGNORECASE,
)
_COURTESY: Final = re.compile(
    r"\b(?:thank|thanks|appreciate|congrat\w*|sorry|proud of|good luck|same here|count me in|keep (?:it|me) up)\b",
    re.IGNORECASE,
)
_FILLERS: Final = re.compile(
    r"\breally(?=,)|\b(?:also|really|just|actually|honestly|basically|literally|super|totally|definitely|pretty much|kind of|kinda|sort of|finally|recently|lately|genuinely|truly) (?!like\b)",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(r"^[A-Za-z][\w' ]{2,30}:\s+(?=(?:I|my|our|the name)\b)")
_TAIL: Final = re.compile(
    r"(?:,|\s[-–—])?\s+(?:(?:and|so|because|as|since|plus|which|that's|it's|they're|this is|even though)\s+)?"
    r"(?:it|its|it's|he|he's|she|she's|that|that's|this|they|they're|them|these|those|you|your|which|there)\b"
    r"|,?\s+so,?\s+(?:we|everyone|everybody|nobody)(?:['’]re)?\b|,?\s+(?:so|and|but)?,?\s*(?:please|can you|could you|would you|help me)\b|,\s+(?:so|which)\s",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(
    r",? as (?:also )?(?:mentioned|outlined|described|discussed|specified|instructed|noted|stated|per)\b[^,;]*(?:, \d{4})?"
    r"|,?\s+since (?:(?:our|the) last (?:chat|talk|conversation|call|catch-?up|time)|we(?:['’]ve)? (?:last )?(?:chatted|talked|spoke|spoken|met|caught up))\b"
    r"|,?\s+(?:if|in case) (?:that|it|this)(?:['’]s| is| helps?| matters?| makes| counts)\b[^,;]*$|,?\s+in case you (?:need|want|ask|wonder\w*|care)\b[^,;]*$"
    r"|,\s+(?:(?:it )?always (?:was|has been|have been|will be|did|have)|never (?:was|did|have|will)|since forever|as always)\W*$"
    r"|,\s+(?:and )?(?:(?:really|totally|absolutely|i['’]?m|am|so far|quite) )*(?:enjoying|loving|hating|liking|dreading|missing|regretting) (?:it|that|them|every minute)\b[^,;]*$"
    r"|,\s+(?:read|seen|watched|heard|own|got|have) (?:nearly |almost |pretty much )?(?:all|everything|most)(?: of (?:it|them))?\W*$|,\s+(?:all )?\w+ of us\b[^,;]*$"
    r"|,?\s+(?:please )?(?:don['’]t let me forget|keep (?:it|this|that)(?: safe| somewhere)?|remind me)\W*$"
    r"|,?\s+and (?:am )?(?:hoping|praying|wishing) (?:that )?(?:it|this|they|for the best)\b[^,;]*$"
    r"|,?\s+(?:and|but) (?:I )?(?:don['’]t|do not|never|won['’]t) (?:regret|miss|mind|like|want|need) (?:it|that|them)(?: (?:at all|one bit|a bit))?$"
    r"|(?:,|,? and)\s+(?:things|life|everything|(?:the |all the )?people)(?:['’]s|['’]ve| is| are| was| were| has| have)\b[^,;]*$"
    r"|,\s+(?:which |it |that )?(?:has |have |really |just )*(?:made|makes|making|reminded|reminds|reminding|gave|gives|giving|helped|helps|taught|showed|shows|kept|keeps) (?:me|us)\b[^,;]*$",
    re.IGNORECASE,
)
"""Words about the talk itself, or about nothing named: "since our last chat", "and the people are great"."""
_DOUBTED: Final = re.compile(r"\s*[,–—-]\s[^,;]*\b(?:maybe|perhaps|i guess|probably|possibly)\W*$", re.IGNORECASE)
"""A part of a sentence that is not sure, after one that is: "I don't drink, a glass at Christmas maybe"."""
_THAT_IS_MY: Final = re.compile(r"(?<=[ds]ays|.day), that['’]s (?=(?:my|our) )")
_AS_A: Final = re.compile(r"as an? ", re.IGNORECASE)
_I_FOLLOW: Final = re.compile(r"\s*(?:,\s*|\s)(?:[Ii](?:['’]\w+)?|my) (?!(?:want|need|can|should|would|must)\b)")
"""What follows "as a nurse" if the speaker is the nurse; "as a manager, I want to see …" is a wish in a specification."""
_COMPLEMENT: Final = re.compile(
    r"\b(?:remind|tell|told|show|teach|taught|convince|assure|promise|inform|persuade|warn|notify|notifi)(?:s|ed|n|ing)?\b(?: \S+){1,5}$",
    re.IGNORECASE,
)
"""A verb and a person, of whom the words after "that" say what they learn."""
_YOUTH: Final = re.compile(
    r"\b(?P<when>as an? (?:little |young |small )?(?:kid|child|teen(?:ager)?|boy|girl|student))$", re.IGNORECASE
)
_KNOWN_BEFORE: Final = re.compile(
    r"\bthe (?:event|cause|occasion|situation|outcome|result)s?\b(?! (?:of|for|at|in|on|to|that|which|who|with|where|when|called|named|about|by|from)\b)",
    re.IGNORECASE,
)
"""What only the talk before says which it is: "funds at the event"."""
_ELABORATES: Final = re.compile(r"\s*(?:[-–—]+|:)\s*")
"""What stands between a clause and its details."""
_TIME_WAS: Final = re.compile(
    r"^(?:the )?(?:week|weekend|morning|afternoon|evening|night|\d{1,2} \w+ \d{4})\b[^,;]* (?:was|has been)\b",
    re.IGNORECASE,
)
_HALF_LISTED: Final = re.compile(r",\s+(?:and|but)\s+[\w'’-]+$")
_REQUEST: Final = re.compile(
    r",?\s+so (?:please )?(?:keep|make|give|plan|suggest|skip) .*$|,?\s+so no [\w ]+ for (?:me|us)$|,?\s+(?:so |and |but )?(?:please|can you|could you|would you|let me know|(?-i:let's))\b.*$",
    re.IGNORECASE,
)
_TROUBLE: Final = re.compile(
    r",?\s+but\s+(?:now |first )?I(?:['’](?:m|d|ve)| am| would| have)?\s+(?:(?:still|now|also|currently|just) )*(?:(?:want|would like|['’]d like|like) to (?:get a head start|make sure|ensure|further|know|see|understand|confirm|double)"
    r"|not (?:entirely |really )?sure|unsure|stuck|confused|getting (?:an? |the |some )?(?:[\w\"'“`:.-]+ ){0,8}?errors?\b|running into|encountering|struggling to"
    r"|having (?:some |a bit of |a lot of )?(?:trouble|issues|problems|difficulty) (?:figuring|getting|understanding|setting|integrating|finding|configuring|implementing|identifying|with (?:the|configuring))"
    r"|not (?:seeing|getting|able|certain|receiving)\b|(?:a bit |really |quite )?(?:concerned|worried|curious|wondering)\b|concerned about|need (?:some )?help|don['’]t know (?:how|if|what|where)|feel like|need to (?:make sure|ensure))\b.*$",
    re.IGNORECASE,
)
"""A difficulty with the task of the moment after a statement that stands without it."""
_HELP_WELCOME: Final = re.compile(
    r",?\s+(?:so|and)\s+(?:any (?:help|advice|guidance|tips|suggestions?|feedback|pointers)|help|advice|suggestions?|feedback) (?:would|is|are)\b.*$",
    re.IGNORECASE,
)
_TRIED_IN_VAIN: Final = re.compile(
    r"\b(?:tried|trying|try|checked|added)\b.*\bbut (?:it|nothing|(?:the|this|that) (?:issue|problem|error)|I['’]m still|I am still|I still|I['’]m (?:running into|getting))\b",
    re.IGNORECASE,
)
_ATTEMPT: Final = re.compile(
    r"\b(?:tried|tested|checked|studied|reviewed|looked|managed|thought)\b|\btrying (?:to )?(?:debug|fix|troubleshoot)",
    re.IGNORECASE,
)
_MADE_SURE: Final = re.compile(r"\bI want to\b", re.IGNORECASE)
_PICTURES: Final = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
_STRUGGLE: Final = re.compile(
    r"\b(?:struggling|trouble|stuck|confused|not (?:seeing|getting)|errors?)\b", re.IGNORECASE
)
_BOLD_LABEL: Final = re.compile(r"(?:\*\*)?[^*\n]{2,60}:\*\*")
"""An item of a list with a label in bold type, as assistants write them."""
_NUMBERED: Final = re.compile(r"(?<!\S)\d{1,2}[.)]\s*$")
_NUMBER_LONGEST: Final = 6  # characters of the number of an item
_OTHER_USER: Final = re.compile(
    r"\bthe user(?:['’]s\b|(?=$|[.,;]|\s+(?:is|has|was|can|will|wants|to|in|of|and|or|when|if|who|with|by|on|from|enters|clicks|does|must|should|could|may|might|gets|input)\b))"
)
"""A user of a program: a fact that calls the speaker "the user" would say it of them."""
_YOU: Final = re.compile(r"\b(?:you|your|yours|yourself)\b(?! know\b)", re.IGNORECASE)
_HOME: Final = FAMILIAR | {"flat", "apartment", "studio", "caravan", "van"}
_FOR_ANOTHER: Final = re.compile(
    r"\b(?:it['’]s|this is|that['’]s) (?:all )?(?:for|about) (?:an?|my) \w+,? not (?:for |about )?me\b|\basking for a friend\b",
    re.IGNORECASE,
)
"""A message that says that it is about somebody else."""
_OF_PERSON: Final = frozenset({"identity", "person", "preference", "decision"})
"""Categories of what lasts beyond any session."""
_PERSON: Final = re.compile(r"[Mm]y (?:\w+ ){0,2}\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A fact, its position in the transcript, and the likelihood that a later question needs it."""

    fact: Fact
    turn: int
    start: int
    worth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """The text, subject and claim of a fact, the clause that it was read from, and where its quote begins if it needs the sentence before.

    `is_rule`: whether it is a rule of a project or household, or a place in one, whose nouns the writer's people know.
    """

    text: str
    subject: str
    claim: Claim
    clause: Clause | None = None
    head: int | None = None
    is_rule: bool = False


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
    `persons` says for the id of a message whom "she" means at its beginning, if the speaker's message before tells it.
    """

    assistant: bool
    speakers: frozenset[str]
    names: frozenset[str]
    known: set[str]
    first: int
    playing: frozenset[str]
    persons: Mapping[str, str]


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
        persons=_persons_before(messages),
    )


def _persons_before(messages: Sequence[Memory]) -> dict[str, str]:
    """The only person that the message shortly before of the same speaker names, by the id of the message after it."""
    last: dict[str | None, Memory] = {}
    found = {}
    for message in messages:
        by = message.speaker or message.role
        before = last.get(by)
        soon = before is not None and message.at - before.at <= PAUSE
        found[message.id] = only_person_in(before.text) if before is not None and soon else ""
        last[by] = message
    return found


def with_assistant(transcript: Transcript) -> bool:
    """Whether the conversation is with an assistant, whose messages have no speaker.

    Two named users without a message of an assistant talk to one another: "let me know" is then no instruction.
    """
    messages = (*transcript.before, *(t.memory for t in transcript.turns))
    answers = [m for m in messages if m.role == "assistant"]
    if answers:
        return not any(m.speaker for m in answers)
    return len({m.speaker for m in messages if m.speaker}) <= 1


def _in_turn(turn: Turn, conversation: _Conversation) -> Iterator[_Found]:
    message = turn.memory
    is_person = message.role in {"user", None} or (message.role == "assistant" and message.speaker)
    if not is_person or _FOR_ANOTHER.search(message.text):
        return
    speaker = message.speaker or USER
    abroad = list(_in_other_language(turn, speaker, conversation))
    if abroad or not _is_english(message.text):  # a short message can look English: "Ich arbeite als Arzt"
        yield from abroad
        return
    reader = _Reader(
        message=message,
        speaker=speaker,
        conversation=conversation,
        opens=conversation.assistant and turn.number == conversation.first,
    )
    read = pieces(message.text, conversation.speakers - {speaker}, playing=message.id in conversation.playing)
    for piece in joined(message.text, [one for one in read if not _BOLD_LABEL.match(one.text)]):
        for draft in reader.read(piece):
            text = without_connective(clean_text(draft.text, speaker))
            if not SHORTEST <= len(text.split()) <= LONGEST or not _is_whole(text) or is_own_name(text, speaker):
                continue
            if draft.claim.kind != PROCEDURAL and is_cut(text):
                continue
            person = draft.clause is None or draft.clause.subject in {"one", "named"} or draft.clause.of_person
            end = ending(text, message.at, person=person)
            fact = Fact(
                text=end.text,
                category=draft.claim.category,
                kind=cast("Kind", draft.claim.kind),  # a rule names no other
                subject=draft.subject,
                confidence=draft.claim.confidence,
                turn=turn.number,
                quote=message.text[piece.head if draft.head is None else draft.head : piece.end],
                expires_at=end.expires_at,
            )
            worth = recall_likelihood(piece.text, draft.claim, conversation.known)
            yield _Found(fact=fact, turn=turn.number, start=piece.start, worth=worth)
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


def _is_english(text: str) -> bool:
    return is_labelled(text) or prepare(spelled_out(text)).english


def _is_whole(text: str) -> bool:
    """Whether quotation marks and brackets of a text are closed."""
    return text.count('"') % 2 == 0 and text.count("“") == text.count("”") and text.count("(") == text.count(")")


class _Reader:
    """Reads the pieces of one message in order; it knows who "we", "he" and "she" are from the piece or message before."""

    def __init__(self, *, message: Memory, speaker: str, conversation: _Conversation, opens: bool) -> None:
        self._message = message
        self._work = WorkMessage(message.text)
        self._speaker = speaker
        self._conversation = conversation
        self._opens = opens
        self._short = len(message.text.split()) <= NOTE_WORDS and "\n" not in message.text.strip()
        self._company = ""
        self._person = conversation.persons[message.id]
        self._end = 0
        self._sentence, self._began = "", 0
        self._said: list[Statement] = []
        self._momentary = False

    def read(self, piece: StatementPiece) -> Iterator[_Draft]:
        """The drafts of a piece, if a rule applies and the piece is self-contained."""
        words, requested = without_request(_LABEL.sub("", spelled_out(piece.text)))
        assistant = self._conversation.assistant
        if _AS_A.match(words) and _I_FOLLOW.match(self._message.text, piece.end):
            words = f"I am {words[3:]}"
        said = words
        words = reworded(words) if assistant and not piece.asks else words
        words = without_place(words) if assistant else words
        words = generalise_demonstratives(
            resolve(with_new_day(with_each_month(words), self._message.at), self._message.at)
        )
        requested = assistant and (requested or is_asked_for(self._message.text, piece.start))
        before, began, pronoun = self._sentence, self._began, words
        between = self._message.text[self._end : piece.start] if self._end else ""
        self._end = piece.end
        words = with_thing(words, thing_of(before)) if assistant else words
        joins = words != pronoun
        self._sentence, self._began = words, piece.head
        words, since = with_referents(words, self._said, piece.head)
        self._said.append(Statement(text=words, start=since))
        company, person = self._company, self._person
        self._company = self._person = ""
        if assistant and not requested and (order := instruction(resolve(said, self._message.at), self._speaker)):
            yield _Draft(text=order[0], subject=self._speaker, claim=order[1])
            return
        if (
            assistant
            and not piece.asks
            and (introduced := list(introductions(words, self._speaker, opens=self._opens)))
        ):
            yield from (_Draft(text=text, subject=subject, claim=claim) for text, subject, claim in introduced)
            return
        self._momentary = False
        words = with_antecedent(with_person(words, person), person)
        self._person = self._person or person_in(words)
        draft = self._of_clause(words, company, piece)
        if draft is None:
            draft = self._of_note(words, piece, requested=requested)
        if draft is not None and draft.is_rule:
            yield draft
            return
        if draft is None or (draft.clause is None and (has_open_noun(draft.text) or points_back(draft.text))):
            return
        if since < piece.head:
            draft = replace(draft, head=since)
        if joins:
            yield replace(draft, text=joined_by_it(before, draft.text), head=began)
        elif when := self._time_before(before, between, draft):
            yield replace(draft, text=f"{when} {inside(draft.text)}", head=began)
        else:
            yield draft

    def _of_note(self, words: str, piece: StatementPiece, *, requested: bool) -> _Draft | None:
        """The draft of words that no rule reads as a clause: a note, a rule, where something is, what is asked to be remembered."""
        assistant = self._conversation.assistant
        if assistant and self._is_note(piece) and not self._momentary:
            if short := note(words, self._speaker):
                return _Draft(text=short.text, subject=self._speaker, claim=short.claim)
            if rule := whereabouts(words, self._speaker) or project_rule(words, self._speaker):
                return _Draft(text=rule[0], subject=self._speaker, claim=rule[1], is_rule=True)
        if requested and (kept := remembered(words, self._speaker)):
            return _Draft(text=kept[0], subject=kept[1], claim=kept[2])
        return None

    def _time_before(self, before: str, between: str, draft: _Draft) -> str:
        """The time of the clause before, which a clause after a dash tells in detail: "Last week was wild - I got a dog"."""
        clause = draft.clause
        if clause is None or clause.form != "past" or has_time_word(draft.text):
            return ""
        if (young := _YOUTH.search(before)) and between.strip() in {",", "-", "–"}:
            return f"{young['when'].capitalize()},"
        return (
            time_of(before)
            if _ELABORATES.fullmatch(between) or (between.strip() == "," and _TIME_WAS.match(before))
            else ""
        )

    def _is_note(self, piece: StatementPiece) -> bool:
        """Whether a message is short enough that words without a verb in it are a note of the user, not part of a text."""
        return not piece.asks and self._short

    def _of_clause(self, words: str, company: str, piece: StatementPiece) -> _Draft | None:
        """The draft of a clause, or of the part of it before what points elsewhere (", which you said")."""
        words = _DOUBTED.sub("", _THAT_IS_MY.sub(", which is ", _ASIDE.sub("", _REQUEST.sub("", words))))
        if self._conversation.assistant:
            settled = _without_trouble(without_fault(words, self._work))
            if not settled:
                return None
            words = settled
        whole = self._of_words(words, company, piece)
        cut = _TAIL.search(words) if whole is None else None
        if cut is None:
            return whole
        rest, part = words[cut.start() :], words[: cut.start()].rstrip(" ,")
        if (
            re.search(r"\b(?:but|unless|except|until|although|though|if|only)\b", rest)
            or is_open(part)
            or is_argument(rest, part)
        ):
            return None
        cut_word = cut.group().split()[-1].lower()
        if (cut_word == "that" and _COMPLEMENT.search(part)) or (cut_word != "that" and _HALF_LISTED.search(part)):
            return None
        return self._of_words(part, company, piece)

    def _is_listed(self, piece: StatementPiece) -> bool:
        """Whether a piece is a numbered item of a request: "cover these cases: 1. Failed login 2. Timeout"."""
        text = self._message.text
        return "?" in text and _NUMBERED.search(text, max(0, piece.start - _NUMBER_LONGEST), piece.start) is not None

    def _is_praise(self, piece: StatementPiece) -> bool:
        """Whether a sentence between people speaks of the person addressed: "Taking in strays, you're so kind"."""
        return not self._conversation.assistant and _speaks_to_another(piece.sentence)

    def _of_words(self, words: str, company: str, piece: StatementPiece) -> _Draft | None:
        if _UNSURE.search(words) or _COURTESY.search(words):
            return None
        restored = None if self._is_praise(piece) or self._is_listed(piece) else with_subject(words)
        clause = read_clause(words, self._speaker, company=company, names=self._conversation.names)
        if clause is None and restored is not None:
            words = restored
            clause = read_clause(words, self._speaker, company=company, names=self._conversation.names)
        if clause is None:
            return None
        self._company, self._person = company_of(clause, self._speaker), person_of(clause) or person_in(words)
        if not self._conversation.assistant and _KNOWN_BEFORE.search(words):
            return None
        person = clause.of_person or bool(_PERSON.match(words))
        if not is_self_contained(words, person=person) or has_open_noun(_said_of(clause, words)):
            return None
        assistant = self._conversation.assistant
        claim = claim_of(clause, assistant=assistant)
        self._momentary = is_momentary(clause, assistant=assistant) or (
            assistant
            and not (claim and claim.category in _OF_PERSON)
            and is_session_work(clause, self._work, piece.sentence)
        )
        if self._momentary or (is_restricted(self._message.text, piece) and clause.form != "past"):
            return None
        self._momentary = claim is None and clause.subject == "owned" and not _is_of_home(clause)
        return _Draft(text=clause.text, subject=clause.about, claim=claim, clause=clause) if claim else None


@lru_cache(maxsize=1)  # a long sentence has many pieces
def _speaks_to_another(sentence: str) -> bool:
    """Whether a sentence has "you"."""
    return _YOU.search(sentence) is not None


def _is_of_home(clause: Clause) -> bool:
    """Whether a clause is about a part of the speaker's home, of which a note may say anything: "my flat is on the ninth floor"."""
    return clause.form != "progressive" and not _HOME.isdisjoint(plain(word) for word in clause.noun.split())


def _said_of(clause: Clause, words: str) -> str:
    """The words of a clause in which every noun must be named; its subject is if the clause says something of a thing."""
    return clause.rest if clause.subject == "thing" else words


def _without_trouble(words: str) -> str | None:
    """A statement without the difficulty that it ends with, if it names something; None if it only reports an attempt.

    >>> _without_trouble("I'm writing Aria in Rust, but I'm not sure how to test it")
    "I'm writing Aria in Rust"
    """
    words = _HELP_WELCOME.sub("", words)
    if _OTHER_USER.search(words) or _TRIED_IN_VAIN.search(words):
        return None
    trouble = _TROUBLE.search(words)
    if trouble is None:
        return words
    rest = words[: trouble.start()]
    if _ATTEMPT.search(rest):
        return None
    if names_something(rest):
        return rest
    return None if _MADE_SURE.search(trouble.group()) or _STRUGGLE.search(trouble.group()) else words


def clean_text(text: str, speaker: str | None = None) -> str:
    """The text of a fact on one line, without intensifiers, end marks and pictures, but with those of the speaker's name.

    >>> clean_text("Ann 😀 really likes tea 😀.", "Ann 😀")
    'Ann 😀 likes tea'
    """
    text = re.sub(
        r"(?<=\b(?:are|was) )so (?!that)|(?<=\bis )so (?!that)|(?<=\bwere )so (?!that)",
        "",
        without_fillers(text, _FILLERS),
    )
    text = re.sub(r"\s+(?:too|also|recently|lately|as well|already|just|even)(?=$|,)", "", text)
    text = re.sub(r"^(?:Lately|Recently|Nowadays),? (?=\w)", "", text)
    text = re.sub(r"^((?:The user|[A-Z]\w+)(?:['’]s)?) even (?=\w)", r"\1 ", text)
    parts = text.split(speaker) if speaker else [text]
    text = (speaker or "").join(_PICTURES.sub("", part) for part in parts)
    text = re.sub(r"\s+(?=,)", "", re.sub(r"\s+", " ", text)).strip(" \t,;:-–—.!")
    return text[:1].upper() + text[1:]
