"""The HTTP interface `/mem0`: the requests of mem0's clients, as those send them."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, strategies
from tests.server.conftest import Server

from slowwave import AgentMemory
from slowwave.errors import InputError
from slowwave.model.memory import Memory
from slowwave.server.mem0.filters import MISSING, holds
from slowwave.server.mem0.ids import LETTERS, from_uuid, to_uuid

Json = Any


def call(server: Server, method: str, path: str, body: Json = None, code: int = 200, **more: Json) -> Json:
    answer = server.client.request(method, f"/mem0{path}", json=body, **more)
    assert answer.status_code == code, answer.text
    return answer.json()


def add(server: Server, *texts: str, infer: bool = False, **more: Json) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    call(server, "POST", "/v3/memories/add/", {"messages": messages, "infer": infer, **more})


def listed(server: Server, filters: Json = None, **more: Json) -> list[Json]:
    found: list[Json] = call(server, "POST", "/v3/memories/", {"filters": filters}, params=more)["results"]
    return found


def texts(server: Server, filters: Json = None) -> set[str]:
    return {one["memory"] for one in listed(server, filters)}


@given(strategies.text(alphabet=LETTERS, min_size=20, max_size=20))
def test_an_id_is_a_uuid_of_version_8_and_comes_back(memory_id: str) -> None:
    assert UUID(to_uuid(memory_id)).version == 8
    assert UUID(to_uuid(memory_id)).variant == "specified in RFC 4122"
    assert from_uuid(to_uuid(memory_id)) == memory_id


def test_what_is_no_id_of_a_memory_is_refused_or_unknown(server: Server) -> None:
    call(server, "GET", "/v1/memories/nonsense/", code=400)
    call(server, "GET", "/v1/memories/7f3e6c4c-3c2d-4a37-9d3b-df9f6d0a9a11/", code=404)
    assert call(server, "GET", f"/v1/memories/{to_uuid('0' * 20)}/", code=404)["detail"]


def test_ping_says_whether_the_key_is_valid(server: Server) -> None:
    secret = server.key("acme")["authorization"].split()[1]
    found = call(server, "GET", "/v1/ping/", headers={"authorization": f"Token {secret}"})
    assert found["org_id"]
    assert found["project_id"]
    assert "detail" in call(server, "GET", "/v1/ping/", code=401, headers={"authorization": "Token bad"})


def test_messages_become_facts_of_their_entity_with_the_metadata(server: Server) -> None:
    add(server, "I work at Acme Corp.", infer=True, user_id="alice", metadata={"source": "chat"})
    (found,) = listed(server, {"user_id": "alice"})
    assert "Acme Corp" in found["memory"]
    assert (found["user_id"], found["agent_id"], found["metadata"]) == ("alice", None, {"source": "chat"})
    assert listed(server, {"user_id": "bob"}) == []
    assert [memory.scope for memory in server.store.within("mem0", "user.alice").get_all()] == ["mem0/user.alice"]


def test_deleting_all_ends_while_others_go_on_adding(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    add(server, "Alice prefers dark mode", "Alice owns a boat", user_id="alice")
    delete, deleted = AgentMemory.delete, list[int]()

    def delete_and_add(memory: AgentMemory, some: list[Memory]) -> object:
        deleted.append(len(some))
        assert len(deleted) < 5
        done = delete(memory, some)
        memory.add(f"Alice went to room {len(deleted)}")
        return done

    monkeypatch.setattr(AgentMemory, "delete", delete_and_add)
    call(server, "DELETE", "/v1/memories/", params={"user_id": "alice"})
    assert deleted
    assert texts(server, {"user_id": "alice"}) == {"Alice went to room 1"}


def test_a_memory_is_read_changed_searched_and_retracted(server: Server) -> None:
    add(server, "Alice prefers dark mode", user_id="alice")
    (found,) = call(server, "POST", "/v3/memories/search/", {"query": "dark mode", "filters": {"user_id": "alice"}})[
        "results"
    ]
    address = f"/v1/memories/{found['id']}/"
    assert 0 <= found["score"] <= 1
    assert call(server, "GET", address)["memory"] == "Alice prefers dark mode"
    assert call(server, "PUT", address, {"text": "Alice prefers light mode"})["memory"] == "Alice prefers light mode"
    assert call(server, "PUT", address, {"metadata": {"a": 1}})["metadata"] == {"a": 1}
    events = call(server, "GET", f"{address}history/")
    assert [(one["event"], one["new_memory"]) for one in events[:2]] == [
        ("ADD", "Alice prefers dark mode"),
        ("UPDATE", "Alice prefers light mode"),
    ]
    call(server, "DELETE", address)
    call(server, "GET", address, code=404)
    assert call(server, "GET", f"{address}history/")[-1]["event"] == "DELETE"
    run = server.store.within("mem0", "user.alice").runs()[0]
    server.store.within("mem0", "user.alice").undo(run)
    assert call(server, "GET", address)["memory"] == "Alice prefers light mode"


def test_filters_select_by_entities_and_metadata(server: Server) -> None:
    add(server, "Alice likes tea", user_id="alice", metadata={"n": 1})
    add(server, "Bob plays chess", user_id="bob", agent_id="coach", metadata={"n": 5})
    add(server, "The coach is strict", agent_id="coach")
    every = {"Alice likes tea", "Bob plays chess", "The coach is strict"}
    assert texts(server) == every
    assert texts(server, {"user_id": "*"}) == every - {"The coach is strict"}
    assert texts(server, {"user_id": {"in": ["alice", "bob", "eve"]}}) == every - {"The coach is strict"}
    assert texts(server, {"agent_id": "coach"}) == every - {"Alice likes tea"}
    assert texts(server, {"AND": [{"user_id": "bob"}, {"agent_id": "coach"}]}) == {"Bob plays chess"}
    assert texts(server, {"OR": [{"user_id": "alice"}, {"NOT": [{"user_id": "*"}]}]}) == every - {"Bob plays chess"}
    assert texts(server, {"metadata": {"n": {"gte": 2}}}) == {"Bob plays chess"}
    assert texts(server, {"AND": [{"user_id": "alice"}, {"metadata": {"n": 2}}]}) == set()
    assert texts(server, {"keywords": {"icontains": "TEA"}}) == {"Alice likes tea"}


@pytest.mark.parametrize("wrong", [{"user_id": {"like": "a"}}, {"user_id": {"in": "a"}}, {"AND": ["alice"]}])
def test_a_filter_that_cannot_be_meant_is_refused(server: Server, wrong: Json) -> None:
    add(server, "Alice likes tea", user_id="alice")
    call(server, "POST", "/v3/memories/", {"filters": wrong}, code=400)


def test_a_filter_of_any_depth_ends() -> None:
    deep: Json = {"user_id": "a"}
    for _ in range(30):
        deep = {"NOT": [deep]}
    with pytest.raises(InputError):
        holds(deep, lambda _: MISSING)


def test_pages_list_everything_once(server: Server) -> None:
    add(server, "Alice likes tea", "Alice owns a red boat", "Alice was born in Oslo", user_id="alice")
    pages = [call(server, "POST", "/v3/memories/", {}, params={"page": n, "page_size": 2}) for n in (1, 2)]
    assert [len(page["results"]) for page in pages] == [2, 1]
    assert {page["count"] for page in pages} == {3}
    assert (pages[0]["next"] is None, pages[1]["next"] is None) == (False, True)
    assert len({one["id"] for page in pages for one in page["results"]}) == 3


def test_names_of_entities_may_be_any_text(server: Server) -> None:
    for name in ("Zoë / x%2F", "..", "a.b", "user.alice", "mem0"):
        add(server, f"{name} likes tea", user_id=name)
        assert texts(server, {"user_id": name}) == {f"{name} likes tea"}
    assert {one["name"] for one in call(server, "GET", "/v1/entities/")["results"]} == {
        *("Zoë / x%2F", "..", "a.b", "user.alice", "mem0")
    }
    call(server, "DELETE", "/v2/entities/user/Zo%C3%AB%20%2F%20x%252F/")
    assert texts(server, {"user_id": "Zoë / x%2F"}) == set()
    call(server, "DELETE", "/v2/entities/user/nobody/", code=404)


def test_batches_change_all_or_nothing(server: Server) -> None:
    add(server, "Alice likes tea", "Alice owns a red boat", user_id="alice")
    ids = [one["id"] for one in listed(server)]
    rows = [{"memory_id": one, "text": f"new {one}"} for one in ids]
    call(server, "PUT", "/v1/batch/", {"memories": [*rows, {"memory_id": to_uuid("0" * 20), "text": "x"}]}, code=404)
    assert texts(server) == {"Alice likes tea", "Alice owns a red boat"}
    call(server, "PUT", "/v1/batch/", {"memories": rows})
    assert texts(server) == {f"new {one}" for one in ids}
    call(server, "DELETE", "/v1/batch/", {"memories": [{"memory_id": one} for one in ids]})
    assert texts(server) == set()


def test_all_of_a_user_is_retracted_and_can_be_brought_back(server: Server) -> None:
    add(server, "I work at Acme Corp.", infer=True, user_id="alice")
    add(server, "Bob plays chess", user_id="bob")
    call(server, "DELETE", "/v1/memories/", code=400)
    call(server, "DELETE", "/v1/memories/", params={"user_id": "alice"})
    assert texts(server) == {"Bob plays chess"}
    alice = server.store.within("mem0", "user.alice")
    alice.consolidate_all(force=True)
    assert alice.get_all() == []
    alice.undo(alice.runs()[0])
    assert len(alice.get_all()) == 1


def test_feedback_is_kept_and_praise_is_a_use(server: Server) -> None:
    add(server, "Alice likes tea", user_id="alice")
    (found,) = listed(server)
    call(server, "POST", "/v1/feedback/", {"memory_id": found["id"], "feedback": "POSITIVE"})
    (memory,) = server.store.within("mem0", "user.alice").get_all()
    assert (memory.accesses, memory.metadata) == (1, {"feedback": "POSITIVE"})


def test_the_scopes_of_entities_are_below_the_prefix_of_the_key(server: Server) -> None:
    acme, other = server.key("acme"), server.key("other")
    body = {"messages": [{"role": "user", "content": "Alice likes tea"}], "user_id": "alice", "infer": False}
    call(server, "POST", "/v3/memories/add/", body, headers=acme)
    assert len(server.store.within("acme", "mem0", "user.alice").get_all()) == 1
    (found,) = call(server, "POST", "/v3/memories/", {}, headers=acme)["results"]
    assert call(server, "POST", "/v3/memories/", {}, headers=other)["results"] == []
    call(server, "GET", f"/v1/memories/{found['id']}/", code=404, headers=other)
    call(server, "DELETE", f"/v1/memories/{found['id']}/", code=403, headers=server.key("acme", "read"))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/exports/"),
        ("POST", "/v1/summary/"),
        ("GET", "/api/v1/webhooks/projects/p/"),
        ("GET", "/v2/entities/user/alice/profile/"),
        ("PATCH", "/api/v1/orgs/organizations/o/projects/p/"),
    ],
)
def test_what_is_not_served_is_refused_and_not_accepted_without_effect(server: Server, method: str, path: str) -> None:
    assert call(server, method, path, code=501)["type"] == "urn:slowwave:problem:not-served"


def test_a_text_is_stated_by_the_role_whose_word_it_is(server: Server) -> None:
    messages = [
        {"role": "user", "content": [{"type": "tool_result", "content": "It rains in Rome"}]},
        {"role": "user", "content": "I like tea"},
    ]
    call(
        server,
        "POST",
        "/v3/memories/add/",
        {"messages": messages, "infer": False, "user_id": "alice", "metadata": None},
    )
    scopes = [scope.path for scope in server.store.scopes()]
    facts = [fact for path in scopes for fact in server.store.within(*path.split("/")).get_all()]
    assert {(fact.text, fact.trust) for fact in facts} == {("It rains in Rome", "tool"), ("I like tea", "user")}
