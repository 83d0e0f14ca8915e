"""Compares texts as a person reads them: however their letters, white space, digits and groups of digits are encoded.

Two texts are the same if they differ only in compatibility and composition (Unicode NFKC), case, white space and line
breaks, invisible characters, typographic quotes and dashes, vowel points, the script of digits, or in how the digits of a
number of at least four digits are grouped ("4821", "48 21", "4-8-2-1"). Accents, letters and superscripts make a difference. A text with
escapes (HTML, addresses, JSON) or marks of Markdown and HTML is also compared as it is shown without them. A
decimal point is no grouping ("48.21"), and neither are a date, an address, or digits of a longer number of the same groups
("01 48 21 33"). Of two numbers in groups, one may only have more groups than the other: "1 234" is not "12 34".
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

from slowwave.policy.text.escapes import unescaped
from slowwave.policy.text.lazy_regex import lazy_regex

_INVISIBLE: Final = lazy_regex(
    "[\x00-\x08\x0e-\x1b\x7f\u00ad\u034f\u0334-\u0338\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061c\u0640"
    "\u064b-\u065f\u0670\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that are not seen: formatting, fillers, variation selectors, vowel points, strokes through letters."""
_SPACES: Final = lazy_regex(r"\s+")
_BETWEEN_SIGNS: Final = lazy_regex(
    r"(?<=[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]) (?=[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])"
)
_DIGIT: Final = lazy_regex(r"\d")
_NO_DIGIT: Final = lazy_regex(r"[^0-9]+")
_TYPOGRAPHY: Final = str.maketrans(
    {letter: plain for letters, plain in (("‘’‚‛′ʼ´`", "'"), ("“”„‟«»″", '"'), ("‐‑‒–—―−", "-")) for letter in letters}
)
_RAISED: Final = str.maketrans({raised: f"^{digit}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
"""Superscripts, which Unicode's compatibility form would make plain digits: 10⁵ is not 105."""
_DATE: Final = lazy_regex(
    r"(?:[0-9]{1,2}([./-])[0-9]{1,2}\1(?:[0-9]{2}|[0-9]{4})|[0-9]{4}([./-])[0-9]{1,2}\2[0-9]{1,2})"
)
_DOTTED: Final = lazy_regex(r"(?![0-9](?:\.[0-9]){3}$)[0-9]{1,3}(?:\.[0-9]{1,3}){2,3}")
"""An address such as 192.168.1.11, or a version, unless its groups are thousands or it has four single digits."""
_BETWEEN: Final = r"[ .,'/()_·-]"
_RUN: Final = lazy_regex(rf"[0-9](?:{_BETWEEN}{{0,3}}[0-9])*")
_LOOSE: Final = "[ _(-]{0,3}"
"""Between a number and a letter there may be a space, a dash between spaces, or nothing."""
_BORDER: Final = lazy_regex(r"(?<=[0-9])[ _-]?(?=[^\W\d_])|(?<=[^\W\d_])[ _-]?(?=[0-9])")
_GROUPED_LEAST: Final = 4
"""Digits from which a number may be written in groups."""
_GROUPED_MOST: Final = 64
_LONG: Final = 7
"""Digits from which a slash is a grouping, as in a telephone number; below it is a date or a fraction."""
_THOUSAND: Final = 3
_END: Final = 100
"""Characters at both ends of a long part that a pattern contains."""
_AROUND: Final = 40
"""Characters around a number in which the rest of a longer one is looked for."""


def plain(text: str) -> str:
    """A text in the one form in which it is compared.

    >>> plain("CAFÉ  №４８") == plain("café no48")
    True
    """
    if not text.isascii():
        text = text.translate(_RAISED)
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold())
        text = _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text.replace("i\u0307", "i"))
        text = text.translate(_TYPOGRAPHY)
    lowered = text.lower().replace("`", "'")  # of the signs of `_TYPOGRAPHY` the only ASCII one
    return _BETWEEN_SIGNS.sub("", _SPACES.sub(" ", _INVISIBLE.sub("", lowered)))


