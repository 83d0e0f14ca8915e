"""Long texts of many kinds, generated, for tests of running time: a pattern that backtracks takes the square of their length."""

import base64
import json
import random
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count, repeat
from typing import Final

_SOME_WORDS: Final = (
    "auth salt garden tulip Berlin Ann Bob visits works moved likes owns pays friend dentist deadline invoice Postgres the a of to with and "
    "my your she he they when because not never always two 14 2024 March yesterday tomorrow coffee piano train kitchen sister"
)
_WORDS: Final = tuple(_SOME_WORDS.split())
_HAN: Final = "我昨天在北京的公司和同事讨论了新的数据库项目并且决定下周三开始"
_KANA: Final = "わたしはきのうとうきょうのかいしゃでどうりょうとはなしました"
_HANGUL: Final = "나는어제서울에서동료와새로운프로젝트를논의했습니다"
_THAI: Final = "เมื่อวานฉันไปทำงานที่กรุงเทพและพบเพื่อนร่วมงาน"
_DEVANAGARI: Final = "मैं कल दिल्ली में अपने मित्र से मिला और हमने नई योजना बनाई। "
_ARABIC: Final = "ذهبت أمس إلى المكتب وتحدثت مع زملائي عن المشروع الجديد "
_CYRILLIC: Final = "Вчера я была в Москве и говорила с коллегами о новом проекте. "
_GREEK: Final = "Χθες ήμουν στην Αθήνα και μίλησα με φίλους για το νέο έργο. "

