"""Splits texts into sentences and clauses, and shortens clauses without loss of content."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex

SHORTEST: Final = 4
"""The least number of words of a clause. A shorter one is joined to its neighbour."""
LEADING: Final = 100
"""The most words of a subordinate clause, or a date, that is joined to its main clause."""

_FENCE: Final = lazy_regex(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
# A line of code. Every repetition is bounded or begins at a boundary, so that the time is linear in the text's length.
_CODE_LINE: Final = lazy_regex(
    r"^\s*(?:def \w+\(|class \w+[(:]|import [\w.]+(?: as \w+)?\s*$|from [\w.]+ import\b|(?:const|let|var) \w+ ?=|function \w*\(|"
    r"(?:public|private|static) (?:static|class|void|int|String)\b|#include\b|SELECT .{1,200} FROM\b|(?:\$|>>>) |@\w+\s*$|"
    r"</?\w{1,60}[^<>]{0,500}>\s*$|[{}()\[\];,]+\s*$|[\w.\[\]]{1,60}\s?[-+*/]?=[^=])"
    r"|[{}]\s*$|[=(\[<][^;]{0,500};\s*$|\b\w{1,60}\([^()]{0,200}\)\s?[:{]\s*$"
)
_CAPTION: Final = lazy_regex(
    r"\[(?:image|photo|picture|video|audio|file|attachment)s?\b[^\[\]]{0,2000}\]", re.IGNORECASE
)
# The space after an end mark and closing quotation marks; Chinese and Japanese end marks need no space.
_SENTENCE_END: Final = lazy_regex(
    r"(?<=[.!?…])(?<!\b(?:Mr|Ms|Dr)\.)(?<!\bMrs\.)(?<!\bProf\.)[\"'”’)]* |(?<=[。！？]) ?"  # a title is no end
)
# Runs of text up to and including their end marks.
_RUN: Final = lazy_regex(r"[^.!?。！？\n]+[.!?。！？]*")
_RUN_SEMICOLONS: Final = lazy_regex(r"[^.!?;。！？\n]+[.!?;。！？\n]*")
_CLOSING: Final = "\"'”’) \n"
# Where a sentence is cut into clauses: before a conjunction, after a semicolon, at a dash.
_JOINTS: Final = lazy_regex(
    r"(?<=[,，、])\s+(?=(?:and|but|so|because|since|which|who|where|when|while|although|"
    r"it|I|we|he|she|they|that|this|my|our|there)(?:\b|'))"
    r"|\s+(?=(?:but|because|so that|although|while|which)\b)"
    r"|(?<=;)\s+|\s+(?=[-–—]+\s)|(?=—)"
)
# Words that open a sentence and add nothing: "hey", "by the way". Those of the second line do so only before a mark: the first
# words of "Great job", "Thanks to her" and "Absolutely not" carry meaning.
_OPENING: Final = lazy_regex(
    r"^[\s,;:.!?…–—-]*(?:(?:(?:hey|hi|hello|wow|oh|yeah|yep|so(?! (?:much|many|far|few|little|long)\b)|and|also|actually|"
    r"honestly|ok|okay|haha|lol|by the way|anyway|you know|I mean)(?![\w'])|"
    r"(?:sure|well|thanks|thank you|great|awesome|cool|nice|absolutely|totally|definitely|exactly|of course|for sure|like)"
    r"(?=\s*(?:[,;:.!?…–—]|$)))[\s,;:.!?…–—-]*)+",
    re.IGNORECASE,
)
_INTENSIFIERS: Final = lazy_regex(
    r"\b(?:really|very|so(?! (?:that|far|on|long|as|to|much|many|few|little)\b)(?= \w)|just|actually|basically|literally|super|pretty much|"
    r"(?<!what )(?<!this )(?<!that )(?<!any )(?<!some )(?<!a )(?<!the )(?:kind|sort) of|totally|definitely|honestly|quite)\b ?",
    re.IGNORECASE,
)
# Shortly after these words an intensifier limits what is denied: "not just for us" is no "not for us".
_DENIED: Final = lazy_regex(
    r"(?:\b(?:not|never|no|nor|nothing|nobody|without|hardly|barely|cannot|only|if)|n['’]t)(?: [\w'’]+){0,2} $",
    re.IGNORECASE,
)
_DENIED_WITHIN: Final = 80  # characters before an intensifier
_PREPOSITIONS: Final = (
    "about across after against along around at before behind beside between by during for from in into inside near of off on "
    "onto over since through to toward towards under until upon with within without"
)
_AFTER_PREPOSITION: Final = "".join(rf"(?<!\b{word} the)" for word in _PREPOSITIONS.split())
# Words that a note leaves out: pronouns, articles and forms of be; "the" not after a preposition.
_NOTE_DROPS: Final = lazy_regex(
    r"\b(?:(?:I|it|that|there|he|she|we|they|you)['’](?:m|s|re)|I['’](?:ve|d)|I|it|a|an|"
    rf"the{_AFTER_PREPOSITION}|"
    r"(?<!\band )(?<!\bbut )(?<!\bor )(?:am|is|are|was|were))(?![\w'’]) ?",
    re.IGNORECASE,
)
_SUBORDINATE: Final = r"(?:and |but |so )?(?:(?:ever )?since|when(?:ever)?|while|after|before|as soon as|(?:even )?though|although|if|once)\b"
# A subordinate clause before its main clause ("When I was in Rome,"), and one too short to be kept alone.
_LEADS_IN: Final = lazy_regex(rf"(?:\w+(?: \w+){{0,2}}, )?{_SUBORDINATE}[^,]*,$", re.IGNORECASE)
_HANGS_ON: Final = lazy_regex(rf"{_SUBORDINATE}\W*(?:\w\S*\W*){{0,4}}$", re.IGNORECASE)
_ONLY_A_DATE: Final = lazy_regex(
    r"(?:(?:and|but|so|on|in|at|by|since|until|around|during|early|late|the|a|few|of|week(?:s|end)?|night|morning|evening|end|"
    r"days?|months?|years?|before|yesterday|today|tonight|last|this|next|january|february|march|april|may|june|july|"
    r"august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|"
    r"winter|\d+)(?:\W+|$))++$",  # possessive: no word can be read in two ways, so nothing is tried twice
    re.IGNORECASE,
)
_EDGES: Final = " \t\n,;:–—-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a text, as written.

    Args:
        text: The words, with their punctuation.
        question: Whether its sentence is a question.
        opens: Whether it begins its sentence. The capital of its first word then does not mark a name.
        caption: Whether it is the bracketed description of a picture or file.
    """

    text: str
    question: bool = False
    opens: bool = True
    caption: bool = False


