"""Detects clauses about the moment, which say nothing durable: information wanted, trouble under repair, what was looked up, effort."""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import has_name_or_number, has_time_word
from slowwave.minds.offline.rules.clause import Clause
from slowwave.minds.offline.rules.words import MOODS
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS, words

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
_FAULT: Final = (
    r"issues?|errors?|problems?|bugs?|crash(?:es)?|bottlenecks?|failures?|slow quer(?:y|ies)|edge cases?|memory leaks?"
)
_VAGUE: Final = "(?:complex|weird|strange|critical|persistent|potential|recurring|common|various|several|similar|minor|major|serious|few|couple of|performance|tricky|new|other|specific)"
_REPAIRING: Final = re.compile(
    r"^(?:(?:try|work|start|attempt) (?:to |on |with )?)?(?:(?:troubleshoot|debug|diagnos)(?:e|ing)?|(?:fix|resolv|solv|investigat|identify|address|analy[sz])(?:e|ing)?(?: and \w+)?)"
    rf" (?:(?:an?|the|this|some|these|my)\b )?(?:{_VAGUE} )*(?:{_FAULT})\b",
    re.IGNORECASE,
)
_SAYS_WHICH_FAULT: Final = re.compile(
    r"[\"“`\d]|\b(?:where|that|which|when|caused by|due to|because|to be|by \w+ing)\b", re.IGNORECASE
)
_NOTICED: Final = re.compile(
    rf"^(?:identify|find|notice|discover|see|focus on (?:\w+ing (?:and )?)*)\b (?:(?:an?|the|some|several|many) )?(?:{_VAGUE} )*(?:{_FAULT})\b",
    re.IGNORECASE,
)
_DRAFT: Final = re.compile(
    r"^(?:start with|get|have|have got|write|create|set up|come up with|put together|draft|try) (?:(?:got|started with) )?an? (?:very |fairly |pretty |more )?"
    r"(?:basic|simple|rough|initial|minimal|preliminary|naive|quick)\b(?! (?:understanding|knowledge|level|income|need))(?!.*\b(?:for|of|that|to|which|where|called|named|on)\b)",
    re.IGNORECASE,
)
"""A first version without what it is for: "started with a basic component"."""
_LATEST: Final = re.compile(
    r"\b(?:upgrad|updat|mov|switch|migrat)\w+ to the (?:latest|newest|new|next|current|recent)(?: \w+)? (?:version|release)s?\b(?! of\b)",
    re.IGNORECASE,
)
"""A version without what it is of."""
_CONSULTED: Final = re.compile(
    r"^(?:(?:start|begin|try) )?(?:read(?:ing)?|look(?:ing)?|go(?:ing|ne)?|check(?:ing)?|brows(?:e|ing)|follow(?:ing)?|review(?:ing)?|consult(?:ing)?|search(?:ing)?|stud(?:y|ying))\b"
    r"(?: (?:up on|into|at|through|over|about|for|on))?(?: [^,;]*)?\b(?:documentation|docs|stack ?overflow|online resources)\b"
    r"|^(?:come|stumble) (?:across|upon) (?:an?|the) (?:concept|detail|idea|term|fact|notion)\b"
    r"|^check(?:ing)? (?!in\b|into\b|out\b)"
    r"|^(?:read|hear|learn)(?:ing)? about [^,;]*\b(?:techniques|best practices|concepts?)$",
    re.IGNORECASE,
)
"""What was looked up for the task: documentation, a concept met in a text."""
_WORKS: Final = re.compile(
    r"\b(?:seems?|looks?|appears?) (?:to (?:be )?)?(?:work(?:ing)?|fine|ok(?:ay)?|correct|valid)\b", re.IGNORECASE
)
_AT_HAND: Final = re.compile(
    r"^(?:get|see|encounter|receive|hit|run into|face|have)\b [^.;]*?\b(?:errors?|exceptions?|warnings?|traceback|(?-i:[A-Z]\w*(?:Error|Exception|Warning)))\b"
    r"|[√∑∫≤≥±≈²³₀-₉]|^(?:like|love) the (?:idea|sound|thought|look|concept) of\b"
    r"|^(?:want|try|need|like|look|hope|aim) (?:to )?(?:\w+ly )?(?:improve|optimi[sz]e|enhance|increase|reduce|refine|fine-tune|understand) the (?:[\w-]+ ){1,2}of the \w+(?: \w+)?$"
    r"|^(?:think of|think about|consider|look at|look into) (?:using|trying|implementing|adding|creating) (?:an? |some )?(?:more|better|different|new|other|similar|another) (?:[\w-]+ ){1,3}(?:or|and|$)"
    r"|^keep (?:getting|seeing|running into|hitting|encountering|receiving) (?:the|an?|this|these)\b"
    r"|^(?:want|try|need|look|plan|hope|aim) (?:to )?(?:implement|create|build|use|design|add|find|develop) (?:an? |some )?(?:more|better) (?:efficient|robust|reliable|scalable|effective|accurate|advanced|secure|flexible) [\w ]+$"
    r"|^(?:want|try|need|like|look|plan) (?:to )?request (?:an?|your|some)\b|^look into (?:different|various|some|several|other)\b"
    r"|^(?:want|try|need|work on|look) (?!.*(?:\b(?:my|our)\b|\d|(?-i:[a-z] [A-Z`]))).*\b(?:improve|improving|increase|increasing|enhance|boost|boosting) (?:(?:the|its|overall|general) )*(?:performance|throughput|efficiency|speed|accuracy|quality|reliability|usability|readability|maintainability|scalability|experience|results?)$"
    r"|^access (?:the|my|an?) \w+$|^never (?:log|see|get|have|encounter)\b.*\berrors?\b|^request an? (?:\w+ )?(?:review|quote|demo|call)$"
    r"|^(?:work|stick|stuck|go) on an? (?:(?:math|practice|new|similar|difficult) )?(?:problem|question|exercise)\b"
    r"|^work on an? (?:new |simple |small )?(?:api|app|application|project|website|web app|system|script|feature|tool|program)$"
    r"|^(?:go to |plan to |try to |want to )?(?:to )?(?:start|begin|go|stick) with (?:the|your|that|those|these)\b"
    r"|^(?:manage to )?fix (?:some|most|several|a few) of (?:the|these|my|those)\b"
    r"|^(?:set|pass|call|run|use|do|configure) (?:the|it|my) (?:\w+ )?(?:correctly|properly|right|app|script|code|command)$"
    r"|\bconfuse (?:myself|me|things)\b|\bboth (?:of )?(?:the )?(?:errors|issues|cases|options|methods|endpoints|formulas|approaches|functions)\b"
    r"|^test the [\w-]+ (?:with|using|by)\b|^(?:have |get |got )+the (?:[\w-]+ )?(?:id|key|code|url|token|link|file|data|output|result|response)s?$"
    r"|^(?:want|need|like) to (?:(?:include|incorporate) (?:some|more|a few|other|additional)\b|add more (?:features|tests|functionality|details|examples)\b(?! to\b))"
    r"|^try to (?:prove|derive|factor|simplify)\b|\bdecide (?:where|how) to (?:start|begin)\b"
    r"|^(?:want|need|try) to (?:find|write|calculate|determine|solve) (?:the|an?) (?:equations?|slope|midpoint|area|angles?|probability|derivative|integral|roots?|perimeter|volume)\b"
    r"|(?<![\w`.])[a-z]\s?=\s?[-−(]?[\d(√]*[a-z\d(√][^`]*$",
    re.IGNORECASE,
)
"""What is at hand in the session: an error, an exercise, an answer to begin with, an equation."""
_AMISS: Final = re.compile(
    r"\b(?:is|are)(?: not|n['’]t) (?:submitt|work|load|display|render|updat|function|compil|runn|connect|respond|sav|show)ing (?:[\w ]+ )?(?:correctly|properly|as expected)$",
    re.IGNORECASE,
)
_TUNING: Final = word_set(
    "update updating plan planning manage managing monitor monitoring review reviewing organize organizing integrate integrating access accessing finalize finalizing finalise finalising work working "
    "improve improving optimize optimizing optimise optimising enhance enhancing refactor refactoring configure configured set identify identifying "
    "address addressing focus focused focusing implement implementing test testing fix fixing debug debugging clean cleaning tune tuning profile profiling"
)
_OF_ANY_PROJECT: Final = _TUNING | word_set(
    "timeline timelines deadlines goals roadmap next schedule schedules tasks phase phases sprint sprints repository repo git framework frameworks uptime schema deployment deploy deploying database file files module modules component components "
    "application app apps system code codebase project program software feature features functionality implementation performance speed "
    "efficiency quality monitoring logging scaling settings configuration config setup instance issue issues error errors bug bugs bottleneck bottlenecks "
    "tests queries data process workflow development design aspect aspects improvement improvements optimization optimizations optimisation handle "
    "handling overall better efficient efficiently reliability scalability maintainability structure work working try trying want like look user slow potential up "
    "bit further new existing current solution approach task tasks experience"
)
"""Words of what every project with code has: alone they do not say what is done to what."""
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

    Effort and moods are so in every conversation; information wanted, trouble under repair, first drafts and what was looked up
    only in one with an assistant, where they are the task of the session.

    Args:
        clause: The clause in the third person.
        assistant: Whether the conversation is with an assistant rather than between people.
    """
    said = f"{clause.verb} {clause.rest.removeprefix('been ')}".strip(" .,!")
    effort = _EFFORT.search(said)
    if effort is not None and not (effort["mood"] and effort["mood"].lower() not in MOODS):
        return not (has_time_word(clause.text) or re.search(r"\d", said))
    return assistant and (_is_of_session(clause, said) or _is_of_any_project(clause, said))


def _is_of_session(clause: Clause, said: str) -> bool:
    """Whether a clause is of the task of the session: a request, a fault, a first version, documentation."""
    if _AT_HAND.search(said) or _AMISS.search(clause.text):
        return clause.form != "past"
    if clause.negated:  # "I don't want any recipes with mushrooms"
        return False
    if _WANTED_INFORMATION.match(said) or _CONSULTED.search(said) or _LATEST.search(said) or _WORKS.search(said):
        return True
    if _REPAIRING.match(said) or _NOTICED.match(said):
        return not _SAYS_WHICH_FAULT.search(said)
    return clause.form != "modal" and _DRAFT.match(said) is not None and not re.search(r"\d", said)


def _is_of_any_project(clause: Clause, said: str) -> bool:
    """Whether every content word of a clause fits every project: "wants to improve the performance of the application"."""
    content = {word for word in words(said) if word not in STOP_WORDS}
    return (
        bool(content & _TUNING)
        and content <= _OF_ANY_PROJECT
        and not has_name_or_number(clause.rest)
        and "`" not in clause.rest
    )
