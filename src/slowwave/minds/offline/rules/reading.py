"""Which clauses become a fact, and of which category: every clause that stands alone, except talk about the talk and moods."""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import (
    EPISODIC,
    SEMANTIC,
    Claim,
    has_name_or_number,
    has_time_word,
    says_something_definite,
)
from slowwave.minds.offline.rules.clause import Clause
from slowwave.minds.offline.rules.morphology import ing_base, participle_base
from slowwave.minds.offline.rules.others import claim_of_other, stated
from slowwave.minds.offline.rules.phrases import (
    BY_THE,
    COMING,
    COORDINATES,
    EMPTY_OBJECT,
    HELD,
    IDIOM,
    KIN_HELD,
    LIKER,
    NAMES_SOMETHING,
    NO_GOAL,
    NO_LIKING,
    NOTHING_DONE,
    NOTHING_HELD,
    OF_PROGRAM,
    RETRACTED,
    SHARE_ONLY,
    SPAN_ONLY,
    TO_DO,
    TURNING_POINT,
    UNNAMED_VERSION,
    WORKED_THROUGH,
)
from slowwave.minds.offline.rules.pronouns import plain
from slowwave.minds.offline.rules.words import (
    BARE,
    CHATTING,
    DECIDING,
    JOBS,
    LASTING_STATES,
    LIKING,
    MOODS,
    PEOPLES,
    PLANNING,
    TALKING,
    TOLERATING,
    WANTING_OBJECT,
    WORKING,
)
from slowwave.policy.text.names import word_set

_IDENTITY_VERBS: Final = {
    "live": re.compile(r"^(?:in|at|near|with|on|alone|between)\b"),
    "work": re.compile(r"^(?:[\w-]+ )?(?:at|as|for|in|from|on|nights|weekends|part-time|full-time|remotely|with)\b"),
    "speak": re.compile(r"^(?:[\w-]+ )*?[A-Z]"),
    "earn": re.compile(r"\d"),
    "study": re.compile(r"\b(?:at|in) [A-Z]"),
    "come": re.compile(r"^from\b"),
    "go": re.compile(r"^by [A-Z\w/]"),
}
_GREW_UP: Final = re.compile(r"^up\s+(?:in|on|near|with)\s")
_AGE: Final = re.compile(r"^\d{1,3}\b(?!\s*(?:%|minutes|hours|days|weeks|months|miles|km|percent|steps|pages))")
_STATE_PHRASE: Final = re.compile(
    r"^(?:currently |now |originally |still )?(?:from|in|at|on|with|between|off|under|near|of|into|based|over|off)\s"
)
_ARTICLE: Final = re.compile(r"^(?:an?|the|one of|one|[\w-]+['’]s)\s", re.IGNORECASE)
_BARE_AFTER_MODAL: Final = word_set(
    "wait believe imagine help thank remember find figure seem decide tell say stop resist complain lie express deny agree"
)
_SKILLS: Final = word_set(
    "speak play drive swim cook read ride sing sew knit write fly sail ski dance paint juggle type"
)
_SKILL_LONGEST: Final = 8  # words
_DEFAULTS: Final = {"present": 0.7, "past": 0.75, "perfect": 0.75, "progressive": 0.7}
_MEETING: Final = re.compile(r"^(?:up )?with (?:you|that|this|it)\b")
_ENROLLED: Final = word_set(
    "based located enrolled registered subscribed employed trained signed booked scheduled insured stationed qualified licensed certified"
)
_PURSUING: Final = word_set("study practice practise prepare read")
_TROUBLE: Final = word_set("encounter face experience struggle wonder")
_NEWS: Final = re.compile(
    r"up for (?:promotion|re-?election|election|review|adoption|parole|tenure)\b|(?:back|home) from .*[A-Z\d]"
)
_COURSE: Final = re.compile(r"\b(?:course|degree|masters?|PhD|training|apprenticeship|internship|diploma|residency)\b")
_CHILD: Final = re.compile(
    r"(?:an? (?:baby|child|girl|boy)|twins|triplets|(?:our|my) (?:\w+ )?(?:child|baby|son|daughter))\b"
)
_PREGNANT: Final = re.compile(r"^(?:[\w-]+ ){1,3}pregnant\b")
_SIBLING: Final = re.compile(
    r"^(?:an only child|(?:an? (?:identical )?)?(?:twin|triplet)\b|the (?:eldest|oldest|youngest|middle)\b)"
)
_LACKED: Final = re.compile(
    r"^(?:an?|any|no) (?:[\w-]+ ){0,2}[\w-]+(?:$|,| (?:in|at|on|or|and|because|since)\b)", re.IGNORECASE
)
_NOTHING_LACKED: Final = re.compile(
    r"^(?:an?|any|no) (?:\w+ )?(?:question|questions|idea|ideas|clue|time|chance|problems?|issues?|doubts?|reason|choice|plans?|preference|preferences|specific|particular|thoughts?|"
    r"experience|answer|way|need|money|energy|trouble|errors?|good|strong|real|clear|set|lot|bit|intention|interest|more|other|longer|desire|regrets?|complaints?|access|luck|word|words)\b",
    re.IGNORECASE,
)
_GIVEN_UP: Final = re.compile(r"\b(?:again|ever|any ?more)$")
_OFFERING: Final = re.compile(r"^(?:custody|an?|the|my|our) ")
_ACQUIRING: Final = word_set("buy sell adopt lose quit join win rent move finish break paint build found")
_ADVERBS_BEFORE: Final = re.compile(
    r"^(?:(?:not|also|still|now|just|already|currently|actually|really|originally|always|(?:death|severe|bad|mild|high|slight|terrib|strict|clinical|chronical|partial)ly)\s+)+"
)
_SITUATIONS: Final = word_set(
    "jobs metformin insulin medication antidepressants thinners leave tablets statins antibiotics crutches pension diet pills meds shift"
)
_HOW_OFTEN: Final = re.compile(
    r"(?:a few|a couple|once|twice|every|each|two|three|\d+) (?:times|of|day|week|month|year|a)\b"
)


