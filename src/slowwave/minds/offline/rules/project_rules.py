"""Reads rules of a project and of a household: "the API must return ISO dates", "guests sleep in the attic"."""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import SEMANTIC, Claim, says_something_definite
from slowwave.minds.offline.rules.pronouns import UnclearError, in_third_person

_OF_PROJECT: Final = (
    r"(?:api|apis|endpoints?|services?|clients?|servers?|databases?|migrations?|commits?|commit messages?|branch(?:es)?|releases?|deploy(?:ment)?s?|builds?|prs?|pull requests?|merges?|code reviews?|reviews?|"
    r"tests?|changelogs?|docs|documentation|logs?|frontend|backend|app|site|website|repo|repository|packages?|dependenc(?:y|ies)|secrets|config(?:uration)? files?|tickets?|invoices?|reports?|meetings?|"
    r"expenses|purchases|contracts?|orders|photos|posts|newsletters?|designs?|logos?|fonts?|pages?|buttons?|texts|headlines|file names|filenames|variables|timestamps|dates|prices)"
)
_OF_HOUSEHOLD: Final = (
    r"(?:guests|visitors|kids|children|boys|girls|twins|cats?|dogs?|pets|nobody|everyone|everybody|no one|shoes|phones|bins|recycling|rubbish|lights|heating|windows|doors?|gate|tv|laundry|dishes|"
    r"toys|homework|dinner|lunch|breakfast|cleaner|babysitter|nanny|lodger|tenants?|bedtime|curfew|wifi)"
)
_MUST: Final = (
    r"(?:must(?: not| never| always| only)?|mustn['’]t|has to|have to|needs? to|may only|can only|may not|should (?:always|never|only)|(?:is|are)(?:n['’]t| not|  never) allowed|(?:is|are) (?:only |never )?allowed|"
    r"(?:is|are) (?:forbidden|banned|off[- ]limits|required|mandatory|compulsory))"
)
_RULED: Final = re.compile(
    rf"^(?P<what>(?:the|our|my|all(?: the| our| my)?|every|each|any|no)\s(?:[\w/-]+ ){{0,2}}?{_OF_PROJECT}) {_MUST}\b.+$",
    re.IGNORECASE,
)
_EACH_ONE: Final = re.compile(
    rf"^(?:each|every) (?:[\w-]+ )?{_OF_PROJECT} (?:gets|has|needs|goes|uses|ships|starts|ends|takes|is|lives|requires)\b.+$",
    re.IGNORECASE,
)
_WHEN_DUE: Final = re.compile(
    r"^(?:(?:the|our|my) )?(?:[\w-]+ )?(?:invoices?|payroll|salaries|wages|newsletters?|releases|builds|backups|reports|timesheets|stand-?ups?|retros?|taxes|fees) "
    r"(?:go(?:es)? out|(?:is|are) (?:due|paid|sent|published|made)|runs?|happens?|takes? place|ships?|closes?|starts?) (?:on|at|every|by|before|after|each|in)\b.+$",
    re.IGNORECASE,
)
_IN_GROUP: Final = re.compile(
    r"^(?P<what>(?:every|each|all|any|no) (?:[\w-]+ ){1,3}(?:in|on|of) (?:our|my) (?:[\w-]+ )?(?:project|repo|repository|codebase|team|company|office|app|api|service|shop|lab|department|firm)) (?:must|needs?|has|have|gets?|requires?|goes|uses?|starts?|works?|ships?|is|are)\b.+$",
    re.IGNORECASE,
)
_IN_PROJECT: Final = re.compile(
    r"^(?P<lead>(?:in|on|for) (?:this|our|my) (?:[\w-]+ )?(?:project|repo|repository|codebase|team|company|office|lab|shop|kitchen|house)),? (?P<rule>(?!(?:i|we|you|it|there|is|are|what|how)\b)(?:[\w-]+ ){1,3}?(?:live|lives|go|goes|are|is|must|uses?|needs?|belongs?|sits?|runs?|stays?|starts?|ends?|gets?)\b .+)$",
    re.IGNORECASE,
)
_AT_HOME: Final = re.compile(
    rf"^(?:(?:the|our|my|all(?: the| our| my)?|no) )?(?:[\w-]+ )?{_OF_HOUSEHOLD} (?:(?:always|never|only|usually) )?(?:{_MUST}|(?:is|are) (?:in bed|up|home|at home|off|closed|locked|out) (?:by|at|before|until|from|after|between|on)|(?:isn['’]t|aren['’]t) allowed|"
    r"sleeps?|eats?|gets?|stays?|wears?|goes? (?:out|to bed|in|on)|go(?:es)? out|comes? (?:on|every|in)|leaves?|takes? (?:off|turns)|has (?:its|their) own|knows?|rests?|is at)\b.+$",
    re.IGNORECASE,
)
_FORBIDDEN: Final = re.compile(
    r"^(?:my|our|the) (?:[\w'’-]+ ){0,3}?(?:guide|guidelines?|policy|contract|lease|team|company|school|landlord|landlady|boss|manager|client|employer|client|office|club|building|association|insurer|insurance|bank|council|handbook|rules?|convention|conventions|agreement|customer|editor|professor|supervisor) "
    r"(?:forbids?|requires?|bans?|allows?|demands?|prohibits?|insists? on|expects?|doesn['’]t (?:allow|accept|permit|want)|only (?:accepts|allows|permits|takes)|says? (?:no|that|we|to)|wants) .+$",
    re.IGNORECASE,
)
_EVERYTHING: Final = re.compile(
    r"^(?P<what>(?:anything|everything|all \w+|every \w+|purchases|expenses) (?:over|under|above|below|beyond|more than|less than) [^,;]{1,20}? (?:needs?|requires?|must|goes|has to|have to|gets?) .+|everything|all changes|every change|each change|nothing) (?P<verb>goes|ships|is (?:merged|deployed|released|reviewed|signed off|shipped|published)|gets (?:merged|deployed|released|reviewed)|has to) .+$",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(
    r"^(?P<lead>(?:on|in|for|at|with) (?:this|our|my|the) (?:[\w-]+ )?(?P<what>project|repo|repository|codebase|team|company|office|department|firm|lab|class|club|band|choir|shop|flat|house|home|family|household|building|kitchen|group))\b,? (?=we\b|I\b|all\b|everyone\b|every\b|nobody\b|no\b|our\b|my\b)",
    re.IGNORECASE,
)
_THIS_GROUP: Final = re.compile(
    r"\b(on|in|at|for) this (team|project|repo|repository|codebase|company|household|family)\b", re.IGNORECASE
)
_NOT_OURS: Final = re.compile(
    r"\b(?:exercise|assignment|homework question|puzzle|problem|equation|if|you|your|it|this (?!project|repo|repository|codebase|team|house|kitchen|office)|that|these|those|they|them|would|could|might|so that|please|error|correctly|again)\b"
    r"|\b(?:work|be (?:fixed|changed|updated|added|improved|able|handled|implemented|tested|faster|better))\b",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(r",\s+(?:otherwise|or else|so|because|the|it|they|he|she)\b.*$", re.IGNORECASE)
_LONGEST: Final = 25  # words


def without_place(text: str) -> str:
    """The text with "my project" for "this project" at its beginning.

    >>> without_place("On this project we use pnpm")
    'On my project we use pnpm'
    """
    lead = _LEADING.match(text)
    if lead is None:
        return _THIS_GROUP.sub(r"\1 my \2", text)
    words = re.sub(r"\b(?:this|our|the)\b", "my", lead["lead"], count=1, flags=re.IGNORECASE)
    return f"{words[:1].upper()}{words[1:]} {text[lead.end() :]}"


def project_rule(text: str, speaker: str) -> tuple[str, Claim] | None:
    """A rule of the writer's project or household as a fact; None for any other text.

    >>> project_rule("The API must return ISO dates", "The user")[0]
    'The API must return ISO dates'
    >>> project_rule("The function must return a list", "The user")
    """
    rule = text
    for cut in (text, _TAIL.sub("", text)):
        rule = cut
        if not _NOT_OURS.search(cut):
            break
    if _NOT_OURS.search(rule) or len(rule.split()) > _LONGEST or not says_something_definite(rule, 2):
        return None
    placed = _IN_PROJECT.match(rule)
    if placed:
        rule = f"{re.sub(r'(?i)this|our', 'my', placed['lead'], count=1)} {placed['rule']}"
    found = (
        placed
        or _RULED.match(rule)
        or _FORBIDDEN.match(rule)
        or _IN_GROUP.match(rule)
        or _EACH_ONE.match(rule)
        or _WHEN_DUE.match(rule)
        or _EVERYTHING.match(rule)
    )
    at_home = None if found else _AT_HOME.match(rule)
    if found is None and at_home is None:
        return None
    try:
        stated = in_third_person(rule, speaker)
    except UnclearError:
        return None
    claim = Claim(category="observation" if at_home else "project", kind=SEMANTIC, confidence=0.8)
    return f"{stated[:1].upper()}{stated[1:]}", claim
