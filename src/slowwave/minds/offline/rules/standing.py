"""Standing instructions to the assistant and rules of a household: what holds for every answer, not for one request."""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import PROCEDURAL, Claim, says_something_definite
from slowwave.minds.offline.rules.morphology import ing_base, is_base, is_unknown, third_person
from slowwave.minds.offline.rules.pronouns import UnclearError, in_third_person, inside, plain, possessive

_POLITE: Final = r"(?:(?:please|kindly|and|so|also|but|ok|okay)[,\s]+)*"
_FROM_NOW: Final = r"from (?:now|here) on|in (?:the )?future|going forward|from today|starting now"
_STANDING: Final = re.compile(
    rf"^{_POLITE}(?P<how>always|never|{_FROM_NOW}|as a rule|remember to|"
    r"make sure (?:to|you)(?: always)?|don['’]t ever|do not ever|(?:i(?:['’]d| would)? (?:want|like|need|prefer|expect) you to|you should|you must|can you|could you)"
    rf"(?: please)? (?:always|never|from now on))\b[,:]?\s*{_POLITE}",
    re.IGNORECASE,
)
_HOW: Final = {"always": "to always", "never": "to never", "don't ever": "to never", "do not ever": "to never"}
_LATER: Final = re.compile(
    rf"[,\s]*\b(?:{_FROM_NOW})\b(?:,? please| ok)?[,\s]*",
    re.IGNORECASE,
)
_PURPOSE: Final = re.compile(
    r"\bto (?:avoid|prevent|stop|improve|help|use)\b[^.;]{0,120}\bin (?:the )?future\b", re.IGNORECASE
)
"""What one answer is for: "tips to avoid such mistakes in the future"."""
_NO_ORDER: Final = re.compile(
    r"(?:i|it|had|have|been|give up|stop|a|the|we|my|there|you['’]ll|thought|knew|saw|felt|heard|really|again|mind|too|a problem)\b",
    re.IGNORECASE,
)
_NEGATIVE: Final = re.compile(
    rf"^{_POLITE}(?P<not>don['’]t|do not|avoid|stop|quit|no need to|skip|leave out|refrain from)\s+(?P<order>.+)$",
    re.IGNORECASE,
)
_POSITIVE: Final = re.compile(
    rf"^{_POLITE}(?:(?:i(?:['’]d| would)? (?:want|like|need|prefer) you to|you (?:should|can|must))\s+)?(?P<order>(?:keep|make|write|give|format|answer|reply|respond|use|include|add|be|"
    r"call me|address me|refer to me|speak|talk|stick|limit|using|giving|adding|including|writing|being|put|start|end|show|convert|round|spell|cite|explain|mention|"
    r"quote|list|assume|treat|remind|ask|check|default|prefer|suggest|recommend)\b.*)$",
    re.IGNORECASE,
)
_OF_ANSWERS: Final = re.compile(
    r"\b(?:(?:your |the |all )?(?:answers?|replies|responses?)|explanations?|preambles?|emojis?|bullet points?|tone|jargon|disclaimers?|small talk|exclamation marks?|markdown|"
    r"(?:in|to) (?:all|every) (?:\w+\s)?(?:answers?|responses?|examples?)|call me|address me|refer to me|concise|brief|verbose|formal|informal|"
    r"(?:british|american|uk|us) (?:english|spelling)|metric|imperial|celsius|fahrenheit|kilomet(?:re|er)s|24[- ]?h(?:our|ours|rs?)?\b|12[- ]hour|in (?:english|german|french|spanish|italian|dutch|portuguese)|"
    r"apologi[sz](?:e|ing)|repeat(?:ing)? (?:my|the) question|sugar-?coat|with me|to me|at me|for me|sentences|units?)\b|\ball (?:the |my )?\w+s (?:in|as|with|without)\b",
    re.IGNORECASE,
)
_WHENEVER: Final = (
    r"(?P<when>when(?:ever)?|if|every time|each time|any ?time|as soon as) (?P<case>(?:i|you|we|my \w+) "
    r"(?:don['’]t know|do not know|aren['’]t (?:sure|certain)|are (?:unsure|not sure|uncertain|in doubt)|ask|request|mention|want|say|give|talk|inquire|need|discuss|submit|share|send|show|post|write|quote|tell|suggest|recommend|plan|book|cook|explain|answer|use|list|upload|paste|report|speak|refer|bring)[^,:;]*?)"
)
_VERBS: Final = (
    r"(?:just|say|use|give|show|convert|include|add|write|answer|keep|make|put|tell|call|explain|list|skip|avoid|always|never|don['’]t|do not|provide|start|round|"
    r"stick|reply|respond|format|spell|quote|mention|remind|ask|check|only|leave|translate)"
)
_WHEN_FIRST: Final = re.compile(
    rf"^{_POLITE}{_WHENEVER}(?:[,:]\s*|\s+(?=(?:please\s+)?{_VERBS}\b))(?P<order>.+)$", re.IGNORECASE
)
_WHEN_LAST: Final = re.compile(rf"^{_POLITE}(?P<order>(?P<verb>\S+)\s.+?),?\s+{_WHENEVER}$", re.IGNORECASE)
_DOING: Final = r"(?:suggest|recommend|offer|propose|mention|include|give|use|call|book|schedule|remind|assume|ask|send|order|buy|add|show|tell|answer|write|invent|guess|translate|repeat)"
_BARE_OBJECT: Final = re.compile(
    rf"^{_DOING}\s+(?:me\s+)?(?!(?:the|this|that|these|those|it|them|your|my|an?)\b)", re.IGNORECASE
)
_KINDS: Final = re.compile(rf"^{_DOING}\s+the \w+s of \w+s$", re.IGNORECASE)
_ONLY: Final = re.compile(rf"^{_POLITE}only (?P<order>{_DOING}\s.+)$", re.IGNORECASE)
_NO_MORE: Final = re.compile(
    rf"^{_POLITE}(?P<what>(?:no (?:more )?[\w' -]{{3,60}}?)|(?:only [\w' -]{{3,40}})|(?:[\w' -]{{3,40}} only))(?P<mark>,?\s*(?:please|from now on|from here on|going forward|ever again|in your \w+|in my \w+|with me|when you|in (?:the )?future|any ?more|thanks))+(?P<more>,\s+(?:just |only |instead,? )?(?:write|use|give|answer|keep|speak|reply|respond)\s[^,;]+)?\s*$",
    re.IGNORECASE,
)
_RULE: Final = re.compile(
    r"\b(?:(?:our|house|family|household|golden) rules?\b|(?:that|this|it)['’]?s (?:my|the|a) rule\b|in (?:our|my|this) (?:house|home|family|household|flat|office|team)\b|at (?:our|my) (?:house|place))",
    re.IGNORECASE,
)
_RULE_TAIL: Final = re.compile(
    r",?\s*(?:that|this|it)['’]?s?(?: is)? (?:our|my|the|a) (?:house |family |golden )?rule\b.*$|^(?:(?:our|my|the) )?(?:house |family )?rules?(?: is| are)?(?: that)?[:,]?\s+",
    re.IGNORECASE,
)
_EACH: Final = re.compile(
    r"\b(?:every|each) (?:[\w-]+ ){0,2}?(?:summary|answer|reply|response|e-?mail|message|report|list|conversation|chat|session|recipe|draft|letter|plan|explanation|translation|note|update|time you)\b"
    r"|^(?:remind|tell|send|ask|wake|give) me .*\b(?:every|each) (?:morning|evening|night|hour|half hour|(?:two|three|few|other|\d+) \w+|week|day|month|year|\w+day)\b",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"\b(?:before|unless|until|without) (?:you (?!(?:go|answer|begin|start|write|respond|reply|continue|give|decide)\b)|I (?:ask|say|tell|confirm|agree|approve)|(?:asking|checking with|telling) me|(?:giving|sending|booking|ordering|buying|sharing|replying|answering|posting|deleting|changing)\b)",
    re.IGNORECASE,
)
_OF_THIS: Final = re.compile(
    r"\b(?:this|these|the (?:following|list|text|code|document)|above|below|attached)\b", re.IGNORECASE
)
_ADDRESSED_CASE: Final = re.compile(r"\b(before|unless|until|without|every time|each time) you (\w+)", re.IGNORECASE)
_BEFORE_NOUNS: Final = frozenset({"the", "all", "my", "your", "our", "every", "each", "any", "both"})
_NO_ORDERS: Final = frozenset(
    {
        "have",
        "be",
        "get",
        "need",
        "want",
        "love",
        "like",
        "hate",
        "go",
        "thank",
        "work",
        "live",
        "run",
        "prefer",
        "enjoy",
        "adore",
        "avoid",
        "walk",
        "do",
        "drink",
        "eat",
        "take",
        "feel",
        "miss",
    }
)
_BRIEF: Final = re.compile(
    r"^(?P<what>(?:short|brief|concise|simple|plain|direct|long|detailed|formal|informal|honest|one-line|quick)(?:,? (?:and )?\w+)? (?:answers|replies|responses|sentences|explanations|language|english|words|summaries)(?: only)?)$",
    re.IGNORECASE,
)
_LESS: Final = re.compile(
    rf"^{_POLITE}(?P<what>(?:less|fewer|more) [\w' -]{{3,40}}(?:, (?:and )?(?:less|fewer|more) [\w' -]{{3,40}}?)?)(?:,? (?:from (?:now|here) on|in (?:the )?future|going forward)(?:,? please)?)+$",
    re.IGNORECASE,
)
_IN_UNITS: Final = re.compile(
    r"^(?P<what>(?!(?:call|meet|see|write|book|put|say|translate|send|give|i|you|we|it|they|he|she|this|that)\b)(?:[\w-]+ ){1,3}(?:in|as) [\w -]{3,30}?)(?:,? (?:only|always)(?:,? please)?|(?:,? please)?(?P<more>,? not (?:in )?[\w -]{3,30}))$",
    re.IGNORECASE,
)
_NO_KIND: Final = re.compile(
    rf"^{_POLITE}(?P<what>no (?!problem|worries|thanks|need|idea|way|rush)[\w' -]{{3,60}}(?:,.*)?)$", re.IGNORECASE
)
_COURTEOUS: Final = re.compile(r",?\s*(?:thank you|thanks|please)\b", re.IGNORECASE)
_FRONTED: Final = re.compile(
    r"^(?P<case>(?:for|in|with) [\w ]{3,40}?),? (?P<order>(?:use|give|add|include|write|show|put|list)\s.+)$",
    re.IGNORECASE,
)
_YOU_DO: Final = re.compile(r"\byou (are|give|use|write|have|make|can|say|answer|send|show|tell|do)\b")
_MEANT: Final = re.compile(
    r"^(?:when|whenever|if) I (?:say|write|mention|talk about) (?P<said>[\w\"“”' -]{2,30}?),? I(?:['’]m| am)? (?:always |usually )?(?:mean|talking about) (?P<meant>.+)$",
    re.IGNORECASE,
)
_ANSWERS_SHOULD: Final = re.compile(
    r"^your (?P<what>answers|replies|responses|messages|summaries|explanations|emails|drafts|recipes|plans|lists) (?:should|must|have to|need to|can) (?P<how>(?:always|never|only|not) )?(?P<order>(?!be (?:correct|right|wrong)\b).+)$",
    re.IGNORECASE,
)
_NO_RULE: Final = re.compile(
    r"there(?:['’]s| is| are)\b|(?:the|our|my|an?) (?:[\w'’-]+ ){1,3}?(?:in|of|at) (?:our|my) (?:[\w-]+ ){1,2}(?:is|are|was|were|has|have)\b",
    re.IGNORECASE,
)
"""What is so in a house without being a rule: "the heating in our flat is electric"."""
_TEAM: Final = re.compile(r"\bin (?:our|my|this) (team|office)\b", re.IGNORECASE)
_OF_KIND: Final = re.compile(
    r"^(?:for|in|with) (?!(?:the|this|that|these|those|my|our|a|an)\b)(?:[\w-]+ ){0,2}\w+s$", re.IGNORECASE
)
_FORMED: Final = re.compile(r"\b(?:in|as|with|without|not|only)\b(?! (?:the|this|my)\b)", re.IGNORECASE)
"""The form of an answer: "give weights in grams"."""
_OFFERED: Final = re.compile(
    rf"^{_POLITE}(?:let me know|feel free|just (?:let|ask)|tell me(?= if| when| whether| more|$)|don['’]t hesitate)\b",
    re.IGNORECASE,
)
"""Words that end an answer, not an order: "let me know if you need more"."""
_ABOUT_THE_LAST: Final = re.compile(
    r"^(?:\S+\s){1,2}?(?:it|them|that|those|another|one)\b(?! easy| comes)|\b(?:again|once more|one more time|instead|this time|next|more|first|further|expand|continue)\b",
    re.IGNORECASE,
)
"""Words of an order about the answer before: "write it again", "explain it in more detail"."""
_RULE_SHORTEST: Final = 3  # spaces
_ONCE: Final = re.compile(
    r"\b(?:(?:for|to) (?:my|these) \w+|these|this (?:one|time|code|function|text|file|query|error)|above|below|following|the code|here|step \d|now\b)",
    re.IGNORECASE,
)