def prose(text: str) -> str:
    r"""The text without code blocks and lines that look like code.

    >>> prose("Use this:\n```\nx = 1\n```\nIt works.")
    'Use this:\n\nIt works.'
    """
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("", text)
    if "\n" not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not _CODE_LINE.search(line))


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, without captions. A line break ends a sentence.

    >>> sentences("It costs 3.50. Is that much, Dr. Brandt?")
    ['It costs 3.50.', 'Is that much, Dr. Brandt?']
    """
    lines = (" ".join(line.split()) for line in _CAPTION.sub(" ", text).splitlines())
    return [piece for line in lines for part in _SENTENCE_END.split(line) if (piece := part.strip())]


def sentence_runs(text: str, *, semicolons: bool = False) -> Iterator[re.Match[str]]:
    """The runs of a text that end with an end mark, with their places in the text.

    Unlike `sentences` this splits at every end mark (also inside "3.50") and keeps the text as it is, so that a quote can be
    found in it.

    Args:
        text: Any text.
        semicolons: Whether a semicolon also ends a run, and line breaks belong to the run before them.
    """
    return (_RUN_SEMICOLONS if semicolons else _RUN).finditer(text)


def is_question(sentence: str) -> bool:
    """Whether a sentence ends with a question mark, or with one and an exclamation mark.

    >>> is_question("“Are you sure?” "), is_question("Paris?!"), is_question("I am.")
    (True, True, False)
    """
    return sentence.rstrip(_CLOSING).endswith(("?", "？", "?!", "？！"))


def captions(text: str) -> list[str]:
    """The descriptions of pictures and files in brackets, without the brackets and their label."""
    return [match.group()[1:-1].partition(":")[2].strip() or match.group()[1:-1] for match in _CAPTION.finditer(text)]


def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text, in order; captions come last. Code is left out (see `prose`).

    >>> [clause.text for clause in clauses("I went to Lisbon in May, and we ate far too much fish. Nice!")]
    ['I went to Lisbon in May,', 'and we ate far too much fish.', 'Nice!']
    """
    text = prose(text)
    parts: list[Clause] = []
    for sentence in sentences(text):
        question = is_question(sentence)
        for index, piece in enumerate(_joined([part for part in _JOINTS.split(sentence) if part.strip()])):
            parts.append(Clause(text=piece, question=question, opens=index == 0))
    parts += (Clause(text=caption, caption=True) for caption in captions(text))
    return tuple(parts)


