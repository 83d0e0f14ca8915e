"""Detects clauses about the moment, which say nothing durable: information wanted, errors, reactions to an answer, effort."""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import has_time_word
from slowwave.minds.offline.rules.clause import Clause
from slowwave.minds.offline.rules.words import MOODS

_INFORMATION: Final = (
    "advice|help|guidance|assistance|tips|suggestions?|recommendations?|ideas|inspiration|information|info|details|insights?|feedback|"
    "examples?|explanations?|overview|recipes?|tutorials?|resources|guidelines|updates|news|articles|snippets?|optimi[sz]ations?|"
    "improvements|methods?|approach(?:es)?|way|solutions?|clarification|instructions|pointers|thoughts|opinions|strategies|techniques|ways|references|comparisons?|samples?"
)
_WANTED_INFORMATION: Final = re.compile(
    r"^(?:look|search|seek|hope|want|need|like|love|wish|appreciate)\b(?: (?:for|of)| to (?:get|have|see|find|receive|hear|read|obtain|gather|collect))?"
    rf" (?:(?:some|any|more|an?|the|further|additional|other|your|a few|a couple of|good)\b ?)*(?:[\w'’-]+ ){{0,4}}?(?:{_INFORMATION})"
    r"(?=$|[,;]| (?:for|on|to|that|which|about|of|in|with|regarding|from|using|as|and|so|where|who|like|before|based)\b)",
    re.IGNORECASE,
)
"""Information that the assistant is asked for: "looking for some sauce recipes", "would like to get more ideas on storage"."""
_OF_ANSWER: Final = re.compile(
    r"[√∑∫≤≥±≈²³₀-₉]|^(?:like|love) the (?:idea|sound|thought|look|concept) of\b|^(?:go to |plan to |try to |want to )?(?:to )?(?:start|begin|go|stick) with (?:the|your|that|those|these)\b"
    r"|^(?:(?:try|want|need|work) (?:to|on) )?(?:get|see|encounter|receive|hit|run into|face|have|fix|resolv|debug|solv)(?:e|ing)?\b [^.;]*?\b(?:errors?|exceptions?|warnings?|traceback|(?-i:[A-Z]\w*(?:Error|Exception|Warning)))\b",
    re.IGNORECASE,
)
"""A reaction to an answer, a formula, an error."""
_DEGREE: Final = "(?:(?:so|very|really|such|super|pretty|quite|both|all) )*"
_PRAISE: Final = (
    "encouraging|inspiring|supportive|amazing|great|awesome|wonderful|incredible|fantastic|helpful|kind|lovely|rewarding|fulfilling|"
    "tough|hard|challenging|crazy|wild|fun|exciting|motivating|uplifting|overwhelming|stressful|intense|emotional|special|powerful"
)
_EFFORT: Final = re.compile(
    r"^put(?:ting)? (?:in |forth )?(?:a lot of |lots of |so much |all (?:of )?(?:my |our )?|much |tons of |more |my |our |a ton of )(?:hard |extra )?(?:work|effort|time|energy|heart|thought|love|passion|hours)\b"
    r"|^(?:get|receive|have|need|seek|find|draw|gain) (?:a lot of |some |the )?(?:help|support|encouragement|motivation|strength|inspiration|comfort) (?:from|in) (?:the )?(?:people|those|others|everyone|friends|family|loved ones)(?: (?:who|that|and)\b.*)?$"
    r"|^(?:have|face|go through|hit|overcome|see|get through|experience) (?:had |been through )?(?:some |a |my share of |a lot of |many |so many |a few |a bit of )?(?:\w+ )?(?:tough|hard|rough|difficult|challenging|crazy|busy|hectic|dark|good|bad|great)\b(?: (?:and \w+ )?(?:times?|days?|weeks?|months?|moments?|patch|spell|stretch|year))?(?: (?:with|in|on|at|along|lately|recently)\b.*)?$"
    r"|^(?:have|face|go through|hit|overcome) (?:had )?(?:some |a lot of |many |so many |a few |my share of |my )?(?:ups and downs|obstacles|setbacks|hurdles|challenges)(?: (?:along the way|lately|recently|in life))?$"
    r"|\b(?:take|taking|get|getting|have|regain) control (?:of|over) (?:my|our|your) (?:own )?(?:destiny|life|future|fate|story)\b"
    r"|^be (?:(?:a|an|such|quite|a bit of|one|the|my|our) )*(?:[\w-]+ )?(?:roller ?-?coaster|wild ride|whirlwind|bumpy (?:ride|road)|rocky road|uphill battle)\b"
    r"|^be (?:a )?(?:mix|mixture|bundle) of (?P<mood>\w+)"
    r"|^take (?:the |some |my |a )?(?:time|moment|break|step back) (?:to|and) (?:\w+ and )?(?:reflect|breathe|relax|recharge|think|rest|appreciate|find|slow|process)\b"
    r"|^(?:make|give (?:my|our) voice(?: \w+)* making) (?:an? |such an? )(?:\w+ )?(?:difference|impact)(?: in (?:the|this|my|our) world| and [^,]*)?$"
    r"|^(?:work on )?(?:build|building|gain|gaining) (?:up )?(?:\w+ )?confidence\b|^(?:be motivated to |motivate me to )?keep (?:striving|pushing|going|fighting)\b"
    r"|^(?:hope to |want to |need to |look to )?(?:to )?(?:positively )?(?:affect|impact|inspire|touch|change|uplift) (?:people|others|lives|the world)\b"
    r"|^(?:hold|have|do|organi[sz]e|attend) (?:some|a few|many|lots of|a lot of) (?:\w+ )?(?:events|things|activities|stuff|fun)(?: and (?:get|got|met|meet|had|have)\b[^,]*)?$"
    rf"|^be {_DEGREE}(?:{_PRAISE})(?:(?:,| and| but| yet)+ {_DEGREE}(?:{_PRAISE}))*(?: (?:lately|so far|recently|overall|for me|to me))?$"
    rf"|^get {_DEGREE}(?:(?:a (?:bit|little)|more|kind of|kinda) )*(?:and more )?(?:worried|nervous|anxious|stressed|excited|tired|frustrated|confused|bored|better|worse|closer|ready|hungry|sick|used)\b(?! (?:to|of) (?!it|this|that|the)\w+ing)"
    r"|^(?:meet|see|know|get to know|talk to|help|support) (?:(?:so |such )?(?:some|many|lots of|a lot of|a few|a bunch of|so many|several) )?(?:(?:really|super|very|so|such) )?(?:amazing|great|awesome|cool|nice|lovely|wonderful|incredible|inspiring|interesting|young|new|kind|supportive|like-minded) (?:(?:and )?\w+ )?(?:people|folks|friends|kids|souls|faces|guys|students|youth|individuals)(?: (?:and|who|there|along|that|which|at the)\b.*)?$"
    r"|^(?:earn|make|save|spend|get|lose|learn|have|put|gain) an? (?:(?:pretty|fairly|very) )?(?:decent|good|fair|large|huge|significant|great|ton|fair|small) ?(?:amount|bit|chunk|deal|number)? of (?!my|our)[\w ]+$"
    r"|\b(?:through|by|in|with|using|via) (?:different|various|many|several|other) (?:means|ways|channels|methods|things|stuff)\b(?! (?:of|to|for|like)\b)"
    r"|^play with (?:my|some|the|a few) (?:\w+ )?(?:friends|mates|buddies|kids)\b|^do [\w ]+ so far$|\bhold me back\b|\blet me down\b"
    r"|^see (?:someone|somebody|something|some (?:pretty |really )?(?:cool|great|amazing|nice) (?:stuff|things))\b"
    r"|^(?:try|do|see|make|get|learn|have|like|love|find|buy)(?:ing)? (?:out )?(?:[\w-]+ ){0,3}stuff$"
    r"|\braise awareness(?! (?:of|about|for|on|that)\b)|^be (?:feeling|approaching)\b|^approach (?:fast|quickly|soon)$|\b(?:more|harder|better) than ever$",
    re.IGNORECASE,
)
"""Effort, encouragement and moods in pictures: "putting in a lot of work", "a roller coaster"."""


def is_momentary(clause: Clause, *, assistant: bool) -> bool:
    """Whether a clause says only what is so at the moment of the talk, or nothing in particular.

    Effort and moods are so in every conversation; information wanted, errors and reactions to an answer only in one with an
    assistant, where they are the task of the session.

    Args:
        clause: The clause in the third person.
        assistant: Whether the conversation is with an assistant rather than between people.
    """
    said = f"{clause.verb} {clause.rest.removeprefix('been ')}".strip(" .,!")
    effort = _EFFORT.search(said)
    if effort is not None and not (effort["mood"] and effort["mood"].lower() not in MOODS):
        return not (has_time_word(clause.text) or re.search(r"\d", said))
    return assistant and _is_of_session(clause, said)


def _is_of_session(clause: Clause, said: str) -> bool:
    """Whether a clause is of the task of the session: a reaction to an answer, an error, information that is asked for."""
    if _OF_ANSWER.search(said):
        return clause.form != "past"
    return not clause.negated and _WANTED_INFORMATION.match(said) is not None  # "I don't want recipes with mushrooms"
