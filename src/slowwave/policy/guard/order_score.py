"""Scores how much a text reads as an order to a model: signs of form and words, each with a weight and a name.

A window is a sentence with the beginning of the next one. Its signs say whom it addresses (a reader that is a model is
called, noted, obliged, given another role), what it demands (secrecy, private data, tools, a verdict), and what speaks
against it (doubts: people, pupils, games, reports, quotations). The score of a window is the sum of the weights in
`policy/data/order_weights.toml`. `tools/fit_orders.py` fits them by logistic regression, in which a sign only raises the
score and a doubt only lowers it. A window has a bounded length, so the time is linear in the length of the text.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from slowwave.policy.guard.addressees import SENTENCE_END, is_for_a_team, is_mentioned, is_reported
from slowwave.policy.guard.disguises import Reading, reading_of
from slowwave.policy.guard.lexicon import Language, likeliest_languages, starting_languages, weights_of_signs
from slowwave.policy.text.lazy_regex import lazy_regex

_LONGEST: Final = 600
"""Characters of a window; a longer sentence is read in several."""
_NEXT: Final = 240
"""Characters of the next sentence in which a demand may stand."""
_NEAR: Final = 200
"""Characters before a window in which a game, a report or a greeting makes it doubtful."""
_AFTER: Final = 180
"""Characters after a reader in which a clause about it and an order may stand."""
_CLAUSE: Final = 80
"""Characters after a reader in which the words that call it end."""
_DUTY: Final = 80
"""Characters after a reader in which its obligation may stand."""
_HEAD: Final = 7
"""Words before a reader in the words that call it."""
_LETTER: Final = 60
"""Characters at the beginning of a text in which the greeting of a letter may stand."""

_DESTINATION: Final = lazy_regex(r"https?://|[\w.+-]{1,60}@[\w-]{1,60}\.\w|\bwww\.\w|\b(?:iban|es|de|fr)\d\d[\d -]{4}")
_CALL: Final = lazy_regex(
    r"\b[a-z]{2,20} [a-z]{2,30}\([^)]{0,80}\)|\b\w{2,30}\([^)]{0,80}[=\"'][^)]{0,80}\)|`[^`\n]{3,120}`"
    r"|'[a-z -]{0,40}[~/|$][^'\n]{3,120}'"
)
_SHELL: Final = lazy_regex(
    r"\brm -rf|\bcurl\b|\bwget\b|\| ?(?:ba)?sh\b|~/\w|\.env\b|id_rsa|id rsa|\bsudo\b|drop table|git push|chmod"
    r"|\bpost(?:し|s|ing)?\b.{0,20}http|run shell|execute command|eval\("
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
_PAUSE: Final = lazy_regex(r"[:：,，、;；?？!—–>\]】]| - |。|$")
_HEAD_END: Final = lazy_regex(r"[:：,，;；!?？(\[{<\"“„«「『|#*/\]]|。|\.\s|--")
_WORD: Final = lazy_regex(r"[\w']+")
_OF_THIS: Final = lazy_regex(r"この|これ|本|当該|这|此")
"""Words of the text itself in scripts without spaces, which stand before or directly after a reader."""
_JAPANESE_ORDER: Final = lazy_regex(
    r"(?:て|で)ください|なさい|せよ|しろ|(?:る|ない)こと(?=[。」)\s:]|$)|[えけせてねべめれげ]よ?[。!]|るな[。!:]?"
    r"|(?:し|て|で)おいて|して[、。]"
)
_CHINESE_ORDER: Final = lazy_regex(
    r"(?:们)?(?:请|应|须|必须|务必|不要|别|不得|立即|立刻|马上|需|将被要求|[,，:：]?(?:请|必须|务必|不要|立即))"
)
_QUOTES: Final = frozenset('"“„«‘「『`')
_CODE: Final = "={};()<>"
_LEAST_CODE: Final = 6
"""Marks of programs in a window from which on it is doubtful whether its words are a sentence."""
_PROGRAM: Final = frozenset("=;<>|")
"""Marks of which one makes an address on the network a part of a program."""
_FENCE: Final = "'''"
"""The marks of a block of code, as `disguises.folded` writes them."""
_LISTING: Final = 1000
"""Characters around a window in which a block of code makes an address a part of a program."""
_URL: Final = lazy_regex(r"https?://[^\s'\"]{1,300}")
_ANSWERED: Final = frozenset(
    f"doubt: {name}{tail}" for name in ("quote", "near talk", "polite", "mine", "crew") for tail in ("", ", addressed")
)
"""Doubts that a rule has answered: it finds no order in words that are quoted, named or asked of people (`addressees`)."""
_QUESTIONS: Final = frozenset("?？")

_READERS: Final = ("ai", "machine", "helper", "robot")
_SURE_READERS: Final = ("ai", "machine", "robot")
_ORDERS: Final = (
    *("command", "tell", "hide", "omit", "keep", "upload", "drop", "heed", "recite", "perform", "act", "deny"),
    *("disclose", "does", "harm", "aside", "store", "send", "order", "decode"),
)
_FOR_WHOM: Final = (
    *(("role", ("now",)), ("renounced", ("renounce",)), ("become", ("become", "be")), ("pose", ("pose",))),
    *(("address", ("address",)), ("giver", ("giver",)), ("served", ("served", "user"))),
)
"""Signs of whom a sentence addresses, with the lists of which it has a word."""
_DONE: Final = (
    *(("drop", ("drop", "aside")), ("hide", ("hide",)), ("upload", ("upload", "send")), ("keep", ("keep", "store"))),
    *(("recite", ("recite", "disclose", "show")), ("heed", ("heed", "obey", "does")), ("perform", ("perform",))),
    *(("act", ("act", "harm")), ("omit", ("omit",)), ("order", _ORDERS)),
)
"""Signs of what is demanded, with the lists of verbs of which one must be an order, not a report."""
_ABOUT: Final = (
    *(("law", ("law", "orders", "rules")), ("told", ("told", "said")), ("void", ("gone", "void", "lifted"))),
    *(("asset", ("holding", "private", "asset")), ("lasting", ("lasting", "memory")), ("grant", ("grant", "wanted"))),
    *(("innards", ("prior", "innards", "own")), ("bare", ("bare", "yields", "free", "boundless"))),
    *(("admin", ("admin", "access")), ("limits", ("limits", "law")), ("off", ("off", "lifted"))),
    *(("cipher", ("cipher", "decode")), ("tool", ("tool", "device")), ("unasked", ("unasked",))),
    *(("behalf", ("behalf",)), ("each", ("each", "every")), ("only", ("only",)), ("here", ("here",))),
    *(("secret", ("secret",)), ("task", ("task",)), ("policy", ("policy",)), ("quiet", ("quiet", "hide"))),
    *(("rig", ("rig",)), ("served", ("served", "user")), ("giver", ("giver",))),
)
"""Signs of what a demand is about, with the lists of which the window has a word."""
_DOUBTS: Final = ("people", "pupils", "mine", "crew", "polite", "play", "talk")
_NEAR_DOUBTS: Final = ("play", "talk", "people")
_CALLED: Final = frozenset(["calledS", "calledH", "notedS", "label", "address", "being", "formS"])
"""Signs of which one makes a window addressed to a model."""
_SURE: Final = frozenset(["calledS", "being", "thisS", "notedS", "label", "readingS"])
"""Signs with which doubts have weights of their own."""
_PAIRED: Final = frozenset(
    [
        "thisS",
        "thisH",
        "being",
        "any",
        "calledH",
        "formS",
        "obligedS",
        "obligedH",
        "formH",
        "notedH",
        "readingH",
        "ifH",
        "readerS",
        "readerH",
        "role",
        "renounced",
        "pose",
    ]
)
"""Signs of whom a window addresses that have a weight with each demand."""


class Score(NamedTuple):
    """How much a text reads as an order to a model.

    Attributes:
        total: the sum of the weights of its highest window; above 0 an order is more likely than none.
        signs: the signs of that window, the weightiest first.
    """

    total: float
    signs: tuple[str, ...]


class _Window(NamedTuple):
    """A sentence with the beginning of the next one.

    Attributes:
        language: the language whose words are looked for.
        flat: the whole text.
        start: where the sentence begins.
        end: where it ends.
        stop: where the window ends.
        lists: the lists of which a word may be in the window and before it; None if any may.
    """

    language: Language
    flat: str
    start: int
    end: int
    stop: int
    lists: frozenset[str] | None

    def has(self, text: str, *names: str) -> bool:
        """Whether a word of these lists is in a part of the window."""
        if self.lists is not None and self.lists.isdisjoint(names):
            return False
        return _has(self.language, text, *names)

    @property
    def sentence(self) -> str:
        return self.flat[self.start : self.end]

    @property
    def text(self) -> str:
        return self.flat[self.start : self.stop]


def score_of(reading: Reading, flat: str, *, is_ruled: bool = False) -> Score | None:
    """The score of a text; None if no window has a word by which a model is addressed.

    Args:
        reading: the reading.
        flat: its text on one line (`orders.flattened`).
        is_ruled: whether a rule finds an order: then windows in which no word addresses a model are scored as well.
    """
    if reading.squashed or not (is_ruled or starting_languages(reading)):
        return None
    weights = _weights()
    best: Score | None = None
    for window in _windows(flat, is_ruled=is_ruled):
        found = signs_in(window) - (_ANSWERED if is_ruled else frozenset())
        total = weights[""] + sum(weights.get(sign, 0.0) for sign in found)
        if best is None or total > best.total:
            best = Score(total, tuple(sorted(found & weights.keys(), key=lambda sign: -abs(weights[sign]))))
    return best


def windows_of(flat: str) -> Iterator[frozenset[str]]:
    """The signs of each window of a text, for `tools/fit_orders.py`."""
    yield from map(signs_in, _windows(flat))


def _spans(flat: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text, long ones in pieces."""
    start = 0
    for found in SENTENCE_END.finditer(flat):
        while found.end() - start > _LONGEST:
            yield start, start + _LONGEST
            start += _LONGEST
        if found.end() - start > 2:  # noqa: PLR2004 - a mark and a space are no sentence
            yield start, found.end()
            start = found.end()
    for place in range(start, len(flat), _LONGEST):
        yield place, min(len(flat), place + _LONGEST)