def trim(text: str, *, names: Collection[str] = ()) -> str:
    """A clause without opening words, intensifiers and the name it is addressed to.

    Words that change the meaning (not, never, but, maybe, always) always stay.

    Args:
        text: A clause.
        names: Names of the speakers. A name is dropped where somebody is addressed by it: before a comma, or at an end.

    >>> trim("Hey Mel, I really loved that!", names=["Mel"])
    'I loved that!'
    """
    text = without_fillers(unaddressed(text, names=names), _INTENSIFIERS)
    return " ".join(_OPENING.sub("", text, count=1).split()).strip(_EDGES)


def without_fillers(text: str, fillers: re.Pattern[str]) -> str:
    """A text without the matches of a pattern, except those that follow a negation within two words.

    >>> without_fillers("I really came, but not just for you.", re.compile("(?:really|just) "))
    'I came, but not just for you.'
    """

    def kept(found: re.Match[str]) -> str:
        return found.group() if _DENIED.search(text, max(0, found.start() - _DENIED_WITHIN), found.start()) else ""

    return fillers.sub(kept, text)


def unaddressed(text: str, *, names: Collection[str] = ()) -> str:
    """A clause without opening words and the name it is addressed to, otherwise word for word.

    >>> unaddressed("Hey Mel, I really loved that!", names=["Mel"])
    'I really loved that!'
    """
    text = _OPENING.sub("", text, count=1)
    for name in names:
        called = re.escape(name)
        text = re.sub(
            rf"^{called}(?:[,!.]+\s+|[,!.?\s]*$)|,\s*{called}(?=\s*[,.!?]|\s*$)", "", text, flags=re.IGNORECASE
        )
    return " ".join(_OPENING.sub("", text, count=1).split()).strip(_EDGES)


def note(text: str, *, names: Collection[str] = ()) -> str:
    """The clause as a short note: `trim`, without most articles, "I", "it" and forms of be.

    "the" stays after a preposition: "before nine in morning" is no English. After "and", "but" and "or" forms of be stay:
    without "is", "owns the ferry and is my aunt" would say that she owns an aunt. A note is not a quotation; show the clause
    as written where the exact words matter.

    >>> note("I'm so happy that I was at the charity race.")
    'happy that at the charity race'
    """
    text = _NOTE_DROPS.sub("", trim(text, names=names))
    return _OPENING.sub("", " ".join(text.split()), count=1).strip(_EDGES).rstrip(".!")


def only_a_date(text: str) -> bool:
    """Whether a text consists of a date and names no event.

    >>> only_a_date("On 23 June 2023,"), only_a_date("In May we met")
    (True, False)
    """
    return _ONLY_A_DATE.match(text) is not None


def _joined(pieces: list[str]) -> list[str]:
    """Join the pieces of one sentence that are shorter than `SHORTEST` words or depend on their neighbour."""
    joined: list[list[str]] = []
    for piece in pieces:
        piece_words = piece.split()
        if joined and (
            len(piece_words) < SHORTEST
            or len(joined[-1]) < SHORTEST
            or _HANGS_ON.match(piece)
            or (len(joined[-1]) <= LEADING and _leads_in(" ".join(joined[-1])))
        ):
            joined[-1] += piece_words
        else:
            joined.append(piece_words)
    return [" ".join(part) for part in joined]


def _leads_in(text: str) -> bool:
    """Whether a piece needs the next one: it is a date, or a subordinate clause before its main clause."""
    return _LEADS_IN.match(text) is not None or only_a_date(text)
