"""Recognises statements about a life as it lasts, such as name, home, family, work, health, tastes and main events.

A single outing, a meal or a mood is none of them, however often it is talked about. The words decide: each group of patterns is one
part of a life, and the subject of the sentence is left to the caller.
"""

import re
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex

_KIN: Final = (
    r"(?:mother|mom|mum|mama|father|dad|papa|parents?|husband|hubby|wife|missus|partner|spouse|fianc[ée]e?|girlfriend|boyfriend|sons?"
    r"|daughters?|kids?|child(?:ren)?|baby|twins?|toddler|brothers?|sisters?|siblings?|grand(?:mothers?|fathers?|ma|pa|parents?|sons?"
    r"|daughters?|kids?|child(?:ren)?)|granny|aunt(?:ie|y)?s?|uncles?|cousins?|nieces?|nephews?|in-laws?|step(?:mother|father|son|daughter))"
)
_PET: Final = (
    r"(?:dogs?|pup(?:py|pies|s)?|cats?|kitt(?:en|ens|y|ies)|rabbits?|bunny|bunnies|hamsters?|guinea pigs?|parrots?|budgies?|birds?"
    r"|turtles?|tortoises?|horses?|pon(?:y|ies)|ferrets?|lizards?|snakes?|pets?)"
)
_BETWEEN: Final = r"(?:(?!(?:with|to|for|and|of|in|on|at|by|from|when)\b)[\w'’-]+ ){0,4}?"
"""Up to four words, such as articles and adjectives; no preposition."""
_HAS: Final = r"(?:have|has|had|having|['’]ve got|['’]s got|got|gets?|own(?:s|ed)?|adopt(?:s|ed|ing)?|rescued|lost|raising|raised|expecting)"
_NAMED: Final = r"(?-i:[A-Z][\w'’-]+)"

_NAMED_SUBJECT: Final = r"(?-i:(?!(?:Their|My|Our|His|Her|Your|The|Its|So|And|But|Much|Such|Some)\b)[A-Z][\w'’-]+)"

_MADE: Final = r"(?:built|building|created|designed|wrote|written|recorded|released|directed|developed|composed|painted|invented|self-published|produced)"
_PLACE: Final = r"(?-i:(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun|I\b)(?:day)?)[A-Z][a-z]+)"

