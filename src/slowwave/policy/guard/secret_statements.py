"""Finds secrets that a text names: "my password is …", "Passwort: …", "PIN 4821", "api_key=…", in about thirty languages.

The names, verbs and words that are no value of a secret are tables in `policy/data/secret_words.json`. A language is added
by its words there. After each name a limited number of characters is read, so the time is in proportion to the length.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pkgutil import get_data
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex

PASSWORD, CODE, KEY, SHORT = "passwords", "codes", "keys", "short_passwords"
"""The tables of names. A password may be a plain word, a code is digits, a key has letters and digits. A short name has other
meanings ("pass"), and is one of a password only beside the name of an account."""

_READ: Final = 240
"""Characters after a name in which its value is looked for."""
_BEFORE: Final = 100
"""Characters before a name in which its value is looked for ("hunter2x is my password")."""
_WORD: Final = lazy_regex(r"[^\W_]+")
_QUOTES: Final = "\"'`„“”«»‘’‹›「」"
_QUOTED: Final = rf"[{_QUOTES}]([^{_QUOTES}\n]{{4,80}})[{_QUOTES}]"
_TOKEN: Final = rf"[^\s{_QUOTES},;()<>\[\]{{}}]{{3,100}}"
_GAP: Final = r"((?:\s{1,3}[^\s.:;,!?=]{1,20}){0,4}?)"
_LABEL: Final = lazy_regex(
    rf"[{_QUOTES}*)]{{0,3}}(?:\s{{0,2}}\([^()\n]{{1,30}}\))?{_GAP}\s{{0,3}}(?::=|=>|->|→|[:=：＝—–]|-(?=\s))\s{{0,3}}"
)
_FLAG: Final = lazy_regex(r"\s(?=[^\s-])")
_KEY_FLAG: Final = lazy_regex(r"\s(?=[A-Za-z0-9+/_=]{32}[A-Za-z0-9+/_=]{0,500}+(?![\w-]))")
_UNSPACED_VERB: Final = lazy_regex(r"\s?(?:[는은이가]|的?(?:是|为|為|：|:)|[はがを]|คือ|เป็น|[:=：＝])[\s：:]{0,2}")
_VERB_LAST: Final = lazy_regex(
    r"\s{1,3}([!-~]{4,60})\s{1,3}(?:है|हैं|था|थी|हैः|ہے|है।)(?![^\W_])"  # Hindi, Urdu: the value in Latin letters
    r"|\s{1,3}([^\s.,;:!?'’]{4,60})(?:['’]?(?:d[ıiuü]r|t[ıiuü]r))(?![^\W_])"  # Turkish: the verb is a suffix
)
_POSSESSIVE: Final = lazy_regex(r".*(?:[ıiuü]m|m[ıiuü]z|rem|lam)", re.IGNORECASE)
_WITHOUT_VERB: Final = lazy_regex(r"\s{1,3}([^\s.,;:!?'’]{4,60})(?=\s{0,2}(?:[.,;!\n]|$))")
_TURKISH_VERB: Final = lazy_regex(
    r".*(?:[dt][ıiuü](?:m|k|n|lar|ler)?|yor(?:um|uz)?|m[ıiuü]ş(?:t[ıi])?|[ae]ca[kğ]\w{0,4}|m[ae]l[ıi]y?\w{0,3}|m[ae]z|[ae]r|[ıiuü]r)"
)
_TURKISH: Final = ("şifre", "parola")
_POLISH: Final = ("hasł", "hasl")
"""In Polish "to" is the verb "is"; in English the word before a receiver ("I gave the password to Anna")."""
_ASCII_VALUE: Final = lazy_regex(r"[!-~]{4,60}")
_HAS_UNSPACED: Final = lazy_regex(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_DIGITS: Final = lazy_regex(r"[0-9](?:[ -]?[0-9]){3,7}(?![\w-])(?![.,:/][0-9])")
_QUANTITY: Final = re.compile(
    r"[0-9]+(?:[-–].*[a-z].*|[a-z]{1,2}|days?|chars?|characters?|bits?|bytes?|hours?|minutes?|mins?|years?|times|tage|stellig)",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"[0-9]{1,4}(?:[./:-][0-9]{1,4}){1,5}")
_SYMBOLS: Final = frozenset("!@#$%^&*?+~=|§€")
_DERIVED: Final = ("ed", "able", "ible", "ful", "less", "ous", "ive")
"""Ends of English words that say what a password is like, not what it is."""
_CLAUSE_END: Final = re.compile(rf"\s*(?:$|[\n.,;!?…)|/{_QUOTES}]|-\s)")
_NEXT: Final = re.compile(r"\s+([^\s.,;!?]+)")
_SHORT, _NUMBER, _KEY = 4, 6, 8
"""The least characters of a password, of one of digits only, and of a key."""
_LONG_KEY: Final = 20
_PHRASE: Final = re.compile(r"(?:[^\W\d_]{2,15}[ -]){2,11}[^\W\d_]{2,15}")


@cache
def _tables() -> Mapping[str, tuple[str, ...]]:
    data = get_data("slowwave.policy", "data/secret_words.json")
    assert data is not None
    lines: Mapping[str, list[str]] = json.loads(data)
    return {name: tuple(word.strip() for line in table for word in line.split(",")) for name, table in lines.items()}


@cache
def _set(table: str) -> frozenset[str]:
    return frozenset(_tables()[table])


def words_about_secrets() -> frozenset[str]:
    """The names of secrets, and the verbs and possessives around them, as single words."""
    tables = ("passwords", "codes", "keys", "copulas", "owners")
    return frozenset(part for table in tables for name in _tables()[table] for part in name.split())


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of secrets by their first word, as one pattern each with the table of each name; compiled when it is met."""

    patterns: Mapping[str, re.Pattern[str]]
    tables: Mapping[str, str]
    unspaced: re.Pattern[str]
    verb: re.Pattern[str]
    joining: re.Pattern[str]
    before: re.Pattern[str]
    account: re.Pattern[str]
    change: re.Pattern[str]
    changed: re.Pattern[str]


