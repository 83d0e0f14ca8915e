"""Finds nouns whose referent is outside a statement ("the fix", "the extra ones"), and names it from the sentences before if that is safe."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from slowwave.minds.offline.rules.morphology import ing_base, is_base, past_base
from slowwave.minds.offline.rules.words import (
    ADVERBS,
    FAMILIAR,
    INCOMPLETE,
    KIN,
    KINDS,
    MODALS,
    PERSON_WORDS,
    UNDER_DISCUSSION,
    WEAK,
)
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS

_TOKEN: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|[\w'’./+@#%-]*\w[\w'’/+@#%-]*|[^\w\s]")
_COMPLEMENT: Final = word_set(
    "of for in on at from to with between about behind under over by that which who whose where why when called named "
    "against among per across within inside than"
)
"""Words that say more of the noun before them, or of the verb."""
_SAYING_WHICH: Final = word_set("of that which who whose where called named between")
"""Words that always say more of the noun before them."""
_DESCRIBING: Final = frozenset(("i", "we", "my", "(", ":", "like", "such"))
_OF_TIME: Final = re.compile(
    r"(?:in|on|at|for|from|by|with|since|over|to) (?:now|(?:the|this|that|last|next|an?|my|our) )?(?:moment|time|week|weekend|month|year|morning|evening|night|day|past|end|while|now|mind|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|19\d\d|20\d\d|\d{1,2} \w+ \d{4}|example|sure|it|them|me|you)\b",
    re.IGNORECASE,
)
_LEADING_TO: Final = word_set(
    "answer key link access door way trip road approach solution introduction guide path route changes updates improvements"
)
_MEASURED: Final = word_set(
    "response load loading startup run execution query parsing inference processing build training"
)
"""What a time is measured of: "the response time" needs whose it is."""
_ARTICLES: Final = word_set(
    "the a an some any my our your his her their its this that these those every each no another"
)
_OWNERS: Final = word_set("my our your his her their its")
_SETTINGS: Final = word_set("size limit limits threshold thresholds timeout timeouts")
"""What is set of a thing: "the soft limit" needs the thing."""
_OF_MEASURE: Final = re.compile(r"(?:of|by|from|to) (?:about |around |over )?[\d$]|by \w+ing\b")
"""How much, or how a measure changed: it does not say what it is a measure of."""
_OF_ANY_TASK: Final = word_set("code test unit model system overall success detection text")
"""Nouns of any task, which do not say what a measure is of: "90% code coverage"."""
_SPANS: Final = word_set("day days night nights morning evening week weeks weekend month months year years")
_REFERRING: Final = word_set(
    "extra additional further other remaining updated revised improved previous same different original old older newer former"
)
"""Adjectives that compare with what was said before: "the extra time"."""
_QUANTIFIED: Final = word_set(
    "the some any more several many few an a another additional further other no those these various different"
)
_IDENTIFYING: Final = re.compile(
    r"(?:first|second|third|fourth|fifth|most|least|best|worst|\w{3,}est|\d+(?:st|nd|rd|th))$"
)
_NO_MODIFIER: Final = STOP_WORDS | ADVERBS | MODALS
_MODIFIERS_MOST: Final = 5
_ONES: Final = re.compile(r"\bones\b", re.IGNORECASE)
_ONE: Final = re.compile(
    r"\b(?:an?|another|the|this|that) (?:[a-z]+ )?one\b(?! (?:of|day|time|hour|year|month|week|night|morning)\b)",
    re.IGNORECASE,
)
_PLURAL: Final = re.compile(
    r"\b(?!(?:this|was|is|has|does|its|as|us|yes|ones|his|always|perhaps|besides|needs|wants|likes|loves|uses|lots|lots|plus|less|across|news|times?|tips|bits)\b)[a-z]{3,}(?<!s)s\b"
)
_ANCHOR: Final = re.compile(
    r"[a-z,] [`\"]?(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b)[A-Z][\w.]*[a-z\d]"
    r"|`|\b(?:[Mm]y|[Oo]ur) (?!(?:main |next |current |big )?(?:goal|aim|plan|target|deadline|problem|issue|time|way|best)\b)\w+"
)
"""A name, code, or something of the speaker's, to which the other nouns of a statement belong."""
_PLACED: Final = re.compile(r"\b(?:behind|near|above|below|beside|opposite|next to|across from|beyond|outside|by) $")
"""Words of place: "behind the quarry" says where even if the quarry has no name."""
_WORKPLACE: Final = re.compile(
    r"\b(?:work|works|worked|working|job|position|post|role|internship|apprenticeship|shifts?|volunteer(?:s|ed|ing)?|stud(?:y|ies|ied|ying)|teach(?:es|ing)?|taught) (?:[\w-]+ ){0,3}?(?:at|for|in|with) $"
)
"""Words before a place of work: "the job at the observatory"."""
_OWNED: Final = re.compile(
    r"\b(?:sell|sold|selling|lose|lost|losing|break|broke|broken|paint|painted|painting|repair|repaired|repairing|crash|crashed|decorate|decorated|mow|mowed|walk|walked|walking|feed|fed|feeding"
    r"|renovate|renovated|renovating|clean|cleaned|cleaning|rent out|rented out|water|watered) $"
)
"""Verbs of what somebody does with what is their own: "I sold the caravan"."""
_ADDED: Final = re.compile(r"(?:\w+ ){4}(?:with|for|to improve|to increase|to reduce|to ensure|to leverage) $")
"""Words of a purpose or an outcome, which adds to a statement that stands without it."""
_DATING: Final = re.compile(r"(?:\w+ ){4}(?:before|after|during|until|since) $")
"""Words of time behind a statement that stands without them: "I want to learn the foghorn solo before the festival"."""
_BEFORE_MOST: Final = 3  # statements before, in which a noun is looked for
_RANGE: Final = 600  # characters from the statement that names a noun to the one that needs it


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrase:
    """A noun phrase: its place in the text, its determiner, modifiers and head.

    `described`: whether words after it say which it is; `complemented`: whether they may ("the trip to Rome", "tested the trip with ten people").
    """

    start: int
    end: int
    determiner: str
    modifiers: tuple[str, ...]
    head: str
    described: bool
    complemented: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement of a message, as the rules read it, and where it begins in the message."""

    text: str
    start: int


def has_open_noun(text: str) -> bool:
    """Whether a noun of a statement needs words that the statement does not have.

    It needs them if it is definite and neither described, familiar nor named before ("the fix"), if it is "ones" without
    its noun, or if it is a part, a kind or a measure without what it is of ("90% coverage", "some new species").

    >>> [has_open_noun(text) for text in ("I fixed the bug", "I fixed the bug in my parser", "I cleaned the kitchen")]
    [True, False, False]
    >>> has_open_noun("I set the soft limit to 1.8 GB"), has_open_noun("I set the soft limit of my container to 1.8 GB")
    (True, False)
    >>> has_open_noun("I want to learn the foghorn solo before the festival")
    False
    >>> [has_open_noun(text) for text in ("I have some digital ones", "I prefer paper tickets to digital ones")]
    [True, False]
    """
    return _has_loose_ones(text) or any(_is_open(phrase, text) for phrase in _phrases(text))


def names_something(text: str) -> bool:
    """Whether a statement has a name, code, or something of the speaker's.

    >>> names_something("I added 15 patterns"), names_something("I added 15 patterns to Aria")
    (False, True)
    """
    return _ANCHOR.search(text) is not None


def with_referents(text: str, said: Sequence[Statement], start: int) -> tuple[str, int]:
    """A statement with its open nouns named as a statement before names them, and where the first of those statements begins.

    A noun is named if the statements before have one description of it and no other; else the text is unchanged.

    Args:
        text: A statement.
        said: The statements before it in its message.
        start: Where the statement begins in its message.

    >>> before = [Statement(text="I'm building a chat app for my club", start=0)]
    >>> with_referents("I tested the app with ten people", before, 40)
    ('I tested the chat app for my club with ten people', 0)
    """
    near = [one for one in said[-_BEFORE_MOST:] if start - one.start <= _RANGE]
    since = start
    for phrase in reversed([p for p in _phrases(text) if _is_bare(p) and not (_refers(p) or _is_known(p, text))]):
        named = {(_described(one.text, phrase.head), one.start) for one in near if _described(one.text, phrase.head)}
        if len({words for words, _ in named}) != 1:
            continue
        words = next(iter(named))[0]
        text = f"{text[: phrase.start]}{words}{text[phrase.end :]}"
        since = min(since, *(place for _, place in named))
    if near and _has_loose_ones(text):
        nouns = set(_PLURAL.findall(near[-1].text.lower()))
        if len(nouns) == 1:
            return _ONES.sub(nouns.pop(), text), min(since, near[-1].start)
    return text, since


def _described(text: str, head: str) -> str:
    """How a text describes a noun: whose it is, its modifiers and what it is of; empty if it does not, or in two ways."""
    found = [p for p in _phrases(text) if p.head == head]
    if len(found) != 1:
        return ""
    phrase = found[0]
    complement = re.match(
        r" (?:of (?:(?:my|our|the|an?) )?|for (?:my|our|the|an?) )(?:(?!\w+ing\b)[\w'’./+-]+ ){0,3}?[\w'’./+-]*\w(?=$|[,;.]| (?:further|again|now|today|more|even|also|too|yet|already|and|but|so|to|in|on|at|by|with|using|that|which|because|when|while|from|for|is|are)\b)",
        text[phrase.end :],
    )
    tail = (
        complement.group()
        if complement and not re.match(r" for \d| for (?:now|years|weeks|months|days)", complement.group())
        else ""
    )
    if phrase.determiner in {"my", "our"}:
        return f"{text[phrase.start : phrase.end]}{tail}"
    strong = [word for word in phrase.modifiers if _is_strong(word)]
    if phrase.determiner in {"a", "an", "the"} and (strong or tail):
        return f"the {' '.join((*phrase.modifiers, phrase.head))}{tail}"
    return ""


def _phrases(text: str) -> Iterator[_Phrase]:
    """The noun phrases of a text that begin with a determiner, and the nouns that need a complement."""
    tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    lows = [token.lower().replace("’", "'") for token, _, _ in tokens]
    for place, low in enumerate(lows):
        if low in _ARTICLES:
            last = place
            for step in range(place + 1, min(len(lows), place + 2 + _MODIFIERS_MOST)):
                if not _continues(lows, step, place, last):
                    break
                last = step
            if last > place:
                yield _phrase(tokens, lows, place, place + 1, last, text)
        elif low in INCOMPLETE | KINDS and not _continues(lows, place + 1, place - 1, place):
            first = place
            while (
                first
                and _is_modifier(lows[first - 1])
                and lows[first - 1] not in _ARTICLES
                and place - first < _MODIFIERS_MOST
            ):
                first -= 1
            if not first or (lows[first - 1] not in _ARTICLES and _is_verb_at(lows, first - 1)):
                yield _phrase(tokens, lows, first, first, place, text)


def _phrase(
    tokens: list[tuple[str, int, int]], lows: list[str], place: int, first: int, last: int, text: str
) -> _Phrase:
    after = text[tokens[last][2] :].lstrip(" ")
    following = lows[last + 1] if last + 1 < len(lows) else ""
    links = _COMPLEMENT if lows[last] in _LEADING_TO else _COMPLEMENT - {"to"}
    measured = lows[last] in INCOMPLETE and _OF_MEASURE.match(after) is not None
    complemented = (
        following in links and not measured and not _OF_TIME.match(after) and _has_noun(following, lows[last + 2 :])
    )
    if following == ",":
        described = bool(re.match(r",? *(?:such as|like|including|namely|e\.g\.)", after))
    else:
        described = (
            following in _DESCRIBING
            or bool(past_base(following))
            or (bool(ing_base(following)) and following != "using")
        )
    return _Phrase(
        start=tokens[place][1],
        end=tokens[last][2],
        determiner=lows[place] if first > place else "",
        modifiers=tuple(token for token, _, _ in tokens[first:last]),
        head=lows[last],
        described=described or (complemented and following in _SAYING_WHICH),
        complemented=complemented or described,
    )


def _has_noun(word: str, after: list[str]) -> bool:
    """Whether a preposition has a noun after it; "with" before a mere "it" has none."""
    if word in {"that", "which", "who", "whose", "where", "why", "when", "called", "named"}:
        return bool(after)
    return any(token[0].isalnum() and token not in STOP_WORDS for token in after[:4])


def _continues(lows: list[str], step: int, place: int, last: int) -> bool:
    """Whether a token still belongs to the noun phrase that begins at `place` and has reached `last`."""
    if step >= len(lows):
        return False
    low = lows[step]
    if not (low[0].isalnum() or low[0] in '`"') or low in _NO_MODIFIER - WEAK or low in _ARTICLES:
        return False
    begun = last > place
    return not (
        begun
        and lows[last] not in WEAK
        and (past_base(low) or _is_verb(low) or (ing_base(low) and low not in INCOMPLETE))
    )


def _is_verb(low: str) -> bool:
    return low in {
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "does",
        "did",
        "works",
        "takes",
        "makes",
        "gets",
        "using",
    }


def _is_verb_at(lows: list[str], place: int) -> bool:
    """Whether a token is no noun that describes the one after it: "get coverage", but "code coverage"."""
    low, before = lows[place], lows[place - 1] if place else ""
    if low in _NO_MODIFIER or not low[0].isalnum() or ing_base(low) or past_base(low):
        return True
    return is_base(low) and (before in {"to", "i", "we", "and", "or", "not", "further"} | MODALS | ADVERBS)


def _is_modifier(low: str) -> bool:
    return low in WEAK | _OF_ANY_TASK | _QUANTIFIED or low.rstrip("%").replace(".", "").isdigit() or low == "%"


def _is_strong(word: str) -> bool:
    """Whether a modifier says which one: a name, a figure, code, or a noun."""
    low = word.lower()
    return low not in WEAK and not (low in _QUANTIFIED or low == "%")


def _is_open(phrase: _Phrase, text: str) -> bool:
    """Whether a noun phrase needs words that its text does not have."""
    if phrase.complemented or phrase.determiner in _OWNERS:
        return False
    strong = [word for word in phrase.modifiers if _is_strong(word)]
    vague = phrase.head in KINDS and phrase.determiner != "the" and not strong
    if vague or phrase.head in INCOMPLETE or (phrase.head == "time" and not _MEASURED.isdisjoint(phrase.modifiers)):
        if _ADDED.search(text[: phrase.start]):
            return False
        bare = all(word.lower() in _OF_ANY_TASK or re.fullmatch(r"[\d.,]+%?", word) for word in strong)
        return (bare or phrase.determiner == "the") and not _ANCHOR.search(text)
    if phrase.determiner == "the" and phrase.head in _SETTINGS:
        return not _ANCHOR.search(text)
    if phrase.determiner != "the" or strong or any(_IDENTIFYING.match(word.lower()) for word in phrase.modifiers):
        return False
    return not (_DATING.search(text[: phrase.start]) or _is_known(phrase, text) or _is_placed(phrase, text))


def _is_bare(phrase: _Phrase) -> bool:
    """Whether a noun phrase is "the" with a noun and nothing that says which."""
    strong = any(_is_strong(word) or _IDENTIFYING.match(word.lower()) for word in phrase.modifiers)
    return phrase.determiner == "the" and not strong and not phrase.described


def _refers(phrase: _Phrase) -> bool:
    """Whether an adjective compares a noun with one that was said before: it is another than that one."""
    return not _REFERRING.isdisjoint(word.lower() for word in phrase.modifiers)


def _is_known(phrase: _Phrase, text: str) -> bool:
    """Whether a listener knows which one a noun after a bare "the" means: it is familiar, or the text has named it."""
    head = phrase.head.removesuffix("'s")
    if phrase.head not in _SPANS and _refers(phrase):
        return False
    familiar = head in FAMILIAR or head in KIN or head in PERSON_WORDS or not head.isalpha()
    if familiar or _IDENTIFYING.match(head) or text[phrase.end - len(phrase.head) : phrase.end][:1].isupper():
        return True
    before = text[: phrase.start].lower()
    return bool(re.search(rf"\b{re.escape(head.removesuffix('s'))}", before))  # "I sold the car" after "my car"


def _is_placed(phrase: _Phrase, text: str) -> bool:
    """Whether other words of a text tell enough of a noun after a bare "the": a name, a figure, a place, a verb of owning."""
    before = text[: phrase.start].lower()
    placed = bool(_WORKPLACE.search(before)) or bool(
        _PLACED.search(before) or _OWNED.search(before) or _ANCHOR.search(text) or re.search(r"\d", text)
    )
    return placed and phrase.head not in UNDER_DISCUSSION


def _has_loose_ones(text: str) -> bool:
    """Whether a text has "ones" without a plural noun before it, or "a new one" without a noun."""
    found = _ONES.search(text)
    if found is not None and not _PLURAL.search(text[: found.start()].lower()):
        return True
    single = _ONE.search(text)
    return single is not None and not any(phrase.end <= single.start() for phrase in _phrases(text))
