"""Decides of a label ("fix typos: …", "Bio for the leaflet: …", "About me: …") whether the text behind it is its writer's own.

A label is the beginning of a message, line or sentence that ends with a colon, a dash or a line break. The labels that people
write before other people's text are an open class (every task, kind of text, place and person), those before statements of
their own a small one (notes, news, topics of their life, requests for advice). Therefore a short label without a verb that is
not known as the writer's own is taken as foreign if the text behind it begins in the first person.
"""

import re
from collections.abc import Iterator
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.names import word_set

_LONGEST: Final = 10  # words of a label with a word of a task or a kind of text
_LONGEST_UNKNOWN: Final = 6  # words of a label without a known word
_READ_AHEAD: Final = 300  # characters behind the label in which the first person is looked for
_BEGIN: Final = r"(?:^|(?<=\n)|(?<=[.!?] ))[ \t>*•\"'(-]{0,9}+"
_LABEL: Final = lazy_regex(
    rf"{_BEGIN}(?P<label>[^\W\d_](?:[^\s.!?:]|[ \t](?![-–—]\s)){{1,100}}+)[?!]?(?P<mark>:(?!//)|[ \t][-–—](?=\s)|\n)[*_\s]{{0,9}}"
)
# A sentence without a verb that names a text: "For my novel, chapter 2." or "Transcript (day 2)"
_TITLE: Final = lazy_regex(
    rf"{_BEGIN}(?P<label>(?:for|from|chapter|scene|excerpt|transcript|prologue|epilogue|lyrics|poem|dialogue|monologue|draft|fictional|diary|fanfic)\b"
    r"(?! [^.!?\n]{0,40}club)(?:[^.!?:\n()]{1,100}+|\([^()\n]{1,60}\)){1,3}+)(?P<mark>\.?)\s{1,9}",
    re.IGNORECASE,
)
_FIRST: Final = lazy_regex(r"\b(?:I|I['’](?:m|ve|d|ll)|im|ive|my|we|we['’](?:re|ve|ll|d)|our)\b", re.IGNORECASE)
_SUBJECT: Final = lazy_regex(r"\b(?:I|I['’](?:m|ve|d|ll)|im|ive|we|we['’](?:re|ve|ll|d))\b", re.IGNORECASE)
_WORD: Final = lazy_regex(r"[^\W_]+(?:['’;-]\w+)*")
_MINE: Final = lazy_regex(r"^(?:\S+ ){0,3}(?:my|our)\b", re.IGNORECASE)
# Work on a text.
_TASKS: Final = word_set(
    "fix fixing correct correcting check checking spellcheck edit editing improve improving tighten tightening shorten shortening lengthen reword rewording rephrase rephrasing "
    "paraphrase rewrite rewriting redraft rework proofread proofreading proof polish polishing translate translating translation render summarise summarize summary summarising "
    "summarizing condense tldr tl;dr gist grammar typo typos spelling punctuation comma commas tone wording phrasing caption captions subtitle subtitles transcribe reply respond "
    "react simplify simplified eli5 analyse analyze interpret convert reformat classify annotate sentiment extract parse decode soften streamline expand elaborate continue finish "
    "complete critique feedback roast grade score judge version versions alternative alternatives synonym synonyms rhyme shorter longer simpler nicer politer polite politely formal "
    "formally informal casual casually professional professionally friendlier clearer catchier funnier grammatical grammatically idiomatic fluent deutsch englisch español "
    "français italiano english german french spanish italian portuguese dutch swedish danish norwegian finnish czech russian ukrainian turkish greek arabic hebrew hindi "
    "urdu chinese mandarin cantonese japanese korean vietnamese thai indonesian latin hungarian romanian bulgarian croatian serbian catalan irish welsh"
)
# Kinds of text, the places that it is copied from, and words that report it.
_KINDS: Final = word_set(
    "text texts sentence sentences paragraph passage email e-mail mail letter message messages sms dm post posts comment comments review reviews tweet thread article essay story "
    "stories tale poem haiku limerick sonnet lyrics lyric song verse chorus hook bridge rap chapter scene script screenplay dialogue dialog monologue novel excerpt extract snippet quote quotes "
    "quotation transcript transcription interview conversation chat log abstract statement testimony testimonial bio biography cv resume résumé application ad advert caption speech "
    "toast vows eulogy line lines phrase draft fiction fanfic nanowrimo diary journal joke riddle pun meme epitaph sketch skit voicemail voice listing report memo newsletter prologue "
    "epilogue ballad hymn jingle slogan motto tagline proverb saying headline key main takeaways points forum reddit subreddit facebook twitter instagram insta linkedin tinder "
    "bumble whatsapp slack discord tumblr quora yelp amazon tripadvisor airbnb ebay wikipedia newspaper magazine book film movie podcast episode textbook worksheet homework exercise "
    "duolingo sign poster mug t-shirt postcard fortune horoscope copied copy copypasta pasted paste pasting forwarded fwd fw via original input prompt sample example "
    "examples dummy placeholder lorem filler mock fake fictional roleplay rp character persona role npc player hero heroine villain narrator protagonist speaker "
    "campaign game backstory wrote writes said says sent texted emailed mailed posted commented replied claims claimed goes asked asks complains told applicant candidate customer "
    "client patient witness interviewee guest host author user option variant mean means meaning say"
)
_REPORTED: Final = word_set(
    "from by wrote writes said says sent texted emailed mailed posted commented replied forwarded copied pasted"
)
# Statements about the writer, and requests for advice: the text behind them is the writer's own.
_OWN: Final = word_set(
    "note remember reminder fact facts fyi btw context background update updates correction ps intro introduction about info information details news announcement hi hello hey thanks "
    "thank question questions problem problems issue situation reason reasons point thing things goal goals plan plans hobby hobbies work job career education school diet allergy "
    "allergies health medical family home house pets pet status preference preferences interests requirement requirements constraint constraints budget schedule important warning "
    "disclaimer confession truth clarification answer yes no yeah yep nope ok okay so well anyway honestly listen look basically namely because also plus today tomorrow yesterday "
    "tonight monday tuesday wednesday thursday friday saturday sunday morning evening now currently recently name names age location city address phone birthday hometown favourite "
    "favourites favorite favorites likes dislikes pros cons todo task tasks step day week first second third one two record keep save store memorise memorize self me us myself rule "
    "rules request wish needs advice help recommend recommendation recommendations suggest suggestion suggestions find tell give buy calculate design create build choose cook recipe "
    "recipes trip travel holiday vacation gift gifts ideas idea personal personally heads skills experience languages relationship status symptoms medication money finances sport "
    "sports fitness training workout weather life lifestyle music food drinks car transport profile summary-of-me progress result results achievement big small good bad great sad tip tips hint hints list lists files happy exciting fun quick random unrelated topic besides additionally finally lastly conclusion hence therefore guess secret honest admission promise decision change changes"
)
# Words before the first word that says what a label is about.
_NOT_FIRST: Final = word_set(
    "the a an my our this these that some please pls plz can could would you help me need quick quickly now hey hi just and i one"
)
# Whose words may follow "my …:"; behind other words with "my" the writer speaks of the thing named ("My kids: …").
_PEOPLE: Final = word_set(
    "boss manager colleague coworker co-worker friend bestie buddy mate mum mom mother dad father parents brother sister wife husband partner girlfriend boyfriend ex fiancé fiancée "
    "fiance fiancee son daughter grandma grandpa gran granny grandmother grandfather uncle aunt cousin neighbour neighbor landlord landlady tenant roommate flatmate teacher pupil "
    "student professor doctor therapist lawyer coach client customer match crush date"
)
_ADVERBIAL: Final = word_set("in for as at on regarding concerning before after since until with to of")
_VERBS: Final = word_set(
    "is are was were has have had do does did will would can could should am isn't it's that's there's here's what's am going"
)