def claim_of(clause: Clause, *, assistant: bool) -> Claim | None:
    """The claim that a clause makes; None for chat, moods, opinions about the talk, and clauses without an object.

    Args:
        clause: The clause in the third person.
        assistant: Whether the conversation is with an assistant rather than between people.
    """
    if clause.subject in {"owned", "named", "thing"}:
        return claim_of_other(clause, assistant=assistant)
    return _of_speaker(clause, assistant=assistant)


def _of_speaker(clause: Clause, *, assistant: bool) -> Claim | None:  # noqa: PLR0911 - each return is a rule
    if _is_of_task(clause) or _is_empty(clause):
        return None
    if RETRACTED.search(clause.text) and clause.verb not in CHATTING:
        ended = "preference" if clause.verb in LIKING else "observation"
        return stated(ended, 0.85, clause, kind=SEMANTIC) if says_something_definite(clause.rest, 1) else None
    if clause.verb in LIKING and clause.form != "modal":
        return _liked(clause)
    if clause.form == "modal":
        return _modal(clause)
    if clause.verb == "be":
        return _state(clause)
    if clause.form == "progressive":
        expected = clause.verb == "expect" and _CHILD.match(clause.rest)
        return stated("person", 0.85, clause, kind=SEMANTIC) if expected else _under_way(clause, assistant=assistant)
    if clause.verb == "have":
        return _held(clause)
    if clause.verb in {"want", "plan", "hope", "aim", "intend", "need", "wish", "try"}:
        return _wanted(clause, assistant=assistant)
    return _done(clause, assistant=assistant)


def _is_empty(clause: Clause) -> bool:
    """Whether a clause says only how long, how many exercises, or that something comes: "I have been studying for a week"."""
    rest = clause.rest.strip(" .,!")
    if UNNAMED_VERSION.match(rest):
        return True
    if SHARE_ONLY.match(rest):
        return True
    if SPAN_ONLY.match(rest):
        return clause.verb in WANTING_OBJECT | _PURSUING or rest.endswith("left")
    if coming := COMING.match(rest):
        return not says_something_definite(rest[coming.end() :], 1)
    return bool(WORKED_THROUGH.match(rest))


