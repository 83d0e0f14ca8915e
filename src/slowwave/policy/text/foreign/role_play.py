"""Finds role plays: where one begins and ends in a message, and which messages of a conversation lie within one.

What a person says in a play is the part they play ("I'm Batman and I live in Gotham"). A play begins with words that name it, with
two parts ("you're the innkeeper and I'm a knight"), or with a part for the assistant that is no helper's; a helper ("act as a
travel agent") is asked for advice, and the user stays the user. It lasts until words that end it, or a pause.
"""

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from slowwave.model.memory import Memory
from slowwave.policy.text.foreign.cues import Words, cue
from slowwave.policy.text.lazy_regex import lazy_regex

PAUSE: Final = timedelta(hours=3)
"""A role play has ended if no message was written for this long."""

_GAME: Final = (
    r"(?:role-?\s?play(?:ing|s)?|rp|larp|improv(?:isation|ization)?s?|make-?believe|text(?:-based)? adventure|d&d|dnd|dungeons (?:and|&) dragons|murder mystery|"
    r"interactive (?:story|fiction)|cosplay)"
)
_REHEARSED: Final = r"(?:interview|conversation|scene|dialogue|phone call|call|argument|negotiation|date|speech|confrontation|talk|scenario|exchange|pitch)"
# Words of a helper: a user who asks a helper for advice speaks about themselves.
_HELPER: Final = (
    r"(?:\w+[\s-]){0,4}?(?:assistant|expert|coach|nutritionist|dietitian|dietician|trainer|advis[eo]r|consultant|tutor|teacher|mentor|planner|guide|agent|"
    r"developer|engineer|programmer|reviewer|editor|proofreader|translator|doctor|physician|therapist|counsell?or|lawyer|accountant|chef|analyst|"
    r"writer|copywriter|specialist|professional|helper|bot|chatbot|ai|model|librarian|designer|architect|scientist|researcher|professor|"
    r"secretary|critic|marketer|strategist|terminal|console|interpreter|compiler|dictionary|encyclop(?:a)?edia|search engine|calculator|psychologist|"
    r"financial planner|personal shopper|concierge|stylist|vet|veterinarian|pharmacist|nurse|system|service)s?\b"
)
_ARTICLE: Final = r"(?:an?|the|my|our|his|her|some|this|that|one of)\b"
_NAME: Final = r"(?-i:[A-Z])"
_SENTENCE: Final = r"(?:^|(?<=[\n.!?]\s)|(?<=[\n,;:])|(?<=:\s))\s{0,9}"
_LEAD: Final = (
    r"(?:(?:from now on|starting now|in this game|for the next (?:\w+ ?){1,3}|today|ok(?:ay)?|so|now|hey|hi),?\s+){0,4}"
)
_YOU_ARE: Final = r"you(?:['’]?re| are| play| be| will be|['’]ll be| will play)(?: now| going to be)?"
_I_AM: Final = r"(?:I['’]?m|I am|I['’]?ll (?:be|play)|I will (?:be|play)|I['’]?m playing|I play|I be)"
# "You are a great help", "you are the best": praise, no part.
_PRAISE: Final = (
    r"(?:best|greatest|one|only|first|same|most|reason|kindest|nicest|good|great|nice|really|very|real|true|big|huge|star|gem|genius|legend|"
    r"life-?saver|champ(?:ion)?|darling|treasure|wonderful|amazing|lot|bit|little|hope|friend|hero|rock|favou?rite|angel|second|third|last|right|person|company|people|ones)\b"
)
_PART: Final = (
    r"(?:knight|king|queen|prince|princess|wizard|witch|dragon|pirate|vampire|werewolf|zombie|ghost|robot|alien|detective|innkeeper|barkeep(?:er)?|bartender|"
    r"landlord|landlady|boss|manager|waiter|waitress|cop|officer|judge|prosecutor|interviewer|recruiter|customer|client|buyer|seller|captain|soldier|"
    r"villain|hero(?:ine)?|superhero|elf|dwarf|orc|goblin|narrator|game master|dungeon master|dm|gm|host|guard|merchant|sailor|astronaut|emperor|empress|"
    r"spy|thief|assassin|demon|angel|god|goddess|cat|dog|parent|mother|father|mum|mom|dad|brother|sister|ex|girlfriend|boyfriend|husband|wife|neighbou?r|"
    r"teenager|child|stranger|patient|passenger|suspect|witness|celebrity|president|shopkeeper|sheriff|outlaw|monster|oracle|priest|monk)\b"
)


