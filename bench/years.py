"""Dates without a year: how many get one, and how many sentences of a labelled set get a wrong one.

    SLOWWAVE_DATA=... PYTHONPATH=. python bench/years.py [--list]

Counts over the users' messages of BEAM and all messages of LoCoMo (halves: tuned on conv-26 and chats 1-3 of 100K, checked on
the others): dates without a year, how many of them `resolve` completes, and how many lie further than half a year from their
message, which are suspect. `--list` prints each with its sentence, to be read. The labelled sentences are those of the tests.
Ends with the figures as one line of JSON. Without the data only the labelled set is measured.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime

from tests.policy.dated_sentences import COMING, PAST_OR_UNKNOWN

from measuring import data, table
from recall import Talk, beam, locomo
from slowwave.policy.text.dates import mentioned, resolve
from slowwave.policy.text.tense import sentence_around

SUSPECT_DAYS = 183


@dataclass
class Counts:
    """The dates without a year of some messages."""

    yearless: int = 0
    completed: int = 0
    suspect: int = 0
    lines: list[str] = field(default_factory=list)


def count(said: str, at: datetime, counts: Counts) -> None:
    """Add the dates of one message."""
    for written in mentioned(said):
        year, month, day = written.readings[0]
        if year or not month:
            continue
        start, end = sentence_around(said, written.start)
        sentence = said[start:end]
        resolved = resolve(sentence, at)
        years = {w.readings[0][0] for w in mentioned(resolved) if w.readings[0][1:] == (month, day)} - {None}
        counts.yearless += 1
        counts.completed += bool(years)
        counts.suspect += any(
            abs((date(year, month, min(day or 15, 28)) - at.date()).days) > SUSPECT_DAYS for year in years if year
        )
        counts.lines.append(f"{at.date()} | {said[written.start : written.end]} | {' '.join(resolved.split())[:300]}")


def halves() -> Iterator[tuple[str, list[Talk]]]:
    """The development talks: tuned on, and checked on."""
    dialogues, chats, long = locomo(), beam("100K"), beam("500K")
    yield "LoCoMo, tuned", dialogues[:1]
    yield "LoCoMo, checked", dialogues[1:]
    yield "BEAM, tuned", chats[:3]
    yield "BEAM, checked", [*chats[3:], *long]


def labelled() -> dict[str, int]:
    """How many labelled sentences are written out as they should be, with a wrong date, or not written out."""
    found = {"sentences": 0, "right": 0, "wrong": 0, "stayed": 0}
    for said, at, expected in (*COMING, *PAST_OR_UNKNOWN):
        resolved = resolve(said, datetime.fromisoformat(at).replace(tzinfo=UTC))
        found["sentences"] += 1
        found["right" if resolved == expected else "stayed" if resolved == said else "wrong"] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print each date with its sentence")
    wants = parser.parse_args()
    rows: dict[str, Counts] = {}
    for name, talks in halves() if data() else ():
        rows[name] = Counts()
        for talk in talks:
            for message in (each for said in talk.sessions.values() for each in said):
                if message.at and (name.startswith("LoCoMo") or message.role == "user"):
                    count(message.content, message.at, rows[name])
    if wants.list:
        print("\n".join(line for counts in rows.values() for line in counts.lines))
    print(
        table(
            ("talk", "dates without a year", "completed", "over half a year away"),
            [(n, c.yearless, c.completed, c.suspect) for n, c in rows.items()],
        )
    )
    print(labelled())
    print(
        json.dumps(
            {
                "talks": {n: {k: v for k, v in asdict(c).items() if k != "lines"} for n, c in rows.items()},
                "labelled": labelled(),
            }
        )
    )


if __name__ == "__main__":
    main()