def _is_of_task(clause: Clause) -> bool:
    """Whether a clause is of the task of the moment: a part of a program, the givens of an exercise, what was tried once."""
    if OF_PROGRAM.search(clause.rest) or COORDINATES.search(clause.rest):
        return True
    tried = clause.form == "progressive" and clause.verb in {"try", "think", "plan", "hope", "want"}
    return tried and " was " in f" {clause.text} "


def _liked(clause: Clause) -> Claim | None:
    chosen = clause.verb == "prefer" and re.match(r"an? ", clause.rest)  # one of two: "prefer a window seat"
    vague = (NO_LIKING.search(clause.rest) and not chosen) or not says_something_definite(clause.rest, 1)
    if vague or (clause.form == "past" and not has_name_or_number(clause.rest)):
        return None
    return stated("preference", 0.85, clause, kind=SEMANTIC)


def _modal(clause: Clause) -> Claim | None:  # noqa: PLR0911 - each return is a rule
    """A clause with a modal verb: a wish, a refusal, a skill, or something that will happen."""
    rest, verb, helper = clause.rest, clause.verb, clause.helper
    if re.search(r"\brather not\b", clause.text) and says_something_definite(rest, 1):
        return stated("preference", 0.8, clause, kind=SEMANTIC)
    if not says_something_definite(rest, 1) or verb in CHATTING - {"miss"}:
        return None
    if helper in {"would", "wouldn't"}:
        if verb in LIKING:
            wish = re.sub(r"^to\s", "", rest)
            return (
                stated("goal", 0.75, clause, kind=SEMANTIC)
                if says_something_definite(wish) and not NO_GOAL.search(rest)
                else None
            )
        return stated("preference", 0.8, clause, kind=SEMANTIC) if re.search(r"\brather\b", clause.text) else None
    if clause.negated and helper in {"can", "can't", "won't", "will", "shall", "cannot", "couldn't"}:
        if verb in _BARE_AFTER_MODAL or helper == "couldn't" or re.search(r"\b(?:more|enough|seem|without)\b", rest):
            return None
        tolerated = verb in TOLERATING or (helper in {"will", "won't", "shall"} and bool(_GIVEN_UP.search(rest)))
        return (
            stated("preference" if tolerated else "observation", 0.75, clause, kind=SEMANTIC)
            if tolerated or has_name_or_number(rest)
            else None
        )
    if helper == "can":
        return (
            stated("observation", 0.75, clause, kind=SEMANTIC)
            if verb in _SKILLS and len(rest.split()) <= _SKILL_LONGEST
            else None
        )
    if (
        helper == "will"
        and not clause.negated
        and (
            has_time_word(clause.text)
            or has_name_or_number(rest)
            or re.search(r"^(?:go with|use|stick with|switch to)\b", f"{verb} {rest}")
        )
    ):
        if (
            NO_GOAL.search(f"to {verb} {rest}")
            or verb == "let"
            or (verb == "be" and not re.match(r"(?:in|at|on) ", rest))
            or re.match(r"(?:with |to )?(?:the|these|those|some)\b", rest)
        ):
            return None
        return stated("decision" if verb in {"use", "stick", "switch"} else "goal", 0.75, clause, kind=SEMANTIC)
    return None


def _state(clause: Clause) -> Claim | None:
    """A clause with "be": who the speaker is, where, in which state; no mood."""
    rest = _ADVERBS_BEFORE.sub("", clause.rest)
    words = [plain(w) for w in rest.split()]
    news = _NEWS.match(rest)
    sole = words[:2] == ["the", "only"] and not JOBS.isdisjoint(words[2:5])
    if not words or not says_something_definite(rest, 1) or (IDIOM.search(rest) and not (news or sole)):
        return None
    if news or TURNING_POINT.match(rest):
        return stated("observation", 0.85, clause, kind=EPISODIC)
    if _is_identity(rest, words[0]):
        return stated("identity", 0.9, clause, kind=SEMANTIC)
    if LIKER.match(rest):
        vague = re.search(r"\b(?:that|this|it)\b|\bhear\b|\bways (?:to|of)\b", rest)
        return None if vague else stated("preference", 0.85, clause, kind=SEMANTIC)
    if _ARTICLE.match(rest):
        return _role(clause, rest, words)
    return stated("observation", 0.75, clause) if _is_lasting_state(clause, rest, words) else None