def _windows(flat: str, *, is_ruled: bool = False) -> Iterator[_Window]:
    usual = likeliest_languages(reading_of(flat)) if is_ruled else ()
    spans = [*_spans(flat), (len(flat), len(flat))]
    for (start, end), (_, following) in pairwise(spans):
        stop = min(following, end + _NEXT)
        languages = starting_languages(reading_of(flat[start:end])) or usual
        near = reading_of(flat[max(0, start - _NEAR) : stop]) if languages else None
        for language in languages:
            lists = language.lists_in(near.words, near.keys) if near and not language.unspaced else None
            yield _Window(language, flat, start, end, stop, lists)


def _has(language: Language, text: str, *names: str) -> bool:
    pattern = language.pattern(*names)
    return pattern is not None and pattern.search(text) is not None


def signs_in(window: _Window) -> frozenset[str]:
    """The names of the signs of a window: single ones, and pairs of whom it addresses with what it demands."""
    whom, what = _addressed(window), _demanded(window)
    found = whom | what
    if whom & _CALLED:
        found = found | {"addressed"} | {f"addressed, {each}" for each in what}
    found = found | {f"{first}, {each}" for first in whom & _PAIRED for each in what}
    both = whom | what
    found = found | {pair for pair, (first, second) in _pairs().items() if first in both and second in both}
    runs = bool(what & {"call", "shell"}) and bool(whom & {"readerS", "readerH"})
    return frozenset(found | _doubts(window, is_sure=runs or bool(whom & _SURE)))


