"""Parses plain sentences into a holder, a relation and a value: "Ann lives in Rome" is (ann, live, Rome).

Two kinds of form are known: states ("lives in", "works at", "is") and changes ("moved to", "switched from X to Y"). Everything
else, and every sentence with a negation, doubt, wish or addition, is not parsed.
"""

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
_LONGEST: Final = 200  # characters of a sentence that is parsed
_HOLDER_LONGEST: Final = 8  # words
_VALUE_LONGEST: Final = 6  # words

# Words that mark a value as new: "now", and at the beginning "update:".
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
_WE: Final = lazy_regex(r"\bthe user and others\b", re.IGNORECASE)  # facts say this for "we"
_FILLER: Final = lazy_regex(
    r"\b(?:just|finally|recently|actually|already|officially|currently|at the moment)\b,?", re.IGNORECASE
)
_OWNER: Final = r"(?:(?:\S+\s+){0,3}\S+['’]s|my|our|his|her|their|your|the)"
_NEW: Final = lazy_regex(rf"^({_OWNER}\s+)new\s+", re.IGNORECASE)
_CURRENT: Final = lazy_regex(rf"^({_OWNER}\s+)(?:current|latest|present)\s+", re.IGNORECASE)
# With these words a sentence replaces nothing: it adds, doubts, denies or restricts.
_ALSO: Final = table_words("additive_words")
_NOT_PLAIN: Final = (MODALS - {"postponed", "start", "starts", "started"}) | NEGATIONS | _ALSO | {"going", "formerly"}
_USER: Final = frozenset({"i", "the user"})
_CLAUSE: Final = table_words("clause_words")

