"""Splits a message into pieces that may each state one fact, without quoted, fictional and other foreign text."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from slowwave.minds.offline.rules.presupposed import main_clause
from slowwave.minds.offline.rules.words import SOME_PEOPLE
from slowwave.policy.guard.fence import remove_fenced_blocks
from slowwave.policy.text.clauses import prose
from slowwave.policy.text.foreign.own_text import own_text

_WROTE: Final = re.compile(
    r"^.{0,80}\b(?:wrote|schrieb|a écrit|escribió):\s*$|^-{2,} ?(?:Original|Forwarded)|^_{10,}",
    re.MULTILINE | re.IGNORECASE,
)
# So many blanks are layout, not a space between words: they end a sentence, so that no pattern reads long runs of them.
_LAYOUT: Final = re.compile(r"[^\S\n]{16,}+")
_NO_SENTENCE: Final = re.compile(r"^[ \t]*(?:>|#{1,6}[ \t]).*$", re.MULTILINE)
"""A quoted line, or a heading."""
_CAPTION: Final = re.compile(
    r"\[(?:image|photo|picture|video|audio|file|attachment)s?\b[^\[\]]{0,2000}\]", re.IGNORECASE
)
_SENTENCE: Final = re.compile(
    r"(?:[^.!?…\n]|[.](?=\w)|(?<=\w)[?](?=\w+=)|(?<=\d)!(?=\s*[=*/×)])|(?<=\b(?:Mr|Ms|Dr|St|vs|No|no|Nr|nr|dr|mr|ms))[.]|(?<=\bincl)[.]|(?<=\bProf)[.]|(?<=\b(?:Mrs|e\.g|i\.e))[.]|(?<=\b[A-Z])[.](?=\s[A-Z]))+"
    r"(?:[.!?…]+[\"'”’)]*|(?=\n)|\Z)"
)
_ASKING: Final = (
    r"(?!(?:do|have) (?:a|some|the|much|many|my|advice|to)\b)(?:when(?! (?:i|you|we|it|the|they|my|your)\b)|can|could|would|will|do|does|did|is|are|am|was|were|should|shall|have|has|how|what|what's|why|where|which|who|whose|any)"
    r"\s+(?:you|i|we|it|there|this|that|the|they|a|to|do|does|did|is|are|can|could|would|should|about|some|much|many|my|your|else|"
    r"advice|tips|thoughts|ideas|suggestions|chance|way|kind|type|specific)\b"
)
_QUESTION: Final = re.compile(rf"^(?:and|but|so|or|also|then)?\s*{_ASKING}", re.IGNORECASE)
# "Was a welder for years.": a statement without its subject, unless it ends with a question mark.
_NO_SUBJECT: Final = re.compile(
    r"^(?:and|but|so|or|also|then)?\s*(?:is|are|was|were|have|has|am)\s+(?:an?|the|some|much|many)\b", re.IGNORECASE
)
# A tag makes no question: "…, right?", "… ok?"
_TAG: Final = re.compile(
    r"[,\s]+(?:right|ok(?:ay)?|yeah|eh|correct|you know|got it|understood|alright|deal|please|isn['’]t it|aren['’]t (?:they|we)|don['’]t (?:you|we) (?:think|know))\s*\?+[\"'”’) ]*$",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(
    rf"\s*(?:[,;]|\s[-–—]+(?=\s)|(?<=[a-z])[-–](?=\s)|—)\s*(?:(?:and|but|so|because|since|considering|given that|given|although|though|plus|as|or|however|also)\s+)?"
    rf"(?=(?:I|I['’](?:m|ve|d|ll)|we|we['’](?:re|ve|d|ll)|my|our|{_ASKING})\b)"
    rf"|\s+(?:and|but|so)\s+(?=(?:I|I['’](?:m|ve|ll)|we|we['’](?:re|ve|ll))\b)"
    rf"|\s*;\s+|\s+[-–—]+\s+|—",
    re.IGNORECASE,
)
# Two main clauses without a mark between them: "I live in Bern my sister lives in Basel".
_RUN_ON: Final = re.compile(
    r"(?:\b(?:in|at|to|from|near|is|called|named) [A-Z][\w'’-]*[a-z](?: [A-Z][\w'’-]*[a-z])?|\d (?:years old|yo))(?P<gap>\s+)"
    r"(?=(?:I(?:['’](?:m|ve|d|ll))?|[Mm]y|[Oo]ur|[Ww]e(?:['’](?:re|ve|d|ll))?)\s)"
)
_SUBORDINATE: Final = re.compile(
    r"\b(?:when|whenever|while|after|before|until|once|if|because|since|although|though|that|which|who|where|as|how|what|than)\b",
    re.IGNORECASE,
)
# A question after a statement, in a sentence with a question mark: "I live in Bern, any tips?"
_LAST_QUESTION: Final = re.compile(
    r"(?:\s*[,;]|\s+[-–—]+(?=\s)|—)\s*(?:(?:and|but|so|or|then|thus)\s+)*(?:(?:what|how|why|any|ideas?|thoughts?|tips|suggestions?|advice|recommendations?|got any|know any|anything|"
    r"is|are|was|were|do|does|did|can|could|would|will|should|shall|may|has|have (?:you|they|we)|who(?:se|['’]s)? (?:should|would|can|could|do|does|did)|"
    r"(?:which|where|when)(?! (?:is|was|are|were|has|had|have|means?|meant|I|we|my|our|he|she|they|the|it)\b))\b[^,;?]*|where is\b[^,;?]*)[?\s]*$",
    re.IGNORECASE,
)
_LASTING_REQUEST: Final = re.compile(
    r"^(?:please )?(?:can|could|would|will) you (?:please )?(?:always|never|from now on)\b", re.IGNORECASE
)
"""An instruction in the form of a question: "can you always answer in French?"."""
_THEN_ORDERED: Final = re.compile(
    r",?\s+and\s+(?=(?:please )?(?:always|never) [a-z]+ (?:[^.;]|\.(?=\w)){0,200}\b(?:when (?:I ask|asked|you|[a-z]+ing)|in (?:your|all|every) (?:answers?|responses?|repl(?:y|ies))|whenever (?:I ask|you))\b)",
    re.IGNORECASE,
)
"""What stands before an instruction at the end of a statement: "I know no Rust, and always name the version when showing code"."""
_STATES: Final = re.compile(
    r"(?:I|I['’]?(?:m|ve|d|ll)|im|ive|my|our|we|we['’](?:re|ve|ll|d)|(?:my |the )?name['’]?s?)\b", re.IGNORECASE
)
"""How a statement of the writer's begins."""
_OPENING: Final = re.compile(
    r"^[\s,;:.!?…–—*•#-]*(?:(?:good (?:morning|evening|afternoon|day)|greetings|evening|morning|hey|hi|hello|wow|oh|yeah|yep|yup|yes|no|nah|sure|well|so|and|but|also|actually|honestly|thanks|thank you|thx|ok|okay|"
    r"haha|lol|great|awesome|cool|nice|absolutely|totally|definitely|exactly|of course|for sure|by the way|btw|anyway|anyways|you know|i mean|"
    r"like|oh my god|omg|guess what|plus|hmm|hm|ah|aw|aww|ugh|gosh|sadly|luckily|unfortunately|fortunately|right|first|then|because|since(?! [a-z]+ing\b)|"
    r"as for me|in fact|(?:please |pls )?(?:remember|note|keep in mind|be aware|don['’]t forget) that|(?:please |pls )?(?:remember|don['’]t forget|note to self|save this(?: for later)?|keep in mind|note)(?=\s*[,:])|just so you have it|fyi|(?:small |quick )?(?:correction|update)(?=\s*[:,–—-])|just so you know|for context|to be honest|tbh|congrats|got it|sorry|again|quick (?:one|question)|now that|for next time|additionally|furthermore|moreover|besides|however|though|although)"
    r"(?![\w'’])[\s,;:.!?…–—-]*)+",
    re.IGNORECASE,
)
_HALF_SUBJECT: Final = re.compile(
    r"(?:^\s*|[,.]\s*)(?:\w+ ){0,2}?(?:(?:[Mm]y|[Oo]ur)\s+[\w-]+(?:\s+[A-Z]\w+)?|[Mm]e)$|^\s*(?!Now$)[A-Z]\w+$"
    rf"|(?i:(?:^|[,.;!?]|\b(?:and|but|so)\b)\s*(?:\w+,? )?{SOME_PEOPLE}$)"
)
_APPOSED: Final = re.compile(r"[A-Z]\w+, (?:my|our) [\w\s'’-]{2,40}, (?=[a-z])")
"""An apposition between commas: the name is the subject of the sentence, not the person addressed."""
_QUALIFIED: Final = re.compile(r"[\s,;–—-]*(?:but|though|although|except(?: that)?)\s+$", re.IGNORECASE)
_QUALIFIER: Final = re.compile(
    r"(?:I|we)\b.*\b(?:sometimes|occasionally|rarely|now and then|once in a while|from time to time|still)\b"
    r"|(?:I|we)(?:['’]ve| have)? (?:\w+ )?(?:quit|stopped|gave up|given up)(?: (?:in|on|last|after|when|since|\w+ years?|\d+)\b.*)?\W*$",
    re.IGNORECASE,
)
# Words before a comma that say when the clause after it happened, or on which condition.
_NO_FRAME: Final = r"(?:(?!\b(?:you|your|it|that|this|these|those|they|their|he|she|there)\b)[^,;:!?])"
_FRAME: Final = re.compile(
    r"^(?:(?:just |only )?(?!at the end of the day\b|(?:one|some) day\b|.* (?:is|was|are|were|has|had|have|went|got)\b)(?:on|in|at|during|over|for|from|by|until|after|before|around|every|each|last|next|this|earlier|later|back|towards?|between|throughout|since|"
    r"a|an|one|two|three|four|five|six|several|some|many|\d+)\b[^,;:!?]*\b(?:\d{4}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weeks?|weekends?|months?|years?|days?|nights?|mornings?|"
    r"afternoons?|evenings?|summers?|winters?|springs?|autumns?|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|"
    r"school|college|university|uni|childhood|teens|twenties|thirties|forties|pandemic|lockdown|holidays?|birthday|graduation)\b[^,;:!?]{0,25}"
    r"|as an? (?:little |young |small )?(?:kid|child|teen(?:ager)?|boy|girl|student|baby|toddler|adult)|growing up(?: (?:in|with|on|near)\b[^,;:!?]*)?"
    rf"|(?:when|while|whenever|once|after|before|as soon as|until|by the time|ever since) (?:I|we(?! (?:are|were)\b)|my \w+)\b{_NO_FRAME}*)\s*$",
    re.IGNORECASE,
)
_FRAME_LONGEST: Final = 14  # words
_FRAME_CHARACTERS: Final = 300
"""Characters of a part that are read to join it to the next one."""
_CONDITION: Final = re.compile(
    r"(?:^|[\s,])(?:if|unless|in case|provided(?: that)?|supposing|assuming)\b[^,;:!?]*$", re.IGNORECASE
)
_UNREADABLE: Final = re.compile(r"https?://|www\.|[`{}<>=|\\]|\$[a-z\\]|->|\w\(\)")
# A value that a sentence may name: code in backticks, an address, "key = value".
_VALUE: Final = re.compile(
    r"(?<!\bin )(?:`[^`\n]{1,60}`|(?:https?://|www\.)[^\s<>`]{1,200}|[\w.]{1,40} ?= ?[\w.:/@+-]{1,60})"
)
_VALUE_WORDS: Final = 2  # words that a sentence must have besides its value
_TRAILING: Final = re.compile(
    r"[\s,;:.!?…–—-]*(?:\b(?:take a look|check (?:it|them|this) out|too|as well|though|lol|haha|right|ok(?:ay)?|yeah|eh|got it|understood|alright|you know|and all|of course|for sure|btw|by the way|so far|still here|and so on|etc|incl|haha\w*|lmao|tho|actually|honestly|my bad|weird,? i know|i know)\b[\s,;:.!?…–—-]*)?$",
    re.IGNORECASE,
)


