"""Reads what an English clause states of its speaker and lasts, by its subject and its tense: the clause stays as it was said.

The plain present says what is always so ("I teach maths", "I don't eat meat"), a change says what is so from now on ("I moved to
Bern"), a date says when something was or will be. Everything else, and everything in doubt, stays a message.
"""

import re
from dataclasses import dataclass
from typing import Final

from slowwave.model.memory import Kind
from slowwave.policy.text.lexicon import AUXILIARIES, MODALS, PAST, table_words
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS

_I: Final = r"(?:i|we|me and \w+|my \w+ and i)"
_ADVERBS: Final = r"(?:(?:also|even|still|truly|usually|always|never|only|mostly|often|sometimes|rarely|now|currently|generally|normally|really|just|both|all|actually|already|finally|recently|officially|only|do not|do|don['’]?t|no longer) ){0,3}"
_PRESENT: Final = re.compile(
    rf"^{_I} (?P<adverbs>{_ADVERBS})(?P<verb>[a-z]+)\b(?!['’])(?P<rest>.*)$", re.IGNORECASE | re.DOTALL
)
_AM: Final = re.compile(
    rf"^(?:i['’]?m|i am|im|we['’]re|we are|{_I} (?:was|were)(?= born\b)) (?P<adverbs>{_ADVERBS})(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_HAVE: Final = re.compile(
    rf"^(?:{_I} (?P<adverbs>{_ADVERBS})(?:have|own)|i['’]ve(?: only)? got|we['’]ve got|i got) (?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_SINCE: Final = re.compile(
    rf"^(?:i['’]?ve|{_I} have|we['’]ve) (?:been|lived|worked|had|known|played|taught|run|owned)\b.*\b(?:for (?:\w+ ){{0,2}}(?:years|decades|months)|since (?:\d{{4}}|i was|\w+ \d{{4}}))",
    re.IGNORECASE,
)
_CHANGED: Final = re.compile(
    r"^(?:(?:i|we)(?:['’]ve| have)? )?(?:(?:just|also|finally|recently|already|officially|now) ){0,2}(?P<verb>moved (?:in|out|back|to|from|house|away)|switched|changed|quit|stopped|gave up|given up|started(?! with\b| by\b)|joined|left|retired|bought|sold|adopted|(?<!ve )got (?:(?:a|an|my|new) (?!\w* ?(?:chance|idea|surge|feel\w*|sense|lot|bit|kick|look|question|error|message|call|warning|point)\b)|engaged|married|divorced|promoted|rid|accepted|hired|laid off|fired|diagnosed)|was (?:promoted|hired|diagnosed|laid off|accepted)|been diagnosed|graduated|passed|failed|finished|submitted|signed up|enrolled|enroled|became|turned \d|renamed|migrated|upgraded|replaced|cancelled|canceled|postponed|had (?:a baby|surgery|twins))\b(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""A change that somebody tells, also without its "I": "sold the cascadia"."""
_MY: Final = re.compile(
    r"^(?:my|our) (?P<noun>(?:[\w'’&-]+ ){1,5}?)(?P<name>(?-i:[A-Z][\w'’-]+,? ){0,2})(?P<verb>is|are|['’]s|has|have|lives?|works?|was born|=|died|passed away|[a-z]+s)\b ?(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_MY_IS: Final = re.compile(
    r"^(?P<noun>(?:my|our) (?:[\w&-]+ ){0,4}[\w&-]+?)['’]s (?P<rest>.*)$", re.IGNORECASE | re.DOTALL
)
_THING: Final = re.compile(
    r"^(?:the|our) (?P<noun>(?:[\w'’&/-]+ ){0,5}[\w'’&/-]+?) (?P<verb>is|are|uses?|runs?|starts?|closes?|opens?|expires?|hangs?|lives?|goes|belongs?|requires?|needs?|has|have|must|costs?)\b (?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_NAMED: Final = re.compile(
    r"^(?P<name>[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?:['’]s| is| has| [a-z]+s) (?P<rest>.+)$", re.DOTALL
)
_LASTING: Final = re.compile(
    r"^(?:(?:an? (?!bit\b|little\b|lot\b|mess\b|bunch\b|fan\b|complete\b|total\b|couple\b|huge\b|big\b|firm\b|bad\b)|the (?:only|oldest|youngest|eldest)\b|from (?!the\b)|based in|born|living|vegetarian|vegan|veg\b|pescatarian|(?:\w+[- ])?(?:allergic|intolerant)|diabetic|coeliac|celiac|asthmatic|pregnant|deaf|blind|colou?r[- ]?blind|dyslexic|autistic|bipolar|lactose|single(?= mom| mum| dad| parent|$)|divorced|widowed|retired|(?:left|right)-handed|bilingual|married(?=$| (?:since|for|with|to (?:an?|(?-i:[A-Z]))))|engaged to|\d{1,3}(?= years? old|$| and\b)|(?:\w+-)?(?:year-old|based)|home every|off (?:on|every)|called|named)|not an? )",
    re.IGNORECASE,
)
"""What somebody is for long, after "I'm": a noun with an article, an age, an origin, a state of health, a diet."""
_HEALTH: Final = re.compile(
    r"\b(?:allerg\w*|intoleran\w*|vegetarian|vegan|veg|pescatarian|diabet\w*|c(?:o?)eliac|asthma\w*|pregnan\w*|gluten|lactose|halal|kosher|\d+ ?(?:mg|mcg|ml)|blood type|diagnos\w*|(?:can['’]?t|cannot|don['’]?t|do not|never|no longer|not) (?:eat|drink|have|tolerate|take)|epilep\w*|migraines?|insulin|pacemaker|medication|reacts? to)\b",
    re.IGNORECASE,
)
_CANT: Final = re.compile(
    rf"^{_I} (?:can['’]?t|cannot|can not|can) (?:eat|drink|have|stand|tolerate|take|swim|drive|read|hear|smell)\b (?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_TASTE: Final = re.compile(
    r"\b(?:prefers?|likes?|loves?|hates?|enjoys?|adores?|dislikes?|avoids?|detests?|favou?rites?|can['’]?t stand)\b",
    re.IGNORECASE,
)
_POINTS: Final = re.compile(
    r"\b(?:it|its|it['’]s|this|these|those|them|they|their|he|she|him|her|his|hers|there|here|you|your|yours|u|ur|such|same|one of|each other|great team|as a team|ones|so much|something|someone|anything|everything|somewhere|thing|things|stuff)\b|\bthat(?=$|[.,!;]| (?:is|was|one|way|too)\b)|['’]ll\b|^(?:that|so|to|in mind|no idea|an? (?:point|question|look|feeling|idea|moment))\b",
    re.IGNORECASE,
)
"""Words that only the talk around a clause explains."""
_DOUBT: Final = re.compile(
    r"\b(?:if|maybe|perhaps|might|may|would|could|should|wish|hope|hoping|dream(?:ed|t|ing|s)?|imagine|suppose|pretend|probably|guess|almost|nearly|wonder\w*|hypothetically|not sure|unless you|as if|apparently|supposedly|allegedly|suspect|joking|kidding|\w+ says|said|says|say|claims?|thinks?|reckons?|swears|told me|according to|tells|quote|for example|e\.g\.|example|trying to|want(?:ed)? to|need to|going to try|sort of|like an? \w+ (?:who|that)|feels? like)\b",
    re.IGNORECASE,
)
"""What makes a clause a doubt, a wish, a joke or the words of somebody else."""
_JOKE: Final = re.compile(
    r"\b(?:lol|lmao|ha(?:ha)+\w*|rofl|jk|k{3,})\b|[😂🤣😜😝😉]|^\W*(?:oh|wow|yeah|yay|sure|right|great)\b,? (?:great|wonderful|perfect|joy|sure|yeah|right|because)\b|(?<!\w)/s(?!\w)",
    re.IGNORECASE,
)
_NEWS: Final = re.compile(
    r"\b(?:now|any ?more|these days|instead|moved to|changed|postponed|cancell?ed|no longer|rescheduled|renamed|switched|replaced|is over|came through)\b",
    re.IGNORECASE,
)
_SUBJECTLESS: Final = re.compile(r"\b(?:today|tonight|right now|i|we|you|u|please|pls|thanks)\b", re.IGNORECASE)
_COUNTED: Final = re.compile(r"(?:no|an?|two|three|four|five|six|seven|eight|nine|ten|\d+)\b", re.IGNORECASE)
_CALLED: Final = re.compile(r"^an? (?:\w+ ){1,3}(?:named|called)\b", re.IGNORECASE)
_KEEPS_ON: Final = re.compile(r"(?:keep|start|stop|go)\s+\w+ing\b", re.IGNORECASE)
_OF_THE_TALK: Final = re.compile(r"\s*(?:the|how|when|where|that|what|to (?:see|hear))\b", re.IGNORECASE)
"""What a taste begins with that is for something in the talk: "I love the theme"."""
_NO_PROSE: Final = re.compile(r"[\\{}<>=_`|#*\[\]]|\w\(|https?:")
_PROGRESS: Final = re.compile(
    r"^(?:working|trying|looking|thinking|having|getting|using|planning|going|wondering|writing|building|developing|creating)\b",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"^(?:kept |stored |hidden )?(?:in|on|at|under|behind|above|below|inside|beside|next to|on top of|from|until)\b",
    re.IGNORECASE,
)
_NOUN_PHRASE: Final = re.compile(
    r"^(?:an? (?!bit\b|little\b|mess\b|lot\b)|the (?!same|only thing|best thing|worst|problem)|called |named |(?-i:[A-Z]\w+)|[\"“'‘])"
)
_APPOINTED: Final = re.compile(
    r"\b(?:appointment|exam|interview|wedding|flight|surgery|operation|meeting|deadline|birthday|due|starts?|begins?|opens?|ends?|expires?|leav\w+|fly\w*|mov\w+|graduat\w*|visit\w*|marr\w+|test|match|race|trip|concert|hearing|defen[cs]e|presentation|vet|dentist|doctor|check-?up|party|conference|arriv\w+)\b",
    re.IGNORECASE,
)
_NOT_HABITS: Final = (
    table_words("opinion_verbs")
    | MODALS
    | AUXILIARIES
    | word_set(
        "get got see look want need feel agree appreciate apologize apologise thank ask run try think find mean love wonder guess bet swear promise assume suppose recommend suggest prefer understand forget lose come go figure plan cannot ended come saw set put cut let hit read quit hurt cost beat split kinda totally definitely gotta wanna finally really relate admire look stay deserve owe send paste attach share give encounter face miss"
    )
    - {"prefer", "love"}
)
"""Verbs whose plain present tells a moment of the talk, not a habit."""
_NO_PAST: Final = word_set("need feed speed breed bleed")
_NEWS_LEAST, _NEWS_MOST = 3, 16
_CONTENT: Final = 3
"""Letters of a word with content."""
_LEAST, _MOST = 2, 40
"""Words of a clause that is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What kind of fact a clause states. `sure` means that once is enough: a name, health, a diet, an order."""

    category: str
    kind: Kind = "semantic"
    sure: bool = False


def claim_of(clause: str, *, dated: bool, told: bool) -> Claim | None:
    """The claim of a clause of the speaker's, None if it states nothing that lasts.

    Args:
        clause: Its words, without what opens it.
        dated: Whether it names a day or a span of days.
        told: Whether the message is nothing but a short statement, made to be known: then things and people may be its subject.
    """
    if (
        not _LEAST <= len(clause.split()) <= _MOST
        or _DOUBT.search(clause)
        or _NO_PROSE.search(clause)
        or clause.rstrip().endswith("?")
    ):
        return None
    claim = _of_speaker(clause, dated=dated, told=told) or _of_own(clause, dated=dated)
    if claim is not None and _HEALTH.search(clause) and claim.kind == "semantic":
        return Claim(category="identity", sure=True)
    return claim or (_of_thing(clause) if told else None)


def is_joke(sentence: str) -> bool:
    """Whether a sentence laughs, or begins as irony does."""
    return _JOKE.search(sentence) is not None


def news(text: str, *, dated: bool) -> Claim | None:
    """The claim of a short message without a subject that tells a change or a day: "every third weekend now", "Exam on 4 May"."""
    if (
        not _NEWS_LEAST <= len(text.split()) <= _NEWS_MOST
        or _DOUBT.search(text)
        or _POINTS.search(text)
        or _SUBJECTLESS.search(text)
    ):
        return None
    if _NEWS.search(text):
        return Claim(category="other", kind="episodic")
    return Claim(category="goal", kind="episodic") if dated and _APPOINTED.search(text) else None


def _of_speaker(clause: str, *, dated: bool, told: bool) -> Claim | None:  # noqa: PLR0911 - one for each form
    """A clause whose subject is the speaker."""
    if _SINCE.match(clause):
        return None if _is_open(clause) else Claim(category="person")
    forms = (_CANT, _AM, _CHANGED, _HAVE, _PRESENT)
    form, found = next(((form, found) for form in forms if (found := form.match(clause))), (None, None))
    if found is None or _is_open(rest := found["rest"]):
        return None
    if form is _CANT:
        return Claim(category="person")
    if form is _AM:
        return _of_am(rest, dated=dated)
    if form is _HAVE:
        return _of_have(rest, dated=dated, told=told)
    if not _is_definite(rest):
        return None
    return (
        Claim(category="person", kind="episodic")
        if form is _CHANGED
        else _of_verb(found["verb"].lower(), rest, dated=dated)
    )


def _of_verb(verb: str, rest: str, *, dated: bool) -> Claim | None:
    """A clause with a plain verb: a habit or a taste in the present, an event with a day in the past."""
    if dated and _is_past(verb) and not rest.lstrip().startswith("that "):
        return Claim(category="observation", kind="episodic")
    if _KEEPS_ON.match(f"{verb}{rest}") or verb in _NOT_HABITS or _is_past(verb) or verb.endswith(("ing", "ly")):
        return None
    if not _TASTE.search(verb):
        return Claim(category="person")
    return None if _OF_THE_TALK.match(rest) else Claim(category="preference")


def _of_am(rest: str, *, dated: bool) -> Claim | None:
    if _LASTING.match(rest):
        return Claim(category="person")
    return Claim(category="goal", kind="episodic") if dated and _APPOINTED.search(rest) else None


def _of_have(rest: str, *, dated: bool, told: bool) -> Claim | None:
    if _PROGRESS.match(rest):
        return None
    if dated and _APPOINTED.search(rest):
        return Claim(category="goal", kind="episodic")
    counted = _COUNTED.match(rest) and (told or any(word.strip(".,").lower() in KIN for word in rest.split()))
    return Claim(category="person") if counted or _CALLED.search(rest) or _HEALTH.search(rest) else None


def _of_own(clause: str, *, dated: bool) -> Claim | None:
    """A clause about the speaker's people and things: "my sister Ida lives in Rome", "my budget is 7,500"."""
    found = _MY.match(clause) or _MY_IS.match(clause)
    if found is None:
        return None
    rest, group = found["rest"], found.groupdict()
    verb = (group.get("verb") or "is").lower()
    if verb.endswith("ing") or _is_open(found["noun"]) or _PROGRESS.match(rest):
        return None
    person = any(word in KIN for word in found["noun"].lower().replace("'s", " ").split()) or bool(
        (group.get("name") or "").strip()
    )
    if verb in {"is", "are", "'s", "’s", "="}:
        holds = _NOUN_PHRASE.match(rest) or _VALUE.search(rest) or dated or (person and _LASTING.match(rest))
        favourite = _TASTE.search(found["noun"]) and len(found["noun"].split()) > 1
        if not (holds or favourite) or _POINTS.search(rest):
            return None
        return Claim(category="preference" if favourite else "goal" if dated and not person else "person")
    if person:
        return (
            None
            if _POINTS.search(re.sub(r"\b(?:her|his|their|she|he|they)\b", "", rest)) or not _is_definite(rest)
            else Claim(category="person")
        )
    return Claim(category="person") if _VALUE.search(rest) and not _POINTS.search(rest) else None


def _of_thing(clause: str) -> Claim | None:
    """A clause about a thing or a person with a name, in a message that says nothing else."""
    if found := _THING.match(clause):
        rest = found["rest"]
        definite = _VALUE.search(rest) or _PLACE.match(rest) or re.search(r"\b[A-Z][a-z]*\d|\s[A-Z]\w+", rest)
        return None if _is_open(rest) or not definite else Claim(category="project")
    found = _NAMED.match(clause)
    if found is None or found["name"].split()[0].lower() in STOP_WORDS | NO_NAMES or _is_open(found["rest"]):
        return None
    return Claim(category="person")


def _is_open(rest: str) -> bool:
    """Whether words need the talk around them to be understood."""
    return _POINTS.search(rest) is not None


def _is_definite(rest: str) -> bool:
    """Whether words name something: at least one word with content."""
    return any(word.strip(".,!;:").lower() not in STOP_WORDS and len(word) >= _CONTENT for word in rest.split())


def _is_past(verb: str) -> bool:
    return verb in PAST or (verb.endswith("ed") and verb not in _NO_PAST)


KIN: Final = table_words("cue_relatives")
NO_NAMES: Final = table_words("sentence_openers")