_BE: Final = r"(?:am|is|are)"
_STATE: Final = lazy_regex(
    r"^(?P<holder>.+?)\s+(?:"
    rf"(?P<live>(?:lives?|resides?|{_BE} (?:living|residing|based|located)) in)"
    rf"|(?P<work>(?:works?|{_BE} (?:working|employed)|(?:has|have) (?:worked|been working)) (?:at|for|by))"
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
# "Bob is our new lead" and "Bob now runs the shop": the name is the value, our lead and who runs the shop the holder.
_NOT_A_PRONOUN: Final = (
    r"(?!(?:the|my|our|his|her|their|your|i|we|he|she|it|they|you|this|that|these|those|there|here|what|who)\b)"
)
_VALUE_FIRST: Final = lazy_regex(
    rf"^(?P<value>(?i:{_NOT_A_PRONOUN})[A-Z]\S*(?:\s[A-Z]\S*){{0,2}}) (?:is|are) (?P<holder>(?:[Mm]y|[Oo]ur|the|\S+['’]s) .+)$"
)
_RUNS: Final = lazy_regex(
    r"^(?P<value>I|(?i:the user)|(?i:NO_NAME)[A-Z]\S*(?:\s[A-Z]\S*){0,2}) (?P<verb>owns?|leads?|manages?|runs?|heads?|maintains?) "
    r"(?P<holder>(?:my|our|the|\S+['’]s) .+)$".replace("NO_NAME", _NOT_A_PRONOUN)
)
_FROM: Final = r"(?:\s+from\s+(?P<before>.+?))?"
_SWITCHED: Final = r"(?:switched|migrated|upgraded|downgraded|converted|changed)"
_TOOK: Final = r"(?:got|found|took|accepted)"
_JOB: Final = r"(?:job|position)"
_DETERMINED: Final = r"(?:my|our|his|her|their|the)\s"
_PEOPLE: Final = r"(?!(?:I|we|he|she|they)\b)"
# Forms of changes: the pattern up to the value, the relations it can mean, and whether it rules out a second value.
_FORMS: Final[tuple[tuple[str, tuple[Relation, ...], bool], ...]] = (
    (rf"\S+(?:\s\S+)?\s+{_AUX}{_SET}\s+(?P<holder>{_DETERMINED}.+?){_WAY}{_FROM}\s+to", ("be",), True),
    (rf"(?P<holder>.+?)\s+{_AUX}(?:moved|relocated){_WAY}{_FROM}\s+to", ("live", "in", "use", "be"), True),
    (rf"(?P<holder>.+?)\s+{_AUX}{_SWITCHED}{_WAY}{_FROM}\s+to", ("use", "prefer", "drive", "be"), True),
    (r"(?P<holder>.+?)\s+(?:has\s+|have\s+)?turned", ("be",), True),
    (rf"(?P<holder>{_PEOPLE}.+?)\s+{_AUX}{_SET}{_WAY}{_FROM}\s+to", ("be",), True),
    (rf"(?P<holder>.+?)\s+{_AUX}(?:started|have|{_TOOK})\s+a\s+new\s+{_JOB}\s+(?:at|with)", ("work",), True),
    (
        rf"(?P<holder>.+?)\s+{_AUX}(?:joined|starts?\s+(?:(?:working|work)\s+)?at|started\s+(?:(?:working|work|a\s+job)\s+)?(?:at|for|with)|{_TOOK}\s+a\s+{_JOB}\s+(?:at|with))",
        ("work",),
        False,
    ),
)
_CHANGES: Final = tuple(
    (lazy_regex(rf"^{pattern}\s+(?P<value>.+)$", re.IGNORECASE), frozenset(relations), sure)
    for pattern, relations, sure in _FORMS
)
_CHANGE_WORD: Final = lazy_regex(r"\bto\b|\bturned\b|\bjoined\b|\bstart(?:s|ed)?\b|\bjob\b|\bposition\b", re.IGNORECASE)
_IMPLIED: Final = {"live": "live", "use": "use", "work": "work"}
_LEADING: Final = lazy_regex(r"^(?:due\s+|scheduled\s+|set\s+)?(?:on|at|for|by|as)\s+", re.IGNORECASE)
_YEARS: Final = lazy_regex(r"\s+years?\s+old\b", re.IGNORECASE)
_TAIL: Final = lazy_regex(
    r"\s*(?:,(?!\d)|[;(]|\s[–—-]+\s|\b(?:because|since|and|but|with|while|when|after|before|for|until|till|during|where|which|who|near|so|as"
    r"|than|by|from|every|last|next|in|on|at|through)\b)",
    re.IGNORECASE,
)
_ORIGIN: Final = lazy_regex(r"\s+from\s+(?P<before>[^,;]+)$", re.IGNORECASE)
_ENDS: Final = " .!\"'“”‘’"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """A parsed statement: the holder has the value in one of the relations.

    Attributes:
        holder: the words that name the subject, in lower case; the first person is the user.
        relations: the relations that the sentence can mean: one for a state, several for "moved to".
        value: the words of the value, as written.
        before: the words of the value before a change ("from …"), as written; empty if it is not named.
        tail: the rest of the sentence, as written; empty if there is none.
        new: whether the sentence says that the value is new.
        event: whether it reports a change rather than a state.
        sure: whether its form rules out a second value.
        value_first: whether the value came first ("Bob is our lead"). There may then be other values, unless it is new.
    """

    holder: tuple[str, ...]
    relations: frozenset[Relation]
    value: tuple[str, ...]
    tail: str
    new: bool
    before: tuple[str, ...] = ()
    event: bool = False
    sure: bool = True
    value_first: bool = False


def stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of words as written, without articles."""
    return frozenset(stem(word.casefold().strip(_ENDS)) for word in words) - ARTICLES


@lru_cache(maxsize=_CACHED)
def statement(text: str, *, called: tuple[str, ...] = ()) -> Attribution | None:
    """Parse a sentence; None if it is no plain English statement of a known form.

    Args:
        text: One sentence.
        called: Names that are known to mean the same subject ("the user", "Matteo").

    >>> parsed = statement("Ann moved from Bern to Rome")
    >>> parsed and (parsed.holder, sorted(parsed.relations)[1:3], parsed.value, parsed.before)
    (('ann',), ['in', 'live'], ('Rome',), ('Bern',))
    """
    parsed = formed(text, called=called)
    return parsed if parsed is not None and plain(text) else None


@lru_cache(maxsize=_CACHED)
def plain(text: str) -> bool:
    """Whether a sentence is English and affirmative, without doubt, wish or addition."""
    from slowwave.policy.comparison.alignment import prepare  # noqa: PLC0415 - most questions do without

    prepared = prepare(_written_out(text))
    return prepared.english and not _NOT_PLAIN & frozenset(prepared.words) - frozenset(
        prepared.capitals
    )  # Will and May can be names


@lru_cache(maxsize=_CACHED)
def formed(text: str, *, called: tuple[str, ...] = ()) -> Attribution | None:
    """The result of `statement` without the test for a plain sentence, for a tenth of the time."""
    if len(text) > _LONGEST or text.rstrip().endswith("?"):
        return None
    written = _written_out(text)
    announced = _ANNOUNCED.match(written)
    written = written[announced.end() :] if announced else written
    bare = " ".join(_FILLER.sub(" ", _NOW.sub(" ", written)).split()).rstrip(", ")
    new = announced is not None or _NOW.search(written) is not None
    if match := _VALUE_FIRST.match(bare) or _RUNS.match(bare):
        return _value_first(match, called, new=new)
    form = _match_change(bare) or _match_state(bare)
    if form is None:
        return None
    match, relations, event, sure = form
    parsed = _attribution(match, called, relations)
    return parsed and replace(parsed, new=parsed.new or new or event, event=event, sure=sure)


def _value_first(match: re.Match[str], called: Collection[str], *, new: bool) -> Attribution | None:
    """A sentence whose subject is the value: "Bob is our lead" says who our lead is. Two people may run one shop: not sure."""
    verb = match.groupdict().get("verb")
    parsed = _attribution(match, called, frozenset({"be"}))
    if parsed is None:
        return None
    holder = (stem(verb), *parsed.holder) if verb else parsed.holder
    value = ("User",) if " ".join(parsed.value).casefold() in _USER else parsed.value
    return replace(parsed, holder=holder, value=value, new=parsed.new or new, sure=verb is None, value_first=True)


_Form = tuple[re.Match[str], frozenset[Relation], bool, bool]


def _match_change(bare: str) -> _Form | None:
    """Match the sentence with the forms of changes. A change "from" a value may also concern a job."""
    if not _CHANGE_WORD.search(bare):
        return None
    for pattern, relations, sure in _CHANGES:
        if match := pattern.match(bare):
            more: frozenset[Relation] = frozenset({"work"}) if match.groupdict().get("before") else frozenset()
            return match, relations | more, True, sure
    return None


def _match_state(bare: str) -> _Form | None:
    """Match the sentence with the forms of states."""
    match = _STATE.match(bare)
    if match is None:
        return None
    relation: Relation = next(name for name in _RELATIONS if match[name])
    return match, frozenset({relation}), False, True


def _written_out(text: str) -> str:
    """The sentence on one line, without contractions and its end mark."""
    if "'" in text or "’" in text:
        from slowwave.policy.comparison.alignment import expanded  # noqa: PLC0415 - see above

        text = expanded(text)
        for pattern, written in _SHORT:
            text = pattern.sub(written, text)
    return " ".join(_WE.sub("we", text).split()).rstrip(_ENDS)


_RELATIONS: Final[tuple[Relation, ...]] = (
    *("live", "work", "role", "from", "prefer", "report", "study", "use", "drive", "have", "in", "a", "be"),
)


def _attribution(match: re.Match[str], called: Collection[str], relations: frozenset[Relation]) -> Attribution | None:
    with_new = _CURRENT.sub(r"\1", match["holder"])
    without_new = _NEW.sub(r"\1", with_new)
    rest = _YEARS.sub("", _LEADING.sub("", match["value"]))
    before = match.groupdict().get("before") or ""
    if origin := _ORIGIN.search(rest):
        rest, before = rest[: origin.start()], origin["before"]
    tail = _TAIL.search(rest)
    value = tuple(rest[: tail.start()].split()) if tail else tuple(rest.split())
    holder = _holder(without_new, called)
    fits = 0 < len(holder) <= _HOLDER_LONGEST and 0 < len(value) <= _VALUE_LONGEST
    if not fits or not _CLAUSE.isdisjoint(holder) or "," in without_new:
        return None
    return Attribution(
        holder=holder,
        relations=relations,
        value=value,
        tail=rest[tail.start() :].strip() if tail else "",
        new=without_new != with_new,
        before=tuple(before.split()),
    )


def _holder(text: str, called: Collection[str]) -> tuple[str, ...]:
    """The words of the holder in one form: "I", "the user" and every name in `called` become "user"."""
    folded = f" {text.casefold().replace('’', chr(39))} ".replace("'s ", " 's ")
    for name in sorted({*called, *_USER}, key=lambda name: (-len(name), name)):
        folded = folded.replace(f" {name.casefold()} ", " user ")
    return ("user", "'s", *folded.split()[1:]) if folded.startswith(" my ") else tuple(folded.split())


def implied(text: str) -> str:
    """The verbs of the state that follows from a change, which its own words do not contain: live for "moved to Bern".

    Facts are indexed with them, so that "lives" finds "moved to".

    >>> implied("I moved to Bern"), implied("I live in Bern")
    ('live use', '')
    """
    parsed = statement(text)
    if parsed is None or not parsed.event:
        return ""
    return " ".join(verb for relation, verb in _IMPLIED.items() if relation in parsed.relations)