def _is_identity(rest: str, first: str) -> bool:
    """Whether the words after "be" say who somebody is: an age, an origin, a people, a lasting state."""
    who = first in PEOPLES or first in LASTING_STATES or first in {"born", "half"}
    return who or bool(
        _SIBLING.match(rest) or _AGE.match(rest) or re.match(r"from [A-Z]", rest) or _PREGNANT.match(rest)
    )


def _is_lasting_state(clause: Clause, rest: str, words: list[str]) -> bool:
    """Whether the words after "be" say where somebody is or what was done to them, rather than a mood."""
    early = set(words[:3])
    if _STATE_PHRASE.match(rest) and (has_name_or_number(rest) or has_time_word(rest) or _SITUATIONS & set(words[:5])):
        return True
    if BY_THE.search(rest):
        return False
    if words[0] in MOODS or early & {"so", "too", "very", "pretty"} or clause.form not in {"past", "perfect", "be"}:
        return False
    done = clause.form != "be" or words[0] in _ENROLLED
    return done and bool(participle_base(words[0])) and says_something_definite(rest, 2)


def _role(clause: Clause, rest: str, words: list[str]) -> Claim | None:
    """The claim of a role: "I am a nurse", "I was the captain of the team"."""
    if re.match(r"(?:a|an) (?:bit|lot|little|huge|big|total|real|great|mess|beginner|wreck)\b", rest):
        return None
    if not JOBS.isdisjoint(words[:6]):
        return stated("identity", 0.9, clause, kind=SEMANTIC)
    if words[0] in {"a", "an", "the", "one"} and says_something_definite(rest, 3 if words[0] == "the" else 2):
        return stated("observation", 0.7, clause)
    return None


def _under_way(clause: Clause, *, assistant: bool) -> Claim | None:  # noqa: PLR0911 - each return is a rule
    """What the speaker is doing, or is about to do."""
    rest, verb = clause.rest, clause.verb
    if verb == "have":
        dated = has_time_word(clause.text)
        return (
            stated("goal", 0.8, clause, kind=SEMANTIC)
            if dated and says_something_definite(rest) and not NOTHING_HELD.search(rest)
            else None
        )
    if verb in {"think", "consider"} and (moved := re.match(r"(?:(?:of|about) )?[a-z]+ing\b", rest)):
        return (
            None
            if NO_GOAL.search(rest) or not says_something_definite(rest[moved.end() :], 1)
            else stated("goal", 0.75, clause, kind=SEMANTIC)
        )
    if verb == "look":
        wanted = re.match(r"(?:for|into|to)\b", rest) or (rest.startswith("forward to") and has_time_word(clause.text))
        return (
            stated("goal", 0.75, clause, kind=SEMANTIC)
            if wanted and not NO_GOAL.search(rest) and says_something_definite(rest)
            else None
        )
    if (
        (verb in CHATTING - PLANNING)
        or verb in TALKING
        or (verb == "do" and not has_name_or_number(rest) and not _COURSE.search(rest))
        or (verb in {"be", "make", "feel", "come", "seek"} and not has_name_or_number(rest))
    ):
        return None
    if verb == "get" and not re.match(
        r"(?:married|divorced|ready for|an?|the|my|some|\w+ (?:surgery|operation))\b", rest
    ):
        return None
    least = 3 if assistant and verb in {"go", "try"} else 1 if has_time_word(clause.text) or verb in PLANNING else 2
    if (
        verb in _TROUBLE
        or not says_something_definite(rest, least)
        or NO_GOAL.search(rest)
        or EMPTY_OBJECT.search(rest)
    ):
        return None
    if verb == "try" and assistant:
        return stated("project", 0.75, clause, kind=SEMANTIC)
    if verb in PLANNING and (verb != "go" or rest.startswith("to ")):
        return stated("project" if verb == "try" else "goal", 0.75, clause, kind=SEMANTIC)
    if (verb == "work" and re.match(r"(?:hard )?on\s", rest)) or (assistant and verb in WORKING):
        return stated("project", 0.8, clause, kind=SEMANTIC)
    return stated("observation", 0.7, clause, kind=SEMANTIC)