def _doubts(window: _Window, *, is_sure: bool) -> set[str]:
    """What speaks against an order to a model."""
    sure = ", addressed" if is_sure else ""
    near = window.flat[max(0, window.start - _NEAR) : window.stop]
    found = {f"doubt: {name}{sure}" for name in _DOUBTS if window.has(window.text, name)}
    if not is_sure:
        found |= {f"doubt: near {name}" for name in _NEAR_DOUBTS if window.has(near, name)}
        greeting = window.flat[:_LETTER]
        if not window.start and any(mark in greeting for mark in ",，、!"):
            found |= {"doubt: letter"} if window.has(greeting, "people", "polite") else set()
    if sum(map(window.text.count, _CODE)) >= _LEAST_CODE:
        found.add(f"doubt: code{sure}")
    if not _QUOTES.isdisjoint(window.text):
        found.add(f"doubt: quote{sure}")
    if not _QUESTIONS.isdisjoint(window.text):
        found.add(f"doubt: asks{sure}")
    return found


def _demanded(window: _Window) -> set[str]:
    """What a window demands, and what the demand is about."""
    language, text = window.language, window.text
    found = {name for name, lists in _ABOUT if window.has(text, *lists)}
    found |= {name for name, lists in _DONE if _is_ordered(window, lists)}
    back = 40 if language.verb_last or language.unspaced or language.lists.get("deny_after") else 0
    deny = language.pattern("deny") if window.has(text, "tell", "learn") else None
    for denied in deny.finditer(text) if deny else ():
        if _has(language, text[max(0, denied.start() - back) : denied.end() + 40], "tell", "learn"):
            found.add("deny tell")
            break
    found |= {
        name
        for name, pattern in (("destination", _DESTINATION), ("call", _CALL), ("shell", _SHELL))
        if pattern.search(text)
    }
    if "destination" in found:
        around = window.flat[max(0, window.start - _LISTING) : window.stop + _LISTING]
        if _FENCE in around or not _PROGRAM.isdisjoint(_URL.sub("", text)):
            found.remove("destination")
    return found


