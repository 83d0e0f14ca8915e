"""Detects clauses that are only the work of a session on code or an exercise: what the assistant is asked to do, an edit, a calculation."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from slowwave.minds.offline.rules.claims import has_time_word
from slowwave.minds.offline.rules.clause import Clause
from slowwave.minds.offline.rules.phrases import COORDINATES, MATHEMATICAL
from slowwave.minds.offline.rules.pronouns import plain
from slowwave.minds.offline.rules.referents import names_something
from slowwave.minds.offline.rules.words import PERSON_WORDS
from slowwave.policy.text.lazy_regex import lazy_regex

_ASKS_HELP: Final = lazy_regex(
    r"```|\?|\b(?:can|could|would|will) you\b|\bhelp me\b|\bneed (?:some )?help\b|\bI['’]d like (?:to|some|an?)\b|\bif you could\b|\bwas wondering\b|\b(?:any|some|for) (?:advice|help|tips|suggestions|guidance)\b|\bplease (?:help|review|show|explain|check|suggest)\b"
    r"|\bhere['’]s (?:my|the|an?|what|some)\b|\bhere is (?:my|the|what)\b",
    re.IGNORECASE,
)
"""A message that gives the assistant work."""
_REPORTS_BACK: Final = lazy_regex(
    r"\b(?:get|come|report) back (?:to you|here|with)\b|\blet you know (?:how|what|when|if|the|once)\b|\bkeep you (?:posted|updated)\b|\blet['’]s (?:start|proceed|begin|go ahead|continue|move on)\b",
    re.IGNORECASE,
)
"""A message that announces what the writer does next in the session."""
_ECHOES: Final = lazy_regex(
    r"\b(?:(?:that |this |it )?makes (?:total |perfect |more )?sense|thanks for (?:breaking|explaining|the (?:breakdown|explanation|clarification))|got it|i see now)\b",
    re.IGNORECASE,
)
"""A message that repeats what the assistant explained."""
_IN_EXAMPLE: Final = re.compile(
    r"\W*in (?:this|that|the (?:above|below|following|last|previous)) (?:\w+ )?(?:examples?|snippet|code|scenario|query|function)\b",
    re.IGNORECASE,
)
"""A sentence on an example: "In this example, I create a group"."""
_AS_YOU_SAID: Final = re.compile(
    r"\bas you (?:\w+ )?(?:mention|suggest|recommend|describ|explain|said|instruct|propos|advis)", re.IGNORECASE
)
_MEANT_NEXT: Final = re.compile(r"(?:want|try|need|like|plan|look|think|consider|will) (?:to|of|about)\b")
_CONCLUDES: Final = re.compile(r"\W*so\b,? ", re.IGNORECASE)
_CHECKED: Final = lazy_regex(
    r"\b(?:is (?:that|this|it|my \w+) (?:right|correct|ok(?:ay)?)|did I (?:do|get|make|set|solve|use|calculate|apply|go)|(?:am|was) I (?:right|correct|wrong)|where did I|what did I (?:do|get)|verify my|check my"
    r"|what(?: is|['’]s) the (?:probability|chance|odds|area|angle|equation|slope|value|length|distance)|how (?:likely|many ways)|the (?:probability|chance|odds) (?:of|that))\b",
    re.IGNORECASE,
)
"""A message with an exercise: its answer is to be checked, or a quantity is asked for."""
_SOFTWARE: Final = re.compile(
    r"\b(?:performance|latency|throughput|uptime|quer(?:y|ies)|code|codebase|codes|app|apps|applications?|api|apis|servers?|backend|frontend|databases?|models?|pipelines?|schedulers?|trackers?|modules?|files?|functions?|"
    r"components?|endpoints?|routes?|pages?|sites?|website|layouts?|containers?|images?|memory (?:usage|leaks?|footprint|management)|algorithms?|error[- ]handling|logging|logs|tests?|testing|features?|class(?:es)?|scripts?|methods?|schemas?|"
    r"middleware|handlers?|services?|microservices?|systems?|workflows?|repositor(?:y|ies)|repo|architecture|dashboards?|cache|caching|loops?|regex(?:es)?|variables?|forms?|buttons?|modals?|tables?|columns?|ui|ux|ui/ux|gui|cli|"
    r"deployments?|builds?|requests?|responses?|hooks?|packages?|librar(?:y|ies)|framework|plugins?|environment|configuration|config|settings|versions?|releases?|interface|navigation|animations?|styles?|headers?|rate limiting|retry logic|"
    r"users?|usage|data|metrics|queues?|jobs?|messages?|notifications?|events?|webhooks?|syntax|documentation|docs|snippets?|divs?|padding|margins?|attributes?|selectors?|menus?|\d+px|arrays?|lists?|strings?|objects?|implementation|functionality|integration|authentication|authorization|validation|encryption|access control|"
    r"response times?|load(?:ing)? times?|processing|rendering|inference|bandwidth|usability|accessibility|scalability|maintainability|readability|security|exceptions?|errors?|bugs?|launch checklist|concurren\w+|threads?|boundar\w+|stack traces?)\b",
    re.IGNORECASE,
)
"""Nouns of software, of which every project has some."""
_COMMON_SHORT: Final = re.compile(
    r"\bUI/UX\b|\bCI/CD\b|\b(?:APIs?|REST(?:ful)?|UI|UX|CLI|GUI|JSON|HTML5?|CSS3?|SQL|HTTPS?|CRUD|URLs?|CPU|GPU|RAM|ML|AI|CI|CD|MVC|MVP|SEO|IDE?s?|IDs?|JS|PEP ?8|DB|I/O|CSV|XML|YAML|CDN|DOM|ORM|SDK|FPS)\b"
)
"""Short forms that say of no project which one it is."""
_ATTEMPT: Final = re.compile(
    r"\b(?:tried|tested|checked|reviewed|looked|managed to (?:get|make)|thought)\b", re.IGNORECASE
)
_TECHNICAL_LEAST: Final = 2
"""Nouns of software in a message on software."""
_CODE: Final = re.compile(r"`[^`]*`")
_NAMED: Final = re.compile(r"\d|`|(?<=[a-z,:;)] )[“\"'(]?(?!I\b)[A-Z]|\b\w+[./_]\w+|[a-z][A-Z]")
_WHOLE_PROJECT: Final = re.compile(
    r"\b(?:creat|build|mak|develop|writ|design|work on)(?:e|ing)? (?:an?|(?:my|our)(?: own| first)?) (?:[\w-]+ ){0,3}?(?:app|application|website|site|game|tool|bot|platform|library|language|compiler|engine|program|browser|simulator|tracker) (?:that|which|for|to|where(?! (?:I|we)\b)|with|of|in|called)\b",
    re.IGNORECASE,
)
"""A project of its own, and what it is for."""
_POINTS_ON: Final = re.compile(
    r"\b(?:as follows|like (?:this|so)|as shown|as below|shown below|(?:see )?below|in the (?:code|snippet))$",
    re.IGNORECASE,
)
"""The end of a clause whose content is what follows it."""
_PART_OF_CODE: Final = re.compile(
    r"`[^`]+`,? (?:(?:\w+ )?(?:function|method|parameter|param|attribute|property|class|hook|module|element|tag|selector|variable|keyword|operator|decorator)s?)\b",
    re.IGNORECASE,
)
"""A part of the language or of a library: "the `repeat` function"."""
_MEANT_NOW: Final = re.compile(
    r"(?:try|want|need|like|love|look|hope|struggle|work|focus|attempt|see|get|have (?:got )?an?)\b"
)
"""What the session is to bring about, or works on: "trying to", "have a function"."""
_ASKED_FOR: Final = re.compile(
    r"(?:try|want|need|like|love|look|hope|struggle|attempt) to\b|(?:work|focus) on \w+ing\b",
    re.IGNORECASE,
)
"""What a message that gives work asks for: "trying to add X", "would like to upgrade X"."""
_AT_WORK: Final = re.compile(
    r"(?:configur|defin|design|implement|refactor|structur|optimi[sz]|improv|creat|handl|writ|set up|add|enforc|estimat|test)(?:e|ing)?\b",
    re.IGNORECASE,
)
"""What is in progress in the session: "I'm configuring my app for production"."""
_COUNTED: Final = re.compile(r"(?<![\w.])\d+(?![-\w])")
_CHECKS: Final = re.compile(
    r"(?:(?:try|want|need|work|focus|look|manage|start) (?:to|on|at) (?:\w+ly )?)?(?:fix|resolv|solv|debug|troubleshoot|diagnos|investigat|check|verif|review|read|inspect|explor|examin|analy[sz]|profil|evaluat|experiment|notic|encounter|experienc|identif|run into|find|come across|start with|begin with)(?:y|e|ing|ying)?\b"
)
"""What the session does about a fault, or looks at."""
_QUOTED: Final = re.compile(r"[\"“`][^\"”`]*[\"”`]")
_MEASURED: Final = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|instead of)\b")
_HELD: Final = re.compile(
    r"(?:be|run|require|pay|earn|have (?!an? |the |this |some )|use (?!an? |the |this |some |\w+ing\b))\b"
)
"""A state, of which a figure alone is worth knowing."""
_TOOL: Final = re.compile(
    r"use (?!(?:an?|the|my|our|this|that|these|some|two|different|various|it|\w+ing)\b)[\w-]+ (?:for|to|as|in|with)\b"
)
"""A tool whose name has no capital: "is using pytest for the tests"."""
_DATED: Final = re.compile(
    r"\b(?:19\d\d|20[0-4]\d)\b(?![-.]\d)|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|\bQ[1-4]\b"
)
_HABITUAL: Final = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|always|never|usually|nightly|daily|weekly|monthly|hourly|every|each (?:day|week|month|year))\b"
)
_PROGRESS: Final = re.compile(
    r"\b(?:problems|questions|exercises|proofs|scor\w+|accuracy|quiz(?:zes)?|tests?|exams?|hours|lessons?|course|class|grades?)\b|%"
)
"""What is counted of somebody's studies."""
_STUDIED: Final = re.compile(r"(?:study|learn|teach|major|enrol|prefer)\b")
_PEOPLE: Final = PERSON_WORDS - {"agent", "class", "cleaner", "client", "clients", "company", "manager"}
_RECKONING: Final = re.compile(
    r"\b(?:both sides|(?:first|second|third|last|left|right|other|\w+) (?:term|side)\b|(?:chain|product|quotient|power|sum|cosine|sine|l['’]h\w+|bayes['’]?s?)[ '’]*(?:rule|law|theorem)|quadratic formula|square root|"
    r"variance|mean|median|standard deviation|numerator|denominator|exponent|remainder|common factor|hypotenuse|angles?|radi(?:us|i)|derivative|integral|marbles?|dice|coins? (?:toss|flip)\w*|answer)\b|[a-z] ?= ?-?\d|\b\d+[a-z](?:\^?\d)?\b(?=$|[ ,+)-])|\d{1,6}/\d",
    re.IGNORECASE,
)
"""Steps of a calculation."""
_SCORE: Final = re.compile(
    r"(?:(?:my|our|the) )?(?:(?:current|average|latest|overall|new|total) )?(?:score|accuracy|grade|result|mark|progress|pace|deadline)\b",
    re.IGNORECASE,
)
_REACHED: Final = re.compile(
    r"(?:(?:now|already|been|up|at|to|about|around|over|reached|hit|improved|risen|gone|increased) )*\d[\d.,/]*(?: ?%| percent| points?)?(?: (?:now|so far|already))?$",
    re.IGNORECASE,
)
_PER_EXERCISE: Final = re.compile(r"\bper (?:problem|question|exercise|quiz|try|attempt)\b", re.IGNORECASE)
_FAILS: Final = re.compile(
    r"^(?:be )?fail(?:ing)?\b|^be not \w+ing\b|^(?:experience|encounter|face|have|hit|run into|get|see|throw|return|show)\b (?:(?:some|an?|the|several|occasional|intermittent|frequent|[\w-]+) ){0,3}?(?:issues?|errors?|problems?|trouble|exceptions?|warnings?|failures?|slow\w*|delays?|status code)\b"
    r"|^(?:be )?work(?:ing)? (?:fine|well|ok(?:ay)?|correctly|properly|as expected|perfectly|mostly)\b|^be supposed to\b|^be (?:quite |very |fairly |pretty |still |rather )*(?:basic|simple|slow|broken|messy|incomplete|failing|not working)\b",
    re.IGNORECASE,
)
"""How a piece of software behaves at the moment."""


