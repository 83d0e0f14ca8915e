"""Text to the pieces of a SentencePiece BPE vocabulary: a small tokenizer that needs nothing but the list of pieces.

In such a vocabulary a piece's number is its merge priority, so the table of merges (most of a tokenizer file, and
most of the time of loading one) is not needed. Pieces never span words, so each word is cut once and remembered.
"""

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from slowwave.embedders.vocabulary import Vocabulary

SPACE: Final = "▁"  # SentencePiece's mark for "a word starts here"
BYTES: Final = 3  # pieces 0..2 are <unk> <s> </s>, the 256 after them stand for single bytes
FIRST: Final = BYTES + 256  # the first ordinary piece
LONGEST: Final = 32  # characters; longer runs without a space are cut, so that cost stays linear in the text
REMEMBERED: Final = 16_384  # words; about 4 MB


class Pieces:
    """A vocabulary, and how words fall into it.

    Args:
        vocabulary: in SentencePiece's order: three control pieces, 256 bytes, then by priority.
    """

    def __init__(self, vocabulary: "Vocabulary") -> None:
        self._vocabulary = vocabulary
        self._of_word = lru_cache(maxsize=REMEMBERED)(self._cut)

    def numbers(self, text: str) -> list[int]:
        """The numbers of a text's pieces in order; none for a blank text. White space only separates words."""
        found: list[int] = []
        for word in text.split():
            if len(word) <= LONGEST:
                found += self._of_word(SPACE + word)
            else:
                found += self._of_word(SPACE + word[:LONGEST])
                for start in range(LONGEST, len(word), LONGEST):
                    found += self._cut(word[start : start + LONGEST])
        return found

    def spelled(self, number: int) -> str:
        """What a piece spells."""
        return self._vocabulary.spelled(number)

    def _cut(self, word: str) -> tuple[int, ...]:
        """Byte-pair encoding: while two neighbours form a piece, join the pair whose piece comes first."""
        none = len(self._vocabulary)
        number = self._vocabulary.get
        parts = list(word)
        ranks = [number(left + right, none) for left, right in pairwise(parts)]
        while ranks and (best := min(ranks)) < none:
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            if at > 0:
                ranks[at - 1] = number(parts[at - 1] + parts[at], none)
            if at < len(ranks):
                ranks[at] = number(parts[at] + parts[at + 1], none)
        found: list[int] = []
        for part in parts:
            known = number(part, none)
            if known < none:
                found.append(known)
            else:  # a character outside the vocabulary is spelled in bytes
                found += [BYTES + byte for byte in part.encode("utf-8", "surrogatepass")]
        return tuple(found)
