"""Models and embedders that answer anything: nothing is lost, nothing invented is stored, and only errors of the library are raised."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from os import environ
from random import Random
from typing import Any, Final

import numpy as np
from tests.arguments.odd_values import MAKERS
from tests.attack.campaign import Place, everything, opened, sound, words
from tests.attack.values import odd

from slowwave import AgentMemory, Message
from slowwave.errors import SlowwaveError
from slowwave.testing import SHAPES, OpenAIServer, ScriptedLLM, Served, malformed
from slowwave.testing.hostile_server import (
    HostileServer,
    bomb,
    drip_body,
    drip_headers,
    echo,
    endless_continue,
    flood,
    silence,
)

SAID: Final = (
    "Alice owns the deploy pipeline",
    "Matteo is allergic to shellfish",
    "I live in {}",
    "My dog is called {}",
)
INVENTED: Final = "Springfield"
"""A word that only the model says."""
SECONDS: Final = "0.4"
KEY: Final = "sk-very-secret-0123456789"
SCRIPTS: Final = {
    "silence": silence,
    "drip of headers": drip_headers,
    "drip of a body": drip_body,
    "endless continue": endless_continue,
    "flood": flood(60),
    "bomb": bomb(60),
    "echo": echo("400 Bad"),
    "echo, as a header": echo("200 OK", "{{}}"),
}


def reply(chance: Random, task: str) -> object:
    """An answer of a model: of a known damaged form, of JSON of any shape, of bytes that are no JSON, or no text at all."""
    kind = chance.randrange(6)
    if kind == 0:
        return malformed(chance.choice(sorted(SHAPES)), task, seed=chance.randrange(10**6))
    items = [{"text": f"Bob owns everything in {INVENTED}", "quote": chance.choice([INVENTED, "owns the deploy", ""])}]
    if kind == 1:
        fields = ("category", "confidence", "message", "fact", "op", "memory", "relation", "because", "kind", "text")
        items[0] |= {name: odd(chance) for name in chance.sample(fields, 3)}
        with suppress(TypeError, ValueError, RuntimeError, RecursionError, UnicodeError):
            return json.dumps({chance.choice(["facts", "verdicts", "summary"]): items * chance.choice([1, 3, 400])})
    if kind == 2:
        return f"{chance.choice(['<html>', '```json', '[', '{'])}{items}{'x' * chance.choice([0, 10, 300_000])}"
    if kind == 3:
        return chance.choice(
            [TimeoutError("late"), RuntimeError("down"), ValueError("\ud800"), KeyError("x"), OSError(28, "full")]
        )
    if kind == 4:
        return {"content": odd(chance), "usage": {"prompt_tokens": odd(chance), "completion_tokens": odd(chance)}}
    return MAKERS[chance.choice(sorted(MAKERS))]()


class OddEmbedder:
    """Returns rows of any kind instead of vectors, and good ones at times."""

    def __init__(self, chance: Random) -> None:
        self.name = f"odd-{chance.randrange(3)}"
        self._chance = chance

    def embed(self, texts: Sequence[str], /) -> Any:  # noqa: ANN401 - what is tried
        """A row for each text, or not."""
        chance, n = self._chance, len(texts)
        made: dict[str, Callable[[], Any]] = {
            "good": lambda: np.ones((n, 8), dtype=np.float32) / np.sqrt(np.float32(8)),
            "NaN": lambda: np.full((n, 8), np.nan, dtype=np.float32),
            "infinite": lambda: np.full((n, 8), np.inf, dtype=np.float32),
            "huge": lambda: np.full((n, 8), 1e38, dtype=np.float32),
            "zero": lambda: np.zeros((n, 8), dtype=np.float32),
            "double": lambda: np.ones((n, 8)) * 1e300,
            "complex": lambda: np.ones((n, 8), dtype=np.complex128),
            "objects": lambda: np.full((n, 2), None, dtype=object),
            "texts": lambda: np.full((n, 2), "x"),
            "one less": lambda: np.ones((max(0, n - 1), 8), dtype=np.float32),
            "one more": lambda: np.ones((n + 1, 8), dtype=np.float32),
            "another width": lambda: np.ones((n, chance.choice([0, 1, 7, 5000])), dtype=np.float32),
            "flat": lambda: np.ones(n * 8, dtype=np.float32),
            "three dimensions": lambda: np.ones((n, 2, 4), dtype=np.float32),
            "transposed": lambda: np.ones((8, n), dtype=np.float32).T,
            "ragged": lambda: [[1.0] * k for k in range(n)],
            "lists": lambda: [[0.5] * 8 for _ in texts],
            "odd": lambda: odd(chance),
            "an error": lambda: 1 / 0,
        }
        return made[chance.choice(sorted(made))]()


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Variables for the duration of the block, without the keys of this machine."""
    before = dict(environ)
    for name in [name for name in environ if name.startswith(("OPENAI_", "SLOWWAVE_"))]:
        del environ[name]
    environ.update(values)
    try:
        yield
    finally:
        environ.clear()
        environ.update(before)


