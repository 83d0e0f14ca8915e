"""Functions that read a whole text take time in proportion to its length, also of texts that were made against them."""

from collections.abc import Callable
from datetime import UTC, datetime
from time import process_time
from typing import Final

import pytest

from slowwave.formats.html_text import html_text
from slowwave.minds.offline.languages.reading import statements
from slowwave.minds.offline.rules.presupposed import main_clause
from slowwave.minds.offline.rules.spelling import spelled_out
from slowwave.minds.offline.rules.split import pieces
from slowwave.model.memory import Memory
from slowwave.policy.comparison.modality import modality_mismatch
from slowwave.policy.comparison.negation import polarities
from slowwave.policy.guard.evidence import unheard_speaker
from slowwave.policy.retention.lasting import own_end
from slowwave.policy.text.clauses import clauses, trim
from slowwave.policy.text.features import is_rule
from slowwave.policy.text.foreign.own_text import own_text

SHORT: Final = 8_000
LONG: Final = 4 * SHORT
GROWTH: Final = 7.0
"""The most by which the time may grow from the short text to the long one: 4 is linear, 16 quadratic."""
LEAST: Final = 0.005
"""Seconds. A function that takes less for the short text is measured as if it took this."""
AT: Final = datetime(2026, 3, 1, tzinfo=UTC)


def _heard(text: str) -> object:
    message = Memory(id="a", scope="s", kind="episodic", text=text, speaker="Bo", recorded_at=AT, valid_from=AT)
    return unheard_speaker("Ann advises", [message], ["Ann", "Bo"])


def _end(text: str) -> object:
    plan = Memory(id="a", scope="s", kind="semantic", text=text, recorded_at=AT, valid_from=AT)
    return own_end(plan)


def _is_intended(text: str) -> object:
    return modality_mismatch("Ann took part", [text])


CASES: Final[dict[str, tuple[Callable[[str], object], str, str]]] = {
    "exercises in one line": (own_text, "", "how many 3 "),
    "rehearsals in one line": (own_text, "", "practice interview "),
    "a tag without an end": (html_text, "</Z", "d"),
    "statements without a mark": (pieces, "", "I live in Bern my sister "),
    "halves of a subject": (pieces, "", "my husband and I "),
    "conditions before a comma": (pieces, "", "if we go, I like "),
    "clauses before a main clause": (main_clause, "since I", " that I"),
    "intensifiers in one clause": (trim, "", "it was really "),
    "dates joined to one clause": (clauses, "", ", and the last week of january on saturday"),
    "empty lines before a rule": (is_rule, "a", "\n"),
    "auxiliaries before a report": (_heard, "", "has "),
    "dates of a plan": (_end, "I plan to go ", "3 May 2020, "),
    "expectations": (polarities, "", "thought I "),
    "what would not have been": (polarities, "", "would not have "),
    "words without a noun": (_is_intended, "", "if I would "),
    "blanks in casual writing": (spelled_out, "a", " "),
    "blanks before a line of code": (own_text, "", "\t "),
    "captions without an end": (pieces, "", "[file "),
    "blanks in Spanish": (statements, "Vivo en Madrid y me gusta el té porque soy de aquí ", " "),
}
"""What is read: the function, the beginning of the text, and what is repeated after it."""


@pytest.mark.parametrize("case", CASES)
def test_four_times_the_text_takes_about_four_times_as_long(case: str) -> None:
    read, beginning, unit = CASES[case]

    def seconds(length: int) -> float:
        text = beginning + (unit * (length // len(unit) + 1))[:length]
        begun = process_time()
        read(text)
        return process_time() - begun

    seconds(1_000)
    short = max(LEAST, *(seconds(SHORT) for _ in range(2)))
    assert min(seconds(LONG) for _ in range(2)) < GROWTH * short
