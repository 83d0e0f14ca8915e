"""A name that does not exist: the error says which one to use, and stays the error that Python programs expect."""

import asyncio
import copy
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from inspect import signature

import pytest

import slowwave
from slowwave import AgentMemory, Config, Context, Hit, InputError, Memory, Message, Receipt, Slowwave
from slowwave.model.suggestions import GUESSES, PHRASES, instead_of, public_names, suggests_names


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
        ("similarity_search_with_score", "search"),
        ("correct", "update"),
        ("delete_conversation", "erase(conversation=NAME)"),
        ("delete_all", "erase(scope=True)"),
        ("delete_note", "remove_note"),
        ("end_session", "end_conversation"),
        ("get_memory", "get"),
        ("users", "Slowwave.open(...).scopes()"),
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
        (hit, "metadata", "memory.metadata"),
    ):
        with pytest.raises(AttributeError, match=f"has no {tried}: use {right}$"):
            getattr(value, tried)
    with Slowwave.in_memory() as store:
        for tried, right in (("scope", "within"), ("search", "within(NAME).search"), ("list_users", "scopes")):
            with pytest.raises(AttributeError, match=rf"^Slowwave has no {tried}: use {re.escape(right)}$"):
                getattr(store, tried)
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


def test_an_argument_of_another_method_names_what_to_use(memory: AgentMemory) -> None:
    with pytest.raises(TypeError, match=r"^erase\(\) has no argument all: use scope=True$"):
        memory.erase(all=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^context\(\) has no argument limit: use budget_tokens$"):
        memory.context("tea", limit=300)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^messages\(\) has no argument limit: use last$"):
        memory.messages("monday", limit=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^add\(\) has no argument run_id: use add_messages for what was said"):
        memory.add("Tea", run_id="monday")  # type: ignore[call-arg]
    with pytest.raises(
        TypeError, match=r"^undo\(\) has no argument last: use run_id=memory\.runs\(limit=1\)\[0\]\.id$"
    ):
        memory.undo(last=True)  # type: ignore[call-arg]
    assert memory.runs(limit=1)[0].cause == "add"


def test_too_many_positional_arguments_are_answered_with_the_names_of_the_others(memory: AgentMemory) -> None:
    with pytest.raises(
        TypeError, match=r"^search\(\) takes 1 positional argument \(query\), and 2 were passed: .*top_k"
    ):
        memory.search("tea", 5)  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"^erase\(\) takes no positional argument, and 1 was passed: .*\(id, "):
        memory.erase("6b0ke4mdwgzdzgkzw396")  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"^close\(\) takes no positional argument, and 1 was passed$"):
        memory.close(1)  # type: ignore[call-arg]
    store = Slowwave.in_memory()
    with pytest.raises(TypeError, match=r'no argument path: use delete_scope\("acme", "alice"\)$'):
        store.delete_scope(path="users/ada")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r'no argument path: use within\("acme", "alice"\)$'):
        store.within(path="users/ada")  # type: ignore[call-arg]
    assert len(memory.search("tea", top_k=5)) == 1


@pytest.mark.parametrize(
    ("tried", "words"),
    [
        ("connect", ": use AgentMemory.open or Slowwave.open"),
        ("MemoryClient", ": use AgentMemory or Slowwave"),
        ("AgentMemry", ": use AgentMemory"),
        ("qqq", "; dir(slowwave) lists its names"),
    ],
)
def test_a_name_that_the_package_does_not_have_names_what_to_use(tried: str, words: str) -> None:
    with pytest.raises(AttributeError, match=rf"^slowwave has no '{tried}'{re.escape(words)}"):
        getattr(slowwave, tried)
    assert not hasattr(slowwave, "__qqq__")


def test_every_phrase_names_something_that_exists_instead_of_something_that_does_not() -> None:
    classes = {kind.__name__: kind for kind in (AgentMemory, Slowwave, Hit)}
    for owner, phrases in PHRASES.items():
        for tried, said in phrases.items():
            right = re.findall(r"\w+", said)[0]
            if owner in classes:
                assert right == "Slowwave" or hasattr(classes[owner], right) or right in signature(Hit).parameters
                assert not hasattr(classes[owner], tried)
            elif tried == "__init__":
                assert {owner, right} <= set(slowwave.__all__)
            elif owner == "slowwave":
                assert right in slowwave.__all__
                assert tried not in slowwave.__all__
            else:
                kind = AgentMemory if hasattr(AgentMemory, owner) else Slowwave
                parameters = signature(getattr(kind, owner)).parameters
                assert tried not in parameters
                assert right in parameters or hasattr(kind, right)


def test_an_unknown_argument_of_open_names_the_one_to_use() -> None:
    with pytest.raises(InputError, match="no argument user_id: use scope"):
        AgentMemory.open(":memory:", user_id="bob")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no argument db_path: use store"):
        Slowwave.open(db_path="agent.db")  # type: ignore[arg-type]


def test_every_guess_names_something_that_exists() -> None:
    requests = pytest.importorskip("slowwave.server.http.requests")
    known = {"after", "limit", "q", "scope", "budget"}  # of /v1 and of the command line
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


@pytest.mark.parametrize("arguments", [{}, {"path": "agent.db"}, {"text": "Tea is green"}], ids=str)
def test_the_constructor_of_a_stored_record_names_what_opens_a_memory(arguments: dict[str, str]) -> None:
    with pytest.raises(TypeError, match=r": use AgentMemory\.open\(\.\.\.\) to open a memory$"):
        Memory(**arguments)  # type: ignore[call-arg]


def test_a_stored_record_can_be_copied_pickled_and_replaced(memory: AgentMemory) -> None:
    (record,) = memory.get_all()
    assert copy.copy(record) == copy.deepcopy(record) == pickle.loads(pickle.dumps(record)) == record
    assert replace(record, text="Tea is black").text == "Tea is black"
