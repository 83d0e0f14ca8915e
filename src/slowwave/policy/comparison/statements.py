"""What a plain sentence says of whom: the holder, what it has one of at a time, and the value, now or newly so."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import MODALS, NEGATIONS, table_words
from slowwave.policy.text.tokens import stem

Relation = Literal["live", "work", "role", "from", "prefer", "report", "study", "use", "drive", "have", "in", "a", "be"]

_CACHED: Final = 4096
ARTICLES: Final = frozenset({"a", "an", "the"})
_LONGEST: Final = 200  # characters; a plain statement is short
_HOLDER_LONGEST: Final = 8  # words
_VALUE_LONGEST: Final = 6

_NOW: Final = lazy_regex(r"\b(?:now|these days|nowadays|from now on|as of (?:now|today)|instead)\b", re.IGNORECASE)
_ANNOUNCED: Final = lazy_regex(
    r"^(?:correction|update|actually|sorry|i mean|scratch that|no,? wait)\b[\s,:;.!–—-]*", re.IGNORECASE
)
_SHORT: Final = (
    (lazy_regex(r"(?<=\w)['’]m\b", re.IGNORECASE), " am"),
    (lazy_regex(r"(?<=\w)['’]re\b", re.IGNORECASE), " are"),
    (lazy_regex(r"(?<=\w)['’]ve\b", re.IGNORECASE), " have"),
    (lazy_regex(r"\b(he|she|it)['’]s\b", re.IGNORECASE), r"\1 is"),
)
_WE: Final = lazy_regex(r"\bthe user and others\b", re.IGNORECASE)  # what "we" is told as
_FILLER: Final = lazy_regex(
    r"\b(?:just|finally|recently|actually|already|officially|currently|at the moment)\b,?", re.IGNORECASE
)
_OWNER: Final = r"(?:(?:\S+\s+){0,3}\S+['’]s|my|our|his|her|their|your|the)"
_NEW: Final = lazy_regex(rf"^({_OWNER}\s+)new\s+", re.IGNORECASE)
_CURRENT: Final = lazy_regex(rf"^({_OWNER}\s+)(?:current|latest|present)\s+", re.IGNORECASE)
# Who adds says nothing of what was; who doubts, denies or asks says nothing.
_ALSO: Final = table_words("additive_words")
_UNPLAIN: Final = (MODALS - {"postponed", "started"}) | NEGATIONS | _ALSO | {"going", "formerly"}
_USER: Final = frozenset({"i", "the user"})
_CLAUSE: Final = table_words("clause_words")

_BE: Final = r"(?:am|is|are)"
_STATE: Final = lazy_regex(
    r"^(?P<holder>.+?)\s+(?:"
    rf"(?P<live>(?:lives?|resides?|{_BE} (?:living|residing|based|located)) in)"
    rf"|(?P<work>(?:works?|{_BE} (?:working|employed)) (?:at|for|by))"
    rf"|(?P<role>(?:works?|{_BE} (?:working|employed)) as)"
    rf"|(?P<from>(?:comes?|{_BE}) from)"
    r"|(?P<prefer>prefers?)"
    r"|(?P<report>reports? to)"
    rf"|(?P<study>study|studies|{_BE} studying)"
    rf"|(?P<use>uses?|{_BE} using)"
    rf"|(?P<drive>drives?|{_BE} driving)"
    r"|(?P<have>has|have|costs?|weighs?|takes?|lasts?|earns?|pays?|sleeps?|contains?)"
    rf"|(?P<in>{_BE} in)"
    rf"|(?P<a>{_BE} (?=an? ))"
    rf"|(?P<be>{_BE})"
    r")\s*\b(?P<value>.+)$",
    re.IGNORECASE,
)
_AUX: Final = r"(?:(?:has|have|had|was|is|got)\s+)?(?:been\s+)?"
_WAY: Final = r"(?:\s+(?:back|over|away|house|forward|up|down|out))?"
_SET: Final = (
    r"(?:moved|changed|rescheduled|postponed|shifted|pushed|brought|delayed|extended|increased|raised|reduced|lowered"
    r"|decreased|dropped|rose|grew|went|updated|renamed|switched)"
)
# "Bob is our new lead" is told of our lead, "Bob now runs the shop" of who runs it.
_NO_NAME: Final = (
    r"(?!(?:the|my|our|his|her|their|your|i|we|he|she|it|they|you|this|that|these|those|there|here|what|who)\b)"
)
_TURNED: Final = lazy_regex(
    rf"^(?P<value>(?i:{_NO_NAME})[A-Z]\S*(?:\s[A-Z]\S*){{0,2}}) (?:is|are) (?P<holder>(?:[Mm]y|[Oo]ur|the|\S+['’]s) .+)$"
)
_RUNS: Final = lazy_regex(
    r"^(?P<value>I|(?i:the user)|(?i:NO_NAME)[A-Z]\S*(?:\s[A-Z]\S*){0,2}) (?P<verb>owns?|leads?|manages?|runs?|heads?|maintains?) "
    r"(?P<holder>(?:my|our|the|\S+['’]s) .+)$".replace("NO_NAME", _NO_NAME)
)
_FROM: Final = r"(?:\s+from\s+(?P<before>.+?))?"
_SWITCHED: Final = r"(?:switched|migrated|upgraded|downgraded|converted|changed)"
_TOOK: Final = r"(?:got|found|took|accepted)"
_JOB: Final = r"(?:job|position)"
_DETERMINED: Final = r"(?:my|our|his|her|their|the)\s"
_PEOPLE: Final = r"(?!(?:I|we|he|she|they)\b)"
_FORMS: Final[tuple[tuple[str, tuple[Relation, ...], bool], ...]] = (
    (rf"\S+(?:\s\S+)?\s+{_AUX}{_SET}\s+(?P<holder>{_DETERMINED}.+?){_WAY}{_FROM}\s+to", ("be",), True),
    (rf"(?P<holder>.+?)\s+{_AUX}(?:moved|relocated){_WAY}{_FROM}\s+to", ("live", "in", "use", "be"), True),
    (rf"(?P<holder>.+?)\s+{_AUX}{_SWITCHED}{_WAY}{_FROM}\s+to", ("use", "prefer", "drive", "be"), True),
    (r"(?P<holder>.+?)\s+(?:has\s+|have\s+)?turned", ("be",), True),
    (rf"(?P<holder>{_PEOPLE}.+?)\s+{_AUX}{_SET}{_WAY}{_FROM}\s+to", ("be",), True),
    (rf"(?P<holder>.+?)\s+{_AUX}(?:started|have|{_TOOK})\s+a\s+new\s+{_JOB}\s+(?:at|with)", ("work",), True),
    (
        rf"(?P<holder>.+?)\s+{_AUX}(?:joined|started\s+(?:(?:working|work|a\s+job)\s+)?(?:at|for|with)|{_TOOK}\s+a\s+{_JOB}\s+(?:at|with))",
        ("work",),
        False,
    ),
)
_TOLD: Final = tuple(
    (lazy_regex(rf"^{pattern}\s+(?P<value>.+)$", re.IGNORECASE), frozenset(relations), sure)
    for pattern, relations, sure in _FORMS
)
_TELLS: Final = lazy_regex(r"\bto\b|\bturned\b|\bjoined\b|\bstarted\b|\bjob\b|\bposition\b", re.IGNORECASE)
_IMPLIED: Final = {"live": "live", "use": "use", "work": "work"}
_LEADING: Final = lazy_regex(r"^(?:due\s+|scheduled\s+|set\s+)?(?:on|at|for|by|as)\s+", re.IGNORECASE)
_YEARS: Final = lazy_regex(r"\s+years?\s+old\b", re.IGNORECASE)
_TAIL: Final = lazy_regex(
    r"\s*(?:,(?!\d)|[;(]|\s[–—-]+\s|\b(?:because|since|and|but|with|while|when|after|before|for|until|till|during|where|which|who|near|so|as"
    r"|than|by|from|every|last|next|in|on|at|through)\b)",
    re.IGNORECASE,
)
_CAME: Final = lazy_regex(r"\s+from\s+(?P<before>[^,;]+)$", re.IGNORECASE)
_ENDS: Final = " .!\"'“”‘’"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """A plain statement.

    Attributes:
        holder: of whom or what, in lower case; the first person is the user.
        relations: which relations the value may stand in: one for a state, several for "moved to".
        value: its words as written.
        before: what it was until then, where a change says so ("from …"), as written.
        tail: what is said beyond it, as written; empty if nothing is.
        new: whether it says in so many words that this is newly so.
        event: whether it tells of the change rather than of the state.
        sure: whether the words that announce it leave no room for a second value.
        turned: whether the value came first ("Bob is our lead"): then it may be one of several, unless it is new.
    """

    holder: tuple[str, ...]
    relations: frozenset[Relation]
    value: tuple[str, ...]
    tail: str
    new: bool
    before: tuple[str, ...] = ()
    event: bool = False
    sure: bool = True
    turned: bool = False


def stems(said: Iterable[str]) -> frozenset[str]:
    """The stems of words as written, without articles."""
    return frozenset(stem(word.casefold().strip(_ENDS)) for word in said) - ARTICLES


@lru_cache(maxsize=_CACHED)
def statement(text: str, *, called: tuple[str, ...] = ()) -> Attribution | None:
    """Read a sentence, if it is a plain English statement in one of the forms this house knows; None for any other.

    Args:
        text: One sentence.
        called: Names known to mean one and the same subject ("the user", "Matteo").
    """
    found = formed(text, called=called)
    return found if found is not None and plain(text) else None


@lru_cache(maxsize=_CACHED)
def plain(text: str) -> bool:
    """Whether a sentence is English and says something is so: nothing denied, doubted, wished or added to what was."""
    from slowwave.policy.comparison.alignment import prepare  # noqa: PLC0415 - most questions do without

    known = prepare(_written_out(text))
    return known.english and not _UNPLAIN & frozenset(known.words) - frozenset(known.capitals)  # Will, in May


@lru_cache(maxsize=_CACHED)
def formed(text: str, *, called: tuple[str, ...] = ()) -> Attribution | None:
    """What `statement` gives, of a sentence that need not be plain: a tenth of the work."""
    if len(text) > _LONGEST or text.rstrip().endswith("?"):
        return None
    written = _written_out(text)
    announced = _ANNOUNCED.match(written)
    written = written[announced.end() :] if announced else written
    bare = " ".join(_FILLER.sub(" ", _NOW.sub(" ", written)).split()).rstrip(", ")
    new = announced is not None or _NOW.search(written) is not None
    if found := _TURNED.match(bare) or _RUNS.match(bare):
        return _turned(found, called, new=new)
    form = _told(bare) or _state(bare)
    if form is None:
        return None
    match, relations, event, sure = form
    made = _made(match, called, relations)
    return made and replace(made, new=made.new or new or event, event=event, sure=sure)


def _turned(found: re.Match[str], called: Collection[str], *, new: bool) -> Attribution | None:
    """Who holds a place, told of the place; two may run one shop, and unannounced also be its friends."""
    verb = found.groupdict().get("verb")
    made = _made(found, called, frozenset({"be"}))
    if made is None:
        return None
    whose = (stem(verb), *made.holder) if verb else made.holder
    value = ("User",) if " ".join(made.value).casefold() in _USER else made.value
    return replace(made, holder=whose, value=value, new=made.new or new, sure=verb is None, turned=True)


_Form = tuple[re.Match[str], frozenset[Relation], bool, bool]


def _told(bare: str) -> _Form | None:
    """The sentence as one that tells of a change."""
    if not _TELLS.search(bare):
        return None
    for pattern, relations, sure in _TOLD:
        if found := pattern.match(bare):
            more: frozenset[Relation] = frozenset({"work"}) if found.groupdict().get("before") else frozenset()
            return found, relations | more, True, sure
    return None


def _state(bare: str) -> _Form | None:
    """The sentence as one that tells how it is."""
    found = _STATE.match(bare)
    if found is None:
        return None
    relation: Relation = next(name for name in _NAMES if found[name])
    return found, frozenset({relation}), False, True


def _written_out(text: str) -> str:
    """The sentence without contractions, line ends and its end mark."""
    if "'" in text or "’" in text:
        from slowwave.policy.comparison.alignment import expanded  # noqa: PLC0415 - see above

        text = expanded(text)
        for pattern, written in _SHORT:
            text = pattern.sub(written, text)
    return " ".join(_WE.sub("we", text).split()).rstrip(_ENDS)


_NAMES: Final[tuple[Relation, ...]] = (
    *("live", "work", "role", "from", "prefer", "report", "study", "use", "drive", "have", "in", "a", "be"),
)


def _made(found: re.Match[str], called: Collection[str], relations: frozenset[Relation]) -> Attribution | None:
    told = _CURRENT.sub(r"\1", found["holder"])
    unnewed = _NEW.sub(r"\1", told)
    said = _YEARS.sub("", _LEADING.sub("", found["value"]))
    before = found.groupdict().get("before") or ""
    if came := _CAME.search(said):
        said, before = said[: came.start()], came["before"]
    tail = _TAIL.search(said)
    value = tuple(said[: tail.start()].split()) if tail else tuple(said.split())
    holder = _holder(unnewed, called)
    fits = 0 < len(holder) <= _HOLDER_LONGEST and 0 < len(value) <= _VALUE_LONGEST
    if not fits or not _CLAUSE.isdisjoint(holder) or "," in unnewed:
        return None
    return Attribution(
        holder=holder,
        relations=relations,
        value=value,
        tail=said[tail.start() :].strip() if tail else "",
        new=unnewed != told,
        before=tuple(before.split()),
    )


def _holder(text: str, called: Collection[str]) -> tuple[str, ...]:
    """One way to write whom it is about: "I" and "the user" are the user, as every name is that is known to mean it."""
    folded = f" {text.casefold().replace('’', chr(39))} ".replace("'s ", " 's ")
    for name in sorted({*called, *_USER}, key=lambda name: (-len(name), name)):
        folded = folded.replace(f" {name.casefold()} ", " user ")
    return ("user", "'s", *folded.split()[1:]) if folded.startswith(" my ") else tuple(folded.split())


def implied(text: str) -> str:
    """The verbs a change is the change of, which its own words do not hold: of "moved to Bern" it is live (or use).

    >>> implied("I moved to Bern"), implied("I live in Bern")
    ('live use', '')
    """
    said = statement(text)
    if said is None or not said.event:
        return ""
    return " ".join(verb for relation, verb in _IMPLIED.items() if relation in said.relations)
