"""Functions that read a whole text take time in proportion to its length, also of texts that were made against them."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from tests.growth import growth

from slowwave.cli.output import wrapped
from slowwave.formats.html_text import html_text
from slowwave.formats.readers.builders import MessageBuilder
from slowwave.formats.readers.notes import Note, read
from slowwave.minds.offline.distil import _introduced
from slowwave.minds.offline.orders import orders
from slowwave.minds.offline.own_text import Sentence, own_sentences
from slowwave.minds.offline.statements import claim_of
from slowwave.minds.offline.summarise import cascade
from slowwave.model.memory import Memory
from slowwave.model.mind import SummaryRequest
from slowwave.policy.comparison.duplicates import compare
from slowwave.policy.comparison.modality import modality_mismatch
from slowwave.policy.comparison.negation import polarities
from slowwave.policy.guard.evidence import unheard_speaker
from slowwave.policy.guard.grounding import invented_details, missing_details
from slowwave.policy.guard.summary_support import unsupported_by_facts
from slowwave.policy.retention.lasting import own_end
from slowwave.policy.text.clauses import clauses, trim
from slowwave.policy.text.features import is_rule
from slowwave.server.dashboard.differences import differences
from slowwave.stores.backfill import fill_reasons

SHORT: Final = 8_000
LONG: Final = 4 * SHORT
GROWTH: Final = 7.0
"""The most by which the time may grow from the short text to the long one: 4 is linear, 16 quadratic."""
AT: Final = datetime(2026, 3, 1, tzinfo=UTC)


def _heard(text: str) -> object:
    return unheard_speaker("Ann advises", [_message(text)], ["Ann", "Bo"])


def _message(text: str) -> Memory:
    return Memory(id="a", scope="s", kind="message", text=text, speaker="Bo", recorded_at=AT, valid_from=AT)


def _fact(text: str) -> Memory:
    return Memory(id="a", scope="s", kind="semantic", text=text, recorded_at=AT, valid_from=AT)


def _end(text: str) -> object:
    return own_end(_fact(text))


def _is_intended(text: str) -> object:
    return modality_mismatch("Ann took part", [text])


def _are_intended(text: str) -> object:
    return modality_mismatch(text, [text])


def _different_words(text: str) -> object:
    return compare(_distinct("b", text), _distinct("c", text), cosine=0.9, word_cosine=_unlike)


def _distinct(letter: str, text: str) -> str:
    """About as many characters as a text has, in words of which no two are equal."""
    return " ".join(f"{letter}{number:b}".replace("0", "o").replace("1", "l") for number in range(len(text) // 12))


def _unlike(rows: Sequence[str], columns: Sequence[str]) -> list[list[float]]:
    return [[float(row == column) for column in columns] for row in rows]


def _lost(text: str) -> object:
    return missing_details(" ".join(map(str, range(100, len(text) // 5))), [_fact(text)])


def _invented(text: str) -> object:
    return invented_details(_dates(1901, text), [_fact(_dates(1900, text))])


def _dates(first: int, text: str) -> str:
    """About as many characters as a text has, in dates of every second year."""
    days = (date(first + 2 * (number // 365), 1, 1) + timedelta(days=number % 365) for number in range(len(text) // 14))
    return ", ".join(f"{day:%d %B %Y}" for day in days)


def _noted(text: str) -> object:
    with TemporaryDirectory() as folder:
        (path := Path(folder) / "a.md").write_text(f"{text}b\n\nI like tea.\n", encoding="utf-8")
        return list(read(Note(path=path, name="a"), MessageBuilder(), markdown=True))


def _copied(text: str) -> object:
    return unsupported_by_facts(" ".join(text.split()), [_fact(text)])


def _paired(text: str) -> object:
    return unsupported_by_facts(text, [_fact(f"{text}and on Sundays"), _fact("Ann was here")])


def _summarised(text: str) -> object:
    return cascade(SummaryRequest(style="cascade", memories=(_message(text),), words=100))


def _shown(text: str) -> object:
    return wrapped(f"{text}\nb", 80)


def _named_in(text: str) -> object:
    answers = iter([[(1, "s", "erase", json.dumps([text]))], [("b",)], []])
    return fill_reasons(lambda *_: next(answers))


def _claimed(text: str) -> object:
    return claim_of(text, dated=False, told=True)


def _ordered(text: str) -> object:
    return orders([Sentence(text=text, asks=False, opens=True)])


def _changed(text: str) -> object:
    return differences(f"b {text}", text)


CASES: Final[dict[str, tuple[Callable[[str], object], str, str]]] = {
    "sentences of a message": (own_sentences, "", "I live in Bern. "),
    "blanks of a message": (own_sentences, "a", " "),
    "quotation marks": (own_sentences, "", '"a '),
    "colons of a request": (own_sentences, "fix this: ", "a: "),
    "fields of a form": (own_sentences, "", "a: b\n"),
    "greetings": (own_sentences, "", "Dear a,\n"),
    "words of a clause": (_claimed, "I teach ", "a, "),
    "adverbs of a clause": (_claimed, "I ", "always "),
    "a tenth name": (_introduced, "my name is ", "Ann de la "),
    "orders in one sentence": (_ordered, "", "always answer me in French "),
    "a tag without an end": (html_text, "</Z", "d"),
    "intensifiers in one clause": (trim, "", "it was really "),
    "dates joined to one clause": (clauses, "", ", and the last week of january on saturday"),
    "empty lines before a rule": (is_rule, "a", "\n"),
    "auxiliaries before a report": (_heard, "", "has "),
    "dates of a plan": (_end, "I plan to go ", "3 May 2020, "),
    "expectations": (polarities, "", "thought I "),
    "what would not have been": (polarities, "", "would not have "),
    "words without a noun": (_is_intended, "", "if I would "),
    "past verbs": (_are_intended, "", "Ann painted. "),
    "words of two facts": (_different_words, "", "a"),
    "dates beside numbers": (_lost, "", "on 3 May 2020, "),
    "sentences of a summary": (_copied, "", "Ann painted.  "),
    "dates of a sentence": (_paired, "", "Ann on 3 May 2020, "),
    "words that stay": (_changed, "", "A "),
    "dates that no source has": (_invented, "", "a"),
    "hashes of a heading": (_noted, "# #", "#"),
    "digits of a summary": (_summarised, "I live at house number ", "1"),
    "characters without a width": (_shown, "a", "\x1f"),
    "blanks of a shown line": (_shown, "a", " "),
    "reasons of older stores": (_named_in, "", "of a "),
}
"""What is read: the function, the beginning of the text, and what is repeated after it."""


@pytest.mark.parametrize("case", CASES)
def test_four_times_the_text_takes_about_four_times_as_long(case: str) -> None:
    read, beginning, unit = CASES[case]

    def text(length: int) -> str:
        return beginning + (unit * (length // len(unit) + 1))[:length]

    assert growth(read, text, (SHORT, LONG), GROWTH) < GROWTH
