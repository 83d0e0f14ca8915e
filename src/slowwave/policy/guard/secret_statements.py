"""Finds secrets that a text names: "my password is …", "Passwort: …", "PIN 4821", "api_key=…", in about thirty languages.

The names, verbs and words that are no value of a secret are tables in `policy/data/secret_words.json`. A language is added
by its words there. After each name a limited number of characters is read, so the time is in proportion to the length.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from slowwave.policy.guard.secret_words import choice, choice_of, lines_of, word_set, words_of
from slowwave.policy.text.lazy_regex import lazy_regex

PASSWORD, CODE, KEY, SHORT = "passwords", "codes", "keys", "short_passwords"
RECOVERY, IDENTITY = "recovery_codes", "identities"
"""The tables of names. A password may be a plain word, a code is digits, a key has letters and digits, recovery codes are a
list, a number of identity has capital letters and at least five digits. A short name has other meanings ("pass"), and is one of a password only beside the name of an account."""

_READ: Final = 240
"""Characters after a name in which its value is looked for."""
_BEFORE: Final = 100
"""Characters before a name in which its value is looked for ("hunter2x is my password")."""
_WORD: Final = lazy_regex(r"[^\W_]+")
_QUOTES: Final = "\"'`„“”«»‘’‹›「」『』"
_QUOTED: Final = rf"[{_QUOTES}]([^{_QUOTES}\n]{{4,80}})[{_QUOTES}]"
_TOKEN: Final = rf"[^\s{_QUOTES},;()<>\[\]{{}}]{{3,100}}"
_GAP: Final = r"((?:\s{1,3}[^\s.:;,!?=]{1,20}){0,4}?)"
_FAR_GAP: Final = r"((?:\s{1,3}[^\s.:;,!?=]{1,20}){0,8}?)"
"""Words that say what a secret is for: "the password for the laptop in the living room is …"."""
_LABEL: Final = lazy_regex(
    rf"[{_QUOTES}*)]{{0,3}}(?:\s{{0,2}}\([^()\n]{{1,30}}\))?{_FAR_GAP}\s{{0,3}}(?::=|=>|->|→|>>|[:=：＝—–~]|-(?=\s))[*_~]{{0,3}}\s{{0,4}}(?:```\w{{0,10}}\s{{1,2}})?"
)
_FAR_LABEL: Final = lazy_regex(r"((?:\s{1,3}[^\s.:;,!?=]{1,20}){5,10}?)\s{0,3}[:=：]\s{1,3}")
_ANSWER: Final = lazy_regex(
    r"[^\n.!?]{0,60}(?:[?？][\s\"”»]{0,4}(?:[^\W\d_]{1,20}:\s{1,2})?(?:[—–-]\s)?|[,;–—-]\s(?=\w{1,10}'?\w?\s))"
    r"(?:(?:now|jetzt|nun|maintenant|ahora|agora|adesso|ora|nu|nå|teraz|teď|acum|теперь|тепер)\s)?(?:(?:it'?s|it is|is|ist|est|that'?s|es ist|das ist|c'est|es|è|é|het is|det är|det er|to jest|to|je|это|это был)\s{1,2})?",
    re.IGNORECASE,
)
"""An answer after a question for a secret: "What's the wifi password? It's Sonne123"."""
_FLAG: Final = lazy_regex(r"\s(?=[^\s-])(?![A-Za-z_]{2,20}=)")
_KEY_FLAG: Final = lazy_regex(r"\s(?=[A-Za-z0-9+/_=]{32}[A-Za-z0-9+/_=]{0,500}+(?![\w-]))")
_UNSPACED_VERB: Final = lazy_regex(
    rf"(\s?[^\s:：=、。,.!?]{{2,10}}\s?)?\s?(?:(?:[는은이가를을]|(?:现在|現在|已)?(?:的?[是为為]|[改换換设設](?:成|为|為)?了?)|[はがを]|คือ|เป็น|[:=：＝])[\s：:]{{0,2}}|\s)[{_QUOTES}]?"
)
_VERB_LAST: Final = lazy_regex(
    r"\s{1,3}([!-~]{4,60})\s{1,3}(?:है|हैं|था|थी|हैः|ہے|है।)(?![^\W_])"  # Hindi, Urdu: the value in Latin letters
    r"|\s{1,3}([^\s.,;:!?'’]{4,60})(?:['’]?(?:d[ıiuü]r|t[ıiuü]r)|\s(?:yapt[ıi][mk]|koydum|olarak))(?![^\W_])"  # Turkish: the verb is a suffix
)
_POSSESSIVE: Final = lazy_regex(r".*(?:[ıiuü]m|m[ıiuü]z|rem|lam)", re.IGNORECASE)
_WITHOUT_VERB: Final = lazy_regex(r"\s{1,3}([^\s.,;:!?'’]{4,60})(?=\s{0,2}(?:[.,;!\n]|$))")
_TURKISH_VERB: Final = lazy_regex(
    r".*(?:[dt][ıiuü](?:m|k|n|lar|ler)?|yor(?:um|uz)?|m[ıiuü]ş(?:t[ıi])?|[ae]ca[kğ]\w{0,4}|m[ae]l[ıi]y?\w{0,3}|m[ae]z|[ae]r|[ıiuü]r)"
)
_TURKISH: Final = ("şifre", "parola")
_CZECH: Final = "hesl"
"""In Czech and Slovak "a" is the word "and"; in many languages "a" is an article or a preposition."""
_ROMANIAN: Final = lazy_regex(
    r"parola(?=\s(?:este|de|mea|ta|lui|noastră|nouă|veche|pentru|contului|wifi|wi-fi)[\s:]|\s[^\W\d_]{3,15}(?:ului|ei|lor)[\s:])",
    re.IGNORECASE,
)
"""The Romanian word for password before a Romanian word; in Italian it means word."""
_PATH: Final = "パス"
"""A short form of the Japanese word for password, which also means path."""
_POLISH: Final = ("hasł", "hasl")
_POLISH_VERB: Final = lazy_regex(rf"{_FAR_GAP}\s{{1,3}}to\s{{1,3}}")
"""In Polish "to" is the verb "is"; in English the word before a receiver ("I gave the password to Anna")."""
_ASCII_VALUE: Final = lazy_regex(r"[!-~]{4,60}")
_HAS_UNSPACED: Final = lazy_regex(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_DIGITS: Final = lazy_regex(r"[0-9](?:[ -]?[0-9]){3,7}(?![\w-])(?![.,:/][0-9])")
_QUANTITY: Final = re.compile(
    r"[0-9]+(?:[-–].*[a-z].*|[a-z]{1,2}|days?|chars?|characters?|bits?|bytes?|hours?|minutes?|mins?|years?|times|tage|stellig)",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"[0-9]{1,4}(?:[./:-][0-9]{1,4}){1,5}")
_YEAR: Final = lazy_regex(r"(?:19|20)[0-9]{2}")
_IN: Final = lazy_regex(r"(?<!\w)(?:in|en|em|nel|im|w|v|в)\s{1,3}\Z", re.IGNORECASE)
_SYMBOLS: Final = frozenset("!@#$%^&*?+~=|§€")
_DERIVED: Final = ("ed", "able", "ible", "ful", "less", "ous", "ive")
"""Ends of English words that say what a password is like, not what it is."""
_CLAUSE_END: Final = re.compile(rf"\s*(?:$|[\n.,;!?…)|/{_QUOTES}]|-\s|\w{{1,30}}=\S)")
_NEXT: Final = re.compile(r"\s+([^\s.,;!?]+)")
_SHORT, _NUMBER, _KEY = 4, 6, 8
"""The least characters of a password, of one of digits only, and of a key."""
_LONG_KEY: Final = 20
_NEAR: Final = 3
"""The most words between a name and a password of four or five digits."""
_PASSPHRASE: Final = 4
"""The least words after "password:" that are a passphrase."""
_LETTERS, _DIGITS_BESIDE, _WORD_LETTERS = 3, 2, 8
"""The least letters and digits of a password that is recognised without a verb, and letters beside one digit."""
_NO_VERB: Final = lazy_regex(rf"{_GAP}\s{{1,3}}(?=[^\s.,;]{{0,40}}[0-9])")
_LATIN: Final = 0x24F
"""The last Latin letter. Names in other scripts are of languages in which a statement needs no verb."""
_FROM_TO: Final = lazy_regex(
    rf"{_GAP}\s{{1,3}}(?:from|von|de|da|van|från|fra|z|ze|с|со|від|з)\s{{1,3}}[{_QUOTES}]?({_TOKEN})[{_QUOTES}]?\s{{1,3}}"
    rf"(?:to|auf|zu|à|en|a|para|in|naar|till|til|na|на)\s{{1,3}}[{_QUOTES}]?({_TOKEN})",
    re.IGNORECASE,
)
_PHRASE: Final = re.compile(r"(?:[^\W\d_]{2,15}[ -]){1,11}[^\W\d_]{2,15}")
_ANY: Final[frozenset[str]] = frozenset()
_RECOVERY_CODE: Final = lazy_regex(
    r"[0-9]{4,8}(?:[ -][0-9]{4,8}){1,3}(?![\w-])|(?=[A-Za-z-]{0,20}[0-9])[A-Za-z0-9]{3,16}(?:-[A-Za-z0-9]{3,16}){0,5}(?![\w-])"
)
_RECOVERY_LEAD: Final = lazy_regex(
    rf"(?:\s{{0,2}}\([^()\n]{{1,30}}\))?{_GAP}(?:\s{{0,3}}[:=：–—-]\s{{0,3}}|\s{{1,3}}(?:are|is|sind|ist|sont|son|sono|são|zijn|är|er)\s{{1,3}})"
)
_RECOVERY_NEXT: Final = lazy_regex(r"\s{0,3}[,;|/\n]\s{0,3}(?:[-*]\s)?|\s(?:and|und|et|y|e|en|och|og|i|и)?\s?")
_RECOVERY_MOST: Final = 24
_IDENTITY_NUMBER: Final = lazy_regex(
    r"[\"']?\.?(?:\s{0,2}\([^()\n]{1,20}\))?\s{0,3}(?:of \w{1,15}\s{1,3})?(?:(?:is|ist|lautet|est|es|è|é|är|er|jest|это|on)\s|[:=：#]|是|は)?\s{0,3}"
    r"((?=(?:[A-Z ./-]{0,6}[0-9]){5})[A-Z0-9](?:[ ./-]?[A-Z0-9]){5,22})(?![^\W_]|[.-][0-9])"
)


_Way: TypeAlias = tuple[re.Match[str] | None, frozenset[str] | None]
"""What leads from the name of a secret to a value, and which words are no value there; None: no word without digits is."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of secrets by their first word, as one pattern each with the table of each name; compiled when it is met.

    Attributes:
        change: a word that says that a secret was changed; the group that matches is its language.
        results: what leads to the new value after a change, by that group.
        changed: a change after the name, up to the new value.
        owner: what stands before a short name: an owner, or the begin of a clause.
        late: a new value between the name and the word of its change ("Passwort auf … geändert").
    """

    patterns: Mapping[str, re.Pattern[str]]
    tables: Mapping[str, str]
    unspaced: re.Pattern[str]
    verb: re.Pattern[str]
    joining: re.Pattern[str]
    results: Mapping[str, re.Pattern[str]]
    before: re.Pattern[str]
    owner: re.Pattern[str]
    account: re.Pattern[str]
    change: re.Pattern[str]
    changed: re.Pattern[str]
    late: re.Pattern[str]


@cache
def _names() -> _Names:
    tables = {name: table for table in (SHORT, IDENTITY, RECOVERY, KEY, CODE, PASSWORD) for name in words_of(table)}
    by_first: dict[str, list[str]] = {}
    for name in sorted(tables, key=len, reverse=True):
        first = _WORD.match(name)
        by_first.setdefault(first[0] if first else name, []).append(re.escape(name).replace(r"\ ", r"[ _-]"))
    verbs, unspaced = choice("copulas"), choice("unspaced_passwords")
    joining, accounts, owners = choice("joining"), choice("accounts"), choice("short_owners")
    changes = [tuple(map(choice_of, pair)) for pair in zip(lines_of("changes"), lines_of("joining"), strict=True)]
    each_change = "|".join(f"(?P<l{place}>{verbs_of})" for place, (verbs_of, _) in enumerate(changes))
    each_changed = "|".join(
        rf"(?:{verbs_of})\s{{1,2}}(?:[^\s.,;]{{1,6}}\s{{1,2}})?(?:{results})" for verbs_of, results in changes
    )
    return _Names(
        patterns={
            first: lazy_regex(f"(?:{'|'.join(some)})(?![^\\W_])", re.IGNORECASE) for first, some in by_first.items()
        },
        tables=tables,
        unspaced=lazy_regex(unspaced),
        verb=lazy_regex(
            rf"{_FAR_GAP}(?:\s{{1,3}}(?:{verbs})(?:\s?:)?\s{{1,3}}|'s\s)(?!(?:{choice('of', 'owners')})\s)",
            re.IGNORECASE,
        ),
        joining=lazy_regex(rf"{_GAP}\s{{1,3}}(?:{joining})\s{{1,3}}", re.IGNORECASE),
        before=lazy_regex(
            rf"(?:{_QUOTED}|({_TOKEN}))\s{{1,3}}(?:{verbs}|{choice('as_words')})\s{{1,3}}(?:[^\s.,;:!?]{{1,12}}\s{{1,3}}){{0,3}}\Z",
            re.IGNORECASE,
        ),
        owner=lazy_regex(rf"(?:(?<![^\W_])(?:{owners})\s{{1,2}}|(?:^|[.!?\n,;|])\s{{0,4}})\Z", re.IGNORECASE),
        account=lazy_regex(
            rf"(?<!\w)(?:{accounts})(\s{{0,2}}[:=]|\s(?:{verbs})\s)?\s{{0,2}}(?<![^\W_])([^\s,;/|]{{2,100}})(?:\s{{0,2}}[,;/|]|\s)\s{{0,2}}"
            rf"(?:(?:{choice('and')})\s{{1,2}})?(?:(?:{owners}|der|die|das|el|le)\s{{1,2}})?\Z",
            re.IGNORECASE,
        ),
        change=lazy_regex(rf"(?<!\w)(?:{each_change})\s(?:[^\s.,;:!?]{{1,15}}\s){{0,3}}\Z", re.IGNORECASE),
        results={
            f"l{place}": lazy_regex(rf"{_GAP}\s{{1,3}}(?:{results})\s{{1,3}}", re.IGNORECASE)
            for place, (_, results) in enumerate(changes)
        },
        changed=lazy_regex(rf"[^.!?\n]{{0,80}}?\s(?:{each_changed})\s{{1,2}}", re.IGNORECASE),
        late=lazy_regex(
            rf"{_GAP}\s{{1,3}}(?:{choice('late_joining')})\s{{1,3}}({_TOKEN})\s{{1,3}}(?:{choice('late_changes')})(?![^\W_])",
            re.IGNORECASE,
        ),
    )


def found(text: str) -> Iterator[tuple[int, int, str]]:
    """The values of the secrets that a text names, as begin, end and kind."""
    names = _names()
    for word in _WORD.finditer(text):
        pattern = names.patterns.get(word[0].lower())
        name = pattern.match(text, word.start()) if pattern else None
        if name:
            table = names.tables.get(re.sub(r"[_-]", " ", name[0].lower()), "") or names.tables.get(
                name[0].lower(), KEY
            )
            table = PASSWORD if table == KEY and _ROMANIAN.match(text, name.start()) else table
            if table == RECOVERY:
                yield from _listed(text, name.end())
            elif table == IDENTITY:
                number = _IDENTITY_NUMBER.match(text, name.end())
                yield from [(*number.span(1), "identity number")] if number else []
            else:
                yield from _named(text, name.start(), name.end(), table)
        elif _is_compound(word[0].lower(), text[word.end() : word.end() + 1]):
            yield from _named(text, word.start(), word.end(), PASSWORD)
    if not text.isascii() and _HAS_UNSPACED.search(text):
        for name in names.unspaced.finditer(text):
            yield from _after_unspaced(text, name.end())


def _is_compound(word: str, following: str) -> bool:
    """Whether a word ends with the name of a password ("Druckerpasswort"); a short one only before a value ("rootpw:")."""
    return word.endswith(words_of("compound_ends")) or (
        following in {":", "="} and word.endswith(words_of("short_compound_ends"))
    )


def _named(text: str, begin: int, end: int, table: str) -> Iterator[tuple[int, int, str]]:
    """The values of one named secret: after its name, at the end of a change of it, or before its name."""
    part, lead = text[end : end + _READ], text[max(0, begin - _BEFORE) : begin]
    name, account = text[begin:end], _names().account.search(lead)
    is_setting = lead.endswith(("_", ".")) and name.lower() in word_set("setting_names")  # "DB_PASS: …"
    is_unsure = table == SHORT and account is None and not is_setting
    if is_unsure and _names().owner.search(lead) is None:
        return
    table = PASSWORD if table == SHORT else table
    place = _first_value(text, end, _ways(part, lead, account, table, name), table, name)
    if place and is_unsure and not is_distinct(text[slice(*place)]):
        return
    changes = list(_changes(text, end)) if table == PASSWORD and not is_unsure else []
    if place is None and not changes:
        place = _elsewhere(text, begin, end, is_unsure=is_unsure) if table == PASSWORD else None
        place = _number_first(lead, begin) if table == CODE else place
    for each in [place, *changes]:
        if each:
            yield *each, "PIN" if table == CODE else "secret"


def _changes(text: str, end: int) -> Iterator[tuple[int, int]]:
    """Begin and end of the values of a change after a name, which ends at `end`."""
    part = text[end : end + _READ]
    yield from _from_to(part, end)
    changed = _names().changed.match(part)
    later = _value(text, end + changed.end(), PASSWORD, unless=word_set("circumstances"), name="") if changed else None
    if later:
        yield later


def _elsewhere(text: str, begin: int, end: int, *, is_unsure: bool) -> tuple[int, int] | None:
    """Begin and end of a password that no verb or label directly after its name leads to."""
    if is_unsure:
        return _far_label(text, end)
    return (
        _verb_last(text, end, text[begin:end])
        or _change_last(text[end : end + _READ], end)
        or _value_first(text[max(0, begin - _BEFORE) : begin], begin)
        or _without_verb(text, end)
        or _far_label(text, end)
    )


def _ways(part: str, lead: str, account: re.Match[str] | None, table: str, name: str) -> list[_Way]:
    """What may lead from a name to its value, the surest first: a label, a verb, a change, a preposition, nothing."""
    names, unless = _names(), word_set("circumstances")
    ways: list[_Way] = [(_LABEL.match(part), _ANY), (names.verb.match(part), _ANY)]
    if table == KEY:
        return [*ways, (_KEY_FLAG.match(part), None)]
    change = names.change.search(lead)
    if change:
        ways.append((names.results[change.lastgroup or ""].match(part), unless))
    is_polish = name.lower().startswith(_POLISH)
    ways += [(_POLISH_VERB.match(part), _ANY)] if is_polish else []
    ways.append((names.joining.match(part), unless if is_polish else None))
    is_known = account is not None and (account[1] is not None or not account[2].isalpha())
    return [*ways, (_FLAG.match(part), _ANY if is_known else None)]


def _from_to(part: str, end: int) -> Iterator[tuple[int, int]]:
    """Begin and end of the old and the new value after the name, which ends at `end`: "from Winter23 to Spring24"."""
    both = _FROM_TO.match(part)
    if both and all(_has_shape(both[group].rstrip(".!?"), PASSWORD) for group in (2, 3)):
        for group in (2, 3):
            yield end + both.start(group), end + both.start(group) + len(both[group].rstrip(".!?"))


def _without_verb(text: str, end: int) -> tuple[int, int] | None:
    """Begin and end of a distinct value some words after a name, without a verb: "пароль от вайфая kosmos61".

    In Latin letters the words between are names of services ("password netflix tomate88").
    """
    way = _NO_VERB.match(text, end, end + _READ)
    if way is None or (ord(text[end - 1]) <= _LATIN and not _is_service(way[1].lower().split())):
        return None
    return _distinct_value(text, way.end())


def _is_service(gap: Sequence[str]) -> bool:
    services = word_set("services")
    return (
        bool(gap)
        and (gap[-1] in services or gap[-1] in word_set("owners"))
        and services.union(word_set("of")).issuperset(gap)
    )


def _far_label(text: str, end: int) -> tuple[int, int] | None:
    """Begin and end of a distinct value after a label that is some words away, or after a question."""
    way = _FAR_LABEL.match(text, end, end + _READ) or _ANSWER.match(text, end, end + _READ)
    return _distinct_value(text, way.end()) if way else None


def _distinct_value(text: str, at: int) -> tuple[int, int] | None:
    place = _value(text, at, PASSWORD, unless=None, name="")
    return place if place and is_distinct(text[slice(*place)]) and ends_clause(text, place[1]) else None


def _number_first(lead: str, begin: int) -> tuple[int, int] | None:
    """Begin and end of a code before its name: "7743 is the PIN", "G-774301 is your verification code"."""
    earlier = _names().before.search(lead)
    if earlier is None or earlier[2] is None:
        return None
    place = earlier.start(2) + len(earlier[2]) - len(earlier[2].removeprefix("G-"))
    if not _DIGITS.fullmatch(lead, place, earlier.end(2)) or _YEAR.fullmatch(lead, place, earlier.end(2)):
        return None
    return begin - len(lead) + place, begin - len(lead) + earlier.end(2)


def _change_last(part: str, end: int) -> tuple[int, int] | None:
    """Begin and end of a new value between the name, which ends at `end`, and the word of its change."""
    late = _names().late.match(part)
    if late is None or late[2].lower() in word_set("circumstances"):
        return None
    return (end + late.start(2), end + late.end(2)) if _has_shape(late[2], PASSWORD) or _is_plain(late[2]) else None


def _value_first(lead: str, begin: int) -> tuple[int, int] | None:
    """Begin and end of a value before the name, which begins at `begin`: "hunter2x is my password"."""
    earlier = _names().before.search(lead)
    if (
        earlier is None
        or not (earlier[1] or _has_shape(earlier[2].rstrip("*_`"), PASSWORD))
        or (earlier[2] or "").rstrip("*_`").endswith(":")
    ):
        return None
    group, start = (1 if earlier[1] else 2), begin - len(lead)
    return start + earlier.start(group), start + earlier.end(group)


def _first_value(text: str, end: int, ways: list[_Way], table: str, name: str) -> tuple[int, int] | None:
    """Begin and end of the first value that a way leads to from the end of a name."""
    for way, unless in ways:
        if way is None:
            continue
        place = _value(text, end + way.end(), table, unless=unless, name=name)
        if place and _fits_way(way, text[slice(*place)], table):
            return None if table == CODE and _is_year_after_in(text, *place) else place
    return None


def _fits_way(way: re.Match[str], value: str, table: str) -> bool:
    """Whether the words between a name and a value may stand there: any before a distinct password, few before a number."""
    if table == PASSWORD and is_distinct(value):
        return True
    is_short_number = table == PASSWORD and _is_short_number(value)
    return _may_stand_between(way) and not (is_short_number and way.re.groups and len(way[1].split()) > _NEAR)


def _is_year_after_in(text: str, begin: int, end: int) -> bool:
    """Whether a number is a year: "the access code was changed in 2024"."""
    return _YEAR.fullmatch(text, begin, end) is not None and _IN.search(text, max(0, begin - _READ), begin) is not None


def _verb_last(text: str, end: int, name: str) -> tuple[int, int] | None:
    """Begin and end of a value between the name and a verb that stands last, or of one after a Turkish name without a verb."""
    part = text[end : end + _READ]
    is_turkish = name.lower().startswith(_TURKISH)
    said = _VERB_LAST.match(part)
    if said is None and is_turkish and _POSSESSIVE.fullmatch(name):
        said = _WITHOUT_VERB.match(part)
    if said is None or (is_turkish and _TURKISH_VERB.fullmatch(said[said.lastindex or 0].lower())):
        return None
    group = said.lastindex or 0
    value = said[group].lower()
    if value in word_set("not_values") or not (_is_plain(said[group]) or _has_shape(said[group], PASSWORD)):
        return None
    return end + said.start(group), end + said.end(group)


def _may_stand_between(way: re.Match[str]) -> bool:
    """Whether the words between a name and its value say whose it is or what for, as in "password for the office"."""
    gap = way[1].split() if way.re.groups else []
    return not gap or gap[0].lower() in word_set("of") | word_set("services")


def _value(text: str, at: int, table: str, *, unless: frozenset[str] | None, name: str) -> tuple[int, int] | None:
    """Begin and end of the value at a place; None if there is none.

    The value may be a word without digits, but none of `unless`; None: it may be no such word.
    """
    if table == CODE:
        return _digits(text, at)
    quoted = _quoted().match(text, at)
    if quoted and quoted[1].strip().lower() not in word_set("not_values"):
        return quoted.span(1) if table == PASSWORD or _has_shape(quoted[1], table) else None
    token = _token().match(text, at)
    end = at + len(token[0].rstrip(".!?:*")) if token else at
    if token is None or text[end : end + 1] in {"(", "[", "<"}:
        return None
    if _has_shape(text[at:end], table):
        return at, end
    if table != PASSWORD or unless is None or text[at:end].lower() in unless:
        return None
    is_number = unless is _ANY and _is_short_number(text[at:end]) and ends_clause(text, end)
    return (at, end) if is_number else _words(text, at, end, name)


def _digits(text: str, at: int) -> tuple[int, int] | None:
    """Begin and end of the digits of a code at a place, also in words."""
    digits = _DIGITS.match(text, at) or _digit_words().match(text, at)
    return digits.span() if digits else None


def _words(text: str, at: int, end: int, name: str) -> tuple[int, int] | None:
    """Begin and end of a password of letters only, or of a passphrase, that ends its clause."""
    is_label = text[:at].rstrip()[-1:] in {":", "="}
    phrase = _PHRASE.match(text, at) if "phras" in name.lower() or is_label else None
    if phrase and ends_clause(text, phrase.end()):
        parts = phrase[0].lower().split()
        if not (is_label and "phras" not in name.lower()) or len(parts) >= _PASSPHRASE:
            ordinary = word_set("of") | word_set("not_values") | word_set("clause_words")
            return phrase.span() if ordinary.isdisjoint(parts) else None
    is_last = ends_clause(text, end) or (name.lower().startswith(_CZECH) and text.startswith(" a ", end))
    return (at, end) if is_last and _is_plain(text[at:end]) else None


@cache
def _digit_words() -> re.Pattern[str]:
    """At least four digits in words: "one nine eight four"."""
    word = choice("digit_words")
    return lazy_regex(rf"(?:{word})(?:[\s,-]{{1,2}}(?:{word})){{3,7}}(?![^\W_])", re.IGNORECASE)


@cache
def _quoted() -> re.Pattern[str]:
    return re.compile(_QUOTED)


@cache
def _token() -> re.Pattern[str]:
    return re.compile(_TOKEN)


def _has_shape(value: str, table: str) -> bool:
    """Whether a text looks like a secret by itself: letters with digits or symbols, or many digits."""
    low = value.lower()
    if low in word_set("not_values") or low.startswith(("/", "~/", "$", "%", "--")) or "://" in low or "***" in low:
        return False
    if _QUANTITY.fullmatch(value) or _DATE.fullmatch(value):
        return False
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if table == KEY:
        mixed = letters and digits and len(value) >= _KEY
        return mixed or (len(value) >= _LONG_KEY and value != low and low != value.upper() and value.isalnum())
    if len(value) < _SHORT:
        return False
    if not letters:
        return digits and len(value) >= _NUMBER and value.isalnum()
    return digits or not _SYMBOLS.isdisjoint(value.rstrip("?!"))


def is_distinct(value: str) -> bool:
    """Whether a text can hardly be a word or a name: letters with two digits, many with one, or with a digit and a symbol.

    >>> is_distinct("geheim123"), is_distinct("web01"), is_distinct("sunflower")
    (True, False, False)
    """
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    return (
        _has_shape(value, PASSWORD)
        and len(value) >= _NUMBER
        and letters >= _LETTERS
        and (digits >= _DIGITS_BESIDE or (digits > 0 and (letters >= _WORD_LETTERS or not _SYMBOLS.isdisjoint(value))))
    )


def table_of(name: str) -> str:
    """The table in which a name of a password, code or key is; empty if it is no such name."""
    table = _names().tables.get(name.lower().replace("_", " "), "")
    return table if table in {PASSWORD, CODE, KEY} else ""


def fits(value: str, table: str, *, or_word: bool) -> bool:
    """Whether a text may be the value of a secret of a table; a password may be a plain word if `or_word`."""
    if table == CODE:
        return _DIGITS.fullmatch(value) is not None
    return _has_shape(value, table) or (or_word and table == PASSWORD and _is_plain(value))


def _is_short_number(value: str) -> bool:
    return value.isdecimal() and len(value) >= _SHORT and _YEAR.fullmatch(value) is None


def _is_plain(value: str) -> bool:
    """Whether a word without digits may be a password: not one that says what the password is like."""
    low = value.lower()
    is_word = all(letter.isalpha() or letter in "-_·'" or ord(letter) > 0x2FF for letter in value)  # noqa: PLR2004 - marks of other scripts
    return (
        is_word
        and len(value) >= _SHORT
        and low not in word_set("not_values")
        and not (low.isascii() and low.endswith(_DERIVED))
    )


def ends_clause(text: str, end: int) -> bool:
    """Whether a statement ends at a place, or a word follows that begins the next clause."""
    part = text[end : end + 40]
    if _CLAUSE_END.match(part):
        return True
    following = _NEXT.match(part)
    return following is not None and following[1].lower() in word_set("clause_words")


def _listed(text: str, end: int) -> Iterator[tuple[int, int, str]]:
    """The recovery codes after their name: groups of digits, or of letters and digits, in a list."""
    lead = _RECOVERY_LEAD.match(text, end, end + _READ)
    step = lead if lead and _may_stand_between(lead) else _RECOVERY_NEXT.match(text, end)
    if step is None:
        return
    at = step.end()
    for _ in range(_RECOVERY_MOST):
        code = _RECOVERY_CODE.match(text, at)
        if code is None or not _is_recovery_code(code[0]):
            return
        yield *code.span(), "secret"
        between = _RECOVERY_NEXT.match(text, code.end())
        if between is None:
            return
        at = between.end()


def _is_recovery_code(code: str) -> bool:
    """Whether it has eight letters and digits, or eight digits, and is no date."""
    plain = code.replace("-", "").replace(" ", "")
    return len(plain) >= _KEY and not _DATE.fullmatch(code)


def _after_unspaced(text: str, end: int) -> Iterator[tuple[int, int, str]]:
    """The value after a name in a script without spaces: in Latin letters or digits, which plain text there has not."""
    verb = _UNSPACED_VERB.match(text, end)
    value = _ASCII_VALUE.match(text, verb.end()) if verb else None
    if verb and value:
        word = value[0].strip("\"'`").rstrip(".,!?;:")
        begin = verb.end() + value[0].index(word) if word else verb.end()
        is_unsure = verb[0].isspace() or verb[1] is not None or text.startswith(_PATH, end - len(_PATH))
        is_value = (
            any(map(str.isdigit, word)) and _has_shape(word, PASSWORD) and "/" not in word
            if is_unsure
            else len(word) >= _SHORT
        )
        if is_value and word.lower() not in word_set("not_values"):
            yield begin, begin + len(word), "secret"