# Words of a mood: "*sighs* I have to work" is no stage direction.
_MOOD: Final = (
    r"sigh\w*|laugh\w*|cr(?:y|ies|ying)|shrug\w*|facepalm\w*|blush\w*|cough\w*|wink\w*|smil\w+|hugs?|giggl\w+|cring\w+|groan\w*|yawn\w*|grin\w*|sob\w*|panic\w*|rolls (?:my )?eyes|"
    r"always|sometimes|yes|perhaps|less|this|its|his|was|is|has|does|us|nothing|something|anything|everything|during|being|things|thanks"
)
_GAMES: Final = "role rp larp improv make-believe make_believe adventure d&d dnd dungeons mystery interactive cosplay"
_YOU: Final = "you_are you're you’re youre you_play you_be you_will you'll you’ll you_now"
_BEGINS: Final = (
    # The game is named.
    cue(
        rf"\b(?:let['’]?s|let us|can we|could we|shall we|may we|want to|wanna|like to|love to|we['’]ll|we will|time (?:to|for)|start(?:ing)?|begin|do|continue|"
        rf"resume|in (?:a|this|the|our))\b[^.!?\n]{{0,30}}\b{_GAME}\b(?! (?:games?|groups?|clubs?|nights?|sessions? on|every|on|at|with my))",
        _GAMES,
    ),
    cue(
        rf"(?:^|(?<=[\n.!?]))\W{{0,9}}{_GAME}(?:\s+(?:time|with me|scenario|scene|mode|prompt|setup|now))?\s*(?:[:,!.–—-]|\n|$)",
        _GAMES,
    ),
    cue(rf"\b{_GAME} (?:time|session|scene|scenario|mode|prompt)\b\s*[:!,.]", _GAMES),
    cue(
        r"\blet['’]?s (?:play (?!(?:some|a bit of|the (?:piano|guitar)|music|cards|chess|football|soccer|tennis|it|on|at)\b)|pretend|imagine|act\b|act out|make believe)",
        "let",
        "play pretend imagine act make",
    ),
    cue(
        r"\b(?:let['’]?s|let us|can we|could we|shall we|wanna|want to) (?:do|run|try|start|play|improvise|act|make|have) (?:a|an|the|this|that|another|our) (?:[\w-]+ ){0,2}?(?:scene|skit|sketch|improv|bit|adventure|scenario|quest|campaign)\b",
        "scene skit sketch improv bit adventure scenario quest campaign",
    ),
    cue(
        r"\b(?:play|take|take on|assume) (?:the|a) (?:part|role|character|persona) of\b(?! (?:my (?:life|job)|your life))",
        "part_of role_of character_of persona_of",
    ),
    # What the user does on the stage: "*enters the throne room*"
    cue(
        rf"(?:^|(?<=[\n.!?\"”]))[ \t]{{0,9}}\*(?!\*|\s)(?!(?:{_MOOD})\b)(?:(?:slowly|quietly|suddenly|carefully|then|the \w+|i|my \w+) )?[a-z]+(?<!s)(?:s|ing) [^*\n]{{2,120}}\*(?![*\w])",
        "*",
    ),
    # A part that the user plays opposite the assistant, even a helper
    cue(
        r"\b(?:act|behave|pose|serve|play|speak|respond|talk|be|you(?:['’]?re| are))\b[^.!?\n]{0,60}[.!?;,–—-]\s+(?:and |while )?I(?:['’]?m| am|['’]?ll| will)?(?: be)? ?(?:play|playing|acting as|pretending)\b"
        r"(?: to be)? (?:an?|the|your|my|as)\b(?! (?:piano|guitar|violin|cello|flute|drums?|bass|trumpet|organ|harp|saxophone|clarinet|game))",
        "play acting pretending",
    ),
    cue(
        rf"\bI(?:['’]?ll| will) (?:be|play) (?:an?|the|your) [^.!?\n]{{1,40}}?(?:,| and| while)\s+(?:and )?you(?:['’]?ll| will|['’]?re| are| can)?(?: be| play)? (?:an?|the|my) (?!{_PRAISE})",
        "i'll i’ll ill_ i_will",
    ),
    # A character of the user's, a scene
    cue(
        r"\bmy (?:\w+ )?(?:character|persona|avatar|alter ego|oc|pc)(?:['’]s|\s+(?:is|was|will be|has|lives|comes|named|called)\b|[,:])",
        "character persona avatar alter_ego oc pc",
    ),
    cue(
        r"\b(?:in|for) this (?:scene|scenario|story|game|version|episode|world|universe|timeline|play|sketch|skit|adventure|exercise)\b,?\s*(?=(?:you|i|we|my)\b)",
        "this_",
    ),
    # A rehearsal
    cue(
        rf"\b(?:rehears\w*|practi[sc](?:e|ing)|simulat(?:e|ing)|act(?:ing)? out|stage|(?:run|play) through)\b[^.!?\n]{{0,40}}\b{_REHEARSED}\b"
        rf"(?=[^.!?\n]{{0,150}}\b(?:with you|you|where|in which)\b|[^\n]{{0,150}}\bI(?:['’]ll)? play\b)",
        "rehears practi simulat act stage through",
    ),
    cue(
        rf"\b(?:mock|simulated|pretend|practice) {_REHEARSED}\b(?=[^\n]{{0,150}}(?:\?|\byou\b))",
        "mock simulated pretend practice",
    ),
    cue(
        r"\b(?:rehears\w*|practi[sc](?:e|ing)|simulat(?:e|ing))\b[^\n]{0,80}\bI(?:['’]ll| will)? (?:play|be) (?:an?|the|your)\b",
        "rehears practi simulat",
    ),
    cue(r"\b(?:stay|remain|keep|be|get|stays) in character\b", "in_character"),
    # "Pretend I'm a captain and answer as my mate"
    cue(r"\bpretend(?: that)? I(?:['’]?m| am| was| were) (?:an?|the|your)\b", "pretend"),
    # "Pretend you are my landlord", "act as a pirate"; not of helpers
    cue(
        rf"\b(?:pretend|imagine|suppose|let['’]?s say|assume)(?: that)? (?:to be|you(?:['’]?re| are| were)|we(?:['’]re| are| were)|you and I)\b(?! (?:an? |my )?{_HELPER})",
        "pretend imagine suppose say assume",
        "you we_are we're we’re to_be",
    ),
    cue(
        rf"{_SENTENCE}{_LEAD}(?:(?:please|I want you to|I['’]d like you to|can you|could you|will you|would you)\s+){{0,3}}(?:act|behave|play|respond)"
        rf"(?: to me)? (?:as|like)(?: if| though)?(?: you(?:['’]?re| are| were))? (?!(?:if|soon|well|usual|follows|before|possible)\b|(?:an? |my |the )?{_HELPER})(?:{_ARTICLE}|{_NAME})",
        "act behav play respond",
        "_as_ _like_",
    ),
    cue(
        rf"{_SENTENCE}{_LEAD}(?:please |I want you to |I['’]d like you to |can you |could you |will you ){{0,3}}be (?:an?|the|my) (?!{_HELPER})(?:\w+ ){{0,3}}?{_PART}",
        "be_",
    ),
    cue(
        rf"\b(?:I want|I need|I['’]d like|can|could|will|would) you (?:to )?(?:be|play) (?:an?|the|my) (?!{_HELPER}|{_PRAISE})\w+",
        "be_ play_",
    ),
    cue(
        r"\bas (?:if|though) I(?:['’]?m| am| was| were) (?:an?|the|your)\b|\bplay along\b|\bnew game\b\s*[!:.,]|\bcharacter\s*:",
        "as_ play_along new_game character",
    ),
    cue(
        rf"{_SENTENCE}{_LEAD}(?:we are|we['’]re) (?:two|three|four|five|both|all)\b[^.!?\n]{{0,40}}[.!;,]\s+(?:and )?{_I_AM} {_NAME}",
        "we_are we're we’re",
    ),
    cue(
        rf"{_SENTENCE}{_LEAD}{_YOU_ARE} (?:the|my) (?!{_HELPER}|{_PRAISE})(?:\w+ ){{0,2}}?\w+[.;]\s+(?:{_I_AM}|I|My)\b",
        _YOU,
    ),
    # A helper and whom it helps: "you're the doctor and I'm the patient"
    cue(
        rf"{_YOU_ARE} (?:an?|the|my) [\w ]{{2,30}}?,? (?:and |while )?{_I_AM} (?:the|your) (?:patient|client|customer|student|pupil|candidate|guest|tenant|suspect|victim|employee|boss|interviewer|interviewee|caller|"
        r"witness|defendant|passenger|tourist|travell?er|shopper|buyer|seller|driver|king|queen|knight|hero|villain|prisoner|apprentice)\b",
        _YOU,
    ),
    cue(
        rf"{_SENTENCE}{_LEAD}(?:please )?(?:play|be) (?:an?|the|my) [\w ]{{2,30}}?[.,;:]\s+(?:and )?I(?:['’]ll| will)? (?:start|begin|go first)\b",
        "start begin go_first",
    ),
    # Two parts: "you're the innkeeper and I'm a knight"
    cue(
        rf"{_SENTENCE}{_LEAD}{_YOU_ARE} (?:(?:an?|the|my) (?!{_HELPER}|{_PRAISE})|(?!(?:I|AI|ChatGPT|Claude)\b){_NAME})[^.!?\n]{{0,60}}"
        rf"(?:[,.;–—-]\s*|\s)(?:and |while |so )?(?:{_I_AM}|me)\b",
        _YOU,
        "i m me",
    ),
    cue(
        rf"{_SENTENCE}{_LEAD}{_I_AM} (?:{_ARTICLE}|{_NAME})[^.!?\n]{{0,60}}[,.;–—-]\s*(?:and |while )?{_YOU_ARE} (?:(?:an?|the|my) (?!{_HELPER}|{_PRAISE})|{_NAME})",
        _YOU,
    ),
    cue(rf"{_SENTENCE}{_LEAD}{_YOU_ARE} (?:an?|the|my) (?!{_HELPER})(?:\w+ ){{0,3}}?{_PART}", _YOU),
    cue(rf"\bfrom now on,? {_YOU_ARE} (?!(?:an? |my |the )?{_HELPER})(?:{_ARTICLE}|{_NAME})", "from_now_on"),
)
_ENDS: Final = lazy_regex(
    rf"\b(?:end|stop|quit|exit|leave|finish|pause|enough|no more|done with|drop|break)\b[^.!?\n]{{0,25}}\b(?:{_GAME}|play(?:ing|s)?|game|scene|character|pretending|rehearsal|interview|adventure|session|story|part)\b"
    r"|\bout of (?:the )?(?:character|game|play|role)\b|(?<!\w)\(?\(?ooc\b|\bback to (?:reality|normal|real life|me\b|business|work|my|the real)|\b(?:game over|end scene|the end)\b"
    r"|\b(?:for real now|now seriously|seriously now|in real life|real talk|irl|speaking as myself|as myself|not playing (?:any ?more|now))\b"
    r"|\b(?:that was|this was|it was) (?:so |really |very )?(?:fun|great|helpful|good|nice|useful|cool|entertaining)\b|\bthanks for (?:playing|the game|practi[sc]ing|the practice)\b",
    re.IGNORECASE,
)
# Stage directions: "*draws her sword*".
_DIRECTION: Final = lazy_regex(r"(?<![*\w])\*(?!\*|\s)[a-z][^*\n]{2,120}(?<!\s)\*(?![*\w])")
_LONGEST_SENTENCE: Final = 1000  # characters
_SENTENCE_START: Final = lazy_regex(r"(?:[.!?]\s+|\n)(?=\S)")