def foreign_labels(text: str) -> Iterator[int]:
    """The place behind each label whose text is not its writer's own.

    >>> list(foreign_labels("fix typos: i live in Pume"))
    [11]
    >>> list(foreign_labels("About me: I live in Pune"))
    []
    """
    for match in _LABEL.finditer(text):
        begins_first = bool(_FIRST.match(text, match.end()))
        if _is_foreign(match["label"], match["mark"], begins_first=begins_first) and (
            begins_first or _FIRST.search(text, match.end(), match.end() + _READ_AHEAD)
        ):
            yield match.end()
    for match in _TITLE.finditer(text):
        words = _words(match["label"])
        titled = match["mark"] or match["label"].endswith(")")
        if titled and words & _KINDS and not words & _VERBS and _FIRST.match(text, match.end()):
            yield match.end()


def _words(label: str) -> set[str]:
    words = [word.replace("’", "'") for word in _WORD.findall(label.lower())]
    return {part for word in words for part in (word, word.removesuffix("'s"))}


def _is_foreign(label: str, mark: str, *, begins_first: bool) -> bool:
    words = [word.replace("’", "'") for word in _WORD.findall(label.lower())]
    if not words or len(words) > _LONGEST or _SUBJECT.search(label):
        return False
    known = _words(label)
    verb, task, kind, own = (known & table for table in (_VERBS, _TASKS, _KINDS, _OWN))
    first = next((word for word in words if word not in _NOT_FIRST), words[0]).removesuffix("'s")
    if own and not (kind and known & _REPORTED) and (first in _OWN or mark == "\n" or not (task or kind)):
        return False
    if kind:
        return begins_first and not (verb and _MINE.match(label)) if mark == ":" else not verb
    if task:
        return words != ["edit"] and (len(task) > 1 or not _MINE.match(label)) and (mark == ":" or not verb)
    of_own_life = words[0] in _ADVERBIAL or (_MINE.match(label) and not known & _PEOPLE)
    return mark == ":" and begins_first and not verb and not of_own_life and len(words) <= _LONGEST_UNKNOWN