@cache
def _names() -> _Names:
    tables = {name: table for table in (SHORT, KEY, CODE, PASSWORD) for name in _tables()[table]}
    by_first: dict[str, list[str]] = {}
    for name in sorted(tables, key=len, reverse=True):
        first = _WORD.match(name)
        by_first.setdefault(first[0] if first else name, []).append(re.escape(name).replace(r"\ ", r"[ _-]"))
    verbs, unspaced = _choice("copulas"), _choice("unspaced_passwords")
    joining, accounts, changes = _choice("joining"), _choice("accounts"), _choice("changes")
    return _Names(
        patterns={
            first: lazy_regex(f"(?:{'|'.join(some)})(?![^\\W_])", re.IGNORECASE) for first, some in by_first.items()
        },
        tables=tables,
        unspaced=lazy_regex(unspaced),
        verb=lazy_regex(rf"{_GAP}(?:\s{{1,3}}(?:{verbs})(?:\s?:)?\s{{1,3}}|'s\s)", re.IGNORECASE),
        joining=lazy_regex(rf"{_GAP}\s{{1,3}}(?:{joining})\s{{1,3}}", re.IGNORECASE),
        before=lazy_regex(
            rf"(?:{_QUOTED}|({_TOKEN}))\s{{1,3}}(?:{verbs}|{joining})\s{{1,3}}(?:[^\s.,;:!?]{{1,12}}\s{{1,3}}){{0,3}}\Z",
            re.IGNORECASE,
        ),
        account=lazy_regex(
            rf"(?<!\w)(?:{accounts})(\s{{0,2}}[:=])?\s{{0,2}}(?<![^\W_])([^\s,;/|]{{2,100}})(?:\s{{0,2}}[,;/|]|\s)\s{{0,2}}(?:(?:{_choice('and')})\s{{1,2}})?\Z",
            re.IGNORECASE,
        ),
        change=lazy_regex(rf"(?<!\w)(?:{changes})\s(?:[^\s.,;:!?]{{1,15}}\s){{0,3}}\Z", re.IGNORECASE),
        changed=lazy_regex(
            rf"[^.!?\n]{{0,80}}?\s(?:{changes})\s{{1,2}}(?:[^\s.,;:!?]{{1,6}}\s{{1,2}})?(?:{joining})\s{{1,2}}",
            re.IGNORECASE,
        ),
    )


def _choice(table: str) -> str:
    """A pattern of the words of a table, the longest first."""
    return "|".join(re.escape(word) for word in sorted(_tables()[table], key=len, reverse=True))


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
            yield from _named(text, name.start(), name.end(), table)
    if not text.isascii() and _HAS_UNSPACED.search(text):
        for name in names.unspaced.finditer(text):
            yield from _after_unspaced(text, name.end())


def _named(text: str, begin: int, end: int, table: str) -> Iterator[tuple[int, int, str]]:
    """The values of one named secret: after its name, at the end of a change of it, or before its name."""
    part, lead = text[end : end + _READ], text[max(0, begin - _BEFORE) : begin]
    account = _names().account.search(lead)
    if table == SHORT:
        if account is None:
            return
        table = PASSWORD
    ways = [(_LABEL.match(part), True), (_names().verb.match(part), True)]
    if table == KEY:
        ways.append((_KEY_FLAG.match(part), False))
    else:
        is_known = account is not None and (account[1] is not None or not account[2].isalpha())
        is_said = _names().change.search(lead) is not None or text[begin:end].lower().startswith(_POLISH)
        ways.append((_names().joining.match(part), is_said))
        ways.append((_FLAG.match(part), is_known))
    place = _first_value(text, end, ways, table, text[begin:end])
    if place:
        yield *place, "PIN" if table == CODE else "secret"
    if table != PASSWORD:
        return
    changed = _names().changed.match(part)
    later = _value(text, end + changed.end(), table, plain=True, name="") if changed else None
    if later:
        yield *later, "secret"
    if place or later:
        return
    if place := _verb_last(text, end, text[begin:end]):
        yield *place, "secret"
        return
    earlier = _names().before.search(lead)
    if earlier and (earlier[1] or _has_shape(earlier[2], table)):
        group, start = (1 if earlier[1] else 2), max(0, begin - _BEFORE)
        yield start + earlier.start(group), start + earlier.end(group), "secret"


