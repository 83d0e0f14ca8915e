"""Byte-pair tokenisation for the static embedder."""

import json
from functools import lru_cache
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


PATIENCE: Final = 400
"""Looking for so many pieces takes as long as reading all."""

_WIDTH: Final = 8  # bytes that pieces are told apart by first
_OPENS: Final = b'\n      "'
_ESCAPED: Final = frozenset('"\\').union(map(chr, range(32)))


class Vocabulary:
    """Piece -> number. Pieces are looked for where they stand in the file, one a line; after PATIENCE all are read.

    Args:
        file: a tokenizer in the JSON of `tokenizers`. One that is laid out in another way is read at once.
        first: the least number of an ordinary piece; those below are not found.

    Attributes:
        get: as that of a dict.
    """

    def __init__(self, file: "Path", first: int) -> None:
        with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as data:
            start = data.find(b"{", data.find(b'"vocab"')) + 1
            self._text = data[start : data.find(b'"merges"', start)]  # the merges, most of the file, are not needed
        self._first = first
        self._pieces: list[str] = []
        self._found: dict[str, int | None] = {}
        self.get: Callable[[str, int], int] = self._look
        letters = np.frombuffer(self._text, dtype=np.uint8)
        ends = (letters == ord("\n")).nonzero()[0][:-1]
        self._starts = ends[:-1] + len(_OPENS)
        if self._plain(ends):
            # At every byte a number of this byte and the next seven.
            words = np.ndarray(len(letters) - _WIDTH + 1, dtype="<u8", buffer=self._text, strides=(1,))
            self._keys = words[self._starts]
        else:
            self._read()

    def __len__(self) -> int:
        """How many there are, those that are not found included."""
        return len(self._pieces or self._starts)

    def spelled(self, number: int) -> str:
        """The piece of a number."""
        if self._pieces:
            return self._pieces[number]
        start = int(self._starts[number])
        piece: str = json.loads(self._text[start - 1 : self._text.index(b'": ', start) + 1])
        return piece

    def _plain(self, ends: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> bool:
        """Whether it is one piece a line, by number, in UTF-8."""
        if len(ends) < 1 + self._first or b"\\u2581" in self._text:
            return False
        lines = [self._text[ends[n] : ends[n + 1]] for n in (0, self._first, len(ends) - 2)]
        numbers = (0, self._first, len(ends) - 2)
        return all(
            line.startswith(_OPENS) and line.rstrip(b",").endswith(b'": %d' % n)
            for line, n in zip(lines, numbers, strict=True)
        )

    def _look(self, piece: str, none: int) -> int:
        if piece not in self._found:
            if not self._pieces and (len(self._found) >= PATIENCE or not _ESCAPED.isdisjoint(piece)):
                self._read()
            if self._pieces:
                return self.get(piece, none)
            self._found[piece] = self._place(piece.encode("utf-8", "surrogatepass") + b'"')
        found = self._found[piece]
        return none if found is None else found

    def _place(self, ending: bytes) -> int | None:
        """The number of the piece that is written like this."""
        wanted = np.uint64(int.from_bytes(ending[:_WIDTH], "little"))
        short = len(ending) < _WIDTH
        keys = self._keys & np.uint64((1 << 8 * len(ending)) - 1) if short else self._keys
        for number in (keys == wanted).nonzero()[0].tolist():
            if number >= self._first and self._text.startswith(ending + b": %d" % number, self._starts[number]):
                return int(number)
        return None

    def _read(self) -> None:
        """All of it, from now on."""
        pieces: dict[str, int] = json.loads(b"{" + self._text[: self._text.rindex(b"}") + 1])
        self._pieces = list(pieces)
        for piece in self._pieces[: self._first]:
            del pieces[piece]
        self.get = pieces.get