@contextmanager
def _served(chance: Random) -> Iterator[str]:
    """The URL of a server that fails in some way."""
    if chance.random() < 0.5:
        with HostileServer(SCRIPTS[chance.choice(sorted(SCRIPTS))], pause=0.01) as server:
            yield server.url
        return
    bodies = ['{"data": 7}', "<html>", "", "[" * 90_000, '{"data": [{"index": 0, "embedding": [NaN]}]}', "null", "\x00"]
    usage = chance.choice(["-5", "9" * 400, "1e400", '"x"', "null", "[]", "true"])
    bodies.append(f'{{"choices": [{{"message": {{"content": "{{}}"}}}}], "usage": {{"prompt_tokens": {usage}}}}}')
    said: Any = malformed(chance.choice(sorted(SHAPES)), "distil", seed=chance.randrange(10**6))
    bodies.append(json.dumps({"choices": [{"message": {"content": said}}]}, default=repr))
    status = chance.choice([200, 200, 200, 204, 307, 401, 404, 413, 429, 500, 999])
    headers = chance.choice(
        [{}, {"Retry-After": "1e9"}, {"Location": "http://127.0.0.1:9/"}, {"Content-Encoding": "br"}]
    )
    with OpenAIServer(
        Served(body=chance.choice(bodies), status=status, headers=headers, cut=chance.random() < 0.1)
    ) as server:
        yield server.url


def models(place: Place) -> int:
    """Models and embedders in this process that answer anything."""
    chance, done = place.chance, 0
    for _ in place.times(6):
        llm = ScriptedLLM(
            **{task: [reply(chance, task) for _ in range(12)] for task in ("distil", "reconcile", "summarise")}
        )
        with opened(place.store(), llm=llm, embedder=chance.choice(["none", OddEmbedder(chance)])) as memory:
            done += _used(memory, chance)
    return done


def servers(place: Place) -> int:
    """Models and embedders on servers that fail."""
    chance, done = place.chance, 0
    for _ in place.times(4):
        with _served(chance) as llm, _served(chance) as embedder, _environment(
            SLOWWAVE_LLM_URL=llm, SLOWWAVE_EMBEDDER_URL=embedder, SLOWWAVE_LLM_SECONDS=SECONDS,
            SLOWWAVE_EMBEDDER_SECONDS=SECONDS, SLOWWAVE_LLM_KEY=KEY, SLOWWAVE_EMBEDDER_KEY=KEY,
            XDG_CONFIG_HOME=str(place.folder),
        ):  # fmt: skip
            address = place.store()
            with opened(address, llm="openai:tiny", embedder="openai:tiny") as memory:
                done += _used(memory, chance, turns=1)
                shown = "\n".join(map(str, (memory.status(), memory.runs(), memory.cost())))
                assert "very-secret" not in shown
    return done


def _used(memory: AgentMemory, chance: Random, turns: int = 4) -> int:
    """Every verb that asks a model or an embedder; then everything that was said is there, and nothing else."""
    said: list[str] = []
    logging.getLogger("slowwave").setLevel(logging.CRITICAL)
    for turn in range(turns):
        texts = [chance.choice(SAID).format(words("kz", chance)) for _ in range(3)]
        receipt = memory.add_messages([Message("user", text) for text in texts], f"c{turn % 2}")
        assert len(receipt.ids) == len(texts), receipt.problems
        said += texts
        stated = f"{chance.choice(SAID)} {words('kz', chance)}"
        for verb in (
            lambda stated=stated: memory.add(stated),
            lambda turn=turn: memory.consolidate(f"c{turn % 2}", force=True),
            lambda said=said: memory.search(chance.choice(said)),
            lambda: str(memory.context("who owns the pipeline?", profile="chat")),
            memory.sleep,
            memory.reembed,
            lambda turn=turn: memory.compact_conversation(f"c{turn % 2}"),
            lambda: memory.compact_topic("pipeline"),
        ):
            with suppress(SlowwaveError):
                verb()
    there = [one.text for one in everything(memory).values()]
    lost = [text for text in said if text not in there]
    assert lost == [], f"{len(lost)} of {len(said)} messages are lost"
    invented = [text for text in there if INVENTED in text]
    assert invented == [], f"nobody said {invented[:3]}"
    cost = memory.cost().total
    assert cost.tokens_in >= 0 <= cost.tokens_out
    sound(memory)
    return turns * 8
