"""Completes what users write in short: labels, sentences without a subject or a verb, kin and pets without "my".

Only for messages to an assistant; between friends a fragment is more often talk about the talk.
"""

import re
from dataclasses import dataclass
from typing import Final

from slowwave.minds.offline.rules.claims import EPISODIC, SEMANTIC, Claim, has_time_word, says_something_definite
from slowwave.minds.offline.rules.morphology import finite_base, ing_base, is_base, past_base
from slowwave.minds.offline.rules.pronouns import UnclearError, in_third_person, inside, plain
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
    r",?\s+(?:so |and )?(?:please )?(?:keep|bear) (?:that|this|it) in mind\b.*$|,?\s+(?:please )?(?:remember|note) (?:that|this|it)\b.*$",
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
_NO_LABEL: Final = re.compile(
    r"\b(?:note|notes|question|task|example|update|correction|ps|tl;?dr|subject|input|output|edit|context|warning|summary|title|problem|step|section|part|"
    r"option|hint|answer|error|code|text|prompt|request|re|fwd|from|to|cc|date|sent|quote|language|style|tone|format|genre|version|type|method|"
    r"response|result|results|explanation|description|scenario|case|this|that|these|those|it|here|me|you|character|role|story|poem|verse|chorus|"
    r"reminder|conclusion|introduction|objective|requirements?|features?|topic|theme|given|find|solution|equation|formula|keywords?|ingredients?|instructions?|rules?|bio|headline|caption)\b",
    re.IGNORECASE,
)
_OWN_LABEL: Final = re.compile(
    r"^(?:(?:(?:least )?favou?rite|dream|bin|day|school|training)\b.*|(?:full |first |last )?name|city|town|country|studies|(?:food )?allerg(?:y|ies)|intolerances?|diet|birthday|born|age|job|occupation|profession|employer|address|home|phone|mobile|hometown|"
    r"nationality|native language|languages|pronouns|blood type|star sign|hobb(?:y|ies)|interests|pets?|kids|children|siblings|partner|spouse|car|bike|doctor|dentist|"
    r"medication|meds|shift(?:s| pattern)?|work(?:ing)? (?:hours|days)|.* size|dislikes|likes|(?:new|old|current) (?:\w+ ?)+)$",
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
_THERE: Final = re.compile(
    r"^there(?P<is>['’]s| is| are| was| were) (?P<what>(?!you|it|that|no (?:need|way|point|reason))[^,;:]+?) (?P<where>(?:in|at|on|under|behind|near|above|below|next to|opposite|outside) (?:my|our) [\w'’ -]+)$",
    re.IGNORECASE,
)
_WE_ARE: Final = re.compile(
    r"^we(?:['’]re| are) (?P<what>an? (?:[\w-]+ ){0,4}?(?P<head>household|home|family|team|crew|band|couple)\b.*)$",
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
    r"^(?:don['’]t|do not|didn['’]t|haven['’]t got|never) (?:really |even |usually )?(?:own|have|eat|drink|smoke|drive|like|want|speak|live|wear|need|watch|fly|cook|swim|dance|celebrate|believe in|do|play)\b",
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
_TO_ME: Final = re.compile(
    r"^(?P<what>(?!(?:it|that|this|these|those|they|he|she|you|which|what|who|nothing|everything|something|anything|all|some|and|but|if|so|let|give|tell|help|show|send|call|remind|ask|excuse|trust|"
    r"believe|make|please|don['’]t|can|could|would|will)\b)[A-Za-z][\w'’-]*(?: [\w'’-]+){0,4}?) (?P<verb>bores?|annoys?|disgusts?|scares?|terrif(?:y|ies)|calms?|relaxes?|relax|bothers?|irritates?|upsets?|"
    r"(?:leaves?|makes?|gives?|gets?|does|do|triggers?) (?:nothing for )?) ?me(?P<more>(?: .*)?)$",
    re.IGNORECASE,
)
_FOR_ME: Final = re.compile(
    r"^(?P<what>(?!(?:it|that|this|these|those|they|he|she|you|which|what|who|there|here|nothing|everything)\b)[A-Za-z][\w'’ -]{1,40}?) (?:is|are|isn['’]t|aren['’]t) (?:not |still |just )?"
    r"(?:an? |the |too |always |off |out |my )?[\w' -]{2,30}? for me$",
    re.IGNORECASE,
)
_BEST: Final = re.compile(
    r"^(?:nothing|no one|nobody) (?:beats|tops|compares (?:to|with)|is better than) (?P<what>.+)$", re.IGNORECASE
)
_WORTHLESS: Final = re.compile(
    r"\b(?:you|your|it|this|that|these|those|they|them|he|she|him|we|us|i|i'm|let|please|thanks?|sorry|hello|help)\b",
    re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|tonight|(?:january|february|march|april|june|july|august|september|october|november|december|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|(?:the )?\d{1,2}(?:st|nd|rd|th)|\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m|every (?:spring|summer|autumn|winter|year|month|week|morning|night|evening|day)|since \d{4}|next (?:week|month|year))\b",
    re.IGNORECASE,
)
_COMMAND: Final = word_set(
    "book add set put remind call check plan show create write make give find list schedule explain describe suggest recommend compare translate summarise summarize draft cancel order print say see let tell send help do convert"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A fact that is not read as a clause of the speaker, and its claim."""

    text: str
    claim: Claim


def reworded(text: str) -> str:
    """The text with what a note in short leaves out: a subject, a verb, "my"; other texts stay as they are.

    >>> reworded("Favourite author: Ali Smith"), reworded("no dairy for me"), reworded("going to a wedding in Palermo")
    ('my favourite author is Ali Smith', 'I want no dairy', 'I am going to a wedding in Palermo')
    """
    text = _ANNOUNCED.sub("", _SMILEY.sub(",", text).rstrip(" ,"))
    text = _KEPT_IN_MIND.sub("", text) or text
    text = _PARTING.sub("", text)
    text = re.sub(r"\b(Prof|Sgt|Capt)\.", r"\1", text)
    for form in (_pointed, _labelled, _of_group, _compared, _refused, _possessed, _elided, _kin, _announcing):
        if (found := form(text)) is not None:
            return found
    return text


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


def _described(text: str) -> str | None:
    """Who the speaker is, and what they cannot do without."""
    if parent := re.match(
        r"(?:a )?(?=(?:(?:single|working|stay-at-home|full-time|proud|new) )?(?:mum|mom|mother|dad|father|parent|granny|grandmother|grandfather|grandparent) of )",
        text,
        re.IGNORECASE,
    ):
        return f"I am a {_lowered(text[parent.end() :])}"
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


def note(text: str, speaker: str) -> Note | None:
    """A fact of a clause about the speaker that has another subject, or of words without a verb that have a date or code.

    >>> note("Crime podcasts bore me", "The user").text
    'Crime podcasts bore the user'
    """
    try:
        return _of_speaker(text, speaker) or _there(text, speaker) or _dated(text, speaker)
    except UnclearError:
        return None


def _of_speaker(text: str, speaker: str) -> Note | None:
    """What a thing does to the speaker: a taste or an effect."""
    best = _BEST.match(text)
    if best and says_something_definite(best["what"], 1):
        return _note(f"{text} for {inside(speaker)}", speaker, "preference", 0.8)
    match = _TO_ME.match(text) or _FOR_ME.match(text)
    if match is None or not says_something_definite(match["what"], 1):
        return None
    if _MOMENT.search(text) or re.search(
        r"\b(?:work|makes sense|easier|helpful|useful|important|perfect)\b", text[match.end("what") :]
    ):
        return None
    return _note(text, speaker, "preference", 0.75)


_MOMENT: Final = re.compile(
    r"\b(?:error|issue|problem with|code|function|result|output|answer|explanation|idea|time|chance|call|hope|energy|joy|question)\b",
    re.IGNORECASE,
)


_OURS: Final = re.compile(
    r"^(?:the |both |all |one |two |half |most )?(?:of )?(?:[\w'-]+ ){0,2}?(?:(?:in|at|on|of|to|from) )?(?:my|our) [\w' -]{2,30}? (?:is|are|has|have|isn['’]t|aren['’]t) (?!(?:so|very|that|this|what|how)\b)\S",
    re.IGNORECASE,
)


def _there(text: str, speaker: str) -> Note | None:
    if _OURS.match(text) and not _MOMENT.search(text):
        return _note(text, speaker, "observation", 0.75)
    if lacking := re.match(
        r"(?P<what>no [\w' -]{3,30}?) (?P<where>(?:in|at|on) (?:my|our) [\w'’ -]+)", text, re.IGNORECASE
    ):
        return _note(
            f"There is {lacking['what'].lower()} {text[lacking.start('where') :]}", speaker, "observation", 0.75
        )
    match = _THERE.match(text)
    if match is None or not says_something_definite(match["what"], 1):
        return None
    verb = {"'s": " is", "’s": " is"}.get(match["is"], match["is"])
    return _note(f"There{verb} {re.sub(r' of us$', '', match['what'])} {match['where']}", speaker, "observation", 0.75)


def _dated(text: str, speaker: str) -> Note | None:
    """Words without a verb and with a date or a code: "Eye test, 12 January, 9:15 at Boots"."""
    words = text.split()
    head = plain(words[0]) if words else ""
    if not _NOTE_SHORTEST < len(words) <= NOTE_LONGEST or _WORTHLESS.search(text) or text.endswith(":") or ": " in text:
        return None
    if _LOOKED_UP.search(text):
        return None
    dated = _DATED.search(text)
    coded = _CODED.search(text) and re.search(r"(?<!\w)[\w-]*\d[\w-]*$|\d{3,}", text) and len(words) <= _CODED_LONGEST
    if not (dated or coded) or not says_something_definite(_DATED.sub("", text), 1 if coded else 2):
        return None
    plain_words = [plain(w) for w in words]
    if head in _COMMAND or ing_base(head) or head in _NO_HEAD or any(_is_verb(word) for word in plain_words[1:]):
        return None
    return _note(text, speaker, "goal" if dated and not re.search(r"\b(?:every|since)\b", text) else "observation", 0.7)


_CODED_LONGEST: Final = 8
_LOOKED_UP: Final = re.compile(
    r"\b(?:recipes?|weather|forecast|ideas?|figures|history|examples|tips|facts|list|summary|causes|events|rules|key|best|top|prices?|hotels|restaurants|notes|news|agenda|1[0-8]\d\d)\b",
    re.IGNORECASE,
)
"""Words of a search that is written as a note: "weather in Oslo tomorrow"."""
_NO_HEAD: Final = word_set(
    "in on at by since for from after before during until with and but or so because when while if what which who how why where not only yes no maybe about as than to of good happy great next last "
    "see same until till every both either thank morning evening tomorrow tonight hope sure can could would will is are was were do does did a"
)


def _is_verb(word: str) -> bool:
    return bool(past_base(word)) or word in {
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "will",
        "can",
        "should",
        "would",
        "do",
        "does",
        "need",
        "want",
        "'s",
    }


def _note(text: str, speaker: str, category: str, confidence: float) -> Note:
    stated = in_third_person(text, speaker)
    kind = EPISODIC if category == "event" else SEMANTIC
    return Note(text=stated[:1].upper() + stated[1:], claim=Claim(category=category, kind=kind, confidence=confidence))