def instruction(piece: str, speaker: str) -> tuple[str, Claim] | None:
    """A standing instruction to the assistant, or None; a single request is none.

    >>> instruction("Please keep answers short, no preamble", "The user")[0]
    'The user wants the assistant to keep answers short, no preamble'
    """
    piece = re.sub(r"\byou['’]re\b", "you are", piece)
    try:
        order = (
            _meant(piece, speaker)
            or _lasting(piece, speaker)
            or _when(piece, speaker)
            or _standing(piece, speaker)
            or _negative(piece, speaker)
            or _of_answers(piece, speaker)
            or _no_more(piece, speaker)
        )
        if order is not None:
            return f"{speaker} wants the assistant {order}", Claim(
                category="preference", kind=PROCEDURAL, confidence=0.95
            )
        return _household_rule(piece, speaker)
    except UnclearError:
        return None


def _when(piece: str, speaker: str) -> str | None:
    """An instruction with its case: "when I ask about SQL, show the plan", "use Celsius when you give temperatures"."""
    match = _WHEN_FIRST.match(piece) or _WHEN_LAST.match(piece)
    if (
        match is None
        or " " not in match["order"]
        or _OFFERED.match(match["order"])
        or not says_something_definite(match["order"], 1)
    ):
        return None
    order = re.sub(
        r"^(?:please\s+)?(?:remember to\s+)?(?:i(?:['’]d| would)? (?:want|like|need|prefer) you to\s+|you (?:should|must|can)\s+)?(?:please\s+)?",
        "",
        match["order"],
        flags=re.IGNORECASE,
    )
    always = re.match(r"(?:always|never|do not|don['’]t|avoid|only)\s+", order, re.IGNORECASE)
    bare = order[always.end() :] if always else order
    if not _is_order(bare) and not ing_base(plain(bare.split()[0])):
        return None
    case = re.sub(r"^(?:you)\b", "it", match["case"], flags=re.IGNORECASE)
    case = re.sub(r"^it (\w+)", lambda m: f"it {third_person(m[1])}", case)
    stated = in_third_person(re.sub(r"^i\b", "I", case), speaker)
    when = match["when"].lower()
    return f"{_lead(order, speaker)} {when} {re.sub(r'^You', 'it', stated)}"