def _is_ordered(window: _Window, lists: tuple[str, ...]) -> bool:
    """Whether a verb of these lists is an order: no subject stands before it in its clause."""
    if window.lists is not None and window.lists.isdisjoint(lists):
        return False
    pattern = window.language.pattern(*lists)
    return any(
        not is_reported(window.language, window.flat, window.start + verb.start())
        for verb in (pattern.finditer(window.text) if pattern else ())
    )


def _addressed(window: _Window) -> set[str]:
    """Whom a sentence addresses."""
    sentence = window.sentence
    found: set[str] = set()
    for start, end, kind in _readers(window):
        found |= _as_reader(window, start, end, kind)
    if _LABEL.search(window.flat, max(0, window.start - 2), window.end):
        found.add("label")
    found |= {name for name, lists in _FOR_WHOM if window.has(sentence, *lists)}
    if found & {"role", "renounced", "become"} and window.has(sentence, "staff"):
        found.add("staff")
    return found


def _readers(window: _Window) -> Iterator[tuple[int, int, str]]:
    """The names of models in a sentence: where they begin and end, and S if they can mean nothing else, H if they can."""
    language, sentence = window.language, window.sentence
    names, sure = language.pattern(*_READERS), language.pattern(*_SURE_READERS)
    last = -1
    for name in names.finditer(sentence) if names else ():
        start, end = name.span()
        if start < last:
            continue
        kind = "S" if sure and sure.match(sentence, start) else "H"
        while more := names.match(sentence, end + (not language.unspaced)) if names else None:
            kind = "S" if sure and sure.match(sentence, more.start()) else kind
            end = more.end()
        last = end
        place = window.start
        if not is_for_a_team(language, sentence, start, end) and not is_mentioned(
            window.flat, place + start, place + end
        ):
            yield start, end, kind


