"""Knows which messages are said in a scene, a part, a draft or an example that an earlier message of the conversation opened."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from slowwave.minds.offline.own_text import own_sentences
from slowwave.minds.offline.words import anywhere, at_start
from slowwave.model.memory import Memory

PAUSE: Final = timedelta(hours=6)
"""A conversation that goes on after so long has left the scene."""
_OPENING: Final = 90
"""Characters at the beginning of a sentence in which a scene is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a message says in a frame: its sentences up to `own_from`; a draft still takes standing orders, a scene none."""

    own_from: int
    scene: bool


def framed(messages: Sequence[Memory]) -> dict[str, Frame]:
    """The frames of the messages of people that are said in one, by id.

    A frame opens with a message that asks for a scene, a part, a text or an example. It ends where the user says so, and a
    draft also where the user accepts it or turns to something else.
    """
    found: dict[str, Frame] = {}
    kind, last = "", None
    for message in messages:
        if message.role == "assistant" and not message.speaker:
            continue
        said = [each.text for each in own_sentences(message.text)]
        if kind and last is not None and message.at - last > PAUSE:
            kind = ""
        last = message.at
        ended = _ends(said, kind) if kind else None
        opened = _opens(said[ended:] if ended is not None else said)
        if kind and ended is None:
            found[message.id] = Frame(own_from=len(said), scene=kind == "scene")
            kind = "scene" if opened == "scene" else kind
            continue
        if opened:
            found[message.id] = Frame(own_from=len(said), scene=opened == "scene")
        elif ended:
            found[message.id] = Frame(own_from=ended, scene=kind == "scene")
        kind = opened
    return found


def _opens(said: Sequence[str]) -> str:
    """What kind of frame a message opens, "" for none."""
    for kind in ("scene", "draft"):
        if any(_asks_for(each, kind) for each in said):
            return kind
    return ""


def _asks_for(sentence: str, kind: str) -> bool:
    """Whether a sentence asks for a frame of this kind; a standing order about texts ("never translate names") does not."""
    found = anywhere(kind).search(sentence, 0, _OPENING + 60)
    if found is None or found.start() > _OPENING:
        return False
    return not (anywhere("lasting").search(sentence) or anywhere("rules").search(sentence))


def _ends(said: Sequence[str], kind: str) -> int | None:
    """The number of the sentence that ends a frame; what follows it, and itself after a word of thanks, is said in earnest."""
    for number, sentence in enumerate(said):
        if at_start("ends").match(sentence):
            return number
        if number == 0 and kind == "draft" and at_start("accepted").match(sentence):
            return 0
    return None