_REPEATED: Final[Mapping[str, str]] = {
    "one letter": "a",
    "one capital letter": "A",
    "letter and space": "a ",
    "two letters": "ab",
    "letter and digit": "a1",
    "digit and letter, spaced": "1a ",
    "camel case": "fooBarBaz",
    "identifier": "snake_case_",
    "upper-case identifier": "ABC_12",
    "ones": "1",
    "digits": "1234567890",
    "digits, spaced": "1234 5678 ",
    "numbers with commas": "1,234,",
    "numbers with points": "1.5.",
    "plus and minus": "+1-",
    "currency": "$1,000.00 €5 ",
    "per cent": "12% ",
    "hash": "#",
    "headings": "# a\n",
    "backslash": "\\",
    "double quotes": '"',
    "single quotes": "'",
    "curly quotes opened": "“",
    "curly apostrophes": "’",
    "backtick": "`",
    "code fences": "```\ncode\n```\n",
    "opened code fences": "```py\nx = 1\n",
    "round brackets opened": "(",
    "round brackets": "(a) ",
    "square brackets opened": "[",
    "braces opened": "{",
    "angle brackets opened": "<",
    "tags": "<b>a</b>",
    "unclosed tags": "<system ",
    "comments": "<!-- a -->",
    "unclosed comments": "<!-- a ",
    "markdown links": "[a](b) ",
    "unclosed links": "[a](",
    "images": "![a](https://x.y/z) ",
    "blank": " ",
    "blank and letter": " a  ",
    "long blanks": f"a{' ' * 500}",
    "tab": "\t",
    "newline": "\n",
    "newline and letter": "a\n",
    "carriage return": "a\r\n",
    "line separator": "a\u2028",
    "no-break space": "a\u00a0",
    "form feed": "a\f",
    "dot": ".",
    "dotted": "a.b.c.d.",
    "ellipsis": "… ",
    "comma": ",",
    "comma list": "a, b, and c, ",
    "semicolon": "a; ",
    "colon": "a: ",
    "colons": ":",
    "hyphen": "-",
    "hyphenated": "well-known-",
    "dash": " – ",
    "dashes": "—",
    "underscore": "_",
    "asterisk": "*",
    "bold": "**a** ",
    "table": "| a | b |\n|---|---|\n",
    "pipe": "|",
    "bullets": "- a\n",
    "numbered list": "1. a\n",
    "quoted lines": "> a\n",
    "nested quotes": "> ",
    "slash": "/",
    "path": "/usr/lib/",
    "windows path": "C:\\a\\",
    "at": "@",
    "addresses": "a@",
    "mail addresses": "ann@x.example ",
    "web addresses": "https://example.com/a?b=c ",
    "web address": "https://a/b?c=d&e=",
    "schemes": "http://",
    "scheme letters": "a+b.c-",
    "percent escapes": "%41",
    "html escapes": "&amp;",
    "unicode escapes": "\\u0041",
    "equals": "=",
    "assignments": "a=b ",
    "key and value": "password: ",
    "tokens": "sk-abc123_",
    "key beginnings": "-----BEGIN PRIVATE KEY-----\n",
    "exclamation": "!",
    "question": "why? ",
    "questions": "?",
    "no": "no ",
    "not": "not ",
    "I am": "I am ",
    "I am and": "I am Ann and ",
    "my": "my ",
    "the": "the ",
    "and": "and ",
    "of the": "of the ",
    "is a": "is a ",
    "who": "who said that ",
    "if": "if ",
    "X, not Y": "tea, not coffee, ",
    "dates": "14 March 2024 ",
    "ISO dates": "2024-03-14 ",
    "ISO instants": "2024-03-14T10:00:00Z",
    "days": "3 days ago ",
    "next": "next Friday ",
    "day names": "Monday ",
    "months": "March ",
    "last": "last ",
    "the day before": "the day before ",
    "from to": "from Monday to ",
    "times": "10:30 am ",
    "years": "2024 ",
    "ordinals": "1st of ",
    "durations": "two years and ",
    "role labels": "user: hi\n",
    "assistant labels": "assistant: ",
    "human and assistant": "\nhuman: a\nassistant: b",
    "role tags": "<|im_start|>",
    "fence marks": "<memory>",
    "names": "Ann ",
    "capitalised": "Ann Bob-Lee O'Neil ",
    "apostrophes": "don't ",
    "possessives": "Ann's ",
    "ignore": "ignore previous ",
    "send": "send the ",
    "JSON opened": '{"a": ',
    "JSON": '{"a": [1, 2]}, ',
    "escaped quotes": '\\"',
    "combining marks": "e\u0301",
    "combining marks alone": "\u0301",
    "zero width": "a\u200b",
    "right to left": "\u202eא",
    "variation selectors": "☀\ufe0f",
    "emoji": "😀",
    "families": "👩\u200d👩\u200d👧",
    "flags": "🇩🇪",
    "skin tones": "👍🏽",
    "wide letters": "Ａ１",
    "mathematical letters": "𝐀𝟏",
    "ligature": "ﬀ",
    "sharp s": "ß",
    "dotted capital I": "İ",
    "ligature that expands": "\ufdfa",
    "Chinese": _HAN,
    "Chinese sentences": "我住在北京。",
    "Chinese quotes": "「我",
    "Japanese": _KANA,
    "Korean": _HANGUL,
    "Thai": _THAI,
    "Hindi": _DEVANAGARI,
    "Arabic": _ARABIC,
    "Russian": _CYRILLIC,
    "Greek": _GREEK,
    "mixed scripts": "aя中א1",
    "German": "Ich wohne seit gestern in Berlin und arbeite bei der Bahn. ",
    "French": "J'habite à Lyon depuis hier et je n'aime pas le café. ",
    "Spanish": "¿Vivo en Madrid desde ayer y me gusta el café? ",
    "control characters": "\x01\x02\x1b[31m",
    "statement": "I live in Berlin and work at the bakery. ",
    "statement without an end": "I live in Berlin and I work at the bakery and ",
    "log lines": "2024-03-14 10:00:00,123 ERROR [main] a.b.C - failed: x=1\n",
    "traceback": '  File "a.py", line 3, in f\n',
    "rows of CSV": '"a","b",1,2\n',
    "code": "def f(x): return x[0] + 1\n",
    "LaTeX": "\\frac{a}{b} ",
    "chemical formula": "C6H12O6-",
    "card numbers": "4111 1111 1111 1111 12/28 ",
    "phone numbers": "+49 30 123456, ",
    "versions": "v1.2.3-rc.4 ",
    "speaker labels": "Ann: yes\nBob: no\n",
    "stage directions": "*sits down* ",
    "subject line": "Re: Fwd: ",
    "opened quotes": 'she said "I am ',
}  # fmt: skip
"""A piece of each kind, which is repeated up to the length."""


def _generated(pieces: Callable[[random.Random], Iterator[str]]) -> Callable[[int], str]:
    def text(length: int) -> str:
        parts, written = [], 0
        for piece in pieces(random.Random(length)):  # noqa: S311 - the same text each time, no secret
            parts.append(piece)
            written += len(piece)
            if written >= length:
                break
        return "".join(parts)[:length]

    return text


def _of(letters: str) -> Callable[[random.Random], Iterator[str]]:
    return lambda chance: (chance.choice(letters) for _ in count())


