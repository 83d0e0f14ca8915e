"""Finds card numbers, their expiry and code, bank accounts (IBAN) and social security numbers, by length and check digits."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, TypeAlias

from slowwave.policy.guard.secret_statements import ends_clause
from slowwave.policy.guard.secret_words import choice
from slowwave.policy.text.lazy_regex import lazy_regex

Found: TypeAlias = tuple[int, int, str]
"""Begin, end and kind of a secret in a text."""

_BETWEEN: Final = r"[ \u00a0\u2007\u2009\u202f._\u2010-\u2015\u2212-]"
"""A character that people write between the groups of a number."""
_CJK: Final = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f"
"""Letters of scripts without spaces, which may touch a number."""
_UNSPACED: Final = lazy_regex(rf"[{_CJK}]")
_WIDE: Final = {0xFF10 + digit: ord("0") + digit for digit in range(10)} | {0xFF0D: ord("-"), 0x3000: ord(" ")}
"""Full-width digits, and what stands between them, as plain ones."""
_DIGITS: Final = lazy_regex(rf"(?<![^\W{_CJK}])[0-9](?:{_BETWEEN}{{0,2}}[0-9]){{13,60}}")
_GROUP: Final = lazy_regex(r"[0-9]+")
_LINES: Final = lazy_regex(r"(?<![0-9])(?:[0-9]{4}[ \t]?\r?\n){3}[0-9]{4}(?![0-9])")
_CARD_NAME: Final = lazy_regex(
    r"(?:card|karte|carte|tarjeta|cart[ãa]o|carta|kaart|kort|карт|visa|mastercard|amex|カード|卡)[^\n0-9]{0,30}[\n:]\s{0,3}\Z",
    re.IGNORECASE,
)
"""The name of a card in the line before a number in four lines."""
_EXPIRY: Final = lazy_regex(
    r"(?<![0-9])((?:0?[1-9]|1[0-2])\s?[/.|-]\s?(?:20)?[0-9]{2})(?![0-9/.-]*[0-9])"
    r"(?:[\s,;|/]{1,3}([0-9]{3,4})(?![\w/.-]))?",
    re.IGNORECASE,
)
_NAMED_EXPIRY: Final = lazy_regex(
    r"(?:exp|valid|thru|until|gültig|läuft|ablauf|fin|venc|vál|scad|geldig|giltig|utgång|gyldig|ważn|wygas|platn|срок|действ|годн|hạn|有效期|有効期限|유효)"
    r"[^\n0-9]{0,20}?("
    r"(?:20)?[0-9]{2}[-/.](?:0[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])\s?[/.|-]\s?(?:20)?[0-9]{2}|"
    r"(?:jan|gen|ene|feb|fév|mar|mär|apr|avr|abr|ma[jiy]|mag|me[ij]|jun|juin|giu|jul|juil|lug|a[uoû][gû]|sep|set|o[ckut]t|nov|d[eéi][cz])[^\W\d_]{0,8}\.?,?\s(?:de\s|of\s)?(?:20)?[0-9]{2}"
    r")(?![\w/.-]*[0-9])",
    re.IGNORECASE,
)
"""An expiry that is named as one: "valid thru 12/27", "expires December 2027", "exp 2027-12"."""
_BY_CARD: Final = 60
"""Characters before and after a card number in which its expiry and code are looked for."""
_CODE: Final = lazy_regex(rf"(?<![0-9])[0-9]{{3,4}}(?![^\W{_CJK}]|-)")
_BEFORE: Final = 120
"""Characters before a number in which its name is looked for."""
_SOCIAL: Final = lazy_regex(r"(?<![\w-])(?!000|666|9\d\d)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-])")
_ACCOUNT: Final = lazy_regex(rf"(?<![A-Za-z0-9])[A-Za-z]{{2}} ?[0-9]{{2}}(?:{_BETWEEN}?[A-Za-z0-9]){{11,30}}")

_LENGTHS: Final = {
    country: int(length)
    for length, countries in (
        line.split(" ", 1)
        for line in (
            "15 NO",
            "16 BE",
            "18 DK FI FO GL NL SD FK",
            "19 MK SI",
            "20 AT BA EE KZ LT LU XK MN",
            "21 CH HR LI LV",
            "22 BG BH CR DE GB GE IE ME RS VA",
            "23 AE GI IL IQ OM SO TL",
            "24 AD CZ ES MD PK RO SA SE SK TN VG",
            "25 LY PT ST",
            "26 IS TR",
            "27 BI DJ FR GR IT MC MR SM",
            "28 AL AZ BY CY DO GT HU LB NI PL SV",
            "29 BR EG PS QA UA",
            "30 JO KW MU YE",
            "31 MT SC",
            "32 LC",
            "33 RU",
        )
    )
    for country in countries.split()
}
"""Country -> characters of its account numbers (registry of ISO 13616)."""
_LETTER: Final = lazy_regex(r"[^\W\d_]")


@cache
def _code_lead() -> re.Pattern[str]:
    """The name of the code of a card, up to the code."""
    is_ = rf"(?<![^\W_])(?:{choice('copulas', 'plural_copulas')})(?![^\W_])|[:=：#>-]"
    purpose = rf"(?:{choice('of')})(?:\s[^\W\d_]{{1,15}}){{1,6}}?\s{{0,3}}"
    return lazy_regex(
        rf"(?<![^\W_])(?:{choice('card_code_names')})[\"'*`]{{0,3}}\s{{0,3}}(?:\(\w{{3,4}}\)\s{{0,2}})?"
        rf"(?:(?:{purpose}|(?:[^\W\d_]{{1,15}}\s{{0,3}}){{1,2}})?(?:{is_})|(?P<far>{purpose})?)"
        rf"(?:\s{{1,2}}(?:the|die|le|la|el|il))?[\"'*`\s]{{0,6}}\Z",
        re.IGNORECASE,
    )


@cache
def _code_beside() -> re.Pattern[str]:
    """The name of the code of a card after the number of the card, and the code."""
    return lazy_regex(
        rf"(?:\bC[ISV][CDV]|co?d|kod|код|code|码|コード|{choice('card_code_names')})[^\n.!?0-9]{{1,25}}([0-9]{{3,4}})(?![\w/.-])",
        re.IGNORECASE,
    )


def found(text: str) -> Iterator[Found]:
    """The numbers of a text that are secrets. Takes time in proportion to its length."""
    if not text.isascii():
        text = text.translate(_WIDE)  # one letter for one, so that every place stays the same
    yield from _cards(text)
    for match in _LINES.finditer(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        if _is_card("".join(_GROUP.findall(match[0]))) and _CARD_NAME.search(before):
            yield *match.span(), "card number"
            yield from _beside(text, *match.span())
    for match in _CODE.finditer(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        lead = _LETTER.search(before) and _code_lead().search(before)
        if lead and (lead["far"] is None or ends_clause(text, match.end())):
            yield *match.span(), "card code"
    for match in _SOCIAL.finditer(text):
        yield match.start(), match.end(), "social security number"
    for match in _ACCOUNT.finditer(text):
        if end := _account_end(match[0]):
            yield match.start(), match.start() + end, "bank account"


def _cards(text: str) -> Iterator[Found]:
    for run in _DIGITS.finditer(text):
        groups = [(run.start() + group.start(), run.start() + group.end()) for group in _GROUP.finditer(run[0])]
        first = 0
        while first < len(groups):
            last = _card_end(text, groups, first)
            if last is None:
                first += 1
                continue
            begin, end = groups[first][0], groups[last][1]
            yield begin, end, "card number"
            yield from _beside(text, begin, end)
            first = last + 1


_SHORTEST_CARD: Final = 14
_LONGEST_CARD: Final = 19


def _card_end(text: str, groups: list[tuple[int, int]], first: int) -> int | None:
    """The place of the last group of a card number that begins with a group; None if none does."""
    digits = ""
    for place in range(first, len(groups)):
        begin, end = groups[place]
        if len(digits) + end - begin > _LONGEST_CARD or (
            end < len(text) and text[end].isalpha() and not _UNSPACED.match(text, end)
        ):
            return None
        digits += text[begin:end]
        if len(digits) >= _SHORTEST_CARD and _is_card(digits):
            return place
    return None


def _is_card(digits: str) -> bool:
    """Whether the number has the beginning and length of a card company, and the right check digit (ISO/IEC 7812)."""
    two, three, four = int(digits[:2] or 0), int(digits[:3] or 0), int(digits[:4] or 0)
    lengths: range | tuple[int, ...]
    if digits.startswith("4"):
        lengths = (16, 19)
    elif two in {34, 37}:
        lengths = (15,)
    elif 51 <= two <= 55 or 2221 <= four <= 2720:  # noqa: PLR2004 - Mastercard
        lengths = (16,)
    elif two in {36, 38, 39} or 300 <= three <= 305:  # noqa: PLR2004 - Diners
        lengths = (14, 16)
    elif 2200 <= four <= 2205 or two in {50, 56, 57, 58, 60, 61, 62, 63, 64, 65, 67} or 3528 <= four <= 3589:  # noqa: PLR2004 - Mir, Maestro, Discover, UnionPay, JCB
        lengths = (16, 17, 18, 19)
    else:
        return False
    return len(digits) in lengths and luhn(digits)


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812).

    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    return (sum(map(int, digits[::-2])) + sum(number // 10 + number % 10 for number in doubled)) % 10 == 0


def _beside(text: str, begin: int, end: int) -> Iterator[Found]:
    """The expiry before or after a card number, and the code that follows the expiry."""
    near = _NAMED_EXPIRY.search(text, max(0, begin - _BY_CARD), begin) or _NAMED_EXPIRY.search(
        text, end, end + _BY_CARD
    )
    if near:
        yield *near.span(1), "card expiry"
    expiry = _EXPIRY.search(text, end, end + _BY_CARD)
    if expiry:
        yield expiry.start(1), expiry.end(1), "card expiry"
        if expiry[2]:
            yield *expiry.span(2), "card code"
            return
    if code := _code_beside().search(text, end, end + _BY_CARD):
        yield *code.span(1), "card code"


_ACCOUNT_DIGITS: Final = 10
"""The least digits of an account number; with fewer it is text."""


def _account_end(written: str) -> int | None:
    """The length of the account number at the beginning of a text; None if there is none (ISO 7064, modulo 97).

    >>> _account_end("GB82 WEST 1234 5698 7654 32 is mine"), _account_end("GB83 WEST 1234 5698 7654 32")
    (27, None)
    """
    wanted = _LENGTHS.get(written[:2].upper(), 0)
    plain = ""
    for place, letter in enumerate(written):
        if letter.isalnum():
            plain += letter.upper()
        if wanted and len(plain) == wanted:
            digits = "".join(str(int(each, 36)) for each in plain[4:] + plain[:4])
            is_account = int(digits) % 97 == 1 and sum(map(str.isdigit, plain)) >= _ACCOUNT_DIGITS
            return place + 1 if is_account else None
    return None
