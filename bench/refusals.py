"""How many facts and summaries of LoCoMo the checks of a model's words refuse: as they are, negated, and as intentions.

    python bench/refusals.py

The facts are LoCoMo's observations, the summaries those of its sessions; a model wrote both from three conversations. A fact
is compared with the messages that it names. Counted are refusals because one affirms what the other denies. A negation is put
after the first form of be, have or a modal ("is not"), else before the first verb in the past or a second word that ends in
"s" ("never went", "never goes"). Facts whose second word is a verb in the past also get each of `DENIALS` and `INTENTIONS`
before it, without a negation. A summary is compared with the messages of its session, and with those of the next one, of which
it is untrue. All refusals by `unsupported_by_transcript` count.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measuring import data, save, table
from slowwave.formats.readers.timestamps import session_time
from slowwave.model.memory import Memory
from slowwave.model.mind import Fact
from slowwave.policy.comparison.alignment import stem
from slowwave.policy.guard.grounding import check
from slowwave.policy.guard.summary_support import unsupported_by_transcript
from slowwave.policy.text.lexicon import AUXILIARIES, IRREGULAR, PAST
from slowwave.policy.text.tokens import words
from slowwave.policy.text.word_frequency import probabilities

DENIALS = ("failed to", "forgot to", "neglected to", "pretended to", "almost")
INTENTION = re.compile(r"\b(?:want|plan|hope|intend|aim)(?:s|ed|ning|ing)? to\b")
INTENTIONS = ("wants to", "plans to", "hopes to", "intends to", "tried to")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A fact and the messages that it names, the quoted one first."""

    text: str
    messages: tuple[Memory, ...]
    speakers: frozenset[str]

    def is_opposed(self, text: str) -> bool:
        """Whether this wording is refused because it says the opposite of the messages."""
        why = check(Fact(text=text), self.messages[0], self.messages[1:], self.speakers)
        return why is not None and why.startswith("one affirms what the other denies")


def samples() -> list[dict[str, Any]]:
    """The conversations of LoCoMo; none without data."""
    path = data("locomo", "locomo-dev.json")
    return json.loads(path.read_text(encoding="utf-8")) if path else []


def claims() -> Iterator[Claim]:
    """The observations of all conversations."""
    for sample in samples():
        said = dict(messages(sample["conversation"]))
        speakers = frozenset((sample["conversation"]["speaker_a"], sample["conversation"]["speaker_b"]))
        for session in sample["observation"].values():
            for text, named in (row for rows in session.values() for row in rows):
                ids = [named] if isinstance(named, str) else named
                found = tuple(said[one] for one in ids if one in said)
                if found:
                    yield Claim(text=text, messages=found, speakers=speakers)


def messages(talk: Mapping[str, Any]) -> Iterator[tuple[str, Memory]]:
    """The messages of a conversation by their ids."""
    for name in [name for name in talk if name.startswith("session_") and isinstance(talk[name], list)]:
        at = session_time(talk[f"{name}_date_time"])
        assert at is not None
        for turn in talk[name]:
            yield (
                turn["dia_id"],
                Memory(
                    id=turn["dia_id"],
                    scope="bench",
                    kind="message",
                    text=turn["text"],
                    recorded_at=at,
                    valid_from=at,
                    speaker=turn["speaker"],
                ),
            )


def summaries() -> Iterator[tuple[str, list[Memory]]]:
    """The summary of each session, and its messages."""
    for sample in samples():
        said = dict(messages(sample["conversation"]))
        for name, text in sample["session_summary"].items():
            session = name.removeprefix("session_").removesuffix("_summary")
            yield text, [message for one, message in said.items() if one.startswith(f"D{session}:")]


def negated(text: str) -> str | None:
    """The fact with a negation; None if no verb of it is recognised."""
    parts = text.split()
    for place, word in enumerate(parts):
        if word.lower() in AUXILIARIES:
            return " ".join((*parts[: place + 1], "not", *parts[place + 1 :]))
        if (place and is_past(word)) or (place == 1 and word.endswith("s") and "'" not in parts[0]):
            return " ".join((*parts[:place], "never", *parts[place:]))
    return None


def with_verb(text: str, phrase: str) -> str | None:
    """The fact with a phrase before its verb; None if its second word is no verb in the past."""
    parts = text.split()
    if len(parts) < 2 or not is_past(parts[1]):
        return None
    verb = infinitive(parts[1]) if phrase.endswith("to") else parts[1]
    return " ".join((parts[0], phrase, verb, *parts[2:]))


def infinitive(past: str) -> str:
    """The verb of a form in the past: of the words that it may come from, the most frequent one."""
    if past in IRREGULAR:
        return IRREGULAR[past]
    without = past.removesuffix("ed")
    if without.endswith("i"):
        return f"{without[:-1]}y"
    short = without[:-1] if without[-1:] == without[-2:-1] else without
    return max((without, f"{without}e", short), key=lambda word: probabilities().get(word, 0.0))


def is_past(word: str) -> bool:
    """Whether a word is a verb in the past, by its form."""
    return word in PAST or word.endswith("ed")


def has_verb(claim: Claim) -> bool:
    """Whether a message has the second word of the fact, in any form."""
    return any(stem(claim.text.split()[1]) in map(stem, words(message.text)) for message in claim.messages)


def refused_facts(found: Sequence[tuple[Claim, str | None]]) -> str:
    """How many of some wordings are refused."""
    changed = [(claim, text) for claim, text in found if text is not None]
    return f"{sum(claim.is_opposed(text) for claim, text in changed)} of {len(changed)}"


def refused_summaries(written: Sequence[tuple[str, Sequence[Memory]]]) -> str:
    """How many summaries are refused, compared with these messages."""
    return f"{sum(unsupported_by_transcript(text, session) is not None for text, session in written)} of {len(written)}"


def main() -> None:
    """Count, and print the table."""
    every = list(claims())
    result = {
        "as they are": refused_facts([(claim, claim.text) for claim in every]),
        "as they are, of those about an intention": refused_facts(
            [(claim, claim.text) for claim in every if INTENTION.search(claim.text)]
        ),
        "with a negation": refused_facts([(claim, negated(claim.text)) for claim in every]),
    }
    for phrase in (*DENIALS, *INTENTIONS):
        result[f"with {phrase!r}"] = refused_facts([(claim, with_verb(claim.text, phrase)) for claim in every])
    same = [claim for claim in every if has_verb(claim)]
    for phrase in INTENTIONS:
        result[f"with {phrase!r}, where a message has the verb"] = refused_facts(
            [(claim, with_verb(claim.text, phrase)) for claim in same]
        )
    written = list(summaries())
    result["summaries, by their session"] = refused_summaries(written)
    others = [session for _, session in (*written[1:], *written[:1])]
    result["summaries, by the next session"] = refused_summaries(
        [(text, session) for (text, _), session in zip(written, others, strict=True)]
    )
    print(table(("texts", "refused"), list(result.items())))
    save("refusals", result)


if __name__ == "__main__":
    main()