def _is_order(order: str) -> bool:
    """Whether a text begins with a verb: a known one, or a rare word before "the", "all" or "my".

    >>> _is_order("double-check totals"), _is_order("lint the code"), _is_order("late the first day")
    (True, True, False)
    """
    first, following = (*order.split()[:2], "", "")[:2]
    verb = plain(first).rsplit("-", 1)[-1]
    return is_base(verb) or (plain(following) in _BEFORE_NOUNS and is_unknown(verb))


def _meant(piece: str, speaker: str) -> str | None:
    """What a word of the speaker's means, or how all answers should be."""
    if meant := _MEANT.match(piece):
        return f"to read {meant['said']} as {in_third_person(meant['meant'], speaker)}"
    owed = _ANSWERS_SHOULD.match(piece)
    return f"to make sure that its {owed['what']} {owed['how'] or ''}{_order(owed['order'], speaker)}" if owed else None


def _lasting(piece: str, speaker: str) -> str | None:  # noqa: PLR0911 - each return is a form of order
    """An order that holds for each case to come: "ask me before you book", "start every summary with the weather"."""
    bare = re.sub(r"[,\s]+(?:always|please|thanks|thank you)$", "", _bare_order(piece), flags=re.IGNORECASE)
    if (short := _BRIEF.match(bare)) and not _ONCE.search(piece):
        return f"to give {short['what'][:1].lower()}{short['what'][1:]}"
    if (less := _LESS.match(piece)) or (less := _IN_UNITS.match(piece)):
        return f"to give {less['what'][:1].lower()}{less['what'][1:]}{less.groupdict().get('more') or ''}"
    if (denied := _NO_KIND.match(piece)) and _LATER.search(piece):
        return f"to give {_order(_COURTEOUS.sub('', _LATER.sub('', denied['what'])).strip(' ,'), speaker)}"
    always = bare != _bare_order(piece) and re.search(r"\balways\b", piece, re.IGNORECASE)
    fronted = _FRONTED.match(bare)
    formed = fronted and _OF_KIND.match(fronted["case"]) and _FORMED.search(fronted["order"])
    if formed and fronted and not _ONCE.search(piece):
        order, comma, refused = _order(fronted["order"], speaker).partition(", not ")
        return f"to {order} {fronted['case'][:1].lower()}{fronted['case'][1:]}{comma}{refused}"
    if fronted and always:
        return f"to always {_order(fronted['order'], speaker)} {fronted['case']}"
    verb = plain(bare.split()[0]).rsplit("-", 1)[-1] if bare.split() else ""
    if not is_base(verb) or verb in _NO_ORDERS or _NO_ORDER.match(bare) or not says_something_definite(bare, 1):
        return None
    if always:
        return f"to always {_order(bare, speaker)}"
    if (_EACH.search(bare) or _BEFORE.search(bare)) and not _OF_THIS.search(bare):
        stated = _ADDRESSED_CASE.sub(lambda m: f"{m[1]} it {third_person(m[2])}", bare)
        return f"to {_order(stated, speaker)}"
    return None