_TAKEN_BACK: Final = re.compile(
    r"[\s,;:.!…–—-]*(?:(?:oh|uh|um|er|no|sorry|actually)\b[\s,]*)*(?:scratch that\b|strike that\b|(?:no,? )?wait,? no\b|(?<=no )wait\b|(?<=no, )wait\b"
    r"|i mean,? (?:I|we|my|our|the|to|in|on|at|for|\d)\b|(?-i:I mean,? [A-Z]\w))",
    re.IGNORECASE,
)
_ENDS_TAKEN_BACK: Final = re.compile(r"\b(?:scratch that|no,? wait|wait,? no)\W*$", re.IGNORECASE)
LONGEST: Final = 1000
"""Characters of a piece; the rules read no longer ones, which state no single fact."""
_LETTERS: Final = 3  # letters and digits; fewer state nothing
_HEAD_LONGEST: Final = 40  # characters
_HEAD: Final = re.compile(
    r"(?:\b(?:correction|update|actually|sorry|i mean|scratch that|no,? wait|wait,? no)\b[\s,;:.!…–—-]*)+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementPiece:
    """A span [start, end) of a message that may state one fact, its text without fillers, and its sentence.

    `asks`: whether its sentence is a question; the piece is then what the question presupposes.
    `head`: where the words begin that announce a change ("Correction: "); equal to `start` if there are none.
    """

    start: int
    end: int
    text: str
    sentence: str
    asks: bool
    head: int


def pieces(text: str, called: Collection[str] = (), *, playing: bool = False) -> tuple[StatementPiece, ...]:
    """The declarative pieces of a message, without code, foreign text (see `own_text`), captions and questions.

    Args:
        text: The message, verbatim.
        called: Names by which people may be addressed; they are removed at the ends of pieces.
        playing: Whether a role play is on when the message begins (see `role_play.playing_at`).
    """
    body = _readable(text, playing=playing)
    found: list[StatementPiece] = []
    for match in _SENTENCE.finditer(body):
        found += _in_sentence(text, match.start(), match.end(), called)
    return tuple(found)


def _readable(text: str, *, playing: bool) -> str:
    """The text with blanks for everything that is not prose of the speaker; positions are unchanged."""
    kept = _LAYOUT.sub(lambda blanks: "\n" * len(blanks.group()), own_text(text, playing=playing))
    if wrote := _WROTE.search(kept):
        kept = kept[: wrote.start()]
    for pattern in (_NO_SENTENCE, _CAPTION):
        kept = pattern.sub(lambda m: "\n" * len(m.group()), kept)
    unfenced = remove_fenced_blocks(kept)
    if unfenced == kept and "\n" not in kept and "```" not in kept:
        return kept
    return _aligned(kept, prose(unfenced))


def _aligned(text: str, kept: str) -> str:
    """`kept`, which is `text` with parts removed, with line ends for those parts, so that positions are those of `text`."""
    lines, place = [], 0
    for line in kept.split("\n"):
        if not line.strip():
            continue
        start = text.find(line, place)
        if start < 0:
            continue
        lines.append("\n" * (start - place) + line)
        place = start + len(line)
    return "".join(lines)


def _in_sentence(text: str, start: int, end: int, called: Collection[str]) -> Iterator[StatementPiece]:
    sentence = text[start:end]
    if not _has_letters(sentence):
        return
    asks = sentence.rstrip("\"'”’) ").endswith("?") and not _TAG.search(sentence)
    last = _LAST_QUESTION.search(sentence) if asks else None
    stated = sentence[: last.start()] if last else sentence
    joints = sorted((m.start(), m.end()) for joint in (_JOINT, _THEN_ORDERED) for m in joint.finditer(stated))
    joints = sorted({*joints, *_run_on(stated)})
    if begun := main_clause(stated):
        joints = sorted({*joints, (begun, begun)})
    cuts, ends = [0, *(b for _, b in joints)], [*(a for a, _ in joints), len(stated)]
    parts = _rejoined(sentence, [(a, b) for a, b in zip(cuts, ends, strict=True) if b > a])
    questions = [_is_question(_OPENING.sub("", sentence[a:b]), asks=asks) for a, b in parts]
    if last:
        parts, questions = [*parts, (last.start(), len(sentence))], [*questions, True]
    if (
        asks
        and not any(questions)
        and not any(_LASTING_REQUEST.match(_OPENING.sub("", sentence[a:b])) for a, b in parts)
    ):
        return
    for (first, end_of_part), question in zip(parts, questions, strict=True):
        words, offset = _trimmed(sentence[first:end_of_part], called)
        if question or len(words) > LONGEST or not _has_letters(words) or not _is_readable(words):
            continue
        place = start + first + offset
        end_of_words = place + len(words)
        if _TAKEN_BACK.match(text, end_of_words) or _ENDS_TAKEN_BACK.search(words):
            continue
        announced = _HEAD.search(text, max(0, place - _HEAD_LONGEST), place)
        head = announced.start() if announced else place
        stays = asks and not (any(questions) and _STATES.match(words))
        yield StatementPiece(start=place, end=end_of_words, text=words, sentence=sentence, asks=stays, head=head)


def _run_on(stated: str) -> Iterator[tuple[int, int]]:
    """The blanks after a statement that another one follows without a mark; none after a subordinate clause."""
    if not _STATES.match(_OPENING.sub("", stated)):
        return
    subordinate = _SUBORDINATE.search(stated)
    for match in _RUN_ON.finditer(stated, 0, subordinate.start() if subordinate else len(stated)):
        yield match.span("gap")


def _has_letters(words: str) -> bool:
    return sum(map(str.isalnum, words)) >= _LETTERS


def _is_question(part: str, *, asks: bool) -> bool:
    if _LASTING_REQUEST.match(part):
        return False
    return bool(_QUESTION.match(part)) and (asks or not _NO_SUBJECT.match(part))


def _is_readable(words: str) -> bool:
    """Whether a piece is prose: at most one value in it is code or an address, and other words stand beside it."""
    if not _UNREADABLE.search(words):
        return True
    rest, values = _VALUE.subn(" ", words)
    return values == 1 and not _UNREADABLE.search(rest) and len(rest.split()) >= _VALUE_WORDS


def _rejoined(sentence: str, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts, rejoined in "my husband and I", after "As a kid," and before a qualification such as "but I eat fish sometimes"."""
    joined: list[tuple[int, int]] = []
    for first, last in parts:
        between = sentence[joined[-1][1] : first] if joined else ""
        qualifies = _QUALIFIED.match(between) and _QUALIFIER.match(sentence[first:last])
        before = sentence[max(joined[-1][0], joined[-1][1] - _FRAME_CHARACTERS) : joined[-1][1]] if joined else ""
        framed = between.strip() == "," and _is_frame(before) and not _QUESTION.match(sentence[first:last])
        half = bool(between) and bool(_HALF_SUBJECT.search(before))
        if joined and (qualifies or framed or half):
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


def _is_frame(part: str) -> bool:
    """Whether words before a comma only say when or on which condition the clause after it holds: "As a kid, I …"."""
    opened = part.strip() if part.lower().split()[:1] == ["since"] else _OPENING.sub("", part).strip()
    short = len(opened.split()) <= _FRAME_LONGEST
    return bool(_CONDITION.search(part) or (short and _FRAME.match(opened)))


def _trimmed(part: str, called: Collection[str]) -> tuple[str, int]:
    """A part without interjections, forms of address and endings, and the offset of the remaining text in it."""
    rest = part
    for _ in range(2):
        rest = _OPENING.sub("", rest, count=1)
        if (call := re.match(r"([A-Z]\w+)[,!]\s+", rest)) and not _APPOSED.match(rest):
            rest = rest[call.end() :] if _is_called(call[1], called) else rest
    rest = rest.lstrip(" \t\n,;:.!?…–—*•#\"'“”-")
    offset = len(part) - len(rest)
    rest = rest[: _TRAILING.search(rest).start()] if rest else rest  # type: ignore[union-attr]  # matches the empty end
    if call := re.search(r",\s+([A-Z]\w+)$", rest):
        rest = rest[: call.start()] if _is_called(call[1], called) else rest
    return rest, offset


def _is_called(word: str, called: Collection[str]) -> bool:
    """Whether a word is a name of someone present, or short for it (Mel, Mell)."""
    short = word.casefold()[:3]
    return any(part.casefold().startswith(short) for name in called for part in name.split())
