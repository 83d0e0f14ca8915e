"""Resolves the subject of a fact: "the user", "I", "Matteo" and "Matteo Rossi" are one subject once a text says so."""

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
NOT_NAMES: Final = table_words("capitalised_non_names")
"""Words that may have a capital after "I'm" or "call me" but are no names: months, nationalities, roles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """Another name of a subject; both are keys (see `key`)."""

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
    """The key of a subject after all aliases are resolved.

    Args:
        subject: A subject as written.
        aliases: Name -> subject, both as keys. A name that maps to itself is ambiguous and is not resolved.
        speaker: The subject of first-person words; without it they stay as they are.

    Returns:
        The key at the end of the chain of aliases.
    """
    resolved = key(subject)
    if speaker is not None and resolved in _FIRST_PERSON:
        resolved = key(speaker)
    seen = {resolved}
    while (following := aliases.get(resolved, resolved)) not in seen:
        seen.add(following)
        resolved = following
    return resolved


def one_subject(new: str | None, old: str | None) -> tuple[str, ...]:
    """The names of the common subject of two facts; empty if their subjects differ or are unknown."""
    if not new or not old or key(new) != key(old):
        return ()
    return tuple(dict.fromkeys((new, old, *(("the user", "user") if key(new) == "user" else ()))))


def names_of(subject: str, aliases: Mapping[str, str]) -> frozenset[str]:
    """Every known name of a subject, including its key."""
    resolved = canonical(subject, aliases)
    return frozenset({resolved} | {name for name in aliases if canonical(name, aliases) == resolved})


def learned(known: Mapping[str, str], new: Iterable[Alias]) -> dict[str, str]:
    """The known aliases with new ones added.

    A name that two subjects claim becomes ambiguous: it maps to itself and is not resolved any more. An alias that would close
    a cycle is ignored.
    """
    aliases = dict(known)
    for alias in new:
        subject = canonical(alias.subject, aliases)
        if canonical(alias.name, aliases) == subject:
            continue
        aliases[alias.name] = alias.name if alias.name in aliases else subject
    return aliases


def aliases_from(text: str, speaker: str) -> tuple[Alias, ...]:
    """The names that speakers give themselves: "my name is …", "call me …", "I go by …", "I'm …".

    Questions, conditions, negations and quotations are ignored, and "I'm" before a word that is no name.

    Args:
        text: A message of the speaker, with its capitals, by which names are recognised.
        speaker: The name of the speaker in the store ("user", "Matteo").

    Returns:
        The full name and, for a name of several words, the first word.
    """
    aliases: dict[str, Alias] = {}
    for sentence in sentences(prose(text)):
        plain = _QUOTED.sub(" ", sentence)
        if plain.rstrip().endswith("?"):
            continue
        for pattern in _SAYS_NAME:
            for match in pattern.finditer(plain):
                if _UNSURE.search(plain[: match.end()]):
                    continue
                _add_names(aliases, match["name"], key(speaker), sentence)
    return tuple(aliases.values())


def _add_names(aliases: dict[str, Alias], name: str, subject: str, sentence: str) -> None:
    words = name.split()
    if any(key(word) in NOT_NAMES for word in words):
        return
    for alias in dict.fromkeys((key(name), key(words[0]))):
        if alias != subject:
            aliases.setdefault(alias, Alias(name=alias, subject=subject, because=f"They said: “{sentence.strip()}”"))


def first_names(people: Iterable[str]) -> tuple[Alias, ...]:
    """Aliases from first names to full names, for first names that exactly one known person has.

    Args:
        people: Names of people, such as speakers. For other subjects the first word is no name of its own.
    """
    known = sorted({key(person) for person in people})
    full = [name for name in known if " " in name]
    aliases = []
    for name in known:
        bearers = [other for other in full if other.split()[0] == name]
        if len(bearers) == 1:
            aliases.append(
                Alias(name=name, subject=bearers[0], because=f"{name} is the first name of {bearers[0]} alone")
            )
    return tuple(aliases)