def _lead(order: str, speaker: str) -> str:
    """An order as an infinitive: "to use", "not to use", "to never use"."""
    low = order.lower().replace("’", "'")
    for start, lead in (
        ("always ", "to always"),
        ("never ", "to never"),
        ("do not ", "not to"),
        ("don't ", "not to"),
        ("avoid ", "to avoid"),
        ("only ", "to only"),
    ):
        if low.startswith(start):
            return f"{lead} {_order(order[len(start) :], speaker)}"
    return f"to {_order(order, speaker)}"


def _standing(piece: str, speaker: str) -> str | None:  # noqa: PLR0911 - each return is a form of order
    """An instruction with always, never or from now on; with "remember to" only if it is about answers."""
    found = _STANDING.match(piece)
    later = _LATER.search(piece) if not _PURPOSE.search(piece) else None
    how = found["how"].lower().replace("’", "'") if found else ""
    if found is None and not (
        later and is_base(plain(_bare_order(piece).split()[0] if _bare_order(piece).split() else ""))
    ):
        return None
    order = _LATER.sub(" ", piece[found.end() :] if found else _bare_order(piece)).strip(" ,")
    if not says_something_definite(order, 1) or _NO_ORDER.match(order) or re.match(r"i\b", order, re.IGNORECASE):
        return None
    if how.startswith(("remember", "make sure")) and not (
        _OF_ANSWERS.search(order) or re.search(r"\bwhen(?:ever)? I\b", order)
    ):
        return None
    denied = plain(order.split()[0]) in {"don't", "do", "avoid", "never", "always", "stop", "no"}
    if not denied and not _is_order(order):
        return None
    order = re.sub(r"^remember to ", "", order, flags=re.IGNORECASE)
    tail = " from now on" if later else ""
    if how.endswith("never"):
        return f"to never {_order(order, speaker)}{tail}"
    if how.endswith("always"):
        return f"to always {_order(order, speaker)}{tail}"
    return (
        f"{_HOW.get(how) or ''} {_order(order, speaker)}{tail}".strip()
        if how in _HOW
        else f"{_lead(order, speaker)}{tail}"
    )


