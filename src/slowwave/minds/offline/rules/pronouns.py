"""Replaces the pronouns of the first person by the name of the speaker, with verbs that agree."""

import re
from collections.abc import Sequence
from typing import Final

from slowwave.minds.offline.rules.morphology import is_base, is_unknown, participle_base, past_base, third_person
from slowwave.minds.offline.rules.words import ADVERBS, MODALS

_SPLIT: Final = re.compile(r"^(?P<open>[\"'“‘(\[*_]*)(?P<core>.*?)(?P<close>[\"'”’)\],;:.!?…*_–—]*)$", re.DOTALL)
_SHORT: Final = {"i'm": "is", "i've": "has", "i'll": "will"}
_OF_ONE: Final = {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "ain't": "isn't"}
_WE_AS_ONE: Final = {"we": "i", "we're": "i'm", "we've": "i've", "we'll": "i'll", "we'd": "i'd"}
_OF_ONE_SPEAKER: Final = {"are": "am", "were": "was", "aren't": "ain't", "weren't": "wasn't"}
_UNCHANGED: Final = MODALS | {"was", "had", "did", "didn't", "wasn't", "hadn't"}
_INVERTING: Final = frozenset(
    {"do", "am", "have", "did", "can", "could", "will", "would", "was", "should", "may", "had"}
)
_OBJECTS: Final = frozenset({"me"})
_OWN: Final = {"my": True, "our": True, "mine": False, "ours": False}


_FOUNDED: Final = "business|company|firm|shop|store|brand|studio|practice|restaurant|bakery|cafe|house|home|place|flat|apartment|website|blog|channel|farm|label"
"""What somebody may have without that it is their own: "the user's own business" is not the one that the user works for."""


class UnclearError(ValueError):
    """A pronoun of the first person cannot be replaced without a wrong sentence."""


def possessive(name: str) -> str:
    """The possessive form of a name.

    >>> possessive("James")
    "James's"
    """
    return f"{name}'s"


def inside(speaker: str) -> str:
    """The speaker as written inside a sentence: "the user".

    >>> inside("The user"), inside("Anna")
    ('the user', 'Anna')
    """
    return speaker[:1].lower() + speaker[1:] if speaker.startswith("The ") else speaker


def plain(token: str) -> str:
    """A token in lower case, with a straight apostrophe, without punctuation around it."""
    return token.lower().replace("’", "'").strip('.,;:!?…"“”()*[]')


def in_third_person(text: str, speaker: str, *, company: bool = False) -> str:
    """The text with the speaker's name for I, me, my and mine, and with verbs that agree.

    Args:
        text: Words of the speaker.
        speaker: The name of the speaker, or "The user".
        company: Whether the sentence names others with the speaker, so that "we" and "us" can become "they" and "them".

    Raises:
        UnclearError: for "we" or "us" without others, and for "I" after its verb ("neither do I").

    >>> in_third_person("because I'm sure my friends love me", "Melanie")
    "because Melanie is sure Melanie's friends love Melanie"
    """
    name, tokens = inside(speaker), text.split()
    stated: list[str] = []
    place = 0
    while place < len(tokens):
        parts = _SPLIT.match(tokens[place])
        core = parts["core"] if parts else tokens[place]
        low = core.lower().replace("’", "'")
        opened, closed = (parts["open"], parts["close"]) if parts else ("", "")
        if low in _WE_AS_ONE and not company and place:
            if place + 1 < len(tokens) and plain(tokens[place + 1]) in {"all", "both"}:
                raise UnclearError("we all without others")
            low = _WE_AS_ONE[low]
            tokens[place + 1 :] = [
                _OF_ONE_SPEAKER.get(t, t) if n == 0 else t for n, t in enumerate(tokens[place + 1 :])
            ]
        if low == "i" or low.startswith("i'"):
            before = plain(tokens[place - 1]) if place else ""
            words, used = _first_person(low, tokens[place + 1 :] if not closed else [], name, before)
            stated.append(f"{opened}{words}{closed}")
            place += 1 + used
            continue
        before = plain(tokens[place - 1]) if place else ""
        following = plain(tokens[place + 1]) if place + 1 < len(tokens) else ""
        if low == "have" and before in {"and", "but"} and participle_base(following) and not is_base(following):
            core = "has"  # "is learning Go and has finished the tour"
        stated.append(f"{opened}{_other(low, core, name, before, company=company)}{closed}")
        place += 1
    return tidy(" ".join(stated))


def _first_person(low: str, after: Sequence[str], name: str, before: str) -> tuple[str, int]:
    """The words for "I" with its verb, and how many of the tokens after it they use."""
    if before in _INVERTING and low == "i":
        raise UnclearError("I after its verb")
    if low in _SHORT:
        return f"{name} {_SHORT[low]}", 0
    if low == "i'd":
        following = next((plain(t) for t in after if plain(t) not in ADVERBS), "")
        had = following == "better" or (participle_base(following) and not is_base(following))
        return f"{name} {'had' if had else 'would'}", 0
    adverbs = 0
    while adverbs < len(after) and plain(after[adverbs]) in ADVERBS | {"not"}:
        adverbs += 1
    if adverbs >= len(after):
        return name, 0
    verb = after[adverbs]
    return " ".join((name, *after[:adverbs], agreeing(verb))), adverbs + 1


def agreeing(token: str) -> str:
    """A verb after "I" as it stands after a name; other words stay as they are.

    >>> [agreeing(token) for token in ("run,", "went", "don't", "am")]
    ['runs,', 'went', "doesn't", 'is']
    """
    low = plain(token)
    if low in _OF_ONE:
        return token.replace("’", "'").replace(token.replace("’", "'").strip('.,;:!?"”)'), _OF_ONE[low])
    if low in _UNCHANGED or past_base(low) or not (is_base(low) or is_unknown(low)):
        return token
    return re.sub(r"^[\w'-]+", third_person(low), token, count=1)


def _other(low: str, core: str, name: str, before: str, *, company: bool) -> str:
    """A word that is not "I": a possessive, an object, a reflexive, or itself."""
    if low in _OWN:
        if low == "our" and company:
            return "their"
        return possessive(name)
    if low in {"we", "us", "we're", "we've", "we'll", "we'd", "ourselves"}:
        if (
            low == "us"
            and not company
            and before not in {"of", "between", "among", "let", "both", "all", "within", "amongst"}
        ):
            return name
        if not company:
            raise UnclearError(f"{low} without others")
        return {
            "we": "they",
            "us": "them",
            "we're": "they're",
            "we've": "they've",
            "we'll": "they'll",
            "we'd": "they'd",
        }.get(low, "themselves")
    if low == "myself":
        return "themselves"
    joined = low == "am" and before in {"and", "but", "or"}  # "has never flown but am open to it"
    return name if low in _OBJECTS else "is" if joined else core


def tidy(text: str) -> str:
    """The text with natural reflexives and without "X's own".

    >>> tidy("Mia bought themselves a kayak"), tidy("Mia lives by themselves")
    ('Mia bought a kayak', 'Mia lives alone')
    """
    text = re.sub(r"\bby themselves\b(?=$|[ ,;.])", "alone", text)
    text = re.sub(r"\bon (?:[\w-]+ )?[\w-]+['’]s own(?=$|[,;.])", "alone", text)
    text = re.sub(
        r"(?<=\b)(bought|got|made|gave|found|built|buys|gets) themselves (?=(?:an?|the|some|new|two)\b)", r"\1 ", text
    )
    return re.sub(rf"(['’]s) own (?!(?:{_FOUNDED})\b)(?=\w)", r"\1 ", text)
