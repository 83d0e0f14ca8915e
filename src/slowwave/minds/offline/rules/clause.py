"""Reads a clause that stands alone: what comes before its subject, the subject, the verb, the rest; and writes it in the third person.

"I'm learning the piano for my sister" becomes "Anna is learning the piano for Anna's sister".
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Final

from slowwave.minds.offline.rules.morphology import finite_base, is_base, past_base, third_base, third_person
from slowwave.minds.offline.rules.pronouns import UnclearError, in_third_person, inside, plain, possessive, tidy
from slowwave.minds.offline.rules.verb_phrase import VerbPhrase, verb_phrase
from slowwave.minds.offline.rules.words import (
    ADVERBS,
    JOBS,
    KIN,
    MODALS,
    NAMED_KIN,
    PERSON_WORDS,
    PLURAL_KIN,
    SOME_PEOPLE,
    TOGETHER,
)
from slowwave.policy.text import word_frequency
from slowwave.policy.text.names import word_set

_GROUPS: Final = r" (?:[\w-]+ )?(?:project|repo|codebase|team|company|office|shop|firm|lab|class|club|band|choir)\b(?! (?:is|are|was|has|have)\b)"
"""What a rule may be of: "on my project we use pnpm"."""
_LEAD: Final = re.compile(
    r"^(?P<lead>(?:Just |Only )?(?:(?:On|In|At|Since|After|Before|During|For|As|From|Over|Around|Until|Through|With|Every|Each|Last|Next|Two|Three|A|"
    r"When|While|Growing|Yesterday|Earlier|Tomorrow|Recently|Lately|Currently|Now|Today|Tonight|Nowadays|Right|These|Sometimes|Usually|"
    r"Originally|Once|By|Towards|This|Later|Besides|Outside|Back|Between|Because of|Thanks to)\b"
    rf"(?:(?!\b(?:I|we|you|your|(?:my|our)(?!{_GROUPS})|that|it|they|he|she|these|me|us)\b)[^,;:])*?),?)\s+(?=(?:I|we|(?:my|our)(?!{_GROUPS})|me and)\b)",
    re.IGNORECASE,
)
_IN_GROUP: Final = re.compile(rf"^(?:on|in|at) (?:my|our){_GROUPS},? (?=(?-i:[A-Z])(?!['’]|\b)\w+ )", re.IGNORECASE)
"""A group before one of its people: "on our team Ada does the testing"."""
_WHEN_LEAD: Final = re.compile(
    r"^(?P<lead>(?:When|While|Whenever|Once|After|Before|As soon as|Until|By the time|Ever since) (?:I|we(?! (?:are|were)\b)|my)\b"
    r"(?:(?!\b(?:you|your|that|it|they|he|she|these)\b)[^,;:])*,)\s+(?=(?:I|we|my|our|me and)\b)",
    re.IGNORECASE,
)
_OF_ALL: Final = re.compile(r"^our [^,]{2,30} (?:are|is) our\b", re.IGNORECASE)
"""Of people in general: "our children are our future"."""
_DETERMINERS: Final = word_set("the a an my our this each every")
_NO_LEAD: Final = word_set(
    "once when while after before until since as because whenever for with without of to from by about like in on at"
) | {"as soon as", "by the time", "ever since", "now that"}
"""Words that make a subordinate clause of what follows, or belong to it."""
_OPINION: Final = re.compile(
    r"^(?:in (?:my|our) (?:opinion|view|experience)|as (?:you|i)\b|with (?:that|this)\b|for (?:me|sure)\b|this (?:is|was|means)\b)",
    re.IGNORECASE,
)
_SUBJECT: Final = re.compile(
    rf"^(?P<both>(?:(?:me and )?my [a-z-]+(?: [A-Z]\w+)?|[A-Z]\w+|{SOME_PEOPLE}) and (?:I|me|myself)\b|(?:me and|I and) (?:my [a-z-]+|[A-Z]\w+|{SOME_PEOPLE}))"
    r"|^(?P<one>I)(?P<short>['’](?:m|ve|d|ll))?(?=\s)"
    r"|^(?P<we>we)(?P<wshort>['’](?:re|ve|d|ll))?(?=\s)"
    r"|^(?P<owner>my|our)(?=\s)",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"^(?P<name>[A-Z][\w'’-]*[\w](?:\s+(?:[A-Z]\.|[A-Z][\w'’-]+)){0,2}?)(?P<of>,? (?:(?:my|our) [\w\s-]{2,30}?,|who[^,]+,))?(?P<is>['’]s)?\s+(?P<after>.+)$"
)
_THE: Final = re.compile(r"^(?:the|a|an|each|every|this|new|rent|wifi|dinner|lunch|breakfast)\b", re.IGNORECASE)
_NOUN_LONGEST: Final = 10  # words of a subject
_LABEL_LONGEST: Final = 4  # words before a colon: "our new address: …"
_KIN_LONGEST: Final = 2  # words of kin without "my": "Grandma Rose"
_PLURAL_SHORT: Final = {"re": "are", "ve": "have", "ll": "will", "d": "would"}
_TO_ONE: Final = {"are": "am", "were": "was", "aren't": "ain't", "weren't": "wasn't", "re": "m"}
_FINITE: Final = MODALS | word_set(
    "is are was were has have had does do did isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't"
)
_CALLED: Final = word_set(
    "called named a an the in at from on not been got getting no now still also allergic coming moving off away due"
)
_OF_PEOPLE: Final = word_set(
    "owns leads manages lives teaches studies handles maintains leaves joins retires returns visits marries graduates prefers drives "
    "speaks dislikes hates volunteers eats"
)
_NO_NAME: Final = word_set(
    "the this that these those it he she they we you there here what who how when where why which one everyone "
    "everybody someone nobody my our your his her their its so all most many some any each both time life people "
    "hope glad thanks music art dance dancing nature family mental being having seeing taking running reading "
    "painting cooking working helping everything something nothing another just if as a an and but or now then "
    "today yesterday tomorrow please also even maybe well sure yes no not or can could would is are was do does did "
    "let lets let's get got im dont first next last after before since because while with without for from in on at by to of"
)
_GENERAL: Final = re.compile(
    r"(?:need(?! (?:an?|two|three|new|some|our|my|another) (?!(?:world|society|change|balance|break|way|plan|reminder|leader|reason|hero|day|place|moment|bit|little|lot|good|better)\b))|should|must|can|all|ought)\b|make an? (?:\w+ )?(?:team|pair|couple)\b"
    r"|.*\b(?:different|various|respective|separate|in common|alike|similar|as a (?:team|family|group|couple))\b"
)
"""Predicates of "we" that are of people in general, or of several only together."""
_ABSTRACT: Final = (
    "ery",
    "ing",
    "ism",
    "tion",
    "ness",
    "ology",
    "ity",
    "ics",
    "s",
)  # endings of nouns that are no names
_RELATIVE: Final = word_set("who which that where whose")
_STATES: Final = word_set("is are was were 's has have had")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause in the third person, with the parts that the rules check.

    Attributes:
        text: The whole clause.
        subject: "one" (the speaker), "both" (the speaker with a named other), "owned" (something of the speaker's),
            "named" (a person with a name), "thing" (anything else).
        about: The name of the subject.
        noun: The words of the subject as said; empty if it is the speaker. With "both", the others as the fact names them.
        verb: The base form of the main verb, "be" for any form of it.
        form: "present", "past", "perfect", "progressive", "modal" or "be".
        helper: The modal verb of the form "modal".
        rest: The words after the verb, as said.
        negated: Whether the verb is negated.
        lead: What comes before the subject, as said.
        plural: Whether the speaker said "we".
    """

    text: str
    subject: str
    about: str
    verb: str
    form: str
    rest: str
    noun: str = ""
    helper: str = ""
    negated: bool = False
    lead: str = ""
    plural: bool = False

    @property
    def of_person(self) -> bool:
        """Whether its subject is a person or animal other than the speaker."""
        nouns = [plain(w).removesuffix("'s") for w in self.noun.split()]
        return self.subject == "named" or (self.subject == "owned" and not PERSON_WORDS.isdisjoint(nouns))


