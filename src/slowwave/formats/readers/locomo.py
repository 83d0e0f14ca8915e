"""LoCoMo: two people over many sessions. Each session is a conversation; the first speaker is the user."""

import re
from collections.abc import Iterator, Mapping

from slowwave.formats.json_stream import Json
from slowwave.formats.readers.builders import NO_OBJECT, MessageBuilder, as_label, as_mapping
from slowwave.formats.readers.timestamps import session_time
from slowwave.model.exchange import Item, SkippedItem

_SESSION = re.compile(r"session_(\d{1,6})")


def fits(element: Json) -> bool:
    """Whether a JSON value is a sample of LoCoMo."""
    return isinstance(element, Mapping) and any(map(_SESSION.fullmatch, _talk(element)))


def read(element: Json, number: int, builder: MessageBuilder, name: str) -> Iterator[Item]:
    """The messages of one sample; conversations are named SAMPLE-SESSION, ids are those of the dialogue."""
    place = f"sample {number}"
    if not fits(element):
        yield SkippedItem(where=place, why="no sessions in it")
        return
    talk = _talk(element)
    sample = as_label(element.get("sample_id")) or f"{name}-{number}"
    for session in sorted(int(found[1]) for key in talk if (found := _SESSION.fullmatch(key))):
        turns = talk[f"session_{session}"]
        where = f"{sample}, session {session}"
        at = session_time(talk.get(f"session_{session}_date_time"))
        if not isinstance(turns, list):
            yield SkippedItem(where=where, why="no list of turns")
            continue
        if at is None:
            yield SkippedItem(where=where, why="its date cannot be read: the turns get the time of a neighbour")
        for count, turn in enumerate(turns, 1):
            if not isinstance(turn, Mapping):
                yield SkippedItem(where=f"{where}, turn {count}", why=NO_OBJECT)
                continue
            speaker = as_label(turn.get("speaker"))
            picture = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield from builder.messages(
                f"{sample}-{session}",
                "user" if speaker == as_label(talk.get("speaker_a")) else "assistant",
                f"{turn.get('text') or ''}{picture}".strip(),
                where=f"{where}, turn {count}",
                at=at,
                speaker=speaker,
                ref=as_label(turn.get("dia_id")),
            )


def _talk(element: Mapping[str, Json]) -> Mapping[str, Json]:
    return as_mapping(element.get("conversation"))