def _bare_order(piece: str) -> str:
    return re.sub(
        rf"^{_POLITE}(?:you (?:can|may|should|must)|do) (?=\w+(?:-\w+)? )(?!not )",
        "",
        re.sub(rf"^{_POLITE}", "", piece, flags=re.IGNORECASE),
        flags=re.IGNORECASE,
    )


def _negative(piece: str, speaker: str) -> str | None:
    """Instructions such as "don't use emojis with me", "stop apologising": about answers in general, or without a mark of a single request."""
    match = _NEGATIVE.match(piece)
    if match is None or _ONCE.search(piece) or not says_something_definite(match["order"], 1):
        return None
    how, order = match["not"].lower().replace("’", "'"), match["order"]
    verb = plain(order.split()[0])
    if how in {"stop", "quit", "avoid", "refrain from"} and not ing_base(verb) and not _OF_ANSWERS.search(order):
        return None
    if not (
        _OF_ANSWERS.search(order)
        or (how == "stop" and ing_base(verb))
        or (how in {"don't", "do not"} and (_BARE_OBJECT.match(order) or _KINDS.match(order)))
        or re.search(r"\b(?:ever|again|anything|any)\b", order)
    ):
        return None
    if verb in {"worry", "forget", "know", "think", "want", "have", "mind", "get", "hesitate", "need"}:
        return None
    lead = {
        "avoid": "to avoid",
        "stop": "to stop",
        "quit": "to stop",
        "skip": "to skip",
        "leave out": "to leave out",
        "refrain from": "to refrain from",
    }.get(how, "not to")
    return f"{lead} {_order(order, speaker)}"