def _held(clause: Clause) -> Claim | None:  # noqa: PLR0911 - each return is a rule
    """What the speaker has or had."""
    rest = clause.rest
    if TO_DO.match(rest):
        return (
            None
            if NO_GOAL.search(rest) or not says_something_definite(rest, 3) or clause.negated
            else stated("observation", 0.7, clause)
            if clause.form == "past"
            else stated("goal", 0.7, clause, kind=SEMANTIC)
        )
    lacking = clause.form == "present" and (clause.negated or rest.lower().startswith("no "))
    if lacking and _LACKED.match(rest) and not _NOTHING_LACKED.search(rest) and says_something_definite(rest, 1):
        return stated("observation", 0.75, clause, kind=SEMANTIC)
    sharp = clause.form == "past" and has_time_word(clause.text) and bool(NAMES_SOMETHING.search(rest))
    held_itself = rest.split(", so ")[0]
    nothing = NOTHING_HELD.search(held_itself) and not sharp
    if not says_something_definite(rest, 1) or nothing or EMPTY_OBJECT.search(rest):
        return None
    if KIN_HELD.search(rest):
        return stated("person", 0.8, clause)
    held = bool(HELD.search(" ".join(rest.split()[:7])))
    dated = has_time_word(clause.text)
    if clause.form == "past":
        return (
            stated("observation", 0.8, clause, kind=EPISODIC)
            if (held and dated) or (has_name_or_number(rest) and says_something_definite(rest))
            else None
        )
    if held:
        return stated("goal" if dated else "observation", 0.8, clause, kind=SEMANTIC)
    return stated("observation", 0.7, clause, kind=SEMANTIC) if says_something_definite(rest) else None


def _wanted(clause: Clause, *, assistant: bool) -> Claim | None:  # noqa: PLR0911 - each return is a rule
    rest = clause.rest
    if clause.form in {"past", "perfect"} and not has_name_or_number(rest):
        return None
    wanted = "observation" if clause.form == "past" or (clause.form == "perfect" and clause.verb == "try") else "goal"
    if NO_GOAL.search(rest) or EMPTY_OBJECT.search(rest):
        return None
    if TO_DO.match(rest):
        if (
            clause.verb == "need"
            and assistant
            and not (has_time_word(clause.text) or re.search(r"\b(?:by|before|deadline)\b", rest))
        ):
            return None
        least = 1 if clause.negated else 3 if assistant else 2
        return stated(wanted, 0.75, clause, kind=SEMANTIC) if says_something_definite(rest, least) else None
    if clause.verb == "try" and (ing := ing_base(plain(rest.split()[0]) if rest else "")):
        return stated("observation", 0.7, clause) if ing and says_something_definite(rest) else None
    if clause.verb in {"hope", "wish"} or re.match(r"(?:you|that|it|this|everyone|people|the)\b", rest):
        return None
    return (
        stated(wanted, 0.75, clause, kind=EPISODIC if wanted == "observation" else SEMANTIC)
        if says_something_definite(rest, 1) and re.match(r"(?:an?|my|our|some|any|two|three|no|\d|[a-z]+\b)", rest)
        else None
    )


