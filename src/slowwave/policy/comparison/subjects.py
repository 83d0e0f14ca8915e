"""Who a fact is about: the user, I, Matteo and Matteo Rossi are one subject once that has been said."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from slowwave.policy.text.clauses import prose, sentences
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words

_FIRST_PERSON: Final = frozenset({"i", "me", "my", "mine", "myself"})
_ARTICLE: Final = lazy_regex(r"^(?:the|this|that|a|an)\s+(?=\S)")
_NAME: Final = r"(?P<name>[A-Z][^\W\d_]*(?:['’-][^\W\d_]+)*(?:\s+(?:(?:de|da|di|van|von|del|al|bin|la|le)\s+)?[A-Z][^\W\d_]*(?:['’-][^\W\d_]+)*){0,2})"
_ENDS: Final = r"(?=\s*(?:[,.!;:)–—-]|$|and\b|but\b|from\b|by the way\b|here\b|I\b))"
_SAYS_NAME: Final = tuple(
    lazy_regex(pattern)
    for pattern in (
        rf"(?:^|(?<=[\s,;:–—-]))[Mm]y (?:full |first |real )?name(?: is|['’]s) {_NAME}",
        rf"(?:^|(?<=[\s,;:–—-]))(?:[Pp]lease |just |[Yy]ou can |friends |people |everyone |everybody ){{0,3}}[Cc]alls? me {_NAME}{_ENDS}",
        rf"(?:^|(?<=[\s,;:–—-]))I go by {_NAME}{_ENDS}",
        rf"^(?:(?:[Hh]i|[Hh]ello|[Hh]ey)\b[^.!?]{{0,20}}?[,!–—-]?\s*)?(?:I['’]m|I am) {_NAME}{_ENDS}",
    )
)
_UNSURE: Final = lazy_regex(
    r"\b(?:if|unless|not|never|don['’]?t|wish|imagine|pretend|say|says|said|suppose|would|as if)\b", re.IGNORECASE
)
_QUOTED: Final = lazy_regex(r"[\"“«][^\"”»]*[\"”»]")
# What may follow "I'm" or "call me" with a capital and is no name.
NOT_NAMES: Final = table_words("capitalised_non_names")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """One more name for a subject; both as `key` writes them."""

    name: str
    subject: str
    because: str


def key(subject: str) -> str:
    """Write a subject the one way it is compared: lower case, single spaces, no article and no closing punctuation.

    >>> key("  The  User ")
    'user'
    """
    folded = " ".join(subject.casefold().replace("’", "'").split()).strip(" .,;:!?\"'")
    return _ARTICLE.sub("", folded)


def canonical(subject: str, aliases: Mapping[str, str], *, speaker: str | None = None) -> str:
    """Give the one key that stands for a subject.

    Args:
        subject: A subject as written.
        aliases: Name to subject, both as `key` writes them; a name that maps to itself is ambiguous and stays.
        speaker: Who says "I"; without one, first-person words stay as they are.

    Returns:
        The key at the end of the chain of aliases.
    """
    found = key(subject)
    if speaker is not None and found in _FIRST_PERSON:
        found = key(speaker)
    seen = {found}
    while (following := aliases.get(found, found)) not in seen:
        seen.add(following)
        found = following
    return found


def one_subject(new: str | None, old: str | None) -> tuple[str, ...]:
    """The names that two facts may call their one subject by; none where the subjects differ or are not known."""
    if not new or not old or key(new) != key(old):
        return ()
    return tuple(dict.fromkeys((new, old, *(("the user", "user") if key(new) == "user" else ()))))


def names_of(subject: str, aliases: Mapping[str, str]) -> frozenset[str]:
    """List every known name of a subject, its own key included."""
    one = canonical(subject, aliases)
    return frozenset({one} | {name for name in aliases if canonical(name, aliases) == one})


def learned(known: Mapping[str, str], found: Iterable[Alias]) -> dict[str, str]:
    """Add aliases to those known; returns a new mapping.

    A name claimed by two subjects becomes ambiguous: it maps to itself and is never merged again. A cycle adds nothing.
    """
    aliases = dict(known)
    for alias in found:
        subject = canonical(alias.subject, aliases)
        if canonical(alias.name, aliases) == subject:
            continue
        aliases[alias.name] = alias.name if alias.name in aliases else subject
    return aliases


def aliases_from(text: str, speaker: str) -> tuple[Alias, ...]:
    """Learn names from what a speaker says of themselves: "my name is …", "call me …", "I go by …", "I'm …".

    Conservative: questions, conditions, denials and quotations teach nothing, nor does "I'm" with a word that is no name.

    Args:
        text: What the speaker said, as written (capitals carry the evidence).
        speaker: The speaker as the store knows them ("user", "Matteo").

    Returns:
        The full name and, of a name of several words, the first one.
    """
    found: dict[str, Alias] = {}
    for sentence in sentences(prose(text)):
        plain = _QUOTED.sub(" ", sentence)
        if plain.rstrip().endswith("?"):
            continue
        for pattern in _SAYS_NAME:
            for match in pattern.finditer(plain):
                if _UNSURE.search(plain[: match.end()]):
                    continue
                _add_names(found, match["name"], key(speaker), sentence)
    return tuple(found.values())


def _add_names(found: dict[str, Alias], name: str, subject: str, sentence: str) -> None:
    words = name.split()
    if any(key(word) in NOT_NAMES for word in words):
        return
    for one in dict.fromkeys((key(name), key(words[0]))):
        if one != subject:
            found.setdefault(one, Alias(name=one, subject=subject, because=f"They said: “{sentence.strip()}”"))


def first_names(people: Iterable[str]) -> tuple[Alias, ...]:
    """Learn which first name stands for which full name, where exactly one known person bears it.

    Args:
        people: Names of people, speakers for instance; of other subjects a first word says nothing.
    """
    known = sorted({key(person) for person in people})
    full = [name for name in known if " " in name]
    found = []
    for name in known:
        bearers = [other for other in full if other.split()[0] == name]
        if len(bearers) == 1:
            found.append(
                Alias(name=name, subject=bearers[0], because=f"{name} is the first name of {bearers[0]} alone")
            )
    return tuple(found)
