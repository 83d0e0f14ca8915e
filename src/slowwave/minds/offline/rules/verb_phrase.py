"""Reads the verb of a clause whose subject is the speaker, and writes it in the third person."""

import re
from dataclasses import dataclass
from typing import Final

from slowwave.minds.offline.rules.morphology import (
    IRREGULAR_BASES,
    ing_base,
    is_base,
    is_unknown,
    participle_base,
    past_base,
    third_person,
)
from slowwave.minds.offline.rules.pronouns import plain
from slowwave.minds.offline.rules.words import ADVERBS, MODALS
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS

_SHORT: Final = {"m": "is", "ve": "has", "ll": "will"}
_SLANG: Final = {"wanna": "want", "gotta": "have"}
_AGREEING: Final = {"don't": "doesn't", "do": "does", "haven't": "hasn't", "am": "is", "have": "has", "ain't": "isn't"}
_BEING: Final = frozenset({"is", "was", "isn't", "wasn't"})
_HAVING: Final = frozenset({"has", "had", "hasn't", "hadn't"})
_AUXILIARIES: Final = MODALS | {"am", "have", "was", "had", "haven't", "hadn't", "wasn't", "ain't"}
_DOING: Final = frozenset({"do", "don't", "did", "didn't"})
_PAST_OF_ITSELF: Final = frozenset(
    {"set", "cut", "put", "quit", "read", "hit", "spread", "split", "shut", "let", "hurt"}
)
_PARTICIPLE_OF_ITSELF: Final = _PAST_OF_ITSELF | {"become", "come", "run"}
_NO_PARTICIPLE: Final = word_set("tired bored used need red")
_HABIT: Final = re.compile(r"\b(?:every|each|always|usually|never|daily|weekly|on \w+days)\b", re.IGNORECASE)
# Base forms that are seldom nouns: after "and" they are a second verb of the subject.
_SURE_VERBS: Final = word_set(
    "have want enjoy prefer try believe know think make take go get keep find feel write eat live teach speak read bake sing collect "
    "grow own learn listen volunteer write sell bring buy meet send earn hate love"
)
_SECOND_VERB_BEFORE: Final = word_set("a an the my our his her their some it them him me to at in on two three four")
_OFTEN: Final = word_set("always never usually often rarely sometimes also still")
"""Adverbs before a second verb: "and never eat fish"."""
_NO_SECOND: Final = word_set("to can will let help make me they who would could should might must and/or")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbPhrase:
    """The verb of a clause and what follows it.

    Attributes:
        text: The adverbs and the verb in the third person singular.
        base: The base form of the main verb, "be" for any form of it.
        form: "present", "past", "perfect", "progressive", "modal" or "be" (the present of be).
        helper: The modal verb of the form "modal", else empty.
        rest: The words after the verb, as said, but with agreement of a second verb.
        negated: Whether the verb is negated.
    """

    text: str
    base: str
    form: str
    rest: tuple[str, ...]
    helper: str = ""
    negated: bool = False


def verb_phrase(short: str, after: str) -> VerbPhrase | None:
    """The verb phrase after "I", or None if the words do not begin with a verb.

    Args:
        short: The short form that is joined to "I": "m", "ve", "d", "ll", or empty.
        after: The words after it.
    """
    adverbs, words = split_adverbs(after.split())
    if not words:
        return None
    head = plain(words[0])
    if short:
        had = _is_participle(words) or head == "better"
        return _with_helper(_SHORT.get(short) or ("had" if had else "would"), adverbs, words, leading=False)
    if head in _AUXILIARIES:
        return _with_helper(_AGREEING.get(head, head), adverbs, words[1:], full_verb=head)
    if head in _DOING and len(words) > 1:
        return _with_do(adverbs, words)
    return _simple(adverbs, words[0], words[1:])


def split_adverbs(words: list[str]) -> tuple[list[str], list[str]]:
    """The adverbs that words begin with, and the others. "no longer" is one adverb."""
    if [w.lower() for w in words[:2]] == ["no", "longer"]:
        return words[:2], words[2:]
    cut = next((i for i, w in enumerate(words) if plain(w) not in ADVERBS), len(words))
    return words[:cut], words[cut:]


def _simple(adverbs: list[str], head: str, rest: list[str]) -> VerbPhrase | None:
    """A verb without an auxiliary, in the present or the past, or slang for one."""
    low = plain(head)
    if low in _SLANG:
        return _phrase([*adverbs, third_person(_SLANG[low])], _SLANG[low], "present", ["to", *rest])
    base = past_base(low)
    if base and (not is_base(low) or (low in _PAST_OF_ITSELF and not _HABIT.search(" ".join((*adverbs, *rest))))):
        return _phrase([*adverbs, head], base, "past", rest)
    if (low in STOP_WORDS and low not in IRREGULAR_BASES | {"own", "need", "use"}) or not (
        is_base(low) or is_unknown(low)
    ):
        return None
    written = re.sub(r"^[\w-]+", third_person(low), head, count=1)
    return _phrase([*adverbs, written], low, "present", coordinated(rest, at_once=True))


def _with_do(adverbs: list[str], words: list[str]) -> VerbPhrase | None:
    """A verb with do or did: "I don't eat"; without another verb "did" is the main verb."""
    head = plain(words[0])
    denied = plain(words[1]) == "not"
    place = 2 if denied else 1
    more, rest = split_adverbs(words[place:])
    if not rest or not is_base(plain(rest[0])):
        return _simple(adverbs, head, words[1:]) if head in {"do", "did"} and not denied else None
    form = "past" if head.startswith("did") else "present"
    lead = [*adverbs, _AGREEING.get(head, head), *words[1:place], *more, rest[0]]
    return _phrase(lead, plain(rest[0]), form, rest[1:], negated=denied or head.endswith("n't"))