_FAULT_TAIL: Final = re.compile(
    r",?\s+(?:but|and|so)\s+(?:(?:now|first|currently|unfortunately|still|sometimes|occasionally|then),? )*"
    r"(?:I(?:['’](?:m|d|ve)| am| would| have)?\s+(?:(?:still|now|also|currently|just|always|sometimes) )*"
    r"(?:experienc\w+|encounter\w*|facing|see(?:ing)?|hav(?:e|ing) (?:(?:some|a bit of|a lot of|several|a few|many) )?(?:trouble|issues?|problems?|difficult\w+)|get(?:ting)? (?:an?\b|stuck|confused|lost)|stuck|confused|keep getting|run(?:ning)? into|struggl\w+"
    r"|looking (?:for|to)|trying to|not sure|unsure|feel like|need to (?:make sure|ensure|verify|check|figure)|want to (?:make sure|ensure|verify|check|confirm|know|see|understand|get a)|(?:like|love) (?:to|some)|need (?:some )?(?:help|guidance))\b"
    r"|(?:want|need) to (?:make sure|ensure|verify|check|confirm)\b"
    r"|(?:the|my|it|this|that|its|they|some)\b[^,.;]{0,80}? (?:doesn['’]t|don['’]t|isn['’]t|aren['’]t|can['’]t|won['’]t|does not|is not|still|fails?|crash(?:es)?|breaks?|overlaps?|keeps?|never|throws?|returns?|is (?:failing|slow|broken|not))\b).*$",
    re.IGNORECASE,
)
"""A fault, or what is wanted of the assistant, after what was done."""