def _as_reader(window: _Window, start: int, end: int, kind: str) -> set[str]:
    """How the name of a model is used: called, noted, obliged, described as the reader of this text."""
    language, sentence = window.language, window.sentence
    before, after = sentence[:start], window.text[end : end + _AFTER]
    head = _HEAD_END.split(before)[-1].strip(" -–—>")
    follows = after[:12] if language.unspaced else ""
    is_case = window.has(before, "if", "when") or window.has(follows, "if", "when")
    is_you = window.has(before[-40:], "being")
    is_this = _reads_this(language, before, after)
    clause = f"{after[:120]}{before[-60:]}"
    uses = {
        f"reader{kind}": True,
        f"noted{kind}": window.has(head + after[:2] if language.unspaced else head, "note"),
        "any": window.has(head, "any"),
        f"if{kind}": is_case,
        f"this{kind}": is_this,
        "being": is_you,
        f"reading{kind}": (window.has(after[:80], "reading", "reads") and window.has(clause, "this", "here", "paper"))
        or (language.unspaced and window.has(before[-40:], "reading", "reads")),
        f"obliged{kind}": window.has(sentence[end : end + _DUTY], "duty")
        or (not language.unspaced and window.has(before[-30:], "duty")),
    }
    found = {name for name, holds in uses.items() if holds}
    pause = _PAUSE.search(after)
    words = (len(head) + 1) // 2 if language.unspaced else len(_WORD.findall(head))
    if pause is None or pause.start() > _CLAUSE or words > _HEAD:
        return found
    is_report = is_case and not is_you and not is_this and not language.unspaced and pause[0] != ":"
    return found if is_report else found | _called(window, end, after, pause.start(), pause.end(), kind)


def _reads_this(language: Language, before: str, after: str) -> bool:
    """Whether the words directly beside a reader say that it has to do with this text."""
    if language.unspaced:
        return _OF_THIS.search(before[-24:]) is not None or _OF_THIS.search(after[:8]) is not None
    pattern = language.pattern("this")
    this = pattern.search(after[:60]) if pattern else None
    return this is not None and not _HEAD_END.search(after[1 : this.start()].lstrip(" ,"))


def _called(window: _Window, end: int, after: str, pause: int, place: int, kind: str) -> set[str]:
    """Whether an order follows the words that call a reader: a known verb, or any word that begins no statement."""
    language = window.language
    order = language.pattern(*_ORDERS)
    following = after[place:].lstrip(" '\"“„«*-")
    if language.unspaced:
        if language.verb_last:
            return {f"called{kind}"} if _JAPANESE_ORDER.search(after[:140]) else set()
        is_order = order is not None and pause <= 12 and order.match(following) is not None  # noqa: PLR2004 - letters of a suffix
        return {f"called{kind}"} if is_order or _CHINESE_ORDER.match(window.sentence, end) else set()
    if order is not None and order.match(following):
        return {f"called{kind}"}
    word = _WORD.match(following)
    is_form = (
        word is not None
        and not word[0].isdigit()
        and word[0] not in language.function_words
        and not _has(language, word[0], "subject")
    )
    return {f"form{kind}"} if is_form else set()


@cache
def _weights() -> Mapping[str, float]:
    """The weight of each sign, and under "" the constant."""
    constant, weights = weights_of_signs()
    return {"": constant, **weights}


_PAIRS: Final = (
    "drop+law drop+told drop+giver void+law hide+served deny_tell+served upload+asset upload+destination asset+destination keep+lasting "
    "keep+grant served+grant keep+served recite+innards limits+off bare+policy cipher+heed cipher+quiet act+tool served+unasked "
    "tool+unasked admin+each admin+bare omit+task heed+only heed+here drop+here tool+served asset+served recite+asset drop+heed "
    "law+heed call+served quiet+served quiet+asset quiet+act tool+quiet perform+each perform+unasked rig+quiet admin+off call+quiet "
    "quiet+here lasting+grant lasting+served bare+each bare+role admin+role become+bare become+admin renounced+role staff+role "
    "staff+renounced staff+asset pose+asset pose+recite pose+drop giver+law staff+drop role+drop renounced+drop label+limits giver+told "
    "thisS+obligedS thisH+obligedH thisS+calledS thisH+calledH notedS+calledS notedH+calledH any+obligedS any+thisS being+calledS "
    "being+calledH readingS+obligedS readingS+calledS notedH+formH notedS+formS thisS+formS thisH+formH ifS+thisS any+obligedH "
    "ifS+obligedS"
)
"""Pairs of signs that have a weight of their own."""


@cache
def _pairs() -> Mapping[str, tuple[str, str]]:
    """The pairs by their names."""
    written = (pair.replace("_", " ").split("+") for pair in _PAIRS.split())
    return {f"{first} + {second}": (first, second) for first, second in written}