_RANDOM: Final[Mapping[str, Callable[[random.Random], Iterator[str]]]] = {
    "hex": _of("0123456789abcdef"),
    "upper-case hex": _of("0123456789ABCDEF"),
    "hex dump": lambda chance: (f"{n * 16:08x}  {chance.randbytes(16).hex(' ')}\n" for n in count()),
    "DNA": _of("acgt"),
    "upper-case DNA": _of("ACGT"),
    "protein": _of("ACDEFGHIKLMNPQRSTVWY"),
    "small letters": _of("abcdefghijklmnopqrstuvwxyz"),
    "identifiers": lambda chance: (f"{chance.choice(_WORDS)}{chance.choice(_WORDS).title()}_" for _ in count()),
    "base64": lambda chance: (base64.b64encode(chance.randbytes(3)).decode() for _ in count()),
    "base64 lines": lambda chance: (base64.b64encode(chance.randbytes(57)).decode() + "\n" for _ in count()),
    "base64 of words": lambda chance: (
        base64.b64encode(chance.choice(_WORDS)[:3].ljust(3).encode()).decode() for _ in count()
    ),
    "hex of words": lambda chance: (chance.choice(_WORDS).encode().hex() for _ in count()),
    "digits by chance": _of("0123456789"),
    "digits and separators": _of("0123456789 -.,"),
    "punctuation": _of("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "brackets": _of("()[]{}<>"),
    "quotes": _of("\"'`“”‘’«»"),
    "printable": _of("".join(map(chr, range(32, 127)))),
    "blanks by chance": _of(" \t\n\r\f\v\u00a0\u2003\u3000"),
    "letters and blanks": _of("ab "),
    "words": lambda chance: (chance.choice(_WORDS) + " " for _ in count()),
    "words without a space": lambda chance: (chance.choice(_WORDS) for _ in count()),
    "long words": lambda chance: ("-".join(chance.choices(_WORDS, k=20)) + " " for _ in count()),
    "capital words": lambda chance: (chance.choice(_WORDS).upper() + " " for _ in count()),
    "title case": lambda chance: (chance.choice(_WORDS).title() + " " for _ in count()),
    "sentences": lambda chance: (" ".join(chance.choices(_WORDS, k=9)).capitalize() + ". " for _ in count()),
    "sentence without an end": lambda chance: (
        " ".join(chance.choices(_WORDS, k=9)) + chance.choice((", ", " and ")) for _ in count()
    ),
    "transcript": lambda chance: (
        f"{chance.choice(('Ann', 'Bob', 'user', 'assistant'))}: {' '.join(chance.choices(_WORDS, k=7))}.\n"
        for _ in count()
    ),
    "dated statements": lambda chance: (
        f"On {chance.randint(1, 28)} May {chance.randint(2001, 2030)} I bought {chance.choice(_WORDS)}. "
        for _ in count()
    ),
    "relative dates": lambda chance: (
        f"{chance.choice(('last', 'next', 'this'))} {chance.choice(('Friday', 'week', 'month', 'year', 'summer'))} "
        for _ in count()
    ),
    "Unicode by chance": lambda chance: (chr(chance.choice((0x41, 0x391, 0x410, 0x5D0, 0x4E00, 0x1F600)) + chance.randrange(26)) for _ in count()),
    "any code point": lambda chance: (chr(chance.randrange(0x20, 0xD7FF)) for _ in count()),
    "Chinese by chance": _of(_HAN + "。，"),
    "stacked marks": lambda chance: ("a" + "".join(chr(chance.randrange(0x300, 0x36F)) for _ in range(40)) for _ in count()),
    "lines of JSON": lambda chance: (
        json.dumps({"id": chance.randrange(10**6), "text": " ".join(chance.choices(_WORDS, k=5))}) + "\n"
        for _ in count()
    ),
    "numbered facts": lambda _: (f"Project {n} uses port {8000 + n} and I own it. " for n in count()),
    "one long line, then lines": lambda _: chain([("word " * 400)], repeat("a b\n")),
    "new names": lambda chance: (
        f"{chance.choice('ABCDEFGH')}{''.join(chance.choices('aeioulmnrst', k=6))} likes tea. " for _ in count()
    ),
    "preferences": lambda chance: (f"I {chance.choice(('like', 'love', 'hate'))} {''.join(chance.choices('aeioulmnrst', k=6))}. " for _ in count()),
}  # fmt: skip
"""Kinds whose parts differ: text that repeats itself is often cheaper than text that does not."""


def _repeated(piece: str) -> Callable[[int], str]:
    return lambda length: (piece * (length // len(piece) + 1))[:length]


KINDS: Final[Mapping[str, Callable[[int], str]]] = {
    **{name: _repeated(piece) for name, piece in _REPEATED.items()},
    **{name: _generated(pieces) for name, pieces in _RANDOM.items()},
}
"""For each kind a function of the length, in characters; the same length gives the same text."""