_IN_VAIN: Final = re.compile(
    r"\bstill (?:not|getting|seeing|having|experiencing|encountering|facing|fail|throw|return|the same)\w*\b|\bstill (?:doesn|isn|don|won|can)['’]t\b|\b(?:not|n['’]t) work|\berrors?\b|\bfail",
    re.IGNORECASE,
)
"""What was done against a fault did not end it."""
_DONE: Final = re.compile(
    r"(?:so |and |also )?(?:I|we)(?:['’]ve| have|(?: \w+ly| also| just)? (?:\w+ed|set|put|ran|made|wrote))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class WorkMessage:
    """What a message to an assistant says of their work. Each sign is looked for once, however many clauses the message has."""

    text: str

    @cached_property
    def technical(self) -> bool:
        """Whether it is about software: it has code, or several of its nouns."""
        nouns = set(map(str.lower, _SOFTWARE.findall(self.text)))
        return _CODE.search(self.text) is not None or len(nouns) >= _TECHNICAL_LEAST

    @cached_property
    def is_of_work(self) -> bool:
        """Whether it is about software, or about mathematics with a problem in it."""
        return self.technical or MATHEMATICAL.search(self.text) is not None

    @cached_property
    def asks_help(self) -> bool:
        """Whether it gives the assistant work."""
        return _ASKS_HELP.search(self.text) is not None

    @cached_property
    def reports_back(self) -> bool:
        """Whether it announces what the writer does next in the session."""
        return _REPORTS_BACK.search(self.text) is not None

    @cached_property
    def echoes(self) -> bool:
        """Whether it repeats what the assistant explained."""
        return _ECHOES.search(self.text) is not None

    @cached_property
    def has_exercise(self) -> bool:
        """Whether an answer is to be checked, or a quantity is asked for."""
        if _CODE.search(self.text):
            return False
        steps = {step.lower() for one in (_RECKONING, MATHEMATICAL) for step in one.findall(self.text)}
        if len(steps) > 1 or (steps and _CHECKED.search(self.text)) or COORDINATES.search(self.text):
            return True
        return self.asks_help and MATHEMATICAL.search(self.text) is not None


def without_fault(words: str, message: WorkMessage) -> str:
    """A statement about software without the fault, or the request, that it ends with; empty if the rest names nothing.

    >>> asked = WorkMessage("I added Redis to our API, but I'm experiencing issues. Can you help me debug the code?")
    >>> without_fault("I added Redis to our API, but I'm experiencing issues", asked)
    'I added Redis to our API'
    """
    fault = _FAULT_TAIL.search(words)
    if fault is None or not message.asks_help or not message.is_of_work:
        return words
    rest = words[: fault.start()]
    if message.technical and _IN_VAIN.search(fault.group()) and _DONE.match(rest):
        return ""
    kept = not message.technical or _is_named(rest) or _WHOLE_PROJECT.search(rest) or not _of_no_person(rest)
    return rest if kept and not _ATTEMPT.search(rest) else ""


def _is_named(text: str, *, figures: bool = True) -> bool:
    """Whether a text has a name or code, other than a short form that every project has, or a figure."""
    text = _COMMON_SHORT.sub("x", f"a {text}")
    return _NAMED.search(text if figures else re.sub(r"\b\d\S*|\d", "", text)) is not None


def is_session_work(clause: Clause, message: WorkMessage, sentence: str) -> bool:
    """Whether a clause of a talk with an assistant is only work of the session, and says nothing lasting of its writer.

    In a message about software, what is meant or under way lasts if it has a date, or a figure beside a name; what is done or
    had, if it has a name. Of an exercise only studies and counted progress last. What is said of a person lasts.

    Args:
        clause: The clause in the third person.
        message: The message that it is from.
        sentence: Its sentence as in the message.
    """
    said = f"{clause.verb} {clause.rest.removeprefix('been ')}".strip(" .,!")
    if _is_echo(said, message, sentence) or _is_announced(clause, message):
        return True
    if clause.subject == "named" or clause.of_person or not _of_no_person(said):
        return False
    if clause.subject in {"owned", "thing"}:
        fails = _FAILS.match(said) and _SOFTWARE.search(clause.noun)
        open_end = message.technical and _POINTS_ON.search(said) is not None
        return bool(fails) or open_end or _is_share_of_nothing(clause) or _is_bare_aim(clause, message)
    if clause.negated:
        return message.technical and _MEANT_NOW.match(said) is not None and not _is_named(said)
    if message.has_exercise or MATHEMATICAL.search(said):
        return not (_STUDIED.match(said) or (_PROGRESS.search(said) and _COUNTED.search(said)))
    named = _SOFTWARE.search(said) or (clause.verb == "read" and message.is_of_work)
    meant = clause.verb != "have" and _MEANT_NOW.match(said)
    of_software = (
        (meant or named or _CHECKS.match(said))
        if message.technical
        else (named and ((meant and message.asks_help) or _CHECKS.match(said)))
    )
    return bool(of_software or _CODE.search(said)) and not _is_lasting(clause, said, message)


def _is_lasting(clause: Clause, said: str, message: WorkMessage) -> bool:
    """Whether a clause about software says what a later session can use."""
    if clause.verb in {"try", "want", "need"} and _CHECKS.match(said):
        return False
    if _WHOLE_PROJECT.search(said) or _STUDIED.match(said) or _TOOL.match(said) or _DATED.search(clause.text):
        return True
    if _HABITUAL.search(clause.text) and not _is_task(clause, said, message):
        return True
    if _is_task(clause, said, message) or _CHECKS.match(said) or _POINTS_ON.search(said) or _is_part_of_code(clause):
        return False
    measured = _MEASURED.search(_QUOTED.sub("", clause.rest)) is not None
    meant = _MEANT_NOW.match(said) and clause.form != "past"
    named = _is_named(clause.rest, figures=False)
    owned = named or _HELD.match(said) or names_something(clause.rest)
    return bool(measured and owned) or (not meant and named)


def _is_task(clause: Clause, said: str, message: WorkMessage) -> bool:
    """Whether a clause tries or wants something in a message that gives work, or says what is in progress there."""
    if _ASKED_FOR.match(said):
        return clause.form != "past" and (message.asks_help or clause.verb == "try")
    return message.asks_help and clause.form == "progressive" and _AT_WORK.match(said) is not None


def _is_share_of_nothing(clause: Clause) -> bool:
    """Whether a score or a deadline comes without what it is of: "my score is 92%", "my deadline is approaching fast"."""
    scored = _SCORE.fullmatch(clause.noun.strip(" ,")) and _REACHED.match(clause.rest.strip(" .,!"))
    return bool(scored) or (clause.rest.startswith("approaching") and _SCORE.match(clause.noun) is not None)


def _is_bare_aim(clause: Clause, message: WorkMessage) -> bool:
    """Whether an aim is the task of the session: "my goal is to make the code more efficient"."""
    aimed = clause.noun.endswith(("goal", "aim")) and clause.rest.startswith("to ")
    bare = aimed and not _is_named(clause.rest) and not has_time_word(clause.rest)
    return bare and message.technical and _SOFTWARE.search(clause.rest) is not None and _of_no_person(clause.rest)


def _of_no_person(said: str) -> bool:
    return _PEOPLE.isdisjoint(plain(word) for word in said.split())


def _is_announced(clause: Clause, message: WorkMessage) -> bool:
    """Whether a clause is what the writer does next before they report: "I'll run the tests and get back to you"."""
    coming = clause.form == "modal" or (clause.form == "progressive" and clause.rest.startswith("to "))
    return coming and message.reports_back


def _is_echo(said: str, message: WorkMessage, sentence: str) -> bool:
    """Whether a clause is of an example, or repeats the assistant: "So that is 3 points per quiz, makes sense"."""
    if _IN_EXAMPLE.match(sentence) or (_MEANT_NEXT.match(said) and _is_as_said(sentence)):
        return True
    concludes = _PER_EXERCISE.search(said) or (_CONCLUDES.match(sentence) and re.search(r"\d", said))
    return bool(concludes) and message.echoes


@lru_cache(maxsize=1)  # a long sentence has many clauses
def _is_as_said(sentence: str) -> bool:
    """Whether a sentence refers to what the assistant said before."""
    return _AS_YOU_SAID.search(sentence) is not None


def _is_part_of_code(clause: Clause) -> bool:
    """Whether a clause names only a part of a language or library: "is using the `repeat` function for a flexible grid"."""
    rest = clause.rest
    return _PART_OF_CODE.search(rest) is not None and not _is_named(_CODE.sub("x", rest))