def read_clause(piece: str, speaker: str, *, company: str = "", names: Collection[str] = ()) -> Clause | None:
    """The clause of a piece; None without a subject and a verb that the rules can read.

    Args:
        piece: A declarative piece.
        speaker: The name of the speaker, or "The user".
        company: Who "we" is besides the speaker, as a fact names them; empty if it is unknown. Then a clause with "we" is
            read as one about the speaker alone, if what it says of several holds for each of them.
        names: Names of people that the conversation has.

    >>> read_clause("I run every day and my dog loves it", "Melanie").text
    "Melanie runs every day and Melanie's dog loves it"
    """
    if _OPINION.match(piece):
        return None
    lead, body = "", _IN_GROUP.sub("", piece)
    if not _SUBJECT.match(body) and (opening := _WHEN_LEAD.match(piece) or _LEAD.match(piece)):
        lead, body = opening["lead"], piece[opening.end() :]
    if lead.lower() in _NO_LEAD:  # the main clause is missing: "once I have it", "for my garden"
        return None
    try:
        return _with_lead(lead, body, speaker, company, names)
    except UnclearError:
        return None


def _with_lead(lead: str, body: str, speaker: str, company: str, names: Collection[str]) -> Clause | None:
    called = inside(speaker) if lead else speaker
    match = _SUBJECT.match(body)
    if match is None:
        found = _of_other(body, called, names) or _of_thing(body, called)
    elif match["owner"]:
        if _OF_ALL.match(body):
            return None
        found = _of_possession(body[match.end() :].strip(), called)
    elif match["both"]:
        other = re.sub(r"(?i)^(?:me and|I and)\s+|^me and |\s+and (?:I|me|myself)$", "", match["both"])
        other = f"{other[:1].lower()}{other[1:]}" if other[1:2] in {" ", *ascii_lowercase} and " " in other else other
        found = _of_several(called, in_third_person(other, speaker), "", body[match.end() :], speaker)
    elif match["we"]:
        found = _of_we((match["wshort"] or "")[1:], body[match.end() :], called, company)
    else:
        found = _of_one((match["short"] or "")[1:], body[match.end() :], called)
    if found is None:
        return None
    text = tidy(f"{in_third_person(lead, speaker)} {found.text}".strip())
    return replace(found, text=text[:1].upper() + text[1:], lead=lead)