def _first_value(
    text: str, end: int, ways: list[tuple[re.Match[str] | None, bool]], table: str, name: str
) -> tuple[int, int] | None:
    """Begin and end of the first value that a way leads to from the end of a name; each says if it may be a plain word."""
    for way, plain in ways:
        if way is not None and _may_stand_between(way):
            place = _value(text, end + way.end(), table, plain=plain, name=name)
            if place:
                return place
    return None


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
    if value in _set("not_values") or not (_is_plain(said[group]) or _has_shape(said[group], PASSWORD)):
        return None
    return end + said.start(group), end + said.end(group)


def _may_stand_between(way: re.Match[str]) -> bool:
    """Whether the words between a name and its value say whose it is or what for, as in "password for the office"."""
    gap = way[1].split() if way.re.groups else []
    return not gap or gap[0].lower() in _set("of")


def _value(text: str, at: int, table: str, *, plain: bool, name: str) -> tuple[int, int] | None:
    """Begin and end of the value at a place; None if there is none. `plain`: it may be a word without digits."""
    if table == CODE:
        digits = _DIGITS.match(text, at)
        return digits.span() if digits else None
    quoted = _quoted().match(text, at)
    if quoted and quoted[1].strip().lower() not in _set("not_values"):
        return quoted.span(1) if table == PASSWORD or _has_shape(quoted[1], table) else None
    token = _token().match(text, at)
    end = at + len(token[0].rstrip(".!?:*")) if token else at
    if token is None or text[end : end + 1] in {"(", "[", "<"}:
        return None
    if _has_shape(text[at:end], table):
        return at, end
    return _words(text, at, end, name) if table == PASSWORD and plain else None


def _words(text: str, at: int, end: int, name: str) -> tuple[int, int] | None:
    """Begin and end of a password of letters only, or of a passphrase, that ends its clause."""
    phrase = _PHRASE.match(text, at) if "phras" in name.lower() else None
    if phrase and _ends_clause(text, phrase.end()):
        ordinary = _set("of") | _set("not_values")
        return phrase.span() if ordinary.isdisjoint(phrase[0].lower().split()) else None
    return (at, end) if _is_plain(text[at:end]) and _ends_clause(text, end) else None


@cache
def _quoted() -> re.Pattern[str]:
    return re.compile(_QUOTED)


@cache
def _token() -> re.Pattern[str]:
    return re.compile(_TOKEN)


def _has_shape(value: str, table: str) -> bool:
    """Whether a text looks like a secret by itself: letters with digits or symbols, or many digits."""
    low = value.lower()
    if low in _set("not_values") or low.startswith(("/", "~/", "$", "%", "--")) or "://" in low or "***" in low:
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


def _is_plain(value: str) -> bool:
    """Whether a word without digits may be a password: not one that says what the password is like."""
    low = value.lower()
    is_word = all(letter.isalpha() or letter in "-_·'" or ord(letter) > 0x2FF for letter in value)  # noqa: PLR2004 - marks of other scripts
    return (
        is_word
        and len(value) >= _SHORT
        and low not in _set("not_values")
        and not (low.isascii() and low.endswith(_DERIVED))
    )


def _ends_clause(text: str, end: int) -> bool:
    """Whether a statement ends at a place, or a word follows that begins the next clause."""
    part = text[end : end + 40]
    if _CLAUSE_END.match(part):
        return True
    following = _NEXT.match(part)
    return following is not None and following[1].lower() in _set("clause_words")


def _after_unspaced(text: str, end: int) -> Iterator[tuple[int, int, str]]:
    """The value after a name in a script without spaces: in Latin letters or digits, which plain text there has not."""
    verb = _UNSPACED_VERB.match(text, end)
    value = _ASCII_VALUE.match(text, verb.end()) if verb else None
    if verb and value:
        word = value[0].strip("\"'`").rstrip(".,!?;:")
        begin = verb.end() + value[0].index(word) if word else verb.end()
        if len(word) >= _SHORT and word.lower() not in _set("not_values"):
            yield begin, begin + len(word), "secret"
