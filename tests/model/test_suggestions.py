"""A name that does not exist: the error says which one to use, and stays the error that Python programs expect."""

import asyncio
import copy
import pickle
from collections.abc import Iterator
from inspect import signature

import pytest

from slowwave import AgentMemory, Config, Context, Hit, InputError, Memory, Message, Receipt, Slowwave
from slowwave.model.suggestions import GUESSES, instead_of, public_names, suggests_names


@pytest.fixture
def memory() -> Iterator[AgentMemory]:
    with AgentMemory.open(":memory:", llm=None, embedder="none") as opened:
        opened.add("Tea is green")
        yield opened


@pytest.mark.parametrize(
    ("tried", "right"),
    [
        ("remember", "add"),
        ("recall", "search"),
        ("similarity_search", "search"),
        ("get_relevant_documents", "search"),
        ("forget", "delete or erase"),
        ("list_memories", "get_all"),
        ("serach", "search"),
        ("consolidat", "consolidate"),
    ],
)
def test_an_unknown_method_names_the_one_to_use(memory: AgentMemory, tried: str, right: str) -> None:
    with pytest.raises(AttributeError) as of_memory:
        getattr(memory, tried)
    assert str(of_memory.value).startswith(f"AgentMemory has no {tried}: use {right}")
    with pytest.raises(AttributeError) as of_async:
        getattr(memory.aio, tried)
    assert str(of_async.value).startswith(f"AsyncAgentMemory has no {tried}: use {right}")


def test_a_name_like_no_other_and_a_private_one_have_the_error_of_python(memory: AgentMemory) -> None:
    for name in ("qqq", "_remember", "__remember__"):
        with pytest.raises(AttributeError, match=rf"^'AgentMemory' object has no attribute '{name}'$"):
            getattr(memory, name)
    assert not hasattr(memory, "remember")


def test_a_store_and_what_it_returns_name_what_to_use_too(memory: AgentMemory) -> None:
    hit = memory.search("tea")[0]
    assert hit.id == hit.memory.id
    for value, tried, right in (
        (hit, "content", "text"),
        (hit.memory, "content", "text"),
        (hit, "similarity", "relevance"),
    ):
        with pytest.raises(AttributeError, match=f"has no {tried}: use {right}$"):
            getattr(value, tried)
    with Slowwave.in_memory() as store, pytest.raises(AttributeError, match="Slowwave has no scope: use within"):
        getattr(store, "scope")  # noqa: B009 - the checker of types would refuse the name
    assert copy.deepcopy(hit) == pickle.loads(pickle.dumps(hit)) == hit


@pytest.mark.parametrize(("tried", "right"), [("limit", "top_k"), ("threshold", "min_relevance"), ("filters", "where")])
def test_an_unknown_argument_is_a_type_error_that_names_the_one_to_use(
    memory: AgentMemory, tried: str, right: str
) -> None:
    with pytest.raises(TypeError, match=rf"^search\(\) has no argument {tried}: use {right}$"):
        memory.search("tea", **{tried: 1})  # type: ignore[arg-type]

    async def awaited() -> None:
        await memory.aio.search("tea", **{tried: 1})  # type: ignore[arg-type]

    with pytest.raises(TypeError, match=rf"^search\(\) has no argument {tried}: use {right}$"):
        asyncio.run(awaited())


def test_an_argument_like_no_other_is_answered_with_those_that_exist(memory: AgentMemory) -> None:
    with pytest.raises(TypeError, match=r"^add_messages\(\) has no argument qqq: it takes messages, conversation$"):
        memory.add_messages([], qqq=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^close\(\) has no argument qqq: it takes none$"):
        memory.close(qqq=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^add\(\) has no argument user_id: a memory is of one scope"):
        memory.add("Tea", user_id="bob")  # type: ignore[call-arg]


def test_an_unknown_argument_of_open_names_the_one_to_use() -> None:
    with pytest.raises(InputError, match="no argument user_id: use scope"):
        AgentMemory.open(":memory:", user_id="bob")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no argument db_path: use store"):
        Slowwave.open(db_path="agent.db")  # type: ignore[arg-type]


def test_every_guess_names_something_that_exists() -> None:
    requests = pytest.importorskip("slowwave.server.http.requests")
    known = {"after", "limit", "q", "scope"}  # of /v1
    for kind in (AgentMemory, Slowwave, Context, Hit, Memory, Message, Receipt):
        known |= set(public_names(kind))
        for method in vars(kind).values():
            if callable(method):
                known |= set(signature(method).parameters)
    known |= set(signature(AgentMemory.open).parameters)
    for body in vars(requests).values():
        known |= set(getattr(body, "model_fields", ()))
    assert {name for names in GUESSES.values() for name in names} <= known
    assert instead_of("top-k", ["top_k"]) == ("top_k",)


def test_an_unknown_argument_of_a_message_or_a_config_names_the_one_to_use() -> None:
    with pytest.raises(TypeError, match=r"^Message\(\) has no argument text: use content$"):
        Message(role="user", text="Tea is green")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^Config\(\) has no argument halflife_days: use half_life_days$"):
        Config(halflife_days=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Message(role="user")  # type: ignore[call-arg]
    assert Message(role="user", content="Tea") == copy.deepcopy(Message("user", "Tea"))


def test_an_error_inside_a_property_stays_what_it_is() -> None:
    @suggests_names
    class Lamp:
        @property
        def light(self) -> str:
            return self.bulb.light  # type: ignore[attr-defined,no-any-return]

    with pytest.raises(AttributeError, match="'Lamp' object has no attribute 'bulb'"):
        assert Lamp().light