def _of_one(short: str, after: str, speaker: str) -> Clause | None:
    phrase = verb_phrase(short, after.strip())
    return _clause(phrase, speaker, "one", speaker) if phrase else None


def _clause(phrase: VerbPhrase, name: str, subject: str, about: str, *, plural: bool = False) -> Clause:
    rest = " ".join(phrase.rest)
    return Clause(
        text=f"{name} {phrase.text} {in_third_person(rest, about, company=False)}".strip(),
        subject=subject,
        about=about,
        verb=phrase.base,
        form=phrase.form,
        helper=phrase.helper,
        rest=rest,
        negated=phrase.negated,
        plural=plural,
    )


def _of_we(short: str, after: str, speaker: str, company: str) -> Clause | None:
    if company:
        return _of_several(speaker, company, short, after, speaker)
    words = after.split()
    single = verb_phrase(
        _as_one(short), " ".join(_TO_ONE.get(plain(words[0]), words[0]) if n == 0 else w for n, w in enumerate(words))
    )
    if (
        single is None
        or single.base in TOGETHER
        or _GENERAL.match(f"{single.base} {' '.join(single.rest)}")
        or re.search(r"\b(?:each other|together|both)\b|^\s*all\b", after)
    ):
        return None
    return _clause(single, speaker, "one", speaker, plural=True)


def _as_one(short: str) -> str:
    return _TO_ONE.get(short, short)


