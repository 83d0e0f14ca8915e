"""Completes what users write in short: labels, sentences without a subject or a verb, kin and pets without "my".

Only for messages to an assistant; between friends a fragment is more often talk about the talk.
"""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import has_time_word
from slowwave.minds.offline.rules.morphology import finite_base, ing_base, is_base, past_base
from slowwave.minds.offline.rules.pronouns import plain
from slowwave.minds.offline.rules.replacements import replaced
from slowwave.minds.offline.rules.words import JOBS, KIN, LASTING_STATES, PEOPLES, PLURAL_KIN
from slowwave.policy.text.names import word_set

NOTE_LONGEST: Final = 14  # words
_NOTE_SHORTEST: Final = 2
_SMILEY: Final = re.compile(r"\s+(?:[:;=]['’]?-?[()DPpO/|]+|<3|xD)(?=\s|$)")
_ANNOUNCED: Final = re.compile(
    r"^(?:new plan|change of plans?|plans? changed?|(?:quick |small )?(?:update|news|reminder)|good news|bad news|for your (?:info|information|notes))\s*[,:;–—-]\s*",
    re.IGNORECASE,
)
_KEPT_IN_MIND: Final = re.compile(
    r",?\s+(?:so |and |but )?(?:please )?(?:keep|bear) (?:that|this|it) in mind\b.*$|,?\s+(?:so |and )?(?:please )?don['’]t let me forget\b.*$|,?\s+(?:please )?keep (?:it|this|that)(?: safe)?\W*$|,?\s+(?:please )?(?:remember|note) (?:that|this|it)\b.*$",
    re.IGNORECASE,
)
_PARTING: Final = re.compile(
    r"(?:,?\s+(?:thank you|thanks|thx|tbh|imo|imho|lol|haha|ngl|i guess|honestly|obviously))+$", re.IGNORECASE
)
_POINTED: Final = re.compile(
    r"^(?P<what>(?:(?:my|our) |(?:mum|mom|dad|grandma|grandpa)['’]s )[\w'’ -]{2,40}?)(?:, (?:it['’]s|it is|they['’]re|they are)| =) (?=\S)",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(
    r"^(?P<mine>(?:my|our) )?(?P<label>[A-Za-z][\w'’]*(?: [\w'’/.-]+){0,3}?)(?P<no> (?:no|nr)\.?)?\s*(?::|=)\s+(?P<value>\S.*)$"
)
# Labels of the talk or of a document, which are no property of the user.
_BARE_LABEL: Final = re.compile(
    r"^(?P<label>birthday|blood (?:type|group)|(?:shoe|shirt|dress|ring|hat|glove) size|(?:food )?allerg(?:y|ies)|nationality|star sign|date of birth|postcode)(?P<colon>\s*[:=-])?\s+(?P<value>(?!(?:is|are|was|in|on|for|at|of|to|and|or|party|cake|gift|gifts|present|presents|card|ideas|wishes|message|speech|dinner|medicine|meds|season|test|tests)\b)\S.*)$",
    re.IGNORECASE,
)
"""A label of the writer's own, which needs no colon: "birthday 4 May"."""
_NO_LABEL: Final = re.compile(
    r"\b(?:note|notes|question|task|example|update|correction|ps|tl;?dr|subject|input|output|edit|context|warning|summary|title|problem|step|section|part|"
    r"option|hint|answer|error|code|text|prompt|request|re|fwd|from|to|cc|date|sent|quote|language|style|tone|format|genre|version|type|method|"
    r"response|result|results|explanation|description|scenario|case|this|that|these|those|it|here|me|you|character|role|story|poem|verse|chorus|"
    r"reminder|conclusion|introduction|objective|requirements?|features?|topic|theme|given|find|solution|equation|formula|keywords?|ingredients?|instructions?|rules?|bio|headline|caption)\b",
    re.IGNORECASE,
)
_OWN_LABEL: Final = re.compile(
    r"^(?:(?:(?:least )?favou?rite|dream|bin|day(?! (?:\d+|one|two|three|four|five|six|seven)\b)|school|training)\b.*|(?:full |first |last )?name|city|town|country|studies|(?:food )?allerg(?:y|ies)|intolerances?|diet|birthday|born|age|job|occupation|profession|employer|address|home|phone|mobile|hometown|"
    r"nationality|native language|languages|pronouns|blood (?:type|group)|star sign|hobb(?:y|ies)|interests|pets?|kids|children|siblings|partner|spouse|car|bike|doctor|dentist|"
    r"medication|meds|shift(?:s| pattern)?|work(?:ing)? (?:hours|days)|.* size|dislikes|likes|(?:new|old|current) \w+(?: \w+)* ?)$",
    re.IGNORECASE,
)
_CODED: Final = re.compile(
    r"\b(?:code|pin|lock|locker|room|flat|gate|number|no|nr|seat|bay|ref|reference|badge|size|plate|registration|flight|policy|account|card|member(?:ship)?|id|booking|phone|"
    r"password|wifi|apartment|unit|level|platform|coach|ticket|order|invoice|passport|licen[cs]e)\b",
    re.IGNORECASE,
)
_PLURAL: Final = re.compile(r"(?:ies|[^su]s|kids|children)$", re.IGNORECASE)
_BARE_KIN: Final = KIN - word_set(
    "family friend friends doctor dentist coach baby teacher manager partner ex puppy pup twins twin pet pets child children horse"
)
_THE_KIN: Final = word_set(
    "hamster dog cat rabbit parrot horse puppy kitten budgie tortoise goldfish pony doctor dentist vet gp surgeon boss landlord landlady wife husband hubby missus kids "
    "baby twins in-laws neighbours neighbors grandchildren grandkids physio consultant cardiologist neurologist dermatologist midwife"
)
_KIN_TITLE: Final = word_set("uncle aunt auntie cousin grandma grandpa granny nana nan grandad granddad")
_KIN_VERB: Final = re.compile(
    r"(?:is|are|was|were|has|have|had|does|doesn't|did|didn't|will|won't|can't|just|still|now|got|died|never|always|used|put|told)$"
)
_WE_ARE: Final = re.compile(
    r"^we(?:['’]re| are) (?P<what>(?:an?|the) (?:[\w-]+ ){0,4}?(?P<head>household|home|family|team|crew|band|couple)\b.*)$",
    re.IGNORECASE,
)
_NONE_FOR_ME: Final = re.compile(
    r"^(?P<what>no (?!one|way|problem|need|idea|worries)[\w' -]{2,40}?) for (?:me|us)\b(?P<more>.*)$", re.IGNORECASE
)
_NOT_A: Final = re.compile(
    r"^(?:definitely |really |so )?not (?:an?|much of an?|the) (?:[\w-]+ ){0,3}?(?:person|fan|drinker|eater|reader|swimmer|dancer|cook|morning|lover|sleeper|smoker|type|sort|talker|gamer|runner|flyer)\b",
    re.IGNORECASE,
)
_ANY_DAY: Final = re.compile(
    r"^give me (?P<what>[\w' -]{3,40}?) (?:any ?day|any ?time|every time|over \w.*)$", re.IGNORECASE
)
_WISHING: Final = re.compile(
    r"^would(?: \w+ly| much| rather| also)? (?:like|love|rather|prefer|hate)\b(?! to (?:know|see (?:how|if|what)|hear|ask|get (?:some|your))\b)",
    re.IGNORECASE,
)
_ABSENT: Final = re.compile(r"^will be (?:in|at|on|away|off|out|back)\b", re.IGNORECASE)
_DENIED: Final = re.compile(
    r"^(?:don['’]t|do not|didn['’]t|haven['’]t got|never) (?:really |even |usually |actually )?(?:own|have|eat|drink|smoke|drive|like|want|speak|live|wear|need|watch|fly|cook|swim|dance|celebrate|believe in|do|play)\b",
    re.IGNORECASE,
)
_STOPPED: Final = re.compile(
    r"^(?:quit|read|cut|put|set|hit|split|hurt|broke up|gave up|stopped) (?:[^,;:]+ )?(?:ago|yesterday|today|last \w+|in \d{4}|this (?:week|month|year)|since)\b",
    re.IGNORECASE,
)
_SITUATED: Final = re.compile(
    r"^(?:(?:now|currently|still|at the moment|right now)\s*,?\s+)?(?:on|off) (?!the (?:other|same|whole)|top|second|my way|track|it\b|that\b|this\b)(?:[\w-]+ ){0,3}?"
    r"(?:leave|holiday|tablets|pills|thinners|meds|medication|insulin|antibiotics|statins|diet|crutches|shift|call|pension|(?:[\w ]+ )?(?:since|for \w+ (?:weeks|months|years)|until))\b",
    re.IGNORECASE,
)
_STATE_BEFORE: Final = word_set(
    "recently happily newly currently now still strictly mostly lactose severely mildly very"
)
_RECEIVED: Final = re.compile(
    r"^(?:hired|promoted|accepted|admitted|elected|diagnosed|fired|sacked|laid off|made redundant|transferred|widowed|orphaned|adopted|brought up|stationed|trained|employed|self-employed|retired) (?:as|to|into|at|with|by|in|for|from|on)\b",
    re.IGNORECASE,
)
_NO_GOING: Final = word_set(
    "using regarding concerning considering including according following depending assuming given speaking being having something anything nothing asking wondering "
    "talking doing making building adding creating implementing checking getting seeing feeling guessing saying telling"
)
_MEETING: Final = re.compile(
    r"^(?P<what>(?:\w+ ){0,2}?(?:deadline|meeting|practice|rehearsal|training|appointment|exam|wedding|party|flight|train|ferry|barbecue|bbq|interview|viewing|concert|match|game|race|"
    r"delivery|surgery|operation|check-?up|lesson|class|course|reunion|funeral|christening|graduation|launch|move|holiday|trip|tournament|audition|recital|hearing|inspection)\b"
    r"(?: (?:for|with|at|of) [\w'’ ]{2,30}?)?) (?P<verb>is|are|was|got|has|moved|starts?|begins?|ends?|opens?|closes?|changed|isn['’]t|takes|leaves|departs|falls)\b",
    re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|tonight|(?:january|february|march|april|june|july|august|september|october|november|december|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|\d{1,2} may|may \d{1,2}|(?:the )?\d{1,2}(?:st|nd|rd|th)|\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m|every (?:spring|summer|autumn|winter|year|month|week|morning|night|evening|day)|since \d{4}|next (?:week|month|year))\b",
    re.IGNORECASE,
)


def reworded(text: str) -> str:
    """The text with what a note in short leaves out: a subject, a verb, "my"; other texts stay as they are.

    >>> reworded("Favourite author: Ali Smith"), reworded("no dairy for me"), reworded("going to a wedding in Palermo")
    ('my favourite author is Ali Smith', 'I want no dairy', 'I am going to a wedding in Palermo')
    """
    text = _ANNOUNCED.sub("", _SMILEY.sub(",", text).rstrip(" ,"))
    text = _KEPT_IN_MIND.sub("", text) or text
    text = _PARTING.sub("", text)
    text = re.sub(r"\b(Prof|Sgt|Capt)\.", r"\1", text)
    text = re.sub(r"^(?:i )?gotta (?=\w)", "I have to ", text, flags=re.IGNORECASE)
    text = re.sub(
        r"^(I)(?:['’]d| would) give (?:anything|my right arm|everything) (?:for|to)\b", r"\1 would love", text
    )
    text = re.sub(r"^(?:(?:just|finally|now|am) )*(?=(?:back|home) from \w)", "I am ", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(my|our) little one(?=[ ,'’])", r"\1 child", text, flags=re.IGNORECASE)
    text = _COMING_AGE.sub(r"I turn \g<age>\g<when>", text)
    text = _EXPECTED.sub(r"\g<verb> \g<whose> \g<which> child", text)
    for form in (_pointed, _labelled, _of_group, replaced, _compared, _refused, _possessed, _elided, _kin, _announcing):
        if (found := form(text)) is not None:
            return found
    return text


def is_labelled(text: str) -> bool:
    """Whether a text is a label of the writer's own with a value, too short to show its language: "Allergy: penicillin"."""
    return len(text.split()) <= _SHORT_NOTE and (_BARE_LABEL.match(text) is not None or _labelled(text) is not None)


_SHORT_NOTE: Final = 6  # words
_COMING_AGE: Final = re.compile(
    r"\bI(?:['’]m| am) (?P<age>\d{1,2})(?P<when> (?:next (?:week|month|year|\w+day)|tomorrow|in (?:a few|two|three) \w+)\b)",
    re.IGNORECASE,
)
"""An age to come: "I'm 42 next month"."""
_EXPECTED: Final = re.compile(
    r"\b(?P<verb>expecting|having) (?P<whose>our|my) (?P<which>first|second|third|fourth|fifth)(?= (?:in|on|any|this|next|around)\b|$)",
    re.IGNORECASE,
)


def _pointed(text: str) -> str | None:
    """Names a thing and its value: "my blood type, it's AB", "my badge number = 77"."""
    match = _POINTED.match(text)
    if match is None:
        return None
    verb = "are" if "they" in match.group() else "is"
    owner = "" if match["what"].lower().startswith(("my ", "our ")) else "my "
    return f"{owner}{match['what']} {verb} {text[match.end() :]}"


def _labelled(text: str) -> str | None:
    """A label and its value: "Allergies: nuts", "Badge no: 77"; a colon before a whole sentence is no label."""
    bare = _BARE_LABEL.match(text)
    if bare and not bare["colon"] and len(text.split()) <= NOTE_LONGEST:
        return f"my {bare['label'].lower()} is {re.sub(r' [(]mine[)]', '', bare['value'])}"
    match = _LABEL.match(text)
    if (
        match is None
        or len(text.split()) > NOTE_LONGEST
        or re.match(r"(?:I|we|you|please)\b", match["value"], re.IGNORECASE)
    ):
        return None
    label, value = match["label"].strip(), match["value"]
    own = bool(_OWN_LABEL.match(label))
    coded = bool(_CODED.search(label) or match["no"]) and bool(re.search(r"\d", value))
    if not (own or coded or (match["mine"] and not match["mine"].startswith("M"))) or (
        not own and _NO_LABEL.search(label) and not coded
    ):
        return None
    label = label[:1].lower() + label[1:] if label[1:2].islower() or len(label) == 1 else label
    label = f"{label} number" if match["no"] else label
    return f"my {label} {'are' if _PLURAL.search(label) else 'is'} {value}"


def _of_group(text: str) -> str | None:
    match = _WE_ARE.match(text)
    return (
        f"I {'live in' if match['head'].lower() in {'household', 'home'} else 'am in'} {match['what']}"
        if match
        else None
    )


def _compared(text: str) -> str | None:
    """A preference of one thing to another: "cats over dogs, always", "jazz over techno any day"."""
    match = _OVER.match(text)
    if match is None or not match["mark"]:
        return None
    return f"I prefer {_lowered(match['what'])} to {match['other']}"


def _possessed(text: str) -> str | None:
    """What the speaker has, without "I have" or "my": "two kids, Ansel and Mina", "nut allergy", "house has solar panels"."""
    if (match := _HOME.match(text)) and not re.search(
        r" is an? (?:\w+ )?(?:noun|word|verb|term|type|kind|symbol)\b", text
    ):
        verb = {"'s": " is", "’s": " is"}.get(match["verb"], match["verb"])
        return f"my {match['what'].lower()}{verb} {text[match.end() :].lstrip()}"
    first = re.split(r"[,;]", text)[0]
    if _HAS_KIN.match(first) and not _has_verb(text.split()):
        return f"I have {_lowered(text)}"
    if _AILMENT.match(first) and not _has_verb(text.split()):
        carried = re.sub(r",\s+(carry|take|use|wear|need)\b", r", I \1", text)
        counted = _COUNTED_AILMENT.match(first) and not _DETERMINED.match(first)
        article = ("an " if first[:1].lower() in "aeiou" else "a ") if counted else ""
        return f"I have {article}{_lowered(carried)}"
    return None


_COUNTED_AILMENT: Final = re.compile(
    r"^[\w ]*?\b(?:allergy|intolerance|phobia|back|knee|hip|shoulder|disc)(?! pain)\b", re.IGNORECASE
)
_DETERMINED: Final = re.compile(r"(?:an?|my|the|some|two|both)\b", re.IGNORECASE)
_OVER: Final = re.compile(
    r"^(?P<what>[\w' -]{3,30}?) over (?P<other>[\w' -]{3,30}?)(?P<mark>,? (?:always|any ?day|any time|every time|for me|all the way|all day))*$",
    re.IGNORECASE,
)
_HOME: Final = re.compile(
    r"^(?:the )?(?P<what>house|flat|apartment|car|van|bike|motorbike|scooter|boiler|garden|kitchen|balcony|laptop|phone|cottage|studio|bungalow|heating|freezer|fridge|oven|piano|guitar|boat)"
    r"(?P<verb>['’]s| is| has| was| runs| needs| broke| got) ",
    re.IGNORECASE,
)
_HAS_KIN: Final = re.compile(
    rf"^(?:one|two|three|four|five|six|seven|\d|no) (?:(?!of\b)\w+ ){{0,2}}(?:{'|'.join(sorted(KIN | {'cats', 'rabbits', 'horses', 'parrots', 'hens', 'chickens', 'goats', 'stepkids', 'stepchildren'}))})\b(?=$|\s*\(| (?:called|named|aged|and|but|at home|from|with)\b)",
    re.IGNORECASE,
)
_AILMENT: Final = re.compile(
    r"^(?:(?:a|an|bad|severe|mild|chronic|type \d|type one|type two|slight|slipped|my|two|both|recurring) )?(?:(?!(?:for|any|no|avoid|with|best|treat|what|about|the|your)\b)\w+ )?"
    r"(?:allergy|allergies|intolerance|diabetes|asthma|migraines?|arthritis|back|knees?|hip|shoulder|eczema|epilepsy|psoriasis|tinnitus|vertigo|dyslexia|adhd|insomnia|coeliac disease|celiac disease|anaemia|anemia|phobia|hay fever|disc)"
    r"(?:$| (?:since|in|from|on|every|all|both|runs)\b.*)",
    re.IGNORECASE,
)


def _refused(text: str) -> str | None:
    if match := _NONE_FOR_ME.match(text):
        return f"I want {match['what'][:1].lower()}{match['what'][1:]}{match['more']}"
    if match := _ANY_DAY.match(text):
        return f"I prefer {match['what']} any day"
    return f"I am {_lowered(re.sub(r'(?i)^(?:definitely|really|so) ', '', text))}" if _NOT_A.match(text) else None


_EMPLOYED: Final = re.compile(
    r"^(?:(?:now|currently|still) )?(?:(?:working|studying|teaching|living) (?:as|at|in|for|with)|doing (?:an?|my|some) (?:[\w-]+ ){0,3}?(?:course|degree|masters?|phd|training|apprenticeship|internship|diploma|thesis|residency|bootcamp))\b",
    re.IGNORECASE,
)
"""What somebody works or studies, without "I am"."""


def _described(text: str) -> str | None:
    """Who the speaker is, and what they cannot do without."""
    if parent := re.match(
        r"(?:a )?(?=(?:(?:single|working|stay-at-home|full-time|proud|new) )?(?:mum|mom|mother|dad|father|parent|granny|grandmother|grandfather|grandparent) of )",
        text,
        re.IGNORECASE,
    ):
        return f"I am a {_lowered(text[parent.end() :])}"
    if _EMPLOYED.match(text) and not _has_verb(text.split()[1:]):
        return f"I am {_lowered(text)}"
    if re.match(r"type (?:1|2|one|two) diabetic\b", text, re.IGNORECASE):
        return f"I am a {_lowered(text)}"
    if re.match(r"can(?:['’]t|not) (?:get enough of|live without|resist|function without)\b", text, re.IGNORECASE):
        return f"I love {text.split(' of ' if ' enough of ' in text else 'without ' if 'without ' in text else 'resist ', 1)[1]}"
    return None


def _elided(text: str) -> str | None:  # noqa: PLR0911 - each return is a form of sentence
    """A sentence without "I" or "I am"."""
    words = text.split()
    if len(words) <= 1:
        return None
    adverb = 1 if plain(words[0]) in {"currently", "now", "still", "finally"} and len(words) > _NOTE_SHORTEST else 0
    head, following = plain(words[adverb]), plain(words[adverb + 1])
    if head == "as":  # "as a nurse": whose role it is, only the clause after it says
        return None
    if (described := _described(text)) is not None:
        return described
    if re.match(
        r"(?:really |always )?(?:want|hope|wish|plan|intend) to (?!(?:know|see|hear|ask|get|make sure|understand)\b)\w+ \w+",
        text,
        re.IGNORECASE,
    ):
        return f"I {_lowered(text)}"
    if _WISHING.match(text) or _ABSENT.match(text) or _DENIED.match(text) or _STOPPED.match(text):
        return f"I {_lowered(text)}"
    if _SITUATED.match(text) or _RECEIVED.match(text):
        passive = re.match(
            r"(?:hired|promoted|accepted|admitted|elected|diagnosed|fired|sacked|laid off|made redundant|brought up)\b",
            text,
            re.IGNORECASE,
        )
        return f"I {'was' if passive else 'am'} {_lowered(text)}"
    state = following if head in _STATE_BEFORE else head
    if (
        state.removesuffix(",") in LASTING_STATES | PEOPLES
        and not _has_verb(words[1:])
        and state not in {"white", "black", "single", "blind", "freelance", "adopted"}
        and _is_state(words)
    ):
        return f"I am {_lowered(text)}"
    if _ROLE.match(text) and any(plain(w) in JOBS - KIN for w in words[:3]) and head not in _NO_ROLE:
        bare = _lowered(text)
        return f"I am {bare}" if head in {"a", "an"} else f"I am {'an' if bare[0] in 'aeiou' else 'a'} {bare}"
    if (
        ing_base(head)
        and head not in _NO_GOING
        and (head in _AHEAD or has_time_word(text) or _DATED.search(text) or re.search(r"(?<=[a-z] )[A-Z]\w+", text))
        and not _has_verb(words[adverb + 1 :])
        and (following in _FOLLOWING_ING or head in _TRANSITIVE_ING | _AHEAD or words[adverb + 1][:1].isupper())
    ):
        return f"I am {_lowered(text)}"
    return None


_ROLE: Final = re.compile(r"^(?:[\w-]+ ){1,3}?(?:at|for|in|on|since|by|with) [^,;]*$", re.IGNORECASE)
_NO_ROLE: Final = word_set(
    "cook guide pilot judge coach nurse any no the my our what best been was were is are find ask call great good"
)
_FOLLOWING_ING: Final = word_set(
    "a an the my our some two three four five six seven eight nine ten in on at to up out off from for as of with back home away about over into around through camping"
)
_AHEAD: Final = word_set("planning hoping thinking trying saving moving turning training dreaming aiming")
_TRANSITIVE_ING: Final = word_set(
    "going reading playing watching learning studying visiting hosting teaching rereading renting wearing collecting"
)


def _is_state(words: list[str]) -> bool:
    """Whether a state stands alone: before a comma, a preposition, "and" with another state, or the end."""
    after = [plain(w) for w in words[1:3]]
    return (
        words[0].endswith(",")
        or not after
        or after[0] in {"since", "from", "for", "to", "with", "but", "and", "as", "by", "in"}
        or after[0] in LASTING_STATES
    )


def _kin(text: str) -> str | None:
    """Kin and pets without "my": "Roommate's called Ida", "the hamster died", "Uncle Raymond broke his hip"."""
    words = text.split()
    if len(words) <= _NOTE_SHORTEST:
        return None
    article = plain(words[0]) == "the"
    start = 1 if article else 0
    noun = plain(words[start])
    short = noun.endswith("'s")
    noun = noun.removesuffix("'s")
    if noun in _KIN_TITLE and words[start + 1][:1].isupper():
        return f"my {noun} {' '.join(words[start + 1 :])}"
    if noun not in (_THE_KIN if article else _BARE_KIN | _THE_KIN):
        return None
    following = plain(words[start + 1])
    if noun in PLURAL_KIN or noun == "kids":
        verb = is_base(following) or past_base(following) or _KIN_VERB.match(following)
    else:
        verb = finite_base(following)[0] or past_base(following) or _KIN_VERB.match(following)
    if not short and not verb:
        return None
    if short and _KIN_OWNS.match(following) is None:
        return f"my {noun} is {' '.join(words[start + 1 :])}"
    return f"my {noun}{words[start][len(noun) :]} {' '.join(words[start + 1 :])}"


_KIN_OWNS: Final = re.compile(
    r"(?:name|birthday|house|flat|wedding|job|car|boss|number|address|surgery|funeral|school|diagnosis)$"
)


def _announcing(text: str) -> str | None:
    """A plan without its article: "deadline for the grant moved up to the 4th"."""
    match = _MEETING.match(text)
    if match is None or re.match(
        r"(?:the|an?|my|our|this|that|your|his|her|their|any|no|each|every|i|we|in|on|at|what|when|is)\b",
        text,
        re.IGNORECASE,
    ):
        return None
    return f"the {_lowered(text)}"


def _has_verb(words: list[str]) -> bool:
    """Whether one of the words before the first comma is a finite verb."""
    for word in words:
        low = plain(word)
        if low in {
            "is",
            "are",
            "was",
            "were",
            "has",
            "have",
            "had",
            "makes",
            "gives",
            "helps",
            "takes",
            "means",
            "can",
            "will",
            "would",
            "should",
            "requires",
            "involves",
        }:
            return True
        if word.endswith((",", ";")):
            return False
    return False


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] in {" ", "'"} else text
