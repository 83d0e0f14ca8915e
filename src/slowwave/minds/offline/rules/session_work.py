"""Detects clauses that are only the work of a session on code or an exercise: what the assistant is asked to do, an edit, a calculation."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from slowwave.minds.offline.rules.claims import has_time_word
from slowwave.minds.offline.rules.clause import Clause
from slowwave.minds.offline.rules.phrases import MATHEMATICAL
from slowwave.minds.offline.rules.pronouns import plain
from slowwave.minds.offline.rules.words import PERSON_WORDS
from slowwave.policy.text.lazy_regex import lazy_regex

_ASKS_HELP: Final = lazy_regex(
    r"```|\?|\b(?:can|could|would|will) you\b|\bhelp me\b|\bneed (?:some )?help\b|\bI['’]d like (?:to|some|an?)\b|\bif you could\b|\bwas wondering\b|\bany (?:advice|help|tips|suggestions|guidance)\b|\bplease (?:help|review|show|explain|check|suggest)\b"
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
_LIGHT: Final = r"(?:(?:further|better|also|just|both|help|now|[a-z]+ly) )*"
_MEANT: Final = (
    r"^(?:(?:try|want|need|like|look|hope|plan|aim|work|focus|think|consider|start|continue|manage|struggle|attempt|get|go) (?:back )?(?:(?:to|on|of|about|for|with|at|into) )?"
    rf"(?:be (?:able to )?)?|(?:going|able) to )?{_LIGHT}"
)
"""How a task is announced: "trying to", "would like to further", "working on"."""
_UPKEEP: Final = re.compile(
    rf"{_MEANT}(?:(?:optimi[sz]|improv|enhanc|refactor|debug|fix|resolv|troubleshoot|diagnos|investigat|solv|increas|reduc|minimi[sz]|finali[sz]|manag|analy[sz]|monitor|profil|"
    r"boost|clean|simplify|simplifi|review|test|measur|structur|organi[sz]|restructur|updat|document|secur|harden|scal|stabili[sz]|speed|decid|figur|understand|verify|verifi|validat|identify|identifi|handl|track|modulari[sz]|separat|split|deploy|rewrit|synchroni[sz])(?:e|es|ed|ing|t?ing)?)\b",
    re.IGNORECASE,
)
"""Upkeep of what there is: "trying to optimize", "working on refactoring"."""
_MAKING: Final = re.compile(
    rf"{_MEANT}(?:implement|writ|creat|add|build|design|develop|mak|set up|setting up|simulat|captur|display|show|stor|integrat|configur|enforc|ensur|achiev|generat|get|find|includ|defin|migrat|conver|host|load|pars|render|format|send|receiv|sort|filter|validat)(?:e|t|ing|ting|ding)?\b",
    re.IGNORECASE,
)
_AT_WORK: Final = re.compile(r"^(?:start )?(?:work|focus|concentrate)(?:ing)? (?:\w+ly )?on\b", re.IGNORECASE)
_ANY_WANT: Final = re.compile(
    rf"^(?:try|want|need|like|look|hope) to {_LIGHT}(?!(?:learn|study|become|master|teach|buy|move|pass|earn|save|quit|stop|publish|launch|release|switch|migrate)\b)[a-z]+\b(?!.*\b(?:my|our|by|before|until|for (?:my|our|an?)) )",
    re.IGNORECASE,
)
"""A want that names nothing of the writer's."""
_ASKED_WORK: Final = (_UPKEEP, _MAKING, _AT_WORK)
_SOFTWARE: Final = re.compile(
    r"\b(?:performance|latency|throughput|uptime|quer(?:y|ies)|code|codebase|codes|app|apps|applications?|api|apis|servers?|backend|frontend|databases?|models?|pipelines?|schedulers?|trackers?|modules?|files?|functions?|"
    r"components?|endpoints?|routes?|pages?|sites?|website|layouts?|containers?|images?|memory (?:usage|leaks?|footprint|management)|algorithms?|error[- ]handling|logging|logs|tests?|testing|features?|class(?:es)?|scripts?|methods?|schemas?|"
    r"middleware|handlers?|services?|microservices?|systems?|workflows?|repositor(?:y|ies)|repo|architecture|dashboards?|cache|caching|loops?|regex(?:es)?|variables?|forms?|buttons?|modals?|tables?|columns?|ui|ux|ui/ux|gui|cli|"
    r"deployments?|builds?|requests?|responses?|hooks?|packages?|librar(?:y|ies)|framework|plugins?|environment|configuration|config|settings|versions?|releases?|interface|navigation|animations?|styles?|headers?|rate limiting|retry logic|"
    r"users?|usage|data|metrics|queues?|jobs?|messages?|notifications?|events?|webhooks?|syntax|snippets?|arrays?|lists?|strings?|objects?|implementation|functionality|integration|authentication|authorization|validation|encryption|access control|"
    r"response times?|load(?:ing)? times?|processing|rendering|inference|bandwidth|usability|accessibility|scalability|maintainability|readability|security|exceptions?|errors?|bugs?|issues?|launch checklist|concurren\w+|threads?|boundar\w+|problems?|stack traces?)\b",
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
_ATTEMPTED: Final = re.compile(
    r"^try (?:to )?(?:us|chang|add|runn?|sett?|updat|switch|optimi[sz]|saniti[sz]|remov|install|restart|increas|reduc|clear|implement|adjust|tweak|fix|debug|catch|wrapp?|call|import|upgrad|configur|mov|check|rebuild|disabl|enabl)(?:e|ing)?\b",
    re.IGNORECASE,
)
_CHECKED_ONCE: Final = re.compile(
    r"^(?:verify|test|check|double-?check|review|inspect|confirm|look at) (?:the|my|our|that|this|these|all)\b(?! [^,;]*\d+ ?%)",
    re.IGNORECASE,
)
_TECHNICAL_LEAST: Final = 2
"""Nouns of software in a message on software."""
_CODE: Final = re.compile(r"`[^`]*`")
_CAPITAL: Final = re.compile(r"(?<=[a-z,:;)] )(?!I\b)[A-Z]")
_NAMED: Final = re.compile(r"\d|`|(?<=[a-z,:;)] )[“\"'(]?(?!I\b)[A-Z]|\b\w+[./_]\w+|[a-z][A-Z]")
_WHOLE_PROJECT: Final = re.compile(
    r"\b(?:creat|build|mak|develop|writ|design|work on)(?:e|ing)? (?:an?|(?:my|our)(?: own| first)?) (?:[\w-]+ ){0,3}?(?:app|application|website|site|game|tool|bot|platform|library|language|compiler|engine|program|project|browser|simulator|tracker) (?:that|which|for|to|where(?! (?:I|we)\b)|with|of|in|called)\b",
    re.IGNORECASE,
)
"""A project of its own, and what it is for."""
_SHORT_OF: Final = re.compile(r"\b(?:skills?|knowledge|understanding of|english|grades?|accuracy)\b", re.IGNORECASE)
_TUNING: Final = re.compile(
    rf"{_MEANT}(?:optimi[sz]|improv|enhanc|refactor|finali[sz]|clean|speed up|speeding up|fine-tun|boost|minimi[sz])(?:e|ing)?\b(?![^.]*\b(?:by|using|with|via|through|from|to) [^.]*?(?-i:[A-Z`]))",
    re.IGNORECASE,
)
"""Upkeep without a means that has a name."""
_CHECKING: Final = re.compile(
    rf"{_MEANT}(?:analy[sz]|debug|troubleshoot|diagnos|investigat|review|test|verify|verifi|validat|identify|identifi|understand|figur|check|decid|audit|estimat|prioriti[sz])(?:e|ing)?\b",
    re.IGNORECASE,
)
"""A check, which the session ends, of whatever it is."""
_PROGRAMMED: Final = re.compile(
    r"^(?:want|need|try|like|have) to (?:filter|sort|parse|return|print|convert|round|group|loop|iterate|extract|format|validate|calculate|compute|count|concatenate|reverse|split|merge|map|append|display|show|handle|cover)\b(?! [^,]*[a-z] [A-Z][a-z])",
    re.IGNORECASE,
)
"""What a piece of code is to do."""
_DATA_HELD: Final = re.compile(
    r"^(?:have|get) (?:got )?(?:an?|some|this|the following) (?:\w+ )?(?:list|array|dict|dictionary|table|dataset|data ?frame|file|string|spreadsheet|log|json|csv|snippet|function|class|script|loop|query)s?\b",
    re.IGNORECASE,
)
"""Data and code at hand: "I have a list of expenses"."""
_FAULT_NOW: Final = re.compile(
    rf"{_MEANT}(?:(?:fix|resolv|debug|troubleshoot|diagnos|investigat|solv|address)(?:e|ing)?)\b [^.;]*?(?:\b(?:issues?|errors?|problems?|bugs?|crash(?:es)?|exceptions?|warnings?|failures?|race conditions?|deadlocks?|leaks?|bottlenecks?|conflicts?|timeouts?|delays?|duplicat\w+)\b|(?-i:[A-Z]\w*(?:Error|Exception)))",
    re.IGNORECASE,
)
"""A fault under repair, which the next answer may end."""
_VAGUE_EDIT: Final = re.compile(
    r"^(?:(?:already|just|also|now) )?(?:add|implement|include|write|set up|create|try|make|put|do|use|get)\b (?:in )?(?:some|an? (?:unit |simple |basic |few )?(?=tests?\b|checks?\b|logs?\b|few\b)|several|various|basic|better|more|proper|additional|a few|a couple of) ?"
    r"(?:[\w-]+ ){0,2}?(?:logging|logs?|error[- ]handling|exception handling|indexes|indices|tests?|test cases|comments|caching|checks?|validations?|security measures|styles?|styling|print statements|optimi[sz]ations?|profiling tools|debugging|code|features|fixes|changes|improvements|techniques|tools|functionality)\b",
    re.IGNORECASE,
)
"""An addition that says nothing of what it adds: "added some logging to my code"."""
_POINTS_ON: Final = re.compile(
    r"\b(?:as follows|like (?:this|so)|as shown|as below|shown below|(?:see )?below|in the (?:code|snippet))$",
    re.IGNORECASE,
)
"""The end of a clause whose content is what follows it."""
_OF_WHAT: Final = re.compile(
    rf"{_MEANT}(?:reduc|increas|updat|improv|set|rais|lower|chang|limit|cap|cut|decreas|extend|doubl|adjust)(?:e|ed|ing|ting)? the (?:[\w-]+ ){{1,2}}(?:to|by|from|under|below|above|further)\b(?!.*(?:`|\b(?:of|for|in|on) (?:my|our|the)\b))",
    re.IGNORECASE,
)
"""A change of a quantity without what it is of: "reduced the runtime by 20%"."""
_PART_OF_CODE: Final = re.compile(
    r"`[^`]+`,? (?:(?:\w+ )?(?:function|method|parameter|param|attribute|property|class|hook|module|element|tag|selector|variable|keyword|operator|decorator)s?)\b",
    re.IGNORECASE,
)
"""A part of the language or of a library: "the `repeat` function"."""
_EMPTY_SCOPE: Final = re.compile(
    r"^come up with (?:about |around |roughly )?\d+[\w ]*$|^(?:(?:have|get) access to|use|have) (?:various|several|different|some|many) (?:[a-z-]+ )?(?:libraries|tools|packages|frameworks|resources|techniques)$"
    r"|^track (?:the|my|our|all) (?:[a-z-]+ )?(?:metrics|progress|results|numbers|stats)$|"
    r"^use an? (?:very |fairly |pretty )?(?:simple|basic|custom|standard|similar|different|new) \w+$|"
    r"^(?:set up|create|add|define|include|implement|write|have|get) [^,;]{0,60}? with (?:the|all the|some) (?:necessary|required|relevant|appropriate|needed|basic|right|usual) \w+$|"
    r"^(?:define|finali[sz]e|outline|identify|plan|set|clarify|scope) (?:out )?(?:the|my|our) (?:\w+ )?(?:scope|requirements|goals|objectives|structure|bottlenecks?|next steps?|priorities)(?: (?:of|for) (?:the|my|our|this) (?:[\w-]+ ){0,2}[\w-]+)?$"
    r"|^(?:add|create|define|implement|make|include|write|set up) (?:about |over )?\d+ (?:new |more |other )?(?:\w+ )?(?:\w+ ?cases?|tests?|patterns?|\w+s)$"
    r"|^(?:start|begin|end|finish|run|launch) (?:from|on|in|at|by)(?: the)? [\d\w ,-]*\d{4}$",
    re.IGNORECASE,
)
"""A scope without what it is, and a date without what it is of."""
_WISHED_OF_ANSWER: Final = re.compile(
    r"^(?:want|like|need|prefer) (?:the|my|this|your) (?:\w+ )?(?:code|solution|answer|function|implementation|response|script|query|explanation|example|output|layout)\b(?! (?:in|at|from|of)\b)"
    r"|^(?:need|want|like|try) to (?:cover|handle|include|support|consider|test|simulate) (?:different|various|multiple|all|several|more|other|edge|possible|any)\b"
    r"|^(?:need|want|like) an? (?:[\w-]+ ){0,2}?(?:regex|regular expression|function|script|snippet|formula|quer(?:y)|one-liner|macro|example|command|template)\b",
    re.IGNORECASE,
)
"""How the answer should be, or what it should contain."""
_READ_UP: Final = re.compile(
    r"^(?:read|learn|hear|look|think|wonder|consider)(?:ing)? (?:up )?(?:about|into|on|of|at)?(?: about)? ?(?:how to\b|ways? to\b|(?:implementing|adding|using|creating|improving|optimi[sz]ing)\b)|^(?:review|study|go over) (?:the )?[\w ]*\bbasics$"
    r"|^request (?:an? )?(?:code |peer )?review\b(?! (?:of|from|by))"
    r"|^be (?:also )?(?:interested in|curious about|open to|looking (?:for|at|into)) (?:[a-z]+ing )?(?:(?:some|more|other|new|better|any|different) )*(?:ways?|how|options|suggestions|ideas|improvements)\b"
    r"|^(?:try|want|need|look|work|struggle) (?:(?:to|on) )?(?:decide|decid|choos|figur|determin|work|find|understand|see)(?:e|ing)? (?:(?:on|out) )?(?:the |an? )?(?:best|right|optimal|proper|correct|most \w+|good|better)\b"
    r"|^look(?:ing)? (?:for|at|into) (?:(?:some|more|other|new|better|any|different|additional) )*(?:ways?|options|improvements|optimi[sz]ations?|alternatives)\b"
    r"|^(?:anticipate|expect|foresee) (?:(?:some|any|potential|possible) )*(?:errors?|issues|problems|challenges)\b",
    re.IGNORECASE,
)
"""Reading on the task, and ways looked for."""
_MARKUP: Final = re.compile(
    r"\b(?:class(?:es)?|attributes?|selectors?|propert(?:y|ies)|padding|margin|z-index|font-size|tags?|variable|param(?:eter)?s?|brackets?|semicolon|import statement|print statement)\b",
    re.IGNORECASE,
)
"""Parts of a line of code: setting one is an edit of the session."""
_MEANING: Final = frozenset({"try", "want", "need", "look", "work", "focus", "think", "consider"})
"""Verbs of what is meant to be done, in whichever tense."""
_EDITS: Final = frozenset(
    {"add", "set", "change", "remove", "put", "replace", "rename", "move", "update", "declare", "assign"}
)
_SET_TO: Final = re.compile(
    r"^(?:the|a|an|my|our) [\w` -]+? (?:to|by|with|from|as) [`'\"]?(?:-?\d+(?:\.\d+)?(?:px|em|rem)|true|false|null|none|zero)\b[`'\"]?(?=$|[ ,.])",
    re.IGNORECASE,
)
_PEOPLE: Final = PERSON_WORDS - {"class"}
_RECKONED: Final = frozenset(
    {
        "try",
        "multiply",
        "divide",
        "subtract",
        "square",
        "substitute",
        "plug",
        "cancel",
        "differentiate",
        "factor",
        "simplify",
        "rearrange",
        "round",
        "add",
        "expand",
        "roll",
        "draw",
        "flip",
        "toss",
        "convert",
        "calculate",
        "compute",
        "get",
        "find",
        "apply",
        "use",
        "solve",
        "set",
        "take",
        "move",
        "isolate",
    }
)
_RECKONING: Final = re.compile(
    r"\b(?:both sides|(?:first|second|third|last|left|right|other|\w+) (?:term|side)\b|(?:chain|product|quotient|power|sum|cosine|sine|l['’]h\w+|bayes['’]?s?)[ '’]*(?:rule|law|theorem)|quadratic formula|square root|"
    r"variance|mean|median|standard deviation|numerator|denominator|exponent|remainder|common factor|hypotenuse|angles?|radi(?:us|i)|derivative|integral|marbles?|dice|coins? (?:toss|flip)\w*|answer)\b|[a-z] ?= ?-?\d|\b\d+[a-z](?:\^?\d)?\b(?=$|[ ,+)-])|\d{1,6}/\d",
    re.IGNORECASE,
)
"""Steps of a calculation."""
_FORMULA: Final = re.compile(
    r"(?:the|a|this|that) (?:[\w-]+ ){0,2}(?:formula|theorem|rule|identity|equation)\b", re.IGNORECASE
)
_WORKS_WITH: Final = frozenset(
    {"work", "explore", "struggle", "figure", "try", "have", "use", "consider", "look", "want", "need", "deal"}
)
_SHAPE: Final = re.compile(
    r"\b(?:scalene|isosceles|equilateral|obtuse|acute|right(?:-angled)?) triangles?\b|\b(?:parallelogram|trapezoid|trapezium|rhombus|quadrilateral|hexagon|octagon)s?\b|\bsides? (?:of |lengths? )?(?:length )?\d|\bscale factor\b"
    r"|\b(?:to|on|of|how to) (?:calculat|find|solv|graph|plot|determin|comput|verify)(?:e|ing)? (?:(?:the|an?|some) )?(?:[\w-]+ ){0,2}(?:slopes?|midpoints?|equations?|distances?|areas?|angles?|perimeters?|intercepts?|roots?|derivatives?|integrals?|probabilit\w+)\b"
    r"|\bto (?:classify|prove|model|derive|sketch|bisect|inscribe|circumscribe) (?:[\w-]+ ){0,3}(?:triang\w+|angles?|circles?|polygons?|lines?|congruen\w+|similarit\w+|identit\w+|theorems?)\b",
    re.IGNORECASE,
)
"""A figure of an exercise in geometry."""
_DRAWN_FROM: Final = re.compile(
    r"^an? (?:[\w-]+ )?(?:bag|box|urn|jar|deck|drawer|spinner|dice|die|coin|bowl|basket|container|hat|tank|rope|ladder|rectangle|triangle|circle|square|cube|cylinder|cone|sphere|pyramid|function|sequence|series|set|sample|graph|line)\b(?=.*(?:\d|\b(?:two|three|four|five|six|seven|eight|nine|ten)\b))",
    re.IGNORECASE,
)
"""What an exercise begins with: "I have a bag with 4 red and 6 green marbles"."""
_READ_OF: Final = re.compile(
    r"^(?:read|hear|learn|study|explore)(?:ing)? (?:(?:up )?(?:about|on|of)|the|some)\b", re.IGNORECASE
)
_SCORE: Final = re.compile(
    r"(?:(?:my|our|the) )?(?:(?:current|average|latest|overall|new|total) )?(?:score|accuracy|grade|result|mark|progress|pace|deadline)\b",
    re.IGNORECASE,
)
_REACHED: Final = re.compile(
    r"(?:(?:now|already|been|up|at|to|about|around|over|reached|hit|improved|risen|gone|increased) )*\d[\d.,/]*(?: ?%| percent| points?)?(?: (?:now|so far|already))?$",
    re.IGNORECASE,
)
_PER_EXERCISE: Final = re.compile(r"\bper (?:problem|question|exercise|quiz|try|attempt)\b", re.IGNORECASE)
_SOME_TIME: Final = re.compile(
    r"\b\w+ (?:problems|questions|exercises|examples|concepts) for (?:a|some|quite a|a little) (?:while|bit|time)\b",
    re.IGNORECASE,
)
_FAILS: Final = re.compile(
    r"^(?:experience|encounter|face|have|hit|run into|get|see|throw|return|show)\b (?:(?:some|an?|the|several|occasional|intermittent|frequent|[\w-]+) ){0,3}?(?:issues?|errors?|problems?|trouble|exceptions?|warnings?|failures?|slow\w*|delays?|status code)\b"
    r"|^(?:be )?work(?:ing)? (?:fine|well|ok(?:ay)?|correctly|properly|as expected|perfectly|mostly)\b|^be supposed to\b|^be (?:quite |very |fairly |pretty |still |rather )*(?:basic|simple|slow|broken|messy|incomplete|failing|not working)\b",
    re.IGNORECASE,
)
"""How a piece of software behaves at the moment."""


_FAULT_TAIL: Final = re.compile(
    r",?\s+(?:but|and|so)\s+(?:(?:now|first|currently|unfortunately|still|sometimes|occasionally|then),? )*"
    r"(?:I(?:['’](?:m|d|ve)| am| would| have)?\s+(?:(?:still|now|also|currently|just|always|sometimes) )*"
    r"(?:experienc\w+|encounter\w*|facing|see(?:ing)?|hav(?:e|ing) (?:(?:some|a bit of|a lot of|several|a few|many) )?(?:trouble|issues?|problems?|difficult\w+)|get(?:ting)? (?:an?\b|stuck|confused|lost)|stuck|confused|keep getting|run(?:ning)? into|struggl\w+"
    r"|looking (?:for|to)|not sure|unsure|feel like|need to (?:make sure|ensure|verify|check|figure)|want to (?:make sure|ensure|verify|check|confirm|know|see|understand|get a)|(?:like|love) (?:to|some)|need (?:some )?(?:help|guidance))\b"
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
        return _CHECKED.search(self.text) is not None


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


def _is_named(text: str) -> bool:
    """Whether a text has a name, a figure or code, other than a short form that every project has."""
    return _NAMED.search(_COMMON_SHORT.sub("x", f"a {text}")) is not None


def is_session_work(clause: Clause, message: WorkMessage, sentence: str) -> bool:
    """Whether a clause of a talk with an assistant is only work of the session, and says nothing lasting of its writer.

    What is named, measured or dated stays ("trying to move the billing service to Elixir by June"), and so does what is told
    without a request.

    Args:
        clause: The clause in the third person.
        message: The message that it is from.
        sentence: Its sentence as in the message.
    """
    said = f"{clause.verb} {clause.rest.removeprefix('been ')}".strip(" .,!")
    if _is_echo(said, message, sentence):
        return True
    if clause.subject in {"owned", "thing"}:
        fails = not clause.of_person and _FAILS.match(said) and _SOFTWARE.search(clause.noun)
        return bool(fails) or _is_share_of_nothing(clause) or _is_bare_aim(clause, message)
    if clause.subject == "named" or clause.negated or not _of_no_person(said):
        return False
    return _is_announced(clause, message) or _is_calculation(clause, said, message) or _is_task(clause, said, message)


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
    if _IN_EXAMPLE.match(sentence) or (_AS_YOU_SAID.search(sentence) and _MEANT_NEXT.match(said)):
        return True
    concludes = _PER_EXERCISE.search(said) or (_CONCLUDES.match(sentence) and re.search(r"\d", said))
    return bool(concludes) and message.echoes


def _is_calculation(clause: Clause, said: str, message: WorkMessage) -> bool:
    """Whether a clause is a step or a given of an exercise."""
    if _SOME_TIME.search(clause.rest) or (clause.verb in _WORKS_WITH and _SHAPE.search(clause.rest)):
        return True
    exercise = message.has_exercise
    if clause.verb == "have" and clause.form == "present" and _DRAWN_FROM.match(clause.rest):
        return exercise
    if clause.verb in {"use", "apply"} and clause.form in {"past", "perfect"} and _FORMULA.match(clause.rest):
        return True
    if clause.verb not in _RECKONED or clause.form not in {"past", "perfect", "progressive"}:
        return False
    return _RECKONING.search(clause.rest) is not None and (exercise or re.search(r"\d", said) is not None)


def _is_task(clause: Clause, said: str, message: WorkMessage) -> bool:
    """Whether a clause is a task given to the assistant, an edit of the code at hand, or says nothing of what was done."""
    named, technical = _is_named(clause.rest), message.technical
    done = clause.form in {"past", "perfect"}
    reads = _READ_UP.match(said) or (technical and _READ_OF.match(said))
    vague = bool(not named and (_VAGUE_EDIT.match(said) or reads)) or _POINTS_ON.search(said) is not None
    tried = technical and (_ATTEMPTED.match(said) or _CHECKED_ONCE.match(said))
    unnamed = technical and _OF_WHAT.match(said) and not _CAPITAL.search(_COMMON_SHORT.sub("x", clause.rest))
    if (
        vague
        or unnamed
        or _EMPTY_SCOPE.match(said)
        or (technical and _is_part_of_code(clause))
        or _WISHED_OF_ANSWER.match(said)
        or (done and (_is_edit(clause) or tried))
    ):
        return True
    if done and clause.verb not in _MEANING:
        return False
    asks = message.asks_help
    if (asks or technical) and _FAULT_NOW.match(said):
        return True
    if not asks:
        return False
    whole = named or _SHORT_OF.search(said) or _WHOLE_PROJECT.search(said)
    wanted = technical and _ANY_WANT.match(said) and not has_time_word(clause.text)
    made = _SOFTWARE.search(clause.rest) and any(one.match(said) for one in _ASKED_WORK)
    return bool((not whole and (wanted or made)) or (technical and _is_of_answer(said)))


def _is_part_of_code(clause: Clause) -> bool:
    """Whether a clause names only a part of a language or library: "is using the `repeat` function for a flexible grid"."""
    rest = clause.rest
    return _PART_OF_CODE.search(rest) is not None and not _is_named(_CODE.sub("x", rest))


def _is_edit(clause: Clause) -> bool:
    """Whether a clause that tells what was done is an edit of a line of code or of markup."""
    if clause.verb not in _EDITS:
        return False
    marked = _MARKUP.search(clause.rest) is not None and not _CAPITAL.search(_CODE.sub("x", clause.rest))
    return marked or _SET_TO.match(clause.rest) is not None


def _is_of_answer(said: str) -> bool:
    """Whether a clause is what the answer is made from, or a check or upkeep that it carries out and nothing measures."""
    checks = _CHECKING.match(said) or _TUNING.match(said)
    given = _DATA_HELD.match(said) or _PROGRAMMED.match(said)
    return bool(given or (checks and not re.search(r"\d", said)))