class Phrase:
    """A text to look for in others, whatever their spelling.

    >>> phrase = Phrase("my PIN is 4821")
    >>> [phrase.is_in(text) for text in ("My  pin is 48 21.", "my PIN is 4-8-2-1", "my PIN is 48.21")]
    [True, True, False]
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = plain(text).strip()
        self._digits = _NO_DIGIT.sub("", self._plain)

    @cached_property
    def _pattern(self) -> "_Pattern | None":
        """`_grouped` of the text. Compiling it takes longer than looking for the text in a thousand others."""
        return _grouped(self._plain)

    def is_in(self, text: str) -> bool:
        """Whether the text contains the phrase. The empty phrase is in every text."""
        if text == self._text:
            return True  # a text of 20,000 ligatures has 360,000 letters, which are not compared here
        without_escapes = unescaped(text)
        return self._is_in_plain(plain(text)) or (without_escapes != text and self._is_in_plain(plain(without_escapes)))

    def _is_in_plain(self, shown: str) -> bool:
        if self._plain in shown:
            return True
        if not self._digits or self._digits not in _NO_DIGIT.sub("", shown):
            return False  # other groups of a number have the same digits in the same order
        pattern = self._pattern
        return pattern is not None and any(
            all(
                _is_whole(shown, *match.span(name)) and _are_nested(borders, _borders(match[name]))
                for name, borders in pattern.numbers.items()
            )
            for match in pattern.matches(shown)
        )


def _borders(written: str) -> frozenset[int]:
    """The places of a number, counted in digits, at which a group ends."""
    return frozenset(accumulate(map(len, _groups(written)[0][:-1])))


def _are_nested(first: frozenset[int], second: frozenset[int]) -> bool:
    """Whether one number only has more groups than the other: "1 234" and "12 34" are different numbers."""
    return first <= second or second <= first


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A text whose numbers may be written in other groups.

    Attributes:
        regex: finds the text. In place of the inside of a long run of letters it has a group of so many characters.
        numbers: by the name of the group of each number, where its groups end.
        insides: by the name of the group of each inside, its characters.
    """

    regex: re.Pattern[str]
    numbers: Mapping[str, frozenset[int]]
    insides: Mapping[str, str]

    def matches(self, shown: str) -> Iterator[re.Match[str]]:
        """The places of the text in a plain text."""
        place = 0
        while (match := self.regex.search(shown, place)) is not None:
            right = all(match[name] == inside for name, inside in self.insides.items())
            place = max(match.end(), match.start() + 1) if right else match.start() + 1
            if right:
                yield match


def _grouped(text: str) -> _Pattern | None:
    """The pattern of a text whose numbers may be written in other groups; None without such numbers."""
    pattern, end = "", 0
    numbers: dict[str, frozenset[int]] = {}
    insides: dict[str, str] = {}
    for run in _RUN.finditer(text):
        digits = _NO_DIGIT.sub("", run[0])
        if not _GROUPED_LEAST <= len(digits) <= _GROUPED_MOST or not _is_grouping(run[0]):
            continue
        name = f"n{len(numbers)}"
        pattern += _literal(text[end : run.start()], insides, after=bool(numbers), before=True)
        pattern += f"(?P<{name}>{f'{_BETWEEN}{{0,3}}'.join(digits)})"
        numbers[name], end = _borders(run[0]), run.end()
    if not numbers:
        return None
    whole = pattern + _literal(text[end:], insides, after=True, before=False)
    return _Pattern(re.compile(whole, re.DOTALL), numbers, insides)


def _literal(text: str, insides: dict[str, str], *, after: bool, before: bool) -> str:
    """The pattern of a text beside numbers: it may be joined to them, or parted by one space.

    The insides of its long parts are added to `insides`: compiling them would take longer than all else.
    """
    inner = text.strip(" _-(") if before else text.strip(" _-")
    parts = _LOOSE.join(_part(part, insides) for part in _BORDER.split(inner))
    return (_LOOSE if after and text else "") + parts + (_LOOSE if before and inner else "")