def _of_several(name: str, company: str, short: str, after: str, speaker: str) -> Clause | None:
    """A plural subject: the verb is unchanged, short forms are expanded."""
    words = after.split()
    if short:
        words = [_PLURAL_SHORT[short], *words]
    if not words:
        return None
    single = verb_phrase("", " ".join((_TO_ONE.get(plain(words[0]), words[0]), *words[1:])))
    if single is None:
        return None
    rest = words[len(words) - len(single.rest) :]
    text = f"{name} and {company} {in_third_person(' '.join(words), speaker, company=True)}"
    return Clause(
        text=text,
        subject="both",
        about=speaker,
        noun=company,
        verb=single.base,
        form=single.form,
        helper=single.helper,
        rest=" ".join(rest),
        negated=single.negated,
        plural=True,
    )


def _of_possession(body: str, speaker: str) -> Clause | None:
    """A clause that begins with "my" or "our"; a colon may stand for its verb ("our new address: 17 Hill Road")."""
    words = body.split()
    found = _verb_at(words, person=_is_person(words))
    if found is None:
        noun, colon, value = body.partition(": ")
        if not colon or not 0 < len(noun.split()) <= _LABEL_LONGEST or not value:
            return None
        text = f"{possessive(speaker)} {noun} is {in_third_person(value, speaker)}"
        return Clause(text=text, subject="owned", about=speaker, verb="be", form="be", rest=value, noun=noun)
    place, verb, form = found
    return _other_clause(words, place, verb, form, f"{possessive(speaker)} ", "owned", speaker)


def _is_person(words: list[str]) -> bool:
    head = [plain(word).removesuffix("'s") for word in words[:3]]
    return not PERSON_WORDS.isdisjoint(head)


def _of_other(body: str, speaker: str, names: Collection[str]) -> Clause | None:
    """A clause about a person with a name ("Odile, my aunt, owns the ferry") or about kin ("Mum lives in Truro")."""
    words = body.split()
    kin = plain(words[0]) if words else ""
    if kin in NAMED_KIN and (found := _verb_at(words, person=True)) and found[0] <= _KIN_LONGEST:
        words[0] = kin
        return _other_clause(words, *found, f"{possessive(speaker)} ", "owned", speaker)
    match = _NAMED.match(body)
    if (
        match is None
        or match["name"].split()[0].lower() in _NO_NAME
        or not re.sub(r"[ .'’-]", "", match["name"]).isalpha()
    ):
        return None
    first = match["name"].split()[0]
    kinship = match["of"] or ""
    after = [("is" if match["is"] else ""), *match["after"].split()] if match["is"] else match["after"].split()
    if match["is"] and plain(after[1]) not in _CALLED and not past_base(plain(after[1])):
        return None
    found = _verb_at(["", *after], person=True, at_once=True)
    if found is None or not (kinship or first in names or _is_rare_name(first, after, found)):
        return None
    head = f"{match['name']}{in_third_person(kinship, speaker) if kinship else ''}"
    return _other_clause([head, *after], *found, "", "named", speaker, about=match["name"])


def _is_rare_name(first: str, after: list[str], found: tuple[int, str, str]) -> bool:
    """Whether a word at the start of a sentence is a name although the conversation has it nowhere else.

    It is one before a verb that only people do, before "is my brother", "is allergic" and "turns 5", and if English has no such word.
    """
    place, base, form = found
    verb, following = plain(after[place - 1]), [plain(word) for word in after[place : place + 4]]
    if (
        verb in _OF_PEOPLE
        or (verb in {"does", "doesn't"} and third_person(base) in _OF_PEOPLE)
        or (base == "be" and following[:1] in (["my"], ["our"]) and not (PERSON_WORDS | JOBS).isdisjoint(following))
        or (base == "be" and following[:1] in (["allergic"], ["pregnant"], ["diabetic"]))
        or (verb == "turns" and "".join(following[:1]).isdigit())
    ):
        return True
    return (
        form == "present"
        and verb.endswith("s")
        and not first.endswith(_ABSTRACT)
        and first.lower() not in word_frequency.probabilities()
    )


