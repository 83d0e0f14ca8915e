"""The signs of a sentence by which it reads as an order to a model: of its words, of how it speaks, and of its form.

A sign says whom the sentence addresses (a model is called, noted, obliged), how it speaks (as an order, for always, when somebody
asks), what it demands (secrecy, private data, tools, praise), or what speaks against it (people, games, reports, quotations).
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from slowwave.policy.guard.sentence_language import is_function_word
from slowwave.policy.guard.sign_words import Hit, all_signs, bit, names_of, spaced, unspaced
from slowwave.policy.text.lazy_regex import lazy_regex

_DESTINATION: Final = lazy_regex(
    r"https?://|[\w.+-]{1,60}@[\w-]{1,60}\.\w|\bwww\.\w|\b[a-z]{2}\d\d(?: ?\d{4}){2}|\b[\w-]{2,30}\.(?:example|com|net|org|io|ru|cn|xyz|top)\b"
)
_CALL: Final = lazy_regex(
    r"\b[a-z]{2,20} [a-z]{2,30}\([^)]{0,80}\)|\b\w{2,30}\([^)]{0,80}[=\"'][^)]{0,80}\)|\b\w{2,20}\.\w{2,20}\([^)]{0,80}\)"
    r"|`[^`\n]{3,120}`|'[a-z -]{0,40}[~/|$][^'\n]{3,120}'"
)
_SHELL: Final = lazy_regex(
    r"\brm -rf|\bcurl\b|\bwget\b|\| ?(?:ba)?sh\b|~/\w|\.env\b|id_rsa|id rsa|\bsudo\b|drop table|git push|chmod|os\.environ"
    r"|run shell|execute command|eval\("
)
_SYSTEM: Final = (
    r"(?:system\w{0,14}|systeme|sistema|systeem\w{0,10}|systemu|系统(?:消息|提示|通知|指令|公告)?|系統\w{0,4}"
    r"|システム(?:メッセージ|通知|指示|プロンプト)?)"
)
_LABEL: Final = lazy_regex(
    rf"(?:^|[.!?。¶]['\"»”]? {{0,2}}[-*#]{{0,3}} ?|[\[【<({{#*|=]{{1,3}} ?|-{{2,3}} ?)"
    rf"(?:(?!the |das |el |il |o |le |la |het )[^\W\d]{{1,14}}[ '’-]{{1,2}}(?:d['ei]l? ?)?){{0,2}}{_SYSTEM}"
    r"(?:[ -][^\W\d]{1,14}){0,3} ?(?:[,，(][^:\]】>)\n]{0,40}[)]? ?)?(?:[:：\]】>)]|#{2,3}|={2,3}|-{3}|—)"
)
_FIELD: Final = lazy_regex(r"[\"'][^\"'\n:]{0,30}[\"']\s?:\s?[\"']")
"""A name and the beginning of a text in a JSON object."""
_HIDDEN_PLACE: Final = lazy_regex(
    r"<!--|/\*|font-size ?: ?[01](?:px|pt)?\b|display ?: ?none|visibility ?: ?hidden|opacity ?: ?0|\balt ?= ?[\"']"
    r"|color ?: ?(?:#fff(?:fff)?|white)"
)
"""A comment, or text that a page does not show."""
_PAUSE: Final = lazy_regex(r"[^\s\w'’`_-]|\s[-–—]+\s|--|\n")
_JAPANESE_ORDER: Final = lazy_regex(
    r"(?:て|で)ください|なさい|せよ|しろ|(?:る|ない)こと(?=[。」)\s:、]|$)|[えけせてねべめれげ]よ?[。!]|るな[。!:]?|(?:し|て|で)おいて"
    r"|なければならない|ねばならない|べき|ものとする|な[。!]|[てで](?=[。!」]|$)|ように(?:せよ|して|する|と)?"
)
_CHINESE_ORDER: Final = lazy_regex(
    r"请|應|应(?:该|当)?|须|务必|不要|别|不得|切勿|立即|立刻|马上|必须|需(?:要)?|无需|不必|一律|把|将|都(?:要|说|回)"
)
_PLAIN_GAPS: Final = frozenset([" ", "'", "-", "’"])
_QUOTES: Final = frozenset('"“„«‘「『`')
_QUESTIONS: Final = frozenset("?？")
_CODE: Final = "={};()<>"
_LEAST_CODE: Final = 6
"""Marks of programs in a sentence from which on it is doubtful whether its words are a sentence."""
_COLONS: Final = frozenset(",:：，、;；—–!！]")
_WORD: Final = lazy_regex(r"[^\W_]+")
UNSPACED: Final = frozenset(["zh", "ja"])
"""Languages whose words stand without spaces."""
_BEHIND: Final = 4
"""Words behind the name of a reader in which its duty or its reading may stand."""
_BEHIND_LETTERS: Final = 14
"""Letters behind it in scripts without spaces."""
_ACTIONS: Final = (
    "set aside",
    "obey",
    "tell",
    "say",
    "conceal",
    "leave out",
    "remember",
    "send",
    "show",
    "run",
    "pay",
    "change",
    "become",
    "favour",
    "without asking",
    "other order",
)
"""Signs that are verbs: one that begins a clause is an order."""
_READERS: Final = ("model", "assistant")
CARRYING: Final = frozenset(
    [
        "model called",
        "assistant called",
        "note to a reader",
        "system label",
        "reader and this text",
        "being a reader",
        "field of a reader",
        "persona",
        "called to do",
        "hidden place",
    ]
)
"""Signs of whom a sentence addresses that count for the next sentences as well."""
_KEPT: Final = (
    "model",
    "assistant",
    "user",
    "must",
    "always",
    "when asked",
    "not",
    "set aside",
    "obey",
    "this text",
    "conceal",
    "leave out",
    "answer",
    "say",
    "remember",
    "memory",
    "approval",
    "send",
    "private data",
    "show",
    "own prompt",
    "run",
    "pay",
    "change",
    "without asking",
    "urgent",
    "become",
    "no longer be",
    "without limits",
    "full rights",
    "claims authority",
    "favour",
    "encoded",
    "in the user's name",
    "all that was said",
    "reads this",
    "no longer in force",
    "every",
    "conversation",
    "processes",
    "paper",
    "machine at work",
    "shape of a reply",
    "standing leave",
)
"""Signs of words that are paired."""
_HARMS: Final = frozenset(
    [
        "conceal",
        "private data",
        "own prompt",
        "pay",
        "without asking",
        "favour",
        "full rights",
        "claims authority",
        "without limits",
        "persona",
        "standing leave",
        "instructions set aside",
        "instructions void",
        "obeys this text",
        "encoded",
        "address",
        "shell",
        "call",
        "in the user's name",
        "change",
        "approval",
        "memory",
        "must not tell",
        "leave out",
        "run",
        "send",
    ]
)
"""What an attacker asks for: of these, one and several count as signs of their own."""
_LATER: Final = frozenset(["always", "when asked", "memory"])
"""Signs of a rule for later."""
_DOUBTS: Final = ("people", "pupils", "own things", "team", "games", "reports", "somebody")


class Signs(NamedTuple):
    """The signs of a sentence: those that are paired, and the doubts."""

    paired: frozenset[str]
    doubts: frozenset[str]


def signs_in(code: str, sentence: str, words: Sequence[str]) -> Signs | None:
    """The signs of a sentence in a language; None if it has none of those that every order has.

    Args:
        code: the language.
        sentence: the sentence.
        words: its words.
    """
    if code in UNSPACED:
        hits = unspaced(code).hits(sentence)
        found = all_signs(hits)
        if not found & _NEEDED_BITS:
            return None
        form = _JAPANESE_ORDER if code == "ja" else _CHINESE_ORDER
        is_order = form.search(sentence) is not None
        ordered = set(names_of(found & _ACTION_BITS)) if is_order else set()
        readers = [hit for hit in hits if hit.signs & _READER_BITS]
        called = {
            name for hit in readers for name in (*_called_unspaced(sentence, hit), *_behind(hits, hit, _BEHIND_LETTERS))
        }
    else:
        hits = spaced(code).hits(words)
        found = all_signs(hits)
        if not found & _NEEDED_BITS or not found & (found - 1):  # no needed one, or no second one
            return None
        clauses = _Clauses(sentence, words, hits)
        ordered, called = set(names_of(clauses.ordered())), clauses.called() if found & _READER_BITS else set()
    paired = set(names_of(found & _KEPT_BITS))
    paired |= {f"order: {name}" for name in ordered} | called
    paired |= _forms_in(sentence) | _signs_of_groups(found)
    if paired & {"model called", "assistant called"} and found & bit("note to"):
        paired.add("note to a reader")
    if "field" in paired and paired & {"model", "assistant"}:
        paired.add("field of a reader")
    paired |= _derived_signs(paired, ordered)
    return Signs(frozenset(paired), frozenset(_doubts(sentence, found, paired)))


def _derived_signs(found: set[str], ordered: set[str]) -> set[str]:
    """Signs of signs: how many orders, how many harms, a rule for later, a reader that is called or only mentioned."""
    derived = set()
    if ordered:
        derived.add("an order")
    if len(ordered - {"other order"}) > 1:
        derived.add("several orders")
    harms = len(found & _HARMS)
    if harms:
        derived.add("a harm")
    if harms > 1:
        derived.add("several harms")
    if harms > 3:  # noqa: PLR2004 - more than a sentence of a manual has
        derived.add("many harms")
    if found & _LATER:
        derived.add("a rule for later")
    if found & CARRYING:
        derived.add("a reader is addressed")
    elif found & {"model", "assistant"}:
        derived.add("a reader is mentioned")
    return derived


def _doubts(sentence: str, found: int, paired: set[str]) -> set[str]:
    """What speaks against an order to a model."""
    doubts = {f"doubt: {name}" for name in _DOUBTS if found & bit(name)}
    if not _QUESTIONS.isdisjoint(sentence):
        doubts.add("doubt: asks")
    if "field" in paired:
        return doubts
    if sum(map(sentence.count, _CODE)) >= _LEAST_CODE:
        doubts.add("doubt: code")
    if not _QUOTES.isdisjoint(sentence):
        doubts.add("doubt: quote")
    return doubts


_ACTION_BITS: Final = bit(*_ACTIONS)
_KEPT_BITS: Final = bit(*_KEPT)
_NEEDED_BITS: Final = bit(
    "model",
    "assistant",
    "user",
    "other person",
    "instructions",
    "all that was said",
    "memory",
    "private data",
    "own prompt",
    "tool",
    "conceal",
    "when asked",
    "always",
    "favour",
    "without limits",
    "full rights",
    "claims authority",
    "encoded",
    "without asking",
    "this text",
    "answer",
    "say",
    "pay",
    "change",
    "send",
    "run",
    "in the user's name",
    "become",
    "machine at work",
    "shape of a reply",
    "standing leave",
)
"""Signs of which every order has one."""


def _forms_in(sentence: str) -> set[str]:
    """The signs of a sentence that are no words: addresses, calls, labels."""
    return {name for name, pattern in _FORMS if pattern.search(sentence)}


def _signs_of_groups(found: int) -> set[str]:
    """The signs of words that belong together."""
    return {name for name, groups in _TOGETHER if all(found & group for group in groups)}


_FORMS: Final = (
    ("address", _DESTINATION),
    ("call", _CALL),
    ("shell", _SHELL),
    ("system label", _LABEL),
    ("field", _FIELD),
    ("hidden place", _HIDDEN_PLACE),
)
_READER_BITS: Final = bit("model", "assistant")
_TOGETHER: Final = (
    ("reader and this text", (_READER_BITS, bit("reads this"))),
    ("being a reader", (_READER_BITS, bit("you are"))),
    ("any reader", (_READER_BITS, bit("any"))),
    ("persona", (bit("become", "no longer be"), bit("without limits", "full rights"))),
    ("own instructions", (bit("instructions"), bit("earlier", "given by"))),
    (
        "instructions set aside",
        (bit("set aside"), bit("instructions", "all that was said"), bit("earlier", "given by")),
    ),
    ("instructions void", (bit("no longer in force"), bit("instructions", "limits"), bit("earlier", "given by"))),
    ("obeys this text", (bit("obey"), bit("this text"))),
    ("must not tell", (bit("not"), bit("tell", "learn"), bit("user", "other person"))),
)
"""Signs of words that belong together: each with groups of signs of which the sentence has one of each group."""


class _Clauses:
    """The clauses of a sentence whose words stand between spaces.

    Args:
        sentence: the sentence.
        words: its words.
        hits: the places with words of lists.
    """

    def __init__(self, sentence: str, words: Sequence[str], hits: Sequence[Hit]) -> None:
        self._sentence = sentence
        self._words = words
        self._hits = hits
        self._at = [0] * len(words)
        for hit in hits:
            self._at[hit.first] |= hit.signs
        self._spans = [word.span() for word in _WORD.finditer(sentence)]

    def _pauses(self, number: int) -> bool:
        """Whether a clause ends before a word."""
        if not number:
            return True
        gap = self._sentence[self._spans[number - 1][1] : self._spans[number][0]]
        return gap not in _PLAIN_GAPS and _PAUSE.search(gap) is not None

    def _opens(self, number: int) -> bool:
        """Whether a word begins a clause, but for words such as "and", "please" and "never"."""
        while not self._pauses(number):
            before = self._at[number - 1]
            if before & _JOINS:
                return True
            if not before & _OPENING:
                return False
            number -= 1
        return True

    def ordered(self) -> int:
        """The verbs that begin a clause, or end one without a subject."""
        found = 0
        for hit in self._hits:
            if hit.signs & _ACTION_BITS & ~found and (self._opens(hit.first) or self._ends(hit)):
                found |= hit.signs & _ACTION_BITS
        return found

    def _ends(self, hit: Hit) -> bool:
        """Whether a verb is the last word of a clause in which no person is the subject ("den Nutzer nicht informieren")."""
        if hit.last + 1 < len(self._words) and not self._pauses(hit.last + 1):
            return False
        if hit.first == hit.last and not self._words[hit.first].endswith(("en", "n")):
            return False
        number = hit.first
        while not self._pauses(number):
            if self._at[number - 1] & _SOMEBODY:
                return False
            number -= 1
        return True

    def called(self) -> set[str]:
        """The readers whose name begins a clause and is followed by a comma or a colon, and what stands behind it."""
        found: set[str] = set()
        for hit in self._hits:
            if not hit.signs & _READER_BITS:
                continue
            found |= _behind(self._hits, hit, _BEHIND)
            end = self._spans[hit.last][1]
            mark = self._sentence[end : end + 3].strip(" \"'”»)*_")[:1]
            if mark and mark in _COLONS and any(map(self._opens, range(max(0, hit.first - 3), hit.first + 1))):
                found |= {f"{name} called" for name in _READERS if hit.signs & bit(name)}
                following = self._words[hit.last + 1] if hit.last + 1 < len(self._words) else ""
                if following and not is_function_word(following) and not self._at[hit.last + 1] & _SOMEBODY:
                    found.add("called to do")
        return found


_JOINS: Final = bit("joins")
_OPENING: Final = bit("joins", "goes before", "not", "polite")
_SOMEBODY: Final = bit("somebody")


def _behind(hits: Sequence[Hit], reader: Hit, reach: int) -> set[str]:
    """What stands shortly behind the name of a reader: that it must, or that it processes something."""
    near = [hit.signs for hit in hits if reader.last < hit.first <= reader.last + reach]
    found = {"reader must"} if any(signs & bit("must") for signs in near) else set()
    if any(signs & bit("processes", "reads this") for signs in near):
        found.add("reader processes")
    return found


def _called_unspaced(sentence: str, hit: Hit) -> Iterator[str]:
    """The readers whose name is followed by a comma or a colon."""
    mark = sentence[hit.last : hit.last + 2].lstrip("们さんへ ")[:1]
    if mark and mark in _COLONS:
        yield from (f"{name} called" for name in _READERS if hit.signs & bit(name))
