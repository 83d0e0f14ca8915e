"""Byte-pair tokenisation for the static embedder."""

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

SPACE: Final = "▁"  # SentencePiece's mark for the start of a word
BYTES: Final = 3  # tokens 0..2 are <unk> <s> </s>, the 256 after them are single bytes
FIRST: Final = BYTES + 256  # the first ordinary token
LONGEST: Final = 32  # characters; a longer word is cut, so that the cost stays linear in the length of the text
CACHED_WORDS: Final = 16_384  # about 4 MB


class Tokenizer:
    """Cuts a text into the tokens of a vocabulary.

    Args:
        file: The spelling of each token on a separate line, in SentencePiece's order: three control tokens, 256
            bytes, then the ordinary tokens by priority.
    """

    def __init__(self, file: "Path") -> None:
        self._spellings = file.read_bytes().decode().split("\n")  # not splitlines: some tokens are other line breaks
        self._ids = {self._spellings[token]: token for token in range(FIRST, len(self._spellings))}
        self._word_ids = lru_cache(maxsize=CACHED_WORDS)(self._encode)

    def ids(self, text: str) -> list[int]:
        """The tokens of a text in order; none for a blank text. White space only separates words."""
        tokens: list[int] = []
        for word in text.split():
            tokens += self._word_ids(SPACE + word[:LONGEST])
            for start in range(LONGEST, len(word), LONGEST):
                tokens += self._encode(word[start : start + LONGEST])
        return tokens

    def spelling(self, token: int) -> str:
        """The characters of a token."""
        return self._spellings[token]

    def _encode(self, word: str) -> tuple[int, ...]:
        """Byte-pair encoding: while two neighbours form a token, join the pair whose token has the lowest number."""
        unknown = len(self._spellings)
        token_of = self._ids.get
        parts = list(word)
        ranks = [token_of(left + right, unknown) for left, right in pairwise(parts)]
        while ranks and (best := min(ranks)) < unknown:
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            if at > 0:
                ranks[at - 1] = token_of(parts[at - 1] + parts[at], unknown)
            if at < len(ranks):
                ranks[at] = token_of(parts[at] + parts[at + 1], unknown)
        tokens: list[int] = []
        for part in parts:
            token = token_of(part, unknown)
            if token < unknown:
                tokens.append(token)
            else:  # a character outside the vocabulary is encoded as its bytes
                tokens += [BYTES + byte for byte in part.encode("utf-8", "surrogatepass")]
        return tuple(tokens)