def _of_thing(body: str, speaker: str) -> Clause | None:
    """An impersonal clause: "The deposit was 400 euros"."""
    words = body.split()
    if not words or plain(words[0]) in _NO_NAME - {"the", "this", "a", "an", "each"} or not _THE.match(body):
        return None
    found = _verb_at(words, person=False)
    return _other_clause(words, *found, "", "thing", speaker) if found else None


def _other_clause(
    words: list[str], place: int, verb: str, form: str, owner: str, subject: str, speaker: str, *, about: str = ""
) -> Clause:
    noun, rest = " ".join(words[:place]), " ".join(words[place + 1 :])
    low = plain(words[place])
    after = [plain(word) for word in words[place + 1 : place + 3]]
    stated_noun = noun if subject == "named" else in_third_person(noun, speaker)
    return Clause(
        text=f"{owner}{stated_noun} {words[place]} {in_third_person(rest, speaker)}".strip(),
        subject=subject,
        about=about or (speaker if subject == "owned" else re.sub(r"^(?:the|an?)\s", "", noun, flags=re.IGNORECASE)),
        verb=verb,
        form=form,
        rest=rest,
        noun=noun,
        helper=low if low in MODALS else "",
        negated=low.endswith("n't") or bool({"not", "never"} & set(after)),
    )


def _verb_at(words: list[str], *, person: bool, at_once: bool = False) -> tuple[int, str, str] | None:
    """The place of the finite verb after a noun, its base and its form; None if there is none near.

    Args:
        words: The words from the noun on.
        person: Whether the noun is a person: then any verb counts, else a helper or a verb that is seldom a noun.
        at_once: Whether the verb must follow the first word, adverbs aside.
    """
    last = ""
    for place in range(1, min(len(words), _NOUN_LONGEST)):
        low = plain(words[place])
        before = plain(words[place - 1])
        following = plain(words[place + 1]) if place + 1 < len(words) else ""
        if low in _RELATIVE:
            return None
        if low in _FINITE:
            denied = following == "not" and place + 2 < len(words)
            return (place, *_helper_form(low, plain(words[place + 2]) if denied else following))
        if before in _DETERMINERS:  # "the pairs": a noun
            continue
        named = person and place > 1 and words[place - 1][:1].isupper() and plain(words[place - 2]) in PERSON_WORDS
        base, form = _finite(
            low, person=person, before="" if named else before, plural=before in PLURAL_KIN or last in PLURAL_KIN
        )
        if base:
            return place, base, form
        if at_once and low not in ADVERBS:
            return None
        last = low if low.isalpha() else last
    return None


def _finite(low: str, *, person: bool, before: str, plural: bool) -> tuple[str, str]:
    base, form = finite_base(low)
    if base:
        return base, form
    if person and (before in KIN or not before or before in ADVERBS) and (again := third_base(low)):
        return again, "present"  # "plays" is often a noun, but not right after a person
    if person and not before and (again := past_base(low)):
        return again, "past"
    return (low, "present") if plural and is_base(low) else ("", "")


def _helper_form(low: str, following: str) -> tuple[str, str]:
    """The base and form of a verb that begins with a helper."""
    if low in {"is", "are", "isn't", "aren't"}:
        return ("be", "progressive") if following.endswith("ing") else ("be", "be")
    if low in {"was", "were", "wasn't", "weren't"}:
        return "be", "past"
    if low in {"has", "have", "hasn't", "haven't", "had", "hadn't"}:
        participle = past_base(following) or following in {"been", "gone", "taken", "given", "done"}
        return ("have", "present") if not participle else (past_base(following) or "be", "perfect")
    if low in {"do", "does", "did", "don't", "doesn't", "didn't"}:
        return (following if is_base(following) else "do"), "past" if low.startswith("did") else "present"
    return (following if is_base(following) else "do"), "modal"
