"""Phrases without content, and phrases that say what kind of statement a clause is."""

import re
from typing import Final

from slowwave.minds.offline.rules.words import KIN

NO_GOAL: Final = re.compile(
    r"^(?!(?:to )?be able to (?:do|run|swim|play|speak|walk|drive|read|cook|sing|dance|ride|ski|afford|retire) )(?:(?:to|on|for|of|about|into|forward to)\s+)?(?:help )?(?:stay|savor|from scratch\b|let (?:it|that|this|anything|anyone|nothing|fears?|doubts?|others)\b|join in|keep|give (?:it|up|you|some)|take it|work hard|push|chase|know|understand|make (?:sure|it|that|them|their|my|our|a (?:\w+ )?difference)|ensure|ask|see (?:how|if|what|whether|you|it|that|this|more|some|the (?:results?|difference|look))|hear|reali[sz]e|say|thank|share|check|be able|get (?:a )?(?:better|sense|more|back|into)|help (?:you|out)|"
    r"be (?:here|there|careful|honest|prepared|able|sure|more|as|a better)|do (?:it|that|this|so|more|my best)|figure|confirm|verify|decide (?:on|how|where|when|what|which|whether|if|between)\b|clarify|double|chat|talk|hang|catch|tell|discuss|"
    r"find out|find (?:(?:an?|some|the|more|new|better|good) )*(?:ways?|out|balance|time|peace|motivation|strength)\b|find (?:some|the)\b|go (?:ahead|back|over|through)|use (?:it|this|that)|try (?:it|that|this|to)|follow|get (?:started|it)|look|explain|show|wrap|come|"
    r"(?:some |any |more |your )?(?:help|advice|assistance|suggestions?|tips|ideas|feedback|guidance|information|info|clarification|examples?|ways|something|someone|resources|"
    r"recommendations?|input|thoughts|insights?|options)|achieve|focus|improve my|balance|manage my time|address|consider|approach|handle|feel|believe|your|it|that|this|these|those|them|"
    r"(?:an?|another|some) (?:[\w-]+ ){0,2}?(?:review|summary|overview|outline|explanation|checklist|template|walkthrough|breakdown)|continue|begin|overcome|learn (?:more|about|how)|explore|incorporate|avoid|prioriti[sz]e|maintain|ensure|set (?:a|up a) (?:routine|schedule|goal)|calculate|"
    r"determine|solve|compare|discover|optimi[sz]e my time|see how|know if|better understand|inspire|spread|create (?:a )?(?:safe|space)|support|"
    r"hearing|seeing|sharing|learning more|discussing|exploring|getting (?:started|back)|making sure|understanding|doing)\b",
    re.IGNORECASE,
)
"""Wants of the moment, and wants about the talk."""
NO_LIKING: Final = re.compile(
    r"^(?:(?:all )?the (?!outdoors|beach|ocean|sea|mountains|color|\w+ of)|it|that|this|how|your|you|seeing|these|those|them|to\s+(?:hear|know|see|have|get|help|be|understand|"
    r"make|ensure|discuss|explore|share|chat|learn more|keep|do|start|add|use|include|think|join|know)|everything|what|when|some|a\b|being|hearing|seeing|having|"
    r"(?:\w+ing)? (?:it|that|this|you)\b|$)",
    re.IGNORECASE,
)
LIKER: Final = re.compile(
    r"^(?:an?\s+)?(?:huge\s+|big\s+|avid\s+|real\s+|massive\s+|lifelong\s+|total\s+)*(?:fan of|lover of|passionate about|into|interested in|fond of|keen on|afraid of|scared of|"
    r"terrified of|obsessed with|addicted to|(?:(?:more|definitely|very much|clearly|both) )*(?:an? )?(?!(?:nice|good|bad|great|kind|happy|shy|positive|terrible|better|different|changed|new|few|many|two|three|four|five|six|seven|eight|these|those|the)\b)[\w-]+ (?:people|person)$|more of an? (?:[\w-]+ ){1,3}?(?:person|drinker|lover|eater|guy|girl|type|sort))\b",
    re.IGNORECASE,
)
HELD: Final = re.compile(
    r"\b(?:meeting|appointment|deadline|interview|exam|presentation|budget|goal|plan|call|session|workshop|trip|flight|allerg\w+|degree|"
    r"house|flat|apartment|car|job|business|store|studio|garden|server|app|website|project|team|background|intolerance|diabetes|asthma|tattoo|"
    rf"salary|contract|licen[cs]e|membership|subscription|mortgage|loan|scholarship|surgery|operation|{'|'.join(sorted(KIN))})\b",
    re.IGNORECASE,
)
NOTHING_HELD: Final = re.compile(
    r"^(?!(?:lots|plenty) of )(?:\S+\s){0,2}?(?:question|questions|idea|ideas|feeling|doubts?|trouble|issues?|problems?|fun|blast|time|chance|bit|hope|no|any|thoughts?|look|"
    r"deadline to meet$|opportunity|urge|sense|say|faith|difficulty|talk|moment|concerns?|errors?|great|good|hard|better|best|lot|lots|few|little|rough|feel|right|"
    r"you|such|something|someone|people|things?|stuff|so|much|plenty|each other|everything|memories|reminder|conversation|chat|point|"
    r"choice|options?|reason|impact|effect|understanding|goal of|way|ways|vision|mix|that|this|these|it|them|lovely|amazing|wonderful|awesome|nice|solid|clear|"
    r"interest|desire|love|passion|respect|support|confidence|power|strength|courage|patience|energy|crush|laugh|relaxing|proud)\b",
    re.IGNORECASE,
)
NOTHING_DONE: Final = re.compile(
    r"^(?:an? (?:[\w-]+ )?(?:turnout|response|reception|reaction|feedback|vibe)\b(?! (?:of|from|at|for|to|in|on)\b)|something|stuff|some (?:\w+ )?(?:stuff|things|news)|to (?:let|see|be|do|know|make)|a (?:break|chance|look|lot|surge|difference|point|sense|ton)|"
    r"the (?:chance|opportunity|importance|power|value|way|same|point|most|right)|into (?:it|that)|(?:two|some|many) options|lots? of|so (?:much|many)|"
    r"like\b|that\b|this\b|these\b|how\b|what\b|why\b|where\b|if\b|whether\b|through\b|there\b|my (?:best|mind|eyes|heart|way|time|thoughts?)|all the(?! \w+ (?:with|by|from|for|to|in|at)\b)|everything(?! (?:except|but|apart|other)\b)|on track|"
    r"up with you|up on|it\b|for you|back (?:and|to (?:it|you)))\b",
    re.IGNORECASE,
)
EMPTY_OBJECT: Final = re.compile(
    r"^(?:(?:to )?[a-z]+ing )?(?:one|ones|another|another one|a few(?: more)?|some(?: more)?|more|it|them|that|this|those|these|both|all|everything|"
    r"(?:some |a (?:few|couple) )?(?:of )?(?:them|those|these)|two|three|enough|so|it all|the same(?: thing)?|that one|this one)(?:\s+(?:yesterday|today|now|too|again|"
    r"as well|last|this|on|in|at|for|to|when|because|with)\b.*)?$",
    re.IGNORECASE,
)
"""An object whose noun was said before: "another", "a few more"."""
TIMED: Final = re.compile(
    r"\bat (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|half)\b|\bon (?:the )?(?:first|last|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
    r"|\bevery (?:day|week|month|year|other|\w+day)\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|hundred) \w+",
    re.IGNORECASE,
)
NAMES_SOMETHING: Final = re.compile(
    r"(?<=[a-z] )(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b)[A-Z][\w'’]+"
)
IDIOM: Final = re.compile(
    r"^(?:allergic to (?:mondays?|mornings?|work|people|nonsense|stupidity|effort|exercise|maths?|drama|fun|bullshit)\b|dying (?:of|to|for)\b|in (?:awe|love with (?:it|that)|a (?:rush|hurry|good place|better place)|the (?:mood|middle|process|same|zone|loop|right)|need|charge|control|line|touch|agreement|shape|for)|"
    r"on (?:board|it|track|my way|the (?:same|right|fence|lookout|edge|other)|cloud|top|fire|the way)|at (?:peace|a loss|ease|the (?:moment|end|point|top)|it|odds|least)|"
    r"with (?:you|that|this|it)|of (?:the|course|that)|off to (?:a|bed|work|sleep|do|go|get)|over (?:the moon|it|here|there)|under (?:pressure|control|the)|into it|near the end|"
    r"one\b(?! of)|here|there|back|down|up|a (?:bit|lot|little|mess|work in progress|part of (?:it|this|that)|big believer|firm believer|great (?:way|time|day))|one of (?:the|those)|the (?:one|same|best|way|only)|"
    r"[\w-]+ to (?:hear|see|know|help|say|chat|talk|be|have|share))\b",
    re.IGNORECASE,
)
TURNING_POINT: Final = re.compile(
    r"^(?:diagnosed with|promoted|hired|laid off|fired|accepted|admitted|elected|operated on|raised|awarded|chosen|made redundant|selected|nominated|invited to|"
    r"evicted|mugged|hospitali[sz]ed|baptised|baptized|naturali[sz]ed)\b"
)
RETRACTED: Final = re.compile(
    r"\bnever\b.+\bagain$|\bno longer\b|(?:\bnot|n['’]t)\b.+\b(?:any ?more|any longer|after all)\b", re.IGNORECASE
)
KIN_HELD: Final = re.compile(rf"^(?:\S+\s){{0,4}}?\S*\b(?:{'|'.join(sorted(KIN))})\b", re.IGNORECASE)
VAGUE_OWNED: Final = re.compile(
    r"^(?:own\b|(?:best|worst) part|question|point|thoughts?|feelings?|mind|heart|head\b|eyes|day\b|life|time\b|way\b|bad\b|apolog|understanding|next question|"
    r"hope|guess|experience|dreams?\b|passion|love\b|mood|bond|code$|current code|initial|example|solution|concern|issue|problem|answer|calculation|work$|"
    r"main (?:concern|question|issue|challenge)|friendship|journey|voice|soul|strength|confidence|motivation|inspiration|creativity|focus|takeaway|idea|"
    r"array|pointer|(?:main )?(?:protagonist|character|hero|heroine|villain|narrator|antagonist|avatar)\b|oc\b|mc\b|variables?\b|loop|struct|regex|dataframe|matrix|vector|worr(?:y|ies)|fears?$|troubles?$|approach|progress|response|analysis|understanding|results?$|god\b|goodness|spirit|stress|anxiety|energy|attempt|query|function|script|test|message|draft$)",
    re.IGNORECASE,
)
OF_IDENTITY: Final = re.compile(
    r"(?:^|\s)(?:(?:(?:full|first|last|real|middle|maiden) )?name|birthday|birth date|date of birth|native language|mother tongue|first language|pronouns|nationality|address|"
    r"(?:phone|work|mobile|cell|home)(?: phone)? number|e-?mail(?: address)?|blood (?:type|group)|(?:food )?allerg(?:y|ies)|intolerances?|diet|postcode|shoe size|star sign|age|religion|(?:shoe|dress|jacket|ring|shirt) size)$"
)
VAGUE_TASTE: Final = re.compile(r"(?:it|that|this|how|when|what|the one)\b")
EXERCISE: Final = re.compile(
    r"\b(?:probabilit(?:y|ies)|(?:rect|tri|quadr)angles?|circles?|lines?|number of|answers?|solutions?|results?|equations?|formulas?|angles?|area|sums?|vertices|slopes?|"
    r"(?:rect|tri)angular|options?|choices?|isosceles|scalene|equilateral|points?|errors?|functions?|methods?|scripts?|class|variables?|values?|questions?|problems?|examples?|ideas?|things?|facts?|reasons?|ways?|goal is|code below|outputs?|"
    r"issues?|following|derivatives?|integrals?|matri(?:x|ces)|ratios?|sides?|length|test cases?|loops?|quer(?:y|ies)|foci|ellipses?|hyperbolas?|parabolas?|pairs?|outcomes?|dice|"
    r"polygons?|parallelograms?|vectors?|graphs?|coordinates?|proofs?|theorems?)\b",
    re.IGNORECASE,
)
"""Nouns of exercises and of code: a sentence about them is seldom about a life."""
FAILING: Final = re.compile(
    r"(?:fail|crash|throw|raise|return|break|hang|time|exit|panic)\b.*(?:\b(?:line|code|status|exception|errors?|timeout|null|exit|test)\b|Error|Exception)"
)
"""How a program fails."""
MATHEMATICAL: Final = re.compile(
    r"\b(?:circles? (?:with|of radius)|chords?|with sides|equations?|slopes?|intercepts?|triangles?|angles?|vert(?:ex|ices)|hypotenuse|midpoints?|coordinates?|[xy]-axis|fractions?|denominators?|numerators?|derivatives?|integrals?|polynomials?|quadratics?|probabilit(?:y|ies)|"
    r"dice|radius|circumference|perimeters?|point-slope|bisectors?|parabolas?|factorials?|permutations?|units (?:to the )?(?:left|right|up|down)|(?:move|go) \d+ units?)\b",
    re.IGNORECASE,
)
"""Words of exercises in mathematics."""
OF_PROGRAM: Final = re.compile(
    r"\b(?:list|array|set|tuple|vector|matrix|string|table|dictionary|dict|dataframe|map|queue|stack|tree|graph|class|struct|object)s? (?:of|with|containing) (?:\w+ )?"
    r"(?:integers?|numbers|ints|floats|strings|elements|columns|rows|nodes|edges|values|keys|fields|methods|attributes|entries|characters|tuples|lists|dicts|dictionaries|arrays)\b"
    r"|\bclass(?: called| named)? `?[A-Z]\w*`? (?:with|that|which)\b|^(?:the )?columns? [\w`]+[, ]|\b\d+ (?:arguments?|parameters?|params|columns?|elements)\b"
)
"""Parts of a program of an exercise."""
UNNAMED_VERSION: Final = re.compile(
    r"^(?:(?:on|for|to|with|using|the) )*(?:version|v) ?\d[\d.]*(?! of\b)", re.IGNORECASE
)
"""A version without what it is of: "decided on version 1.0"."""
SHARP: Final = re.compile(r"\d|(?<=[a-z] )[A-Z][\w.]+|`[^`]+`|https?://|\"[^\"]+\"")
BARE_THE: Final = re.compile(r"^the (?:[\w-]+ ){0,2}[\w-]+$", re.IGNORECASE)
"""A noun of which only its sentence before says whose or which it is."""
SPAN_ONLY: Final = re.compile(
    r"^(?:(?:for|since) )?(?:(?:about|over|almost|nearly|around|roughly|already|just|quite) )*(?:an?|the|this|last|some|many|several|\d+|two|three|four|five|six|seven|eight|nine|ten)"
    r"(?: (?:few|couple of|past|last|long))? (?:while|time|bit|minutes?|hours?|days?|weeks?|months?|years?)(?: (?:now|already|straight|left))?$",
    re.IGNORECASE,
)
"""A length of time and nothing else: "studying for a week now", "10 days left"."""
SHARE_ONLY: Final = re.compile(
    r"^(?:about |around |over |only |up to )?\d+(?:\.\d+)?%(?=$| (?:after|in|on|with|so|by|at|for|as of)\b)"
    r"|^\d+/\d+ on (?:[\w'’]+ ){0,3}(?:problems|questions|exercises)$|^for an? \d+%\+? (?:score|grade|mark)$"
)
"""A share without what it is of: "reached 65% after the first run"."""
COORDINATES: Final = re.compile(r"\(\s*[−-]?\d+(?:\.\d+)?\s*,\s*[−-]?\d+(?:\.\d+)?\s*\)")
"""A point of an exercise."""
CALCULATED: Final = re.compile(
    r"\b(?:equation|formula|slope|angle|triangle|circle|polygon|vector|matrix|integral|derivative)s?$", re.IGNORECASE
)
"""A thing of an exercise, whose value is no property of the speaker."""
BARE_WORK: Final = re.compile(
    r"^the (?:project|app|application|model|system|code|api|website|site|tool|program|script|database|server|pipeline|dataset|function|endpoint|route|component|service|module|page|modal|spinner|feature|response|request|middleware|cache|caching layer|workflow|dashboard|table|column|field)$",
    re.IGNORECASE,
)
"""A piece of work of which only the talk before says which it is."""
BY_THE: Final = re.compile(r"\bby (?:the|these|those|all the) [\w-]+$")
WORKED_THROUGH: Final = re.compile(
    r"^(?:solving |doing )?(?:problems|questions|exercises)$|^(?:(?:all|another|about|around|over|only) )?(?:\d+|more|some|many|a few|several) (?:more )?(?:of (?:the|these) )?(?:practice )?(?:problems?|questions?|exercises?|examples?|tasks?)(?: (?:so far|in total|already|today|now)| and it['’]?s? .*| (?:with|at|and|scoring)\b[^,]*\d(?:%|/\d)[^,]*)?$",
    re.IGNORECASE,
)
COMING: Final = re.compile(
    r"^(?:some|a few|lots of|a lot of|many|several|a couple of) (?:[\w-]+ )?(?:projects|plans|things|events|news|updates|surprises|stuff)\b"
    r"(?: (?:in the works|coming up|going on|planned|lined up|ahead|on the way))?",
    re.IGNORECASE,
)
"""Things that a clause announces and does not name."""
TO_DO: Final = re.compile(r"^to\s+(?!(?:the|my|our|an?|[A-Z])\b)", re.IGNORECASE)
"""What is to be done, not to whom something is given: "have to move"."""