_PARTS: Final = (
    # Name
    r"(?:my|his|her|their|its) names?(?:['’]s| is| are| was)|(?<!someone )(?<!man )(?<!person )(?<!guy )(?<!lady )(?<!veteran )(?<!stranger )(?:named|called) "
    + _NAMED,
    # Home and origin
    r"(?:home|native) ?(?:countr(?:y|ies)|town|city|village)|grew up|(?:live|lives|lived|living) (?:in|with|near|alone|by|abroad)"
    r"|(?:am|['’]m|is|are|comes?) (?:originally )?from "
    + _NAMED
    + r"|mov(?:ed|es|ing) (?:in|out|to|from|back|away|into|here|abroad)"
    r"|(?:my|our|his|her|their) (?:old|new|own) (?:place|area|flat|apartment|house|home|neighbou?rhood|town|city|roots)",
    # Family
    r"married|marriage|divorced?|widow(?:ed|er)?|engaged to|single (?:parent|mom|mum|dad|mother|father)|breakup|broke up|the missus"
    r"|weddings?|(?:\w+|\d+)-(?:years?|months?)-old|gave birth|(?:was|were|is) born|newborn|pregnan(?:t|cy)|first (?:steps|words?|tooth)"
    r"|(?:my|our|his|her|their) (?:youngest|oldest|eldest|middle)|(?:family|fam)(?:['’]s| is| are) (?:\w+ )?(?:small|big|large|tiny|from|huge)"
    rf"|{_HAS} {_BETWEEN}{_KIN}|(?:my|our) {_KIN} and (?:(?:my|our) )?{_KIN} (?:are|keep|live|mean|support|motivate)"
    rf"|(?:my|our|his|her|their|\w+['’]s) (?:\w+ )?{_KIN},? {_NAMED}(?! (?:and|took|went|got|came|made|met|had))"
    rf"|{_KIN} (?:is|was|are|were) (?:an?|the)\b|{_KIN} (?:works?|lives?|believe[sd]|taught|died|studies|studied|raised)",
    rf"(?:my|our|his|her|their|\w+['’]s) {_KIN}(?:['’]s)? (?:birthday|funeral|graduation|diagnosis|illness)",
    # Pets
    rf"{_HAS} {_BETWEEN}{_PET}|{_PET},? (?:is )?(?:named|called)|{_NAMED}, (?:my|our|his|her|their) (?:\w+ )?{_PET}|(?:say|said) goodbye to"
    rf"|(?:my|our|his|her|their|\w+['’]s) (?:\w+ )?{_PET},? {_NAMED}",
    # Work
    r"(?:work|works|worked|working) (?:as|for|at) (?!it|home|this|that)\w+|(?:my|his|her|their|a|\w+['’]s) (?:new|first|own|dream|full-time|part-time|side) "
    r"(?:job|career|business|company|shop|store|practice)|lost (?:my|his|her|their|our|\w+['’]s) (?:job|business|company)|self-employed"
    r"|freelanc(?:e|er|es|ing)|unemployed|internship|apprentice(?:ship)?|career (?:in|as|options?|change|path)"
    r"|(?:am|['’]m|is|was|been|as|become|became|becoming) (?:now )?(?:an?|the) (?:[\w-]+ ){0,3}(?:manager|teacher|nurse|doctor|engineer|lawyer|cook|chef"
    r"|artist|writer|author|musician|dancer|photographer|designer|developer|programmer|accountant|carpenter|mechanic|electrician|plumber|farmer|driver"
    r"|pilot|soldier|veteran|fire-?fighter|counsell?or|therapist|psychologist|social worker|scientist|researcher|student|professor|librarian|baker"
    r"|barista|banker|analyst|consultant|director|founder|owner|co-?owner|landlord|entrepreneur|coach|trainer|mentor|volunteer|christian|muslim|jew"
    r"|buddhist|hindu|atheist|immigrant|refugee|vegetarian|vegan|(?:trans(?:gender)? )?(?:wo)?man|mother|father|mom|mum|dad|parent|grandparent|widow|twin)"
    r"|(?:part|full)[- ]time (?:position|role|post|work|job)|(?:position|role|post) (?:as|at|with) (?!all\b|it\b|this\b|that\b)\w+",
    # Study
    r"degrees?|diploma|bachelor['’]?s?|master['’]?s (?:in|degree)|ph\.?d|doctorate|scholarship|graduat(?:e|es|ed|ing|ion)"
    r"|(?:study|studies|studied|studying|major(?:s|ed|ing)?) (?:in |at |for )?(?!it|this|that|the )\w{4,}"
    r"|(?:start(?:ed|s|ing)?|tak(?:e|es|ing)|took|join(?:ed|s|ing)?|sign(?:ed|s|ing)? up for|enrol(?:led|s|l)? in|attend(?:s|ed|ing)?|teach(?:es|ing)?|taught"
    r"|finish(?:ed|es)|complet(?:ed|es)|pass(?:ed|es)|fail(?:ed|s)|retook|retak(?:e|es|ing)|began) (?:(?!kids?\b|children\b)[\w'’-]+ ){0,5}?"
    r"(?:class(?:es)?|courses?|lessons?|training|program(?:me)?s?|school|college|university|exams?|test|interviews?|certification)",
    # Health
    r"allerg(?:y|ic|ies)|intoleran(?:t|ce)|diabet(?:es|ic)|asthma(?:tic)?|epilep(?:sy|tic)|coeliac|celiac|vegetarian|vegan|halal|kosher|insulin|inhaler"
    r"|chronic|disab(?:led|ility)|blood type|sober|diagnos(?:ed|is)|surgery|injur(?:y|ies|ed)|got hurt|broke (?:an?|my|his|her|their) \w+|depress(?:ed|ion)"
    r"|(?:struggl\w+|problems|(?<!people )suffer\w*) (?:with|from)|cancer|hospitali[sz]ed|in(?:to)? (?:an? )?(?:\w+ )?accident|ran a red light|wheelchair|hearing aid"
    r"|transition(?:ed|ing)|com(?:e|ing) out|came out",
    # Memberships and service
    r"join(?:ed|ing)? (?:[\w'’-]+ ){0,5}?(?:group|gym|club|church|mosque|temple|synagogue|team|band|choir|brigade|force|army|navy|league|orchestra|council"
    r"|union|party|network|organi[sz]ation|company|firm|faculty|board)"
    r"|(?:member|part) of (?:an?|the|our|my) (?:[\w'’-]+ ){0,4}?(?:group|team|club|brigade|band|choir|organi[sz]ation|program(?:me)?|church|crew)"
    r"|(?:(?<!the )(?<!other )(?<!any )(?<!more )volunteers|(?:I|we|still|started|been|busy|keep|kept|by|love|loves|enjoys?|is|am|['’]m|carry on|carrying on) (?:still )?volunteer(?:ing)?)\b|(?<!to )volunteer(?:s|ing)? (?:at|for|with|as|once|every)"
    r"|(?:I|we|"
    + _NAMED_SUBJECT
    + r") (?:also )?mentors?|mentoring (?:an?|at|for)|coach(?:es|ing)? (?:an?|the|at|kids)|in the (?:military|army|navy|air force|marines)",
    # Skills and habits
    r"(?:play|plays|playing) (?:the |my |his |her |\w+['’]s )?(?:acoustic |electric |bass |classical )?(?:guitar|piano|violin|clarinet|drums?|cello|flute|sax\w*|trumpet|ukulele|bass|harp|keyboard|organ"
    r"|chess|tennis|soccer|football|basketball|golf|volleyball|hockey|cricket|rugby|badminton|bridge|poker)"
    r"|(?:start(?:ed|s)|began|begun|t(?:ake|akes|ook|aken|aking) up|got into|gotten into|picked up) (?!an?|the|my|his|her|trouble|to (?:think|feel|reali[sz]e|wonder|see)|thinking|feeling|over|off|with|on)\w+"
    r"|learn(?:s|ed|t|ing) (?:the (?!news|truth)|how to |to )\w+|(?:am|['’]m|is|are|been|started) (?:also |now |just |currently )?doing (?!ok|okay|fine|good|great|well|alright|something|it|that|this|some|my|an|amazing|so|really|better|is\b|was\b|has\b|makes?\b|helps?\b|matters?\b|what\b)\w+"
    r"|(?:every|each) (?:day|morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall|christmas|sunday|monday|tuesday|wednesday|thursday|friday|saturday)"
    r"|(?:once|twice|(?:\w+|\d+) times|(?:once or )?twice) (?:a|an|each|every|per) (?:day|week|month|year)|daily routine|traditions?|weekly|usually|on a regular basis",
    # For how long, since when, in childhood
    r"(?:(?:for|over|almost|nearly) )?(?:\d+|a few|many|several|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty) years (?:ago|now|already)"
    r"|for (?:over |almost |nearly |about )?(?:\d+|a few|many|several|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty) years"
    r"|since (?:I|he|she|they) (?:was|were)|since (?:\d{4}|childhood|(?:high |primary |elementary )?school|college)"
    r"|(?:when|since|as) (?:I|he|she|we|they) (?:was|were) (?:a (?:kid|child|boy|girl|teen\w*)|young(?:er)?|little|\d+)|as a (?:kid|child|teen\w*|boy|girl)|growing up|childhood"
    r"|used to (?!it|this|that|the)\w+",
    # Tastes and beliefs
    r"(?:favou?rites?|faves?)(?! (?:memor|part|moment|thing about))|(?:big |huge )?fans? of|obsessed with (?!it|th(?:at|is|ose|ese))\w+|hate[sd]? (?!it|that|when|to|how|this|the fact)\w+|can['’]t stand|prefer(?:s|red)?|(?<!how )(?<!as )passionate (?:about|for)|hobb(?:y|ies)"
    r"|(?:^|(?:I|we|they|both|"
    + _NAMED_SUBJECT
    + r"(?<!['’]s)) (?:(?:also|really|both|always|just|absolutely|still|do|does) )*)(?:love|loves|enjoy|enjoys|likes?|adores?) (?!it|and|or|was|is|were|are|everywhere|that|this|these|those|you|your|how|the|to (?:see|hear|know|think)"
    r"|seeing|hearing|knowing|being|their|his|her|my|our|all|what|when|seeing)\w+|always (?:loved|wanted|dreamed|had a love)|love (?:of|for) \w+"
    r"|part of (?:my|our|his|her|their|\w+['’]s) li(?:fe|ves)|(?:lots?|has|have) (?:of )?(?:\w+ )?significance|special to (?:me|us|him|her|them)|closer to (?:my|his|her|their|god)|(?:my|his|her|their|\w+['’]s) (?:faith|religion|beliefs)"
    r"|helps? (?:me|us|him|her|them) (?:to )?(?:de-?stress|unwind|cope|relax|sleep|clear (?:my|our|his|her|their) (?:head|mind))|feel(?:s|ing)? most alive|(?:am|['’]m|is) most alive",
    # Long possessions
    r"(?:gift|present) from|heirloom|inherit(?:ed|s)?|keepsake|souvenir|hand-?(?:made|painted|crafted|knitted)|sentimental|treasures?\b|memento"
    r"|(?:have|has|own|owns|drives?|bought|got|collects?|built) (?:an?|my|our|the|some|his|her|\w+['’]s) (?:[\w'’-]+ ){0,2}?(?:car|house|apartment|flat|necklace|ring|guitar|piano|bike|bicycle|motorbike"
    r"|camera|tattoo|boat|truck|van|watch|library|collection|garden|studio|cabin|cottage|farm|land|telescope)|creat(?:e|ed|ing) a library",
    # Aims of a life
    r"(?:my|our|his|her|their|\w+['’]s) (?:goal|dream|calling|ambition|true calling|passion) (?:is|has|was)|been a dream|dreams? of (?:becoming|being|having|owning|opening)"
    r"|hop(?:e|es|ing) to (?:become|be an?|get into|start|own|have|build|open|work|study)|wants? to (?:become|be an?|open|start a|own|live|have (?:kids|children|a family))"
    r"|keen on (?!it|that|this)\w+|aspir(?:e|es|ing) to|running for (?:office|mayor|council|president|parliament|congress|senate|school board)|(?:run|ran) for office|get(?:s|ting)? into politics"
    r"|looking into (?:\w+ )?(?:counsel\w+|a career|careers|adopt\w+|becoming)|adoption agenc(?:y|ies)",
    # Main events
    r"promot(?:ed|ion)|hired|fired(?! up)|laid off|resigned|retire(?:d|ment|s)|quit (?:my|his|her|their|\w+['’]s)|(?:(?<!be )(?<!is )(?<!are )(?<!was )(?<!been )applied|(?<!it )(?<!this )(?<!that )applies|applying) (?:to|for)|adopt(?:ed|s|ing) (?!a|the|this|that (?:approach|style|idea))\w+"
    r"|passed away|died|death of|(?:the )?loss of|los(?:t|ing) (?:my|his|her|their|our|a|\w+['’]s) (?:\w+ )?"
    + _KIN
    + r"|won (?:an?|the|my|first|second|third)|award(?:ed)?|medals?|trophy|elected"
    r"|published|opened (?:my|our|his|her|their|an?|the|\w+['’]s) (?:[\w'’-]+ ){0,3}?(?:store|shop|studio|business|restaurant|gallery|company|school|cafe|café)"
    r"|launched|founded|set up (?:an?|my|our|his|her|their) (?:[\w'’-]+ ){0,3}?(?:business|company|charity|foundation|run)|(?:my|his|her|their|\w+['’]s) (?:own )?(?:business|startup|shop|studio)"
    r"|citizenship|visa|solo trip|honeymoon|(?:for the|my|his|her|their|our) first time|got (?:an?|my|his|her) (?:new |first )?(?:job|tattoo|degree)|renovat(?:e|ed|es|ing)",
    # Recognition
    r"(?:got|gets?|getting|was|were|been|am|being) (?:(?:just|finally|even|also) )?(?:noticed|discovered|scouted|spotted|signed|sponsored|featured|interviewed|nominated|shortlisted|commissioned|mentored|coached|tutored) (?:by|in|for|on|as|to)",
    # Works of one's own, and works with a title
    rf"{_MADE} (?:an?|my|our|the|his|her|their|\w+['’]s) (?:(?:new|own|first|second|short|little|whole|online) ){{0,2}}(?:[\w-]+ )?(?:websites?|apps?|blog|podcast|albums?|songs?|novels?|books?|films?|movies?|documentary|games?|play|musical|clothing line|collection|mural|sculpture|course|channel|invention|comic|magazine)",
    r"(?:did|do|doing|perform(?:ed|ing|s)?|danced?|staged|wrote|written|painted|play(?:ed|ing)? in|starred in|acted in|composed|recorded|released|made|directed|sang|choreographed) (?:[\w'’-]+ ){1,4}?(?:piece|song|play|dance|painting|poem|story|film|book|novel|album|show|mural|sculpture|musical|track|game|series) (?:called|titled|named|entitled) [\"“'‘]?(?-i:[A-Z])[\w'’]*",
    # Journeys
    rf"(?:trip|journey|travel(?:l?ed|l?ing|s)?|flew|fly|flying|cruise|sailed|vacation|holiday|honeymoon|pilgrimage) (?:(?!(?:and|but|for|from|with|to|in)\b)[\w'’-]+ ){{0,3}}?(?:to|in|around|across|through) (?:the )?{_PLACE}",
)
_LIFE: Final = lazy_regex(
    r"(?:(?<![\w'’-])|(?=['’]))(?:" + "|".join(f"(?:{part})" for part in _PARTS) + r")(?![\w-])", re.IGNORECASE
)
_ENTERPRISE: Final = lazy_regex(
    r"(?<![\w'’-])(?:my|our|his|her|their|own|\w+['’]s) (?:[\w-]+ ){0,3}?(?:business|store|shop|studio|company|startup|brand|restaurant|caf[eé]|bakery|farm|firm|agency"
    r"|practice|band|blog|podcast|channel|website|novel|thesis|dissertation|gallery|clothing line|garden|choir|school|church|club)(?![\w-])",
    re.IGNORECASE,
)
"""What somebody builds or belongs to for years; a single occasion there does not last."""
_SINGLE: Final = lazy_regex(
    r"\b(?:yesterday|today|tonight|last (?:night|week|weekend|month|summer|winter|spring|fall|autumn|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?"
    r"|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)|this (?:morning|afternoon|evening|week|weekend|past \w+)|the other (?:day|week|night)"
    r"|(?:a few|two|three|four|five|six|\d+) (?:days|weeks|weekends) ago|(?:the|on the) (?:night|morning|evening|afternoon|week|weekend) (?:of|before)"
    r"|recently|earlier (?:today|this week)|next (?:week|weekend|month)|(?:in|on|before) \d{1,2} (?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december) \d{4}|(?:went|been going|got|gotten) (?:on|to|back|camping|hiking|swimming|shopping|biking|skiing|sailing|fishing|dancing)"
    r"|took (?:the|my|our|his|her|their|\w+['’]s)|had an?|visited|got back|attended|celebrated|watched|ate|cooked|baked|made (?:some|an?|the|my|it)|picnic|dinner|lunch|breakfast)\b",
    re.IGNORECASE,
)
"""Words of a single occasion: a day or a week, an outing, a meal."""
_UNDECIDED: Final = lazy_regex(
    r"\b(?:(?:is|are|am|['’]m|['’]re|was|been) (?:\w+ )?(?:planning|thinking|considering|debating|wondering)|idea (?:I|we) had"
    r"|plans? (?:to|on)|might|maybe|perhaps|would|wouldn['’]t|['’]d (?:love|like|be)|could|should|if (?:I|you|we|they|he|she)|(?:will|['’]ll)(?! (?:never|always))|can['’]t wait|tonight"
    r"|next (?:week|weekend|month|friday|saturday|sunday))\b",
    re.IGNORECASE,
)


_OF_OTHERS: Final = lazy_regex(
    r"(?<!one of the )(?<!one of )\b(?:folks|people|those|families|others|everyone|everybody|anyone|anybody|someone|somebody) who\b[^,.;]*",
    re.IGNORECASE,
)
"""What is said of people without a name."""


def without_others(text: str) -> str:
    """A text without what it says of people without a name.

    >>> without_others("Ines cooks for people who lost their jobs")
    'Ines cooks for '
    """
    return _OF_OTHERS.sub("", text)


def tells_of_life(text: str) -> bool:
    """Whether a clause or a fact says something of a life that is worth knowing for years.

    What is only being considered, and what is about to happen, does not count.

    >>> tells_of_life("I moved here from Sweden four years ago"), tells_of_life("Her name is Biscuit")
    (True, True)
    >>> tells_of_life("We took the kids to the zoo"), tells_of_life("I might take up chess")
    (False, False)
    """
    if _UNDECIDED.search(text):
        return False
    text = without_others(text)
    return _LIFE.search(text) is not None or (_ENTERPRISE.search(text) is not None and not is_single(text))


def is_single(text: str) -> bool:
    """Whether a text tells of a single occasion: an outing, a meal, something of a certain day or week."""
    return _SINGLE.search(text) is not None
