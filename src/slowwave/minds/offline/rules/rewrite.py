"""Rewrites statements in the third person.

"I'm learning the piano for my sister" becomes "Anna is learning the piano for their sister".
"""

import re
from dataclasses import dataclass
from typing import Final

from slowwave.minds.offline.rules.verbs import ADVERBS, BASES, LEMMAS, MODALS, PARTICIPLES, PASTS, singular
from slowwave.policy.text.names import word_set

_LEAD: Final = re.compile(
    r"^(?P<lead>(?:(?:On|In|At|Since|After|Before|During|For|As|From|Over|Around|Until|Through|With|Every|Each|Last|Next|Two|Three|A|"
    r"When|While|Growing|Yesterday|Earlier|Around|Recently|Lately|Currently|Now|Today|Nowadays|Right|These|Sometimes|Usually|Originally|Once|By|Towards)\b"
    r"(?:(?!\b(?:I|we|you|your|my|our|that|this|it|they|he|she|these|me|us)\b)[^,;:])*?),?)\s+(?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
_OPINION: Final = re.compile(
    r"^(?:in (?:my|our) (?:opinion|view|experience)|as (?:you|i)\b|with (?:that|this)\b|for (?:me|sure)\b)",
    re.IGNORECASE,
)
_SUBJECT: Final = re.compile(
    r"^(?P<both>(?:(?:me and )?my [a-z-]+(?: [A-Z]\w+)?|[A-Z]\w+) and (?:I|me|myself)\b|(?:me and|I and) (?:my [a-z-]+|[A-Z]\w+))"
    r"|^(?P<one>I)(?P<short>['’](?:m|ve|d|ll))?(?=\s)"
    r"|^(?P<we>we)(?P<wshort>['’](?:re|ve|d|ll))?(?=\s)"
    r"|^(?P<owner>my|our)(?=\s)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\s]+")
_SHORT: Final = {"m": "is", "ve": "has", "ll": "will"}
_PLURAL_SHORT: Final = {"re": "are", "ve": "have", "ll": "will"}
_SLANG: Final = {"wanna": "want", "gotta": "have"}
_NEGATED: Final = {
    "don't": "doesn't",
    "do": "does",
    "haven't": "hasn't",
    "am": "is",
    "have": "has",
    "ain't": "isn't",
}
_OF_ONE: Final = {"are": "am", "were": "was", "aren't": "ain't", "weren't": "wasn't"}
_BEING: Final = frozenset({"is", "was", "isn't", "wasn't"})
_HAVING: Final = frozenset({"has", "had", "hasn't", "hadn't"})
_AUXILIARIES: Final = MODALS | {"am", "have", "was", "had", "haven't", "hadn't", "wasn't", "ain't"}
_DOING: Final = frozenset({"do", "don't", "did", "didn't"})
_PAST_OF_ITSELF: Final = frozenset({"set", "cut", "put", "quit", "read", "hit", "spread", "split"})
_PARTICIPLE_OF_ITSELF: Final = _PAST_OF_ITSELF | {"become", "come", "run"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement in the third person, with the parts that the rules check.

    Args:
        text: The whole sentence.
        subject: "one" (the speaker), "we" (the speaker and others), "owned" (something of the speaker's).
        verb: The main verb's base form ("be" for any form of it; empty if the subject is "owned").
        form: "present", "past", "perfect", "progressive", "modal" or "be".
        rest: The original words after the verb.
        owned: For "owned": the original words after my or our.
        negated: Whether the main verb is negated.
    """

    text: str
    subject: str
    verb: str = ""
    form: str = ""
    rest: str = ""
    owned: str = ""
    negated: bool = False


def third_person(piece: str, speaker: str) -> Statement | None:
    """The statement of a piece in the third person; None without a subject in the first person that the rules can read.

    Args:
        piece: A declarative piece that begins with its subject, or with an adverbial before it.
        speaker: The name of the speaker, or "The user".

    >>> third_person("I run every day and my dog loves it", "Melanie").text
    'Melanie runs every day and their dog loves it'
    """
    lead, body = "", piece
    if _OPINION.match(piece):
        return None
    if not _SUBJECT.match(body) and (opening := _LEAD.match(piece)):
        lead, body = opening["lead"], piece[opening.end() :]
    match = _SUBJECT.match(body)
    if match is None:
        return None
    called = speaker if not lead else speaker[:1].lower() + speaker[1:] if speaker.startswith("The ") else speaker
    found = _statement(match, body[match.end() :].lstrip(), called)
    if found is None:
        return None
    text = f"{others(lead)} {found.text}".strip()
    return Statement(
        text=text[:1].upper() + text[1:],
        subject=found.subject,
        verb=found.verb,
        form=found.form,
        rest=found.rest,
        owned=found.owned,
        negated=found.negated,
    )


def others(text: str) -> str:
    """The text with they for the pronouns of the first person, and with matching verbs.

    >>> others("because I'm sure my friends love me")
    "because they're sure their friends love them"
    """
    for pattern, replacement in _PRONOUNS:
        text = pattern.sub(replacement, text)
    return text


def _rule(pattern: str, replacement: str) -> tuple[re.Pattern[str], str]:
    return re.compile(pattern), replacement


_PRONOUNS: Final = (
    _rule(r"\b[Ii] am\b|\bI['’]m\b", "they're"),
    _rule(r"\bI was\b", "they were"),
    _rule(r"\bI wasn['’]t\b", "they weren't"),
    _rule(r"\b(?:and|&) I\b(?=\s*(?:$|[.,;!]))", "and them"),
    _rule(r"\bI\b(?=['’]|\s|$)", "they"),
    _rule(r"\b[Mm]yself\b", "themselves"),
    _rule(r"\b[Oo]urselves\b", "themselves"),
    _rule(r"\b(?:[Mm]y|[Oo]ur)\b", "their"),
    _rule(r"\b(?:[Mm]ine|[Oo]urs)\b", "theirs"),
    _rule(r"\b(?:me|us)\b(?!-)", "them"),
    _rule(r"\b[Ww]e\b", "they"),
)


def _statement(match: re.Match[str], after: str, speaker: str) -> Statement | None:
    if match["owner"]:
        return Statement(text=f"{possessive(speaker)} {others(after)}", subject="owned", owned=after)
    if match["both"]:
        other = re.sub(r"(?i)^(?:me and|I and)\s+|^me and |\s+and (?:I|me|myself)$", "", match["both"])
        return _plural(f"{speaker} and {others(other)}", "", after)
    if match["we"]:
        return _plural(f"{speaker} and others", (match["wshort"] or "")[1:], after)
    return _singular(speaker, (match["short"] or "")[1:], after)


def possessive(name: str) -> str:
    """The possessive form of a name.

    >>> possessive("James")
    "James's"
    """
    return f"{name}'s"


def _singular(speaker: str, short: str, after: str) -> Statement | None:
    """The statement after "I", with its verb in the third person."""
    adverbs, words = _adverbs(after.split())
    if not words:
        return None
    head = words[0].lower().replace("’", "'")
    if short:
        had = _is_participle(words) or head == "better"
        return _with_auxiliary(speaker, _SHORT.get(short) or ("had" if had else "would"), [], [*adverbs, *words])
    if head in _AUXILIARIES:
        return _with_auxiliary(speaker, _NEGATED.get(head, head), adverbs, words[1:], full_verb=head)
    if head in _DOING and len(words) > 1:
        return _with_do(speaker, adverbs, words)
    return _plain(speaker, adverbs, head, words[1:])


def _plain(speaker: str, adverbs: list[str], head: str, rest: list[str]) -> Statement | None:
    """A verb without an auxiliary, in the present or the past, or slang for one."""
    if head in _SLANG:
        return _build(speaker, adverbs, singular(_SLANG[head]), ["to", *rest], _SLANG[head], "present")
    if head in PASTS and (head not in BASES or head in _PAST_OF_ITSELF):
        return _build(speaker, adverbs, head, rest, LEMMAS[head], "past")
    if head in BASES:
        return _build(speaker, adverbs, singular(head), _coordinated(rest), head, "present")
    return None


def _with_do(speaker: str, adverbs: list[str], words: list[str]) -> Statement | None:
    """A verb with do or did: "I don't eat", "I did not go"; without another verb "did" is the main verb."""
    head = words[0].lower().replace("’", "'")
    denied = words[1].lower() == "not"
    place = 2 if denied else 1
    verb = words[place].lower() if len(words) > place else ""
    if verb not in BASES:
        return _plain(speaker, adverbs, head, words[1:])
    verb_phrase = " ".join((_NEGATED.get(head, head), *words[1:place], verb))
    form = "past" if head.startswith("did") else "present"
    return _build(speaker, adverbs, verb_phrase, words[place + 1 :], verb, form, negated=denied or head.endswith("n't"))


def _is_participle(words: list[str]) -> bool:
    _, rest = _adverbs(words)
    return bool(rest) and rest[0].lower() in PARTICIPLES - BASES


def _coordinated(words: list[str]) -> list[str]:
    """The words with a second verb after "and" in the third person ("I run and paint"), unless it may be an infinitive."""
    for place, word in enumerate(words[:-1]):
        if word.lower() in {"to", "can", "will", "let", "help", "make", "me", "they", "who"}:
            break
        if word == "and" and words[place + 1].lower() in _SURE_VERBS:
            return [*words[: place + 1], singular(words[place + 1].lower()), *words[place + 2 :]]
    return words


_SURE_VERBS: Final = word_set("have want enjoy prefer try believe know think make take go get keep find feel write")


def _adverbs(words: list[str]) -> tuple[list[str], list[str]]:
    if [w.lower() for w in words[:2]] == ["no", "longer"]:
        return words[:2], words[2:]
    cut = next((i for i, w in enumerate(words) if w.lower().strip(",") not in ADVERBS), len(words))
    return words[:cut], words[cut:]


def _with_auxiliary(
    speaker: str, helper: str, adverbs: list[str], words: list[str], *, full_verb: str = ""
) -> Statement | None:
    """A verb with an auxiliary: is, was, has, had, will, would and the other modals."""
    more, rest = _adverbs(words)
    if rest and rest[0].lower() == "not":
        again, after = _adverbs(rest[1:])
        more, rest = [*more, "not", *again], after
    if not rest:
        return None
    negated = helper.endswith("n't") or bool({"never", "not"} & {w.lower() for w in (*adverbs, *more)})
    lead = " ".join((*adverbs, helper, *more))
    if helper in _BEING:
        return _being(speaker, lead, rest, past=helper.startswith("was"), negated=negated)
    if helper in _HAVING:
        return _having(speaker, lead, rest, full_verb=full_verb, past=helper.startswith("had"), negated=negated)
    verb = rest[0].lower()
    if verb not in BASES | {"be"}:
        return None
    return _build(speaker, [], f"{lead} {rest[0]}", rest[1:], verb, "modal", negated=negated)


def _being(speaker: str, lead: str, rest: list[str], *, past: bool, negated: bool) -> Statement:
    head = rest[0].lower()
    if head == "gonna":
        return _build(speaker, [], f"{lead} going", ["to", *rest[1:]], "go", "progressive", negated=negated)
    if head.endswith("ing"):
        verb = f"{lead} {rest[0]}"
        return _build(speaker, [], verb, _coordinated(rest[1:]), _of_ing(head), "progressive", negated=negated)
    return _build(speaker, [], lead, rest, "be", "past" if past else "be", negated=negated)


def _having(speaker: str, lead: str, rest: list[str], *, full_verb: str, past: bool, negated: bool) -> Statement | None:
    """A verb with has or had: has been going, has been, has gone, has got, has. `full_verb` is the verb if it was not shortened."""
    head, following = rest[0].lower(), rest[1].lower() if len(rest) > 1 else ""
    if head == "been" and following.endswith("ing"):
        verb = f"{lead} been {rest[1]}"
        return _build(speaker, [], verb, _coordinated(rest[2:]), _of_ing(following), "progressive", negated=negated)
    if head == "been" and following:
        return _build(speaker, [], f"{lead} been", rest[1:], "be", "perfect", negated=negated)
    if head == "got":
        return _build(speaker, [], f"{lead} got", rest[1:], "have", "present", negated=negated)
    if head in PARTICIPLES and (not full_verb or head not in BASES or head in _PARTICIPLE_OF_ITSELF):
        return _build(
            speaker, [], f"{lead} {rest[0]}", _coordinated(rest[1:]), LEMMAS.get(head, head), "perfect", negated=negated
        )
    if full_verb:
        return _build(speaker, [], lead, rest, "have", "past" if past else "present", negated=negated)
    return None


def _of_ing(word: str) -> str:
    """The base of an -ing form; the word itself if it is unknown."""
    cut = word.removesuffix("ing")
    for base in (cut, f"{cut}e", cut[:-1] if cut[-2:-1] == cut[-1:] else cut, "die" if word == "dying" else cut):
        if base in BASES:
            return base
    return word


def _build(
    name: str, adverbs: list[str], verb: str, rest: list[str], base: str, form: str, *, negated: bool = False
) -> Statement:
    rest_text = " ".join(rest)
    negated = negated or "never" in [w.lower() for w in adverbs]
    text = " ".join((name, *adverbs, verb, others(rest_text))).strip()
    return Statement(text=text, subject="one", verb=base, form=form, rest=rest_text, negated=negated)


def _plural(name: str, short: str, after: str) -> Statement | None:
    """A plural subject: the verb is unchanged, short forms are expanded."""
    words = after.split()
    if short == "d" or (short and not words):
        return None
    if short:
        words = [_PLURAL_SHORT[short], *words]
    as_one = _singular(name, "", " ".join(_OF_ONE.get(word, word) for word in words))
    if as_one is None:
        return None
    text = f"{name} {others(' '.join(words))}"
    rest = " ".join(words[len(words) - len(as_one.rest.split()) :])
    return Statement(text=text, subject="we", verb=as_one.verb, form=as_one.form, rest=rest, negated=as_one.negated)