def _is_participle(words: list[str]) -> bool:
    _, rest = split_adverbs(words)
    low = plain(rest[0]) if rest else ""
    return bool(participle_base(low)) and not is_base(low)


def _with_helper(
    helper: str, adverbs: list[str], words: list[str], *, full_verb: str = "", leading: bool = True
) -> VerbPhrase | None:
    """A verb with an auxiliary: is, was, has, had, will, would and the other modals."""
    more, rest = split_adverbs(words)
    if rest and plain(rest[0]) == "not":
        again, after = split_adverbs(rest[1:])
        more, rest = [*more, "not", *again], after
    if not rest:
        return None
    negated = (
        helper.endswith("n't") or helper == "cannot" or bool({"never", "not"} & {plain(w) for w in (*adverbs, *more)})
    )
    lead = [*adverbs, helper, *more] if leading else [helper, *adverbs, *more]
    if helper in _BEING:
        return _being(lead, rest, past=helper.startswith("was"), negated=negated)
    if helper in _HAVING:
        return _having(lead, rest, full_verb=full_verb, past=helper.startswith("had"), negated=negated)
    verb = plain(rest[0])
    if not is_base(verb):
        return None
    if verb == "be" and len(rest) > 1 and (under_way := ing_base(plain(rest[1]))):  # "will be moving to Ghent"
        return _phrase([*lead, *rest[:2]], under_way, "modal", rest[2:], helper=helper, negated=negated)
    return _phrase([*lead, rest[0]], verb, "modal", rest[1:], helper=helper, negated=negated)


def _being(lead: list[str], rest: list[str], *, past: bool, negated: bool) -> VerbPhrase:
    head = plain(rest[0])
    if head == "gonna":
        return _phrase([*lead, "going"], "go", "progressive", ["to", *rest[1:]], negated=negated)
    if base := ing_base(head):
        return _phrase([*lead, rest[0]], base, "progressive", coordinated(rest[1:]), negated=negated)
    return _phrase(lead, "be", "past" if past else "be", coordinated(rest), negated=negated)


def _having(lead: list[str], rest: list[str], *, full_verb: str, past: bool, negated: bool) -> VerbPhrase | None:
    """A verb with has or had: has been going, has been, has gone, has got, has. `full_verb` is the verb if it was not shortened."""
    head, following = plain(rest[0]), plain(rest[1]) if len(rest) > 1 else ""
    if head == "been" and (base := ing_base(following)):
        return _phrase([*lead, "been", rest[1]], base, "progressive", coordinated(rest[2:]), negated=negated)
    if head == "been" and following:
        return _phrase([*lead, "been"], "be", "perfect", coordinated(rest[1:]), negated=negated)
    if head == "got":
        return _phrase([*lead, "got"], "have", "present", rest[1:], negated=negated)
    base = participle_base(head)
    if base and head not in _NO_PARTICIPLE and (not full_verb or not is_base(head) or head in _PARTICIPLE_OF_ITSELF):
        return _phrase([*lead, rest[0]], base, "perfect", coordinated(rest[1:]), negated=negated)
    if full_verb:
        return _phrase(lead, "have", "past" if past else "present", coordinated(rest), negated=negated)
    return None


def coordinated(words: list[str], *, at_once: bool = False) -> list[str]:
    """The words with a second verb after "and" in the third person ("I run and paint"), unless it may be an infinitive.

    Args:
        words: The words after the first verb.
        at_once: Whether "and" may follow the first verb directly.
    """
    for place, word in enumerate(words[:-1]):
        low = plain(word)
        if low in _NO_SECOND or low.startswith("i'") or low == "i":
            break
        if low in {"and", "but", "then", "or"}:
            second = place + 1 + (plain(words[place + 1]) in _OFTEN)
            if _is_second_verb(words, place, second, at_once=at_once):
                written = re.sub(r"^[\w-]+", third_person(plain(words[second])), words[second], count=1)
                before = [_listed(words, n) for n in range(second)]
                return [*before, written, *coordinated(words[second + 1 :])]
    return words


def _listed(words: list[str], place: int) -> str:
    """A word in the third person if it is a verb in a list of verbs: "hike," of "watch films, hike, and have dinner"."""
    alone = place > 0 and words[place - 1].endswith(",") and words[place].endswith(",") and is_base(plain(words[place]))
    return re.sub(r"^[\w-]+", third_person(plain(words[place])), words[place], count=1) if alone else words[place]


def _is_second_verb(words: list[str], place: int, second: int, *, at_once: bool) -> bool:
    """Whether the word at `second`, after the conjunction at `place` and perhaps an adverb, is a second verb of the subject."""
    if second >= len(words) or words[second][:1].isupper():  # a name: "Node.js and Express"
        return False
    verb = plain(words[second])
    if not is_base(verb) or verb in STOP_WORDS - {"have", "go", "get", "keep", "take", "make"}:
        return False
    following = plain(words[second + 1]) if second + 1 < len(words) else ""
    often = second > place + 1
    return often or verb in _SURE_VERBS or (at_once and place == 0) or following in _SECOND_VERB_BEFORE


def _phrase(
    text: list[str], base: str, form: str, rest: list[str], *, helper: str = "", negated: bool = False
) -> VerbPhrase:
    negated = (
        negated
        or bool({"never", "hardly"} & {plain(word) for word in text})
        or [plain(w) for w in text[:2]] == ["no", "longer"]
    )
    return VerbPhrase(text=" ".join(text), base=base, form=form, rest=tuple(rest), helper=helper, negated=negated)