def play_spans(text: str, *, playing: bool = False) -> list[tuple[int, int]]:
    """The parts [start, end) of a message that are said in a play.

    Args:
        text: The message.
        playing: Whether a play is on when the message begins.

    >>> text = "I live in Bern. Let's roleplay: I'm Batman. OK, back to reality. I work in Thun."
    >>> [text[start:end] for start, end in play_spans(text)]
    ["Let's roleplay: I'm Batman. "]
    """
    words = Words(text)
    begins = iter(sorted(match.span() for each in _BEGINS for match in each.find(words)))
    spans, place = [], 0
    while place < len(text):
        if playing:
            start = place
        else:
            begin, end = next(((begin, end) for begin, end in begins if begin >= place), (-1, -1))
            if begin < 0:
                break
            start, place = max(place, _start_of_sentence(text, begin)), end
        ends = _ENDS.search(text, place)
        stop = max(place, _start_of_sentence(text, ends.start())) if ends else len(text)
        spans.append((start, stop))
        playing, place = False, ends.end() if ends else len(text)
    return spans


def playing_at(messages: Iterable[Memory]) -> frozenset[str]:
    """The ids of the messages at whose beginning a role play is on.

    Args:
        messages: The messages of a conversation in order, of all roles.
    """
    on, last, found = False, None, set()
    for message in messages:
        if last is not None and message.at - last > PAUSE:
            on = False
        last = message.at
        person = message.role != "assistant" or bool(message.speaker)
        if on:
            found.add(message.id)
        if person:
            on = _plays_on(message.text, playing=on)
        elif _DIRECTION.search(message.text):
            on = True  # the assistant plays; how it began lies before what is read
    return frozenset(found)


def _plays_on(text: str, *, playing: bool) -> bool:
    spans = play_spans(text, playing=playing)
    return bool(spans) and spans[-1][1] == len(text)


def _start_of_sentence(text: str, place: int) -> int:
    first = max(0, place - _LONGEST_SENTENCE)
    return max((match.end() for match in _SENTENCE_START.finditer(text, first, place + 1)), default=first)