def _of_answers(piece: str, speaker: str) -> str | None:
    """An instruction about answers in general: "keep answers short", "call me Sam"."""
    match = _POSITIVE.match(piece)
    if (
        match is None
        or _ONCE.search(piece)
        or _ABOUT_THE_LAST.search(match["order"])
        or not _OF_ANSWERS.search(piece)
        or not says_something_definite(match["order"], 1)
    ):
        return None
    order = match["order"]
    polite = re.match(
        rf"{_POLITE}(?:please|kindly|call|address|refer|keep|use|be|answer|reply|respond|speak|write|i(?:['’]d)?|you)\b",
        piece,
        re.IGNORECASE,
    )
    if not polite or re.search(
        r"\b(?:an?|the|this|these) (?:\w+ )?(?:answer|response|reply|explanation|example)\b(?! (?:short|brief))",
        order,
        re.IGNORECASE,
    ):
        return None
    manner = re.match(
        r"(?:be|use|speak|talk|stay)\b.*\bwith me\b|(?:speak|talk|write|explain things) to me (?:like|as|in)\b",
        order,
        re.IGNORECASE,
    )
    if (
        not manner
        and re.search(r"\b(?:for|with|to) me\b", order)
        and not re.search(_OF_ANSWERS.pattern.replace("|with me|to me|at me|for me", ""), order, re.IGNORECASE)
    ):
        return None
    return f"to {_order(order, speaker)}"


def _no_more(piece: str, speaker: str) -> str | None:
    if only := _ONLY.match(piece):
        return None if _ONCE.search(piece) else f"to only {_order(only['order'], speaker)}"
    match = _NO_MORE.match(piece)
    if (
        match is None
        or not says_something_definite(match["what"], 1)
        or re.match(r"no (?:problem|worries|thanks|need|idea|way|rush)", match["what"], re.IGNORECASE)
    ):
        return None
    what = in_third_person(match["what"].strip(" ,"), speaker)
    if match["more"]:
        what = f"{what} and to {_order(re.sub(r'^(?:just|only|instead),? ', '', match['more'].strip(' ,')), speaker)}"
    return (
        f"to give {what[:1].lower() + what[1:]}"
        if not re.match(r"no more \w+ing\b", what, re.IGNORECASE)
        else f"to stop {re.sub(r'(?i)^no more ', '', what)}"
    )


def _household_rule(piece: str, speaker: str) -> tuple[str, Claim] | None:
    """A rule of the speaker's house: "No screens after seven, that's our rule"."""
    if not _RULE.search(piece) or _NO_RULE.match(piece) or re.search(r"\b(?:you|your|I)\b", piece):
        return None
    rule = _RULE_TAIL.sub("", piece).strip(" ,")
    if not says_something_definite(rule, 2) or rule.count(" ") < _RULE_SHORTEST:
        return None
    stated = re.sub(r"^In (?:our|my) (?:house|home|household|family|flat),?\s+", "", rule)
    stated = in_third_person(stated, speaker)
    group = _TEAM.search(piece)
    return (
        f"{possessive(speaker)} {group[1].lower() if group else 'house'} rule: {stated[:1].lower() + stated[1:] if stated[1:2].islower() else stated}",
        Claim(category="preference", kind=PROCEDURAL, confidence=0.85),
    )


def _order(order: str, speaker: str) -> str:
    order = re.sub(r"^(?:please|always)\s+|,?\s+(?:please|ok|okay|thanks|thank you)$", "", order, flags=re.IGNORECASE)
    order = re.sub(r"\b(?:don['’]t|do not)\b", "do not", in_third_person(order, inside(speaker)))
    order = re.sub(
        r"\byour\b", "its", _YOU_DO.sub(lambda m: f"it {m[1] if m[1] in {'can', 'are'} else third_person(m[1])}", order)
    )
    return order[:1].lower() + order[1:] if order[1:2].islower() else order
