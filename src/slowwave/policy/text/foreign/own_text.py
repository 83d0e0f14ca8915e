"""Blanks the parts of a message that are not statements of the person who wrote it.

These are role plays, stories, poems and lyrics, quotations, pasted mail and transcripts, text that the assistant is asked to
translate or correct, hypothetical cases, examples, jokes and tests. A fact drawn from them would be wrong, and wrong facts about
a person cost more than missing ones: where a boundary is in doubt, the rest of the message is blanked.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from slowwave.policy.text.foreign.cues import Cue, Words, cue
from slowwave.policy.text.foreign.exercises import exercise_spans
from slowwave.policy.text.foreign.labels import foreign_labels
from slowwave.policy.text.foreign.role_play import play_spans
from slowwave.policy.text.foreign.text_tasks import (
    FICTION_KIND,
    FIRST_PERSON,
    KINDS,
    PASTED_KIND,
    START,
    TASK,
    TASK_AFTER,
    TASK_BEFORE_I,
    TO_INVENT,
)
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.names import word_set


def _pattern(text: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return lazy_regex(text, flags)


# Words that announce a pasted or invented text; it lasts until the end of the message.
_ANNOUNCED: Final = (
    cue(
        r"\b(?:from|in|on) (?:the|a|an|my|this|that|some) (?:\w+ ){0,2}(?:book|novel|film|movie|show|series|play|song|article|speech|blog|forum|website|site|ad|letter|diary|comic|poem|"
        r"story|podcast|episode|wall|mug|shirt|t-shirt|sign|card|poster|label|box|page|chat)\b[^.!?:\n]{0,40}:",
        "from_ in_ on_",
        ":",
    ),
    cue(
        r"\b(?:sent|wrote|emailed|mailed|messaged|texted|posted|forwarded|left|got|received|found|read|saw|heard|copied)\b[^.!?:\n]{0,30}\b(?:this|that|it|these|the following)(?: \w+)?\s*:",
        "sent wrote mailed messaged texted posted forwarded left got received found read saw heard copied",
        ":",
    ),
    cue(
        r"^\W{0,9}(?:readme|about page|documentation|changelog|faq|subject|betreff)\b[^\n]{0,20}?[:\n]",
        "readme about_page documentation changelog faq subject betreff",
    ),
    cue(
        r"(?:^|(?<=\n)|(?<=[.:!?]\s))[ \t]{0,9}dear (?!(?:assistant|ai|claude|chat\w*|gpt|bot|friend|all)\b)[^,\n]{1,40},",
        "dear_",
    ),
    cue(r"\b(?:unit|integration|smoke|load|e2e|regression|sanity|system)[ -]tests?\b[^.!?\n]{0,20}:", "test"),
    cue(
        r"\b(?:from|by|of) (?:an? |the |this |our |my )?(?:\w+ )?(?:applicant|candidate|employee|customer|client|patient|student|witness|suspect|interviewee|guest|reviewer)\b[^.!?:\n]{0,40}:",
        "applicant candidate employee customer client patient student witness suspect interviewee guest reviewer",
    ),
    cue(
        rf"\b(?:here(?:['’]s| is| are| comes| goes)|below (?:is|are)|this is|these are|it(?:['’]s| is)|i(?:['’]m| am)? (?:got|found|received|read|saw|wrote|writing|pasted|pasting|copied|came across|screening)|"
        rf"(?:just )?(?:got|found|received|read|saw|wrote|copied|pasting|writing)|look at|have a look at|check out)\b"
        rf"(?! my (?:cv|r[ée]sum[ée]|bio|profile)\b)[^.!?:\n]{{0,60}}\b{PASTED_KIND}\b[^.!?:\n]{{0,60}}(?::|\n|\s[-–—]\s(?=[\"“'‘])|\bbelow\b[^\n]{{0,40}}\n?|[.?!,](?=\s*[\"“]))",
        KINDS,
        ': ¶ _-_ – — below " “',
    ),
    cue(
        rf"{START}(?:(?:my|the|a|an|our|his|her|this|some|first|next|second|third|new|short|rough|quick)\s+){{0,3}}(?:\w+(?:['’]s)?\s+){{0,2}}(?:{PASTED_KIND}|{FICTION_KIND})\b(?! (?:\w+ )?(?:is|are|was|were|has|have)\b)[^.!?:,\n]{{0,40}}(?::|\n|\s[-–—]\s(?=[\"“'‘]|{FIRST_PERSON}\b))",
        KINDS,
        ": ¶ _-_ – —",
    ),
    cue(
        rf"\b(?:applicant|candidate|employee|customer|client|patient|student|witness|author|speaker|reviewer|colleague|friend|user)['’]?s?\s+(?:\w+\s+){{0,2}}{PASTED_KIND}\b[^\n]{{0,60}}(?::|\n|below)",
        KINDS,
        "applicant candidate employee customer client patient student witness author speaker reviewer colleague friend user",
    ),
    cue(
        rf"\b(?:{FICTION_KIND}|{PASTED_KIND}|chapter \w+|it|letter|diary) (?:opens?|starts?|begins?|goes|reads?|says|ends?|continues?)\b[^.!?:\n]{{0,30}}(?::|\s[-–—]\s|,\s(?=[\"“])|\n)",
        "open start begin go read say end continue",
        KINDS,
        ': ¶ _-_ – — ," ,_" ,_“',
    ),
    cue(
        rf"\bin (?:my|our|the|this|a) (?:[\w-]+ ){{0,2}}?(?:novel|story|screenplay|fan ?fiction|fanfic|dreams?|nightmare|role-?play|campaign|game|simulation|script|book i['’]m writing),?\s+(?={FIRST_PERSON}\b)",
        "novel story screenplay fiction fanfic dream nightmare play campaign game simulation script book",
        "in_",
    ),
    cue(
        r"\bin (?:the|this|that|an?) (?:[\w-]+ ){0,2}?(?:film|movie|novel|book|series|show|episode|play|musical|opera)(?: (?:that )?(?:i|we)\b['’\w ]{1,30})?,\s+(?=(?:an?|the|some(?:one|body)?|he|she|they)\b)",
        "film movie novel book series show episode play musical opera",
        "in_",
    ),
    cue(
        r"\b(?:i|we) (?:(?:once |just |also )?(?:had|have|keep having) (?:a|this|the) (?:\w+ )?(?:dream|nightmare)|(?:dream(?:ed|t)|am dreaming|keep dreaming))\b[^.!?\n]*",
        "dream nightmare",
    ),
    cue(
        rf"\b(?:write|tell|invent|make up) (?:me )?(?:an?|the|another|my)? ?(?:[\w-]+ ){{0,3}}?(?:story|poem|song|scene|novel|letter|e-?mail|essay|dialogue|monologue|diary entry|blog post|speech|rap|bio|cover letter)\b[^.!?\n]{{0,300}}\b{FIRST_PERSON}\b",
        "write tell invent make_up",
        KINDS,
    ),
    cue(
        r"\b(?:sample|example|dummy|fake|test|placeholder|made-?up|fictional|fictitious|mock) (?:sentences?|texts?|inputs?|data|messages?|answers?|facts?|users?|conversations?|personas?|profiles?|memor(?:y|ies)|statements?|entries|records?)\b[^:\n]{0,40}(?::|\n|\blike\b|\bsuch as\b)",
        "sample example dummy fake test placeholder made ficti mock",
    ),
    cue(
        r"(?:^|(?<=\n))[ \t]*(?:-{2,}|={2,}|\*{3,}|#{3,})\s*(?:begin|start|original|forwarded|message|quote|text|email|mail|snip|paste)\b[^\n]*",
        "-- == ** ##",
    ),
)
# A hypothetical case: it lasts until the end of its paragraph.
_HYPOTHETICAL: Final = (
    cue(
        r"\b(?:picture|imagine|consider|suppose|assume) (?:this|that|the following)(?: \w+){0,2}\s*[:,.–—-]",
        "picture imagine consider suppose assume",
    ),
    cue(
        rf"{START}(?:ok(?:ay)?|so|now|but|and|well|just|please|hey)?,?\s*(?:suppose|supposing|imagine|assume|assuming|pretend|picture|let['’]?s (?:say|suppose|assume|imagine|pretend)|say|think of it)"
        rf"(?: for a (?:moment|second|minute))?,?(?: that)? (?:{FIRST_PERSON}|you|a|an|the|there|someone|somebody|he|she|they|it)\b(?! surprise)",
        "suppos imagin assum pretend picture say think_of",
    ),
    cue(
        r"\b(?:hypothetical(?:ly)?|theoretically|in theory|in an? (?:ideal|perfect) world|in my (?:dreams|fantasy)|in this (?:scenario|hypothetical)|thought experiment|in another life|in a parallel universe|in an alternate universe|for the sake of (?:the )?argument|asking for a friend|purely theoretical(?:ly)?)\b",
        "hypothetical theor ideal_world perfect_world in_my_ in_this_ thought_experiment another_life parallel alternate argument asking_for",
    ),
    cue(rf"(?<!\bI )(?:\bpretend|\bimagine)(?: that)? {FIRST_PERSON}\b", "pretend imagine"),
)
_WHAT_IF: Final = cue(
    rf"\bwhat (?:if|would|happens if|would happen)\b[^?\n]{{0,300}}\b{FIRST_PERSON}\b",
    "what_if what_would what_happens",
)
# A condition in a question, or with would: the sentence speaks of no fact from "if" on.
_CONDITION: Final = cue(
    rf"(?:\bif\b|\beven if\b|\bin case\b|\bwhether\b|\bas if\b|\bas though\b|\bonce\b|\bwhen\b)(?=\s+(?:{FIRST_PERSON}|you|he|she|they|it|the|a|an|someone)\b)",
    "if in_case whether once when",
)
_UNREAL: Final = cue(
    r"\b(?:if|as if|as though|if only|i wish|wish)\s+(?:i|we|my \w+|he|she|they|it)\s+(?:\w+ )?(?:were|was|had|could|would|lived|owned|worked|knew|weren['’]t|wasn['’]t|hadn['’]t|didn['’]t)\b|\bwere I\b|\bhad I\b|\bI wish\b",
    "if wish were had",
)
_WOULD: Final = _pattern(r"\b(?:would|wouldn['’]t|could|couldn['’]t|might)\b|\b(?:i|we|he|she|they|it|you)['’]d\b")
# What somebody else says or writes, without quotation marks.
_REPORTED: Final = (
    cue(
        rf"\baccording to (?:him|her|them|(?:my|the|his|her|our) \w+|(?-i:[A-Z])\w+),?\s*(?={FIRST_PERSON}\b)",
        "according_to",
    ),
    cue(
        rf"\b(?:said|says|say|saying|told|tells?|telling|wrote|writes?|writing|stated|states|claimed|claims|texted|texts|posted|posts|announced|yelled|shouted|replied|replies|whispered|sang|sings|"
        rf"thinks|goes|went|reads|asks|asked|answered|repl(?:y|ied)|sounds? like|(?:is|was) like|(?:are|were) like|quote|like this)\b[^.!?:\n\"“]{{0,40}}(?:[:]|\s[-–—])\s*(?={FIRST_PERSON}\b)",
        "said say told tell wrote writ stat claim text post announced yelled shouted repl whispered sang sing think goes went read ask answer sound like quote",
        ": _- – —",
    ),
    cue(
        r"\b(?:he|she|they|somebody|someone|(?:my|the|his|her|our|a|that|this) (?:[\w-]+ ){1,3}|(?-i:[A-Z]\w+) )\s?(?:said|says|told (?:me|us|him|her|them|everyone|everybody)|wrote|writes|claims|claimed|goes|was like|is like|texted|replied|always says|keeps saying)"
        r"(?:,| that:|:)\s*(?=I\b|I['’]|my\b)",
        "said say told wrote writes claim goes like texted replied",
    ),
    cue(
        r"\b(?:he|she|they|(?:my|the|his|her|our|a|that|this) (?:[\w-]+ ){1,2}?)\s?(?:goes|went|is|was|were|are)(?: all)? like,?\s+(?=(?:I|I['’]\w+|my)\b)",
        "like",
    ),
    cue(
        rf"\bas (?:the )?(?:\w+ ){{1,3}}(?:says|said|put it|wrote|writes|sang|goes),\s*(?={FIRST_PERSON}\b)",
        "as_",
        "says said put_it wrote writes sang goes",
    ),
)
_BY_SELF: Final = _pattern(
    r"\b(?:i|we)(?:['’]ve| have| just| also| always| once)?\s+(?:said|say|told|tell|wrote|write|stated|announced|replied|answered|asked)\b[^.!?\n]*$"
)
_EXAMPLE: Final = cue(
    rf"(?:\be\.\s?g\.|\bfor (?:example|instance)|\bsuch as|\b(?:some|any)thing like|\ban? (?:\w+ )?example(?: \w+)?|\bexamples?|\bthings like|\bphrases? like|\bsentences? like|\bstatements? like|\bfacts? like)"
    rf"\s*(?::|-|[,]?\s*(?=[\"“'‘])|,?\s+(?={FIRST_PERSON}\b))",
    "e.g example instance such_as thing_like things_like like",
)
_REQUESTED: Final = _pattern(
    r"\b(?:give|write|need|show|want|use|make|create|how|generate|invent|say|says|store|stores|remember|save|mean|type|enter|input|user|users|someone|people|sentence|sentences|prompt|phrase|answer|answers)\b"
)
# Jokes, irony and riddles.
_JOKE: Final = cue(
    r"(?:^|\s)/(?:s|j|sarcasm|jk)\b|\b(?:jk|j/k|just kidding(?! around)|(?:i['’]?m|am|was|only|totally) (?:just )?(?:kidding|joking)(?! around)|kidding(?! around)|just joking|sarcasm|sarcastic(?:ally)?|yeah right|as if!|not really lol|"
    r"(?:it|that)['’]?s a joke|joking aside|april fools?|lies!|psych!|yeah,? sure,? right|said (?:no ?one|nobody) ever|when (?:pigs|hell) (?:fly|freezes)|i wish lol|(?:irony|ironic(?:ally)?|satire) (?:off|intended|alert)|(?:that was|i was being|being|i['’]?m being) (?:ironic|facetious))\b"
    r"|[(\[]\s{0,3}(?:a )?(?:joke|joking)\s{0,3}[)\]]|\b(?:lol|haha|hehe),? (?:just )?joking\b|\b(?:lol|lmao|haha|hehe)\W{1,3}(?:oh )?(?:yeah|yes|sure|right)\W{1,3}(?:sure|right|of course)\b|\bonce upon a time\b"
    r"|\bwhat am i\?|\bknock,? knock\b|\bor so it (?:feels|seems)\b|\bI['’]?m (?:the )?(?:queen|king) of (?:england|spain|france|the world|the universe)\b|\b(?:and|then) I['’]?m the (?:queen|king|pope|emperor|tooth fairy|president|prime minister|easter bunny)\b|<\/?(?:s|sarcasm|irony)>|\s\/(?:sarc|irony|hj)\b",
    "lol lmao haha hehe queen_of king_of upon_a_time knock so_it_ i'm_the_ im_the_ i’m_the_ (joke [joke (a_joke (joking what_am_i /s /j /hj sarc jk j/k kidding joking yeah as_if! not_really_lol a_joke joke_aside joking_aside april lies! psych! irony ironic satire ever when_pigs when_hell wish_lol facetious <s> </s>",
)
# The last words of a message that take it back.
_TAKEN_BACK: Final = _pattern(
    r"\b(?:lol|lmao|haha|hehe|rofl|pff+t?|hah)[\s,.!…–—-]{1,3}(?:as if|not|no|nope|sure|right|obviously not|of course not|i wish)\W{0,9}$"
    r"|(?:[.!,…;–—-]\s{0,3}|\s\()(?:not|as if|yeah,? right|in my dreams|dream on|sike|psyche?|i wish|or not lol|obviously not lol|fat chance)\b\W{0,9}$"
    r"|\s(?-i:NOT)\W{0,9}$|🙄\W{0,9}$"
)
_LAST_WORDS: Final = 40  # characters
_TEST: Final = _pattern(
    r"^\W{0,9}(?:(?:test(?:ing)?\W+){1,3}(?:\d|test|one|this|my|is|,|message|abc|hello)|this is (?:just )?(?:a|only a) test\b|lorem ipsum|asdf|hello world test)"
)
_QUOTES: Final = (
    _pattern(r"\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|<<<.*?(?:>>>|\Z)", re.DOTALL),
    _pattern(
        r"<(?P<tag>text|email|mail|document|doc|quote|passage|input|article|story|message|transcript|content|example|cv|resume|letter|poem)\b[^>]{0,40}>.*?(?:</(?P=tag)>|\Z)",
        re.DOTALL | re.IGNORECASE,
    ),
    _pattern(r"\"[^\"]+\"|“[^“”]+”|«[^«»]+»|„[^„“”\"]+[“”\"]|‹[^‹›]+›"),
    _pattern(r"(?<![\w'’])['‘](?=\S)[^'‘’\n]{0,300}(?:['’](?=\w)[^'‘’\n]{0,300}){0,20}(?<=\S)['’](?![\w])"),
)
_OPEN_QUOTE: Final = _pattern(rf"(?<!\w)[\"“](?=\s*{FIRST_PERSON}\b)[^\"“”]*\Z")
_FIRST: Final = _pattern(rf"\b{FIRST_PERSON}\b")
_WORD: Final = _pattern(r"[^\W_]+(?:['’-]\w+)*")
_LONG_QUOTE: Final = 7
"""Words from which a quotation is blanked even without "I": shorter ones are names, titles and codes."""
_FIRST_QUOTE: Final = 2
_SHORT_WORD: Final = 3  # letters of a word that has no capital in a title

_HEADER: Final = _pattern(
    r"^[ \t>*]*(?:From|To|Subject|Sent|Date|Cc|Bcc|Reply-To|Von|An|Betreff|De|À|Objet|Para|Asunto)[ \t]*:.*$",
    re.MULTILINE,
)
_GREETING: Final = _pattern(
    r"^[ \t]*(?:dear|hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings|to whom)\b[^.!?\n]{0,40}[,:]?[ \t]*$|^[ \t]*dear\b[^.!?\n]{1,40},",
    re.MULTILINE | re.IGNORECASE,
)
_NAMED_GREETING: Final = _pattern(
    r"^[ \t]*(?:dear|to whom)\b|^[ \t]*(?:hi|hello|hey|hiya|good \w+)\s+(?:all|team|everyone|everybody|folks|(?-i:[A-Z])\w+)",
    re.IGNORECASE,
)
_CLOSING: Final = _pattern(
    r"^[ \t]*(?:(?:best|kind|warm|warmest|many|with (?:best|kind|warm))\s+(?:regards|wishes|greetings|thanks)|regards|cheers|sincerely|yours(?: \w+)?|best|respectfully|cordially|"
    r"thanks|thank you|many thanks|ta|love|xoxo|hugs|take care|see you(?: soon)?|yours sincerely|yours faithfully|mit freundlichen gr[üu](?:ß|ss)en|cordialement|saludos)[ \t]{0,9}[,.!]?[ \t]{0,9}(?:\n|,\s*(?-i:[A-Z])\w+[ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_SIGNATURE_LINES: Final = _pattern(r"(?:[^\n]{0,200}\n?){0,6}")
_SIGNATURE: Final = _pattern(r"^--[ ]?\n.*", re.MULTILINE | re.DOTALL)
_LABELLED: Final = _pattern(
    r"^[ \t]*(?:[-*•][ \t]+)?(?:\[[\d:., APMapm/-]+\][ \t]*)?(?P<label>[^\W\d][\w .'’-]{0,24})(?:[ \t]*\([^)\n]{0,20}\))?[ \t]*:[ \t]+\S.*$",
    re.MULTILINE,
)
_SPEAKERS: Final = word_set("q a interviewer interviewee host guest speaker moderator user assistant customer agent me him her patient doctor teacher student he she dm gm narrator boss")  # fmt: skip
_INLINE_DIALOGUE: Final = _pattern(r"(?:^|\s)Q:\s.{0,1000}?\sA:\s[^\n]*")
_INLINE_LABEL: Final = _pattern(r"(?:^|(?<=[.!?…] )|(?<=\n))(?P<label>[^\W\d]\w{0,14}):(?=[ \t])")
_COMMENT: Final = _pattern(
    r"^[ \t]*(?://|/\*|\*/|<!--|#!|%%|--[ \t](?=\w+.*;))[^\n]*",
    re.MULTILINE,
)
_CODE_LINE: Final = _pattern(
    r"^[ \t]*+(?:\w+\s*=\s*\S|def |class |import |from \w+ import|print\(|return\b|\}|\{|if \(|for \(|.*;[ \t]*$)",
    re.MULTILINE,
)
_HASH_LINE: Final = _pattern(r"^[ \t]*#[^#\n]+$", re.MULTILINE)
_OWN_AGAIN: Final = _pattern(
    r"\n[ \t]*(?=(?:btw|by the way|for context|fyi|on another note|unrelated|separately|as for me|about me|anyway|on a personal note|p\.?\s?s\.?|remember that|please remember)\b)",
)
_ENDED: Final = _pattern(
    r"^[ \t]*(?:-{2,}|={2,}|_{3,}|\*{3,}|#{3,})[ \t]*(?:end|ende|fin)\b[^\n]*\n", re.MULTILINE | re.IGNORECASE
)


def own_text(text: str, *, playing: bool = False) -> str:
    """The message with line ends in the place of everything that is not its writer's own statement; positions are unchanged.

    Args:
        text: The message.
        playing: Whether a role play is on when the message begins (see `role_play.playing_at`).

    >>> own_text("Translate this: I live in Rome.").strip()
    'Translate this:'
    """
    spans = sorted(span for spans in _all_spans(text, playing=playing) for span in spans if span[1] > span[0])
    if not spans:
        return text
    pieces, place = [], 0
    for start, end in spans:
        pieces += [text[place : max(place, start)], "\n" * (end - max(place, start))]
        place = max(place, end)
    return "".join((*pieces, text[place:]))


def _all_spans(text: str, *, playing: bool) -> Iterator[Iterable[tuple[int, int]]]:
    """The spans that each finder blanks; code is not read."""
    prose = _FENCE.sub(lambda match: _CODE * len(match.group()), text) if "```" in text else text
    yield play_spans(prose, playing=playing)
    words = Words(prose)
    for find in _BY_WORDS:
        yield find(prose, words)
    for read in _BY_FORM:
        yield read(prose)


_CODE: Final = "\x00"
"""Replaces each character of code while the text is searched."""
_FENCE: Final = _pattern(r"```.*?(?:```|\Z)", re.DOTALL)
Spans = Iterator[tuple[int, int]]


def _rest(text: str, place: int) -> tuple[int, int]:
    """From a place to the end of the message, or to where it says that the foreign text ends."""
    ends = [match.start() for pattern in (_OWN_AGAIN, _ENDED) if (match := pattern.search(text, place))]
    return place, min(ends, default=len(text))


_LONGEST_SENTENCE: Final = 1000  # characters


def _sentence_start(text: str, place: int) -> int:
    first = max(0, place - _LONGEST_SENTENCE)
    return max((match.end() for match in _SENTENCE_BREAK.finditer(text, first, place)), default=first)


_SENTENCE_BREAK: Final = lazy_regex(r"(?<!\be\.g)(?<!\b[A-Z])[.!?][\"”')]*\s+|\n")


def _sentence_end(text: str, place: int) -> int:
    found = _SENTENCE_BREAK.search(text, place, place + _LONGEST_SENTENCE)
    return found.end() if found else _line_end(text, place)


def _line_end(text: str, place: int) -> int:
    found = text.find("\n", place)
    return found if found >= 0 else len(text)


def _outside(cues: Iterable[Cue], words: Words, span: Callable[[re.Match[str]], tuple[int, int]]) -> Spans:
    """The spans of the matches of some cues; those that lie in the span of an earlier match of their cue are skipped.

    Without this a long message of announcing words would be read once for each of them.
    """
    for each in cues:
        end = -1
        for match in each.find(words):
            if match.end() > end:
                start, end = span(match)
                yield start, end


def _tasks(text: str, words: Words) -> Spans:
    yield from _outside((*TASK, *TASK_BEFORE_I, TO_INVENT), words, lambda match: _rest(text, match.end()))
    for each in TASK_AFTER:
        last = max((match.start() for match in each.find(words)), default=0)
        if text[:last].strip():
            yield 0, last


def _labelled(text: str) -> Spans:
    end = -1
    for place in sorted(foreign_labels(text)):
        if place > end:
            end = _rest(text, place)[1]
            yield place, end


_GAP: Final = 9  # characters


def _announced(text: str, words: Words) -> Spans:
    def span(match: re.Match[str]) -> tuple[int, int]:
        if text[match.end() : match.end() + _GAP].lstrip().startswith(_CODE):
            return match.end(), match.end()
        return _sentence_start(text, match.start()), _rest(text, match.end())[1]

    yield from _outside(_ANNOUNCED, words, span)


def _hypothetical(text: str, words: Words) -> Spans:
    yield from _outside(_HYPOTHETICAL, words, lambda match: (match.start(), _line_end(text, match.end())))
    yield from _outside((_WHAT_IF,), words, lambda match: (match.start(), _sentence_end(text, match.end())))
    yield from _outside(
        (_UNREAL,), words, lambda match: (_sentence_start(text, match.start()), _sentence_end(text, match.end()))
    )
    yield from _conditions(text, words)


def _conditions(text: str, words: Words) -> Spans:
    """From "if" to the end of a sentence that asks or says would; of what is in doubt only its clause."""
    start = end = 0
    unreal = False
    for match in _CONDITION.find(words):
        if match.start() >= end:
            start, end = _sentence_start(text, match.start()), _sentence_end(text, match.end())
            sentence = text[start:end]
            unreal = sentence.rstrip().endswith("?") or bool(_WOULD.search(sentence))
        if not unreal or match.group().lower() in {"when", "once"}:
            continue
        more = (
            _NEXT_CLAUSE.search(text, match.end(), end)
            if _WHETHER.search(text, max(start, match.start() - _WORDS_BEFORE), match.start())
            else None
        )
        yield match.start(), more.start() if more else end
        if not more:
            unreal = False  # the rest of the sentence is blanked


# "I'm not sure if …": what is in doubt ends with its clause.
_WHETHER: Final = _pattern(
    r"\b(?:sure|wonder(?:ing|ed)?|verify|check|confirm|know|see|ask(?:ing|ed)?|tell|determine|understand|clear|idea|certain|decide|curious)\s*$"
)
_NEXT_CLAUSE: Final = _pattern(r",\s+(?=(?:I|I['’](?:m|ve|d|ll)|my|we|we['’](?:re|ve)|but|so|and|can|could)\b)")


def _reported(text: str, words: Words) -> Spans:
    def span(match: re.Match[str]) -> tuple[int, int]:
        if _BY_SELF.search(text[max(0, match.start() - _WORDS_BEFORE) : match.end()]):
            return match.end(), match.end()
        return _sentence_start(text, match.start()), _line_end(text, match.end())

    yield from _outside(_REPORTED, words, span)


_WORDS_BEFORE: Final = 40  # characters


def _examples(text: str, words: Words) -> Spans:
    def span(match: re.Match[str]) -> tuple[int, int]:
        found = match.group().rstrip().lower()
        start = _sentence_start(text, match.start())
        if found.endswith(":"):
            return match.start(), _rest(text, match.end())[1]
        if "e.g" in found or _REQUESTED.search(text, start, match.start()):
            return match.start(), _sentence_end(text, match.end())
        return match.end(), match.end()

    yield from _outside((_EXAMPLE,), words, span)


def _jokes(text: str, words: Words) -> Spans:
    yield from _outside(
        (_JOKE,), words, lambda match: (text.rfind("\n", 0, match.start()) + 1, _line_end(text, match.end()))
    )
    if back := _TAKEN_BACK.search(text, max(0, len(text) - _LAST_WORDS)):
        yield text.rfind("\n", 0, back.start()) + 1, len(text)
    if _TEST.match(text):
        yield 0, len(text)


def _quotations(text: str) -> Spans:
    """Quotations in which somebody speaks, with the sentence that introduces them. Names, titles and codes stay."""
    for pattern in _QUOTES[:2]:
        for match in pattern.finditer(text):
            yield match.span()
    for pattern in (*_QUOTES[2:], _OPEN_QUOTE):
        for match in pattern.finditer(text):
            words = _WORD.findall(match.group())
            title = all(word[0].isupper() or len(word) <= _SHORT_WORD for word in words)
            first = len(words) >= _FIRST_QUOTE and _FIRST.search(match.group())
            if (first or len(words) >= _LONG_QUOTE) and not title:
                yield _sentence_start(text, match.start()), max(match.end(), _sentence_end(text, match.end() - 1))


def _mail(text: str) -> Spans:
    """Mail with headers, mail from a greeting to its signature, and signatures."""
    header = _HEADER.search(text)
    if header and (len(_HEADER.findall(text)) > 1 or re.match(r"\s*from\b.*@", header.group(), re.IGNORECASE)):
        yield header.start(), _rest(text, header.end())[1]
    for match in _SIGNATURE.finditer(text):
        yield match.span()
    greeting = _GREETING.search(text)
    pasted = greeting and (text[: greeting.start()].strip() or _NAMED_GREETING.match(greeting.group()))
    for closing in _CLOSING.finditer(text):
        signature = _SIGNATURE_LINES.match(text, closing.end())
        end = signature.end() if signature else closing.end()
        if (gap := text.find("\n\n", closing.end(), end)) >= 0:
            end = gap
        yield (greeting.start() if greeting and pasted and greeting.end() <= closing.start() else closing.start()), end


def _transcripts(text: str) -> Spans:
    """Lines with the names of speakers: one of them twice, or names such as Q and A."""
    lines = list(_LABELLED.finditer(text))
    labels = [line["label"].strip().casefold() for line in lines]
    if len(set(labels)) < len(labels) or (len(labels) > 1 and any(label.split()[0] in _SPEAKERS for label in labels)):
        for line in lines:
            yield line.span()
    for match in _INLINE_DIALOGUE.finditer(text):
        yield match.span()
    said = list(_INLINE_LABEL.finditer(text))
    if len(said) > 1 and any(match["label"].casefold() in _SPEAKERS for match in said):
        yield said[0].start(), _line_end(text, said[-1].end())


def _comments(text: str) -> Spans:
    """Comments of code; a line with "#" only where lines of code stand with it."""
    for match in _COMMENT.finditer(text):
        yield match.span()
    if _CODE_LINE.search(text):
        for match in _HASH_LINE.finditer(text):
            yield match.span()


_BY_WORDS: Final[tuple[Callable[[str, Words], Spans], ...]] = (
    _tasks,
    _announced,
    _hypothetical,
    _reported,
    _examples,
    _jokes,
)
_BY_FORM: Final[tuple[Callable[[str], Spans], ...]] = (
    _labelled,
    _quotations,
    _mail,
    _transcripts,
    _comments,
    exercise_spans,
)