def _part(part: str, insides: dict[str, str]) -> str:
    if len(part) <= 4 * _END:
        return re.escape(part)
    name = f"i{len(insides)}"
    insides[name] = part[_END:-_END]
    return f"{re.escape(part[:_END])}(?P<{name}>.{{{len(insides[name])}}}){re.escape(part[-_END:])}"


def _groups(written: str) -> tuple[list[str], list[str]]:
    """The groups of a number, and the characters between them."""
    return re.findall(r"[0-9]+", written), re.findall(r"[^0-9]+", written)


def _is_grouping(written: str) -> bool:
    """Whether all separators of a number only group it: not a decimal point, a date, an address or a fraction."""
    groups, between = _groups(written)
    thousands = all(len(group) == _THOUSAND for group in groups[1:])
    if _DATE.fullmatch(written) or (_DOTTED.fullmatch(written) and not thousands):
        return False
    if any("." in each or "," in each for each in between) and len(groups) == 2 and not thousands:  # noqa: PLR2004 - a point between two
        return False
    return sum(map(len, groups)) >= _LONG or not any("/" in each for each in between)


def _is_whole(shown: str, start: int, end: int) -> bool:
    """Whether digits are a number of their own and not a part of a longer one."""
    low = max(0, start - _AROUND)
    runs = (
        match for match in _RUN.finditer(shown, low, end + _AROUND) if match.start() <= start and end <= match.end()
    )
    whole = next(runs, None)
    if whole is None or not _is_grouping(shown[start:end]):
        return False
    if whole.span() == (start, end):
        return True
    joined = (start > 0 and shown[start - 1].isdigit()) or shown[end : end + 1].isdigit()
    groups, between = _groups(whole[0])
    telephone = groups[0].startswith("0") or shown[whole.start() - 1 : whole.start()] == "+"
    sizes = {len(group) for group in _groups(shown[start:end])[0]}
    evenly = len(set(between)) == 1 and {len(group) for group in groups} == sizes and len(groups) > 1
    return not (joined or telephone or evenly)


def spellings(text: str) -> tuple[str, ...]:
    """The spellings of a text that a search through bytes looks for: forms of Unicode, case, white space and numbers."""
    return tuple(
        dict.fromkeys(form for spaced in _spaced(text) for number in _numbered(spaced) for form in _forms(number))
    )


def _spaced(text: str) -> Iterator[str]:
    yield text
    parts = text.split()
    if len(parts) > 1:
        yield from (space.join(parts) for space in (" ", "\u00a0", "  ", "\n", "\r\n", "\t"))


def _numbered(text: str) -> Iterator[str]:
    yield text
    runs = [(run.span(), run[0], _regroupable(run[0])) for run in _RUN.finditer(text)]
    ends = [0, *(end for (_, end), _, _ in runs)]
    for size, between in ((len(text), ""), (4, " "), (4, "-"), (3, " "), (3, "-"), (2, " ")):
        pieces: list[str] = []
        for end, ((start, _), written, digits) in zip(ends, runs, strict=False):
            groups = (digits[place : place + size] for place in range(0, len(digits), size))
            pieces += (text[end:start], between.join(groups) if digits else written)
        yield "".join((*pieces, text[ends[-1] :]))


def _regroupable(written: str) -> str:
    """The digits of a number that may be written in other groups; empty for any other."""
    digits = _NO_DIGIT.sub("", written)
    return digits if len(digits) >= _GROUPED_LEAST and _is_grouping(written) else ""


def _forms(text: str) -> Iterable[str]:
    for form in ("NFC", "NFD", "NFKC"):
        normal = unicodedata.normalize(form, text)
        yield from (normal, normal.lower(), normal.upper(), normal.title(), normal.casefold())
