"""Scopes with similar names, each with words of its own: no verb shows or changes what another scope holds."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Any, Final
from unicodedata import normalize

from tests.attack.campaign import Place, everything, sound, words

from slowwave import AgentMemory, Message, Slowwave
from slowwave.errors import SlowwaveError

BASES: Final = (
    "alice",
    "Zoë",
    "a b",
    "ünal",
    "x%",
    "x_",
    "*",
    "users",
    "1",
    "..",
    "a/b",
    "%2F",
    "'",
    '"',
    "\\",
    "straße",
    "ﬁ",
)
"""Names whose variants are near each other for a pattern, a collation, a path or a careless comparison."""
VARIANTS: Final[tuple[Callable[[str], str], ...]] = (
    str,
    str.upper,
    str.swapcase,
    lambda name: normalize("NFD", name),
    lambda name: normalize("NFKC", name),
    lambda name: name + " ",
    lambda name: name + "/",
    lambda name: name + "%",
    lambda name: name[:-1],
    lambda name: name + name[-1],
    lambda name: name.replace("/", "%2F"),
    lambda name: f"{name}/{name}",
)
Read = Callable[[AgentMemory, str, str], Any]
READS: Final[Mapping[str, Read]] = {
    "search": lambda m, word, _: m.search(word, top_k=50, deep=True),
    "search a conversation": lambda m, word, _: m.search(word, conversation="talk"),
    "context": lambda m, word, _: m.context(word, conversation="talk", budget_tokens=5000),
    "chat": lambda m, word, _: m.context(word, profile="chat").messages,
    "get": lambda m, _, identity: m.get(identity),
    "find_id": lambda m, _, identity: m.find_id(identity[:12]),
    "explain": lambda m, _, identity: m.explain(identity),
    "history": lambda m, _, identity: m.history(identity),
    "links": lambda m, _, identity: m.links(identity),
    "get_all": lambda m, _, __: m.get_all(kinds=["message", "semantic", "note"], phases=["active", "core", "cold"]),
    "messages": lambda m, _, __: m.messages("talk"),
    "conversations": lambda m, _, __: m.conversations(),
    "notes": lambda m, _, __: m.notes(),
    "runs": lambda m, _, __: [str(run.plan) for run in m.runs(limit=None)],
    "review": lambda m, _, __: m.review(),
    "core": lambda m, _, __: m.core(),
    "erase, dry": lambda m, word, _: m.erase(text=word, dry_run=True).first_words,
    "command": lambda m, word, _: m.command(f"@memory-search {word}"),
}
WRITES: Final[Mapping[str, Read]] = {
    "update": lambda m, word, identity: m.update(identity, f"changed {word[::-1]}"),
    "delete": lambda m, _, identity: m.delete(identity),
    "pin": lambda m, _, identity: m.pin(identity),
    "use": lambda m, _, identity: m.record_retrieval([identity]),
    "release": lambda m, _, identity: m.release(identity),
    "erase": lambda m, _, identity: m.erase(id=identity),
    "erase source": lambda m, word, _: m.erase(source=f"id-{word[::-1]}"),
    "undo": lambda m, _, identity: m.undo(identity),
    "say": lambda m, word, _: m.add_message(Message("user", "I have moved.", id=f"id-{word[::-1]}"), "talk"),
    "sleep": lambda m, _, __: m.sleep(),
}


def names(chance: Random) -> list[tuple[str, ...]]:
    """Different scopes with similar names, of one or two levels."""
    found: set[tuple[str, ...]] = set()
    for base in chance.sample(BASES, 3):
        for vary in chance.sample(VARIANTS, 4):
            made = vary(base)
            if made.strip():
                found |= {(made,), ("users", made)} if chance.random() < 0.5 else {(made,)}
    return sorted(found)


def _filled(
    store: Slowwave, scopes: list[tuple[str, ...]], chance: Random
) -> dict[tuple[str, ...], tuple[str, str, str]]:
    """For each scope that can be one: its word, and the ids of a fact and of a run of it."""
    held: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for names_ in scopes:
        try:
            memory = store.within(*names_)
        except SlowwaveError:
            continue
        word = words("canary", chance)
        receipt = memory.add(f"The ledger is in vault {word}", metadata={"at": word})
        memory.add_message(Message("user", f"I live in {word}.", id=f"id-{word[::-1]}"), "talk")
        memory.set_title("talk", f"About {word}")
        memory.note(f"note {word}", f"Keep {word}.")
        memory.consolidate("talk", force=True)
        held[names_] = (word, receipt.ids[0], receipt.run_id)
    return held


def scopes(place: Place) -> int:
    """Each scope reads and writes with the words and ids of the others."""
    done = 0
    with Slowwave.open(place.store(), llm=None, embedder=place.chance.choice(["none", "static"])) as store:
        held = _filled(store, names(place.chance), place.chance)
        assert len(held) > 2
        for reader in held:
            memory, own = store.within(*reader), held[reader][0]
            others = [held[name] for name in held if name != reader]
            before = {name: everything(store.within(*name)) for name in held if name != reader}
            for word, fact, run in place.chance.sample(others, max(1, round(min(4, len(others)) * place.size))):
                for name, verb in (*READS.items(), *place.chance.sample(sorted(WRITES.items()), 4)):
                    identity = run if name == "undo" else fact
                    with suppress(SlowwaveError):
                        answer = str(verb(memory, word, identity))
                        shown = [
                            other
                            for other, *_ in others
                            if other in answer and not (name == "command" and other == word)
                        ]
                        assert shown == [], f"{name} in {reader!r} with own word {own} shows {shown}: {answer[:300]}"
                    done += 1
            after = {name: everything(store.within(*name)) for name in held if name != reader}
            assert after == before, f"{reader!r} changed another scope"
        sound(store.within(*reader))
        assert store.doctor(deep=True) == []
    return done