def _done(clause: Clause, *, assistant: bool) -> Claim | None:  # noqa: PLR0911 - each return is a rule
    """Everything else that the speaker does or did."""
    verb, rest = clause.verb, clause.rest
    former = verb == "use" and clause.form == "past" and re.match(r"to be an? \w+", rest)
    if not former and (
        (verb in CHATTING | TALKING | _TROUBLE and not _is_reported(clause))
        or NOTHING_DONE.search(rest)
        or EMPTY_OBJECT.search(rest)
    ):
        return None
    if identity := _identity_of(clause):
        return identity
    if verb == "use" and clause.form == "past" and rest.startswith("to "):
        return stated("observation", 0.8, clause, kind=SEMANTIC) if says_something_definite(rest) else None
    if verb in DECIDING and clause.form in {"past", "perfect"}:
        vague = re.match(
            r"(?:with|on) (?:you|that|it|this)\b|(?:in|at|last|after|when|since)\b", rest
        ) or not says_something_definite(rest, 2)
        return None if vague else stated("decision", 0.85, clause)
    if verb == "last" or not _has_object(clause):
        return None
    if verb in {"avoid", "refuse"} or (
        verb == "never" or (clause.negated and clause.form == "present" and verb in TOLERATING)
    ):
        return stated("preference", 0.8, clause, kind=SEMANTIC)
    if assistant and verb in WORKING and not re.search(r"\b(?:never|usually|often|every)\b", clause.text):
        return stated("project", 0.75, clause)
    return stated("observation", _DEFAULTS.get(clause.form, 0.7), clause)


def _identity_of(clause: Clause) -> Claim | None:
    """The claim of a verb that says who somebody is: lives, works, speaks, earns, grew up, moved."""
    verb, rest = clause.verb, clause.rest
    pattern = _IDENTITY_VERBS.get(verb)
    if pattern and clause.form in {"present", "perfect"} and pattern.search(rest) and says_something_definite(rest, 1):
        return stated("identity", 0.85, clause, kind=SEMANTIC)
    if verb == "grow" and clause.form == "past" and _GREW_UP.match(rest):
        return stated("identity", 0.85, clause, kind=SEMANTIC)
    if verb == "move" and clause.form in {"past", "perfect"} and has_name_or_number(rest):
        return stated("identity", 0.85, clause, kind=EPISODIC)
    return None


def _is_reported(clause: Clause) -> bool:
    """Whether a verb of talking says something of a life: "I share a flat", "I talked about my move to Rome at school"."""
    if clause.form == "present":
        return clause.verb == "share" and bool(_OFFERING.match(clause.rest))
    stated = clause.verb in {"talk", "tell", "hear", "share", "explain", "say", "see"}
    return stated and clause.form == "past" and says_something_definite(clause.rest, 3)


def _has_object(clause: Clause) -> bool:  # noqa: PLR0911 - each return is a rule
    """Whether a verb has the object that it wants: two content words, or one with a name, a number or a time."""
    rest = clause.rest
    if clause.verb in BARE:
        return True
    if clause.verb in {"go", "come", "do"} and _HOW_OFTEN.match(rest):
        return False
    if clause.verb == "last" or re.match(r"(?:often|usually|that|very|too)\b", rest):
        return False
    if clause.verb in WANTING_OBJECT and re.match(
        r"(?:in|on|at|last|after|when|since|for|because|by|with|to|until|and|so|before|during|from)\b", rest
    ):
        return clause.verb == "get" and re.match(r"(?:in|on|to)\b", rest) is not None and has_name_or_number(rest)
    if re.match(r"as an? |up (?:my|our|the) ", rest) or clause.verb in {"refuse", "avoid"}:
        return says_something_definite(rest, 1)
    if clause.form == "past" and (
        re.match(r"(?:my|our) ", rest) or (clause.verb in _ACQUIRING and re.match(r"an? ", rest))
    ):
        return says_something_definite(rest, 1)
    if clause.form == "present" and re.match(r"(?!(?:to|in|on|at|for|from|with|up|out|so|like|as)\b)[a-z]", rest):
        return says_something_definite(rest, 1)
    return says_something_definite(rest, 2) or (
        says_something_definite(rest, 1) and (has_time_word(rest) or has_name_or_number(rest))
    )
