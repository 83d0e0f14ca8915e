"""The HTTP interface `/v1`: each verb, errors, pages, repeated requests, jobs and plans."""

import json
import threading
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from tests.server.conftest import CANARY, Server

from slowwave import Config, Slowwave
from slowwave.server.app import build_app
from slowwave.testing.postgres_proxy import Proxy

ROOT = "/v1/scopes/acme%2Falice"


def post(server: Server, path: str, body: Any = None, code: int = 200, **headers: str) -> Any:  # noqa: ANN401 - JSON
    answer = server.client.post(ROOT + path, json=body, headers=headers)
    assert answer.status_code == code, answer.text
    return answer.json()


def get(server: Server, path: str, code: int = 200, **params: Any) -> Any:  # noqa: ANN401 - JSON
    answer = server.client.get(ROOT + path, params=params)
    assert answer.status_code == code, answer.text
    return answer.json()


def finished(server: Server, path: str, body: Any = None) -> Any:  # noqa: ANN401 - JSON
    """The job of a request, after its last event."""
    answer = server.client.post(ROOT + path, json=body)
    assert answer.status_code == 202, answer.text
    address = answer.headers["location"]
    server.client.get(f"{address}/events")
    return server.client.get(address).json()


def test_messages_are_stored_once_by_their_ids_and_read_back(server: Server) -> None:
    sent = {"messages": [{"role": "user", "content": "Walnuts make me ill.", "id": "m-1"}], "conversation": "a/b c"}
    assert post(server, "/messages", sent, 201)["did"] == "1 added"
    assert post(server, "/messages", sent, 201)["run_id"] is None
    sent["messages"][0]["content"] = "Something else"
    assert post(server, "/messages", sent, 409)["type"] == "urn:slowwave:problem:conflict"
    assert [one["name"] for one in get(server, "/conversations")["items"]] == ["a/b c"]
    listed = get(server, f"/conversations/{quote('a/b c', safe='')}/messages")["items"]
    assert [(one["role"], one["content"], one["id"]) for one in listed] == [("user", "Walnuts make me ill.", "m-1")]


def test_a_scope_is_one_part_of_the_path_and_decoded_once(server: Server) -> None:
    for names in (("a/b",), ("a", "b"), ("100%", "ä ö"), ("facts", "search")):
        memory = server.store.within(*names)
        path = f"/v1/scopes/{quote(memory.scope, safe='')}/facts"
        made = server.client.post(path, json={"text": f"Alice likes {names[0]} tea"})
        assert made.status_code == 201, made.text
        assert [fact.scope for fact in memory.get_all()] == [memory.scope]
    listed = server.client.get("/v1/scopes").json()["items"]
    assert sorted(tuple(scope["names"]) for scope in listed) == [
        ("100%", "ä ö"),
        ("a", "b"),
        ("a/b",),
        ("facts", "search"),
    ]


def test_a_fact_is_stated_corrected_pinned_used_retracted_and_brought_back(server: Server) -> None:
    stated = post(server, "/facts", {"text": "Alice owns the deploy pipeline", "metadata": {"a": [1]}}, 201)
    (name,) = stated["ids"]
    assert stated["outcomes"][0]["operation"] == "ADD"
    address = f"{ROOT}/facts/{name}"
    done = server.client.patch(address, json={"text": "Bob owns the deploy pipeline"}).json()
    assert get(server, f"/facts/{name}")["text"] == "Bob owns the deploy pipeline"
    post(server, f"/runs/{done['run_id']}:undo")
    assert get(server, f"/facts/{name}")["text"] == "Alice owns the deploy pipeline"
    assert get(server, f"/facts/{name}")["metadata"] == {"a": [1]}
    assert server.client.patch(address, json={}).status_code == 400
    assert server.client.patch(address, json={"texts": "x"}).status_code == 422
    post(server, f"/facts/{name}:pin")
    assert get(server, f"/facts/{name}")["pinned"]
    post(server, f"/facts/{name}:unpin")
    assert post(server, f"/facts/{name}:use", {"session": "s"}) == {"recorded": 1}
    assert server.client.delete(address).json()["run_id"] is not None
    assert get(server, "/facts")["items"] == []
    post(server, f"/facts/{name}:revive")
    events = get(server, f"/facts/{name}/history")["items"]
    assert len(events) >= 6
    assert get(server, f"/facts/{name}/explanation")["memory"]["id"] == name


def test_a_batch_of_facts_is_one_run(server: Server) -> None:
    done = post(server, "/facts:batch", {"facts": [{"text": "Alice likes tea"}, {"text": "Bob plays chess"}]}, 201)
    assert len(done["ids"]) == 2
    post(server, "/facts:delete", {"ids": done["ids"]})
    assert get(server, "/facts")["items"] == []


def test_pages_of_facts_runs_notes_and_scopes_list_everything_once(server: Server) -> None:
    memory = server.store.within("acme", "alice")
    for number in range(5):
        memory.add(f"Alice owns {number} red boats of type {'abcde'[number]}")
        memory.note(f"n{number}", "x")
        server.store.within("acme", f"s{number}").add("Bob plays chess")
    for path, name in (("/facts", "id"), ("/runs", "id"), ("/notes", "id")):
        found: list[str] = []
        after = {}
        while True:
            page = get(server, path, limit=2, **after)
            found += [item[name] for item in page["items"]]
            if page["next"] is None:
                break
            after = {"after": page["next"]}
        assert len(found) == len(set(found)) == (10 if path == "/runs" else 5)
    first = server.client.get("/v1/scopes", params={"prefix": "acme", "limit": 4}).json()
    rest = server.client.get("/v1/scopes", params={"prefix": "acme", "after": first["next"]}).json()
    assert len(first["items"] + rest["items"]) == 6


def test_search_and_context_find_what_was_said(server: Server) -> None:
    post(server, "/messages", {"messages": [{"role": "user", "content": "Walnuts make me ill."}]}, 201)
    hits = get(server, "/search", q="walnuts", top_k=3)["items"]
    assert [hit["text"] for hit in hits] == ["Walnuts make me ill."]
    assert post(server, "/search", {"query": "walnuts", "top_k": 3})["items"] == hits
    assert post(server, "/search", {"query": "walnuts", "kinds": ["semantic"]})["items"] == []
    assert get(server, "/search", q="walnuts", since="2026-01-01T00:00:00Z", top_k=3)["items"] == hits
    assert get(server, "/search", q="walnuts", until="2026-01-01T00:00:00+02:00")["items"] == []
    get(server, "/search", 422, q="walnuts", since="0.5")
    assert get(server, "/search", q="walnuts", until="2026-01-01T00:00:00")["items"] == []
    context = post(server, "/context", {"query": "walnuts", "budget_tokens": 300})
    assert "Walnuts make me ill." in context["text"]
    assert context["memory_ids"] == [hits[0]["memory"]["id"]]


def test_a_note_is_changed_only_in_the_version_that_was_read(server: Server) -> None:
    address = f"{ROOT}/notes/{quote('soup/red', safe='')}"
    made = server.client.put(address, json={"text": "beetroot"}, headers={"if-none-match": "*"})
    assert (made.status_code, made.headers["etag"]) == (200, '"1"')
    assert server.client.put(address, json={"text": "x"}, headers={"if-none-match": "*"}).status_code == 412
    read = server.client.get(address)
    assert (read.json()["text"], read.headers["etag"]) == ("beetroot", '"1"')
    changed = server.client.put(address, json={"data": {"a": 1}}, headers={"if-match": read.headers["etag"]})
    assert changed.headers["etag"] == '"2"'
    stale = server.client.put(address, json={"text": "x"}, headers={"if-match": '"1"'})
    assert (stale.status_code, stale.json()["type"]) == (412, "urn:slowwave:problem:changed-since")
    assert server.client.put(address, json={"text": "x"}, headers={"if-match": "two"}).status_code == 422
    assert server.client.delete(address, headers={"if-match": '"1"'}).status_code == 412
    assert server.client.delete(address, headers={"if-match": '"2"'}).status_code == 200
    assert server.client.get(address).status_code == 404


def test_of_many_writers_of_one_version_one_wins(server: Server) -> None:
    memory = server.store.within("acme", "alice")
    memory.note("a", "first")
    codes: list[int] = []

    def put(number: int) -> None:
        answer = server.client.put(f"{ROOT}/notes/a", json={"text": f"{number}"}, headers={"if-match": '"1"'})
        codes.append(answer.status_code)

    threads = [threading.Thread(target=put, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [200, 412, 412, 412, 412, 412]


# ---- repeated requests


def test_a_repeated_request_gets_the_first_answer_and_changes_nothing(server: Server) -> None:
    body = {"messages": [{"role": "user", "content": "Walnuts make me ill."}]}
    first = server.client.post(f"{ROOT}/messages", json=body, headers={"idempotency-key": "k-1"})
    again = server.client.post(f"{ROOT}/messages", json=body, headers={"idempotency-key": "k-1"})
    assert (first.status_code, first.json()) == (again.status_code, again.json()) == (201, first.json())
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert len(server.store.within("acme", "alice").messages()) == 1
    other = server.client.post(
        f"{ROOT}/messages", json={**body, "conversation": "x"}, headers={"idempotency-key": "k-1"}
    )
    assert (other.status_code, other.json()["type"]) == (422, "urn:slowwave:problem:reused-idempotency-key")
    server.clock.advance(hours=25)
    server.client.post(f"{ROOT}/messages", json=body, headers={"idempotency-key": "k-1"})
    assert len(server.store.within("acme", "alice").messages()) == 2


def test_the_same_name_of_another_key_is_another_request(server: Server) -> None:
    body = {"messages": [{"role": "user", "content": "Walnuts make me ill."}]}
    for _ in range(2):
        answer = server.client.post(
            f"{ROOT}/messages", json=body, headers={**server.key("acme"), "idempotency-key": "k-1"}
        )
        assert "idempotent-replayed" not in answer.headers
    assert len(server.store.within("acme", "alice").messages()) == 2


def test_a_request_that_failed_may_be_repeated(server: Server) -> None:
    body = {"text": "Alice likes tea", "id": "f-1"}
    server.store.within("acme", "alice").add("Bob plays chess", id="f-1")
    for _ in range(2):
        assert post(server, "/facts", body, 409, **{"idempotency-key": "k"})["type"].endswith("conflict")
    assert post(server, "/facts", {"text": ""}, 422, **{"idempotency-key": "k"})["type"].endswith("invalid-request")


def test_equal_requests_at_once_store_once(server: Server) -> None:
    codes: list[int] = []

    def send() -> None:
        body = {"messages": [{"role": "user", "content": "Walnuts make me ill."}]}
        codes.append(server.client.post(f"{ROOT}/messages", json=body, headers={"idempotency-key": "k"}).status_code)

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 201 in codes
    assert set(codes) <= {201, 409}
    assert len(server.store.within("acme", "alice").messages()) == 1


def test_an_erase_leaves_no_answer_and_no_job_with_the_words(server: Server) -> None:
    body = {"messages": [{"role": "user", "content": f"I own a {CANARY}."}], "conversation": "c"}
    post(server, "/messages", body, 201, **{"idempotency-key": "k"})
    job = finished(server, "/consolidate", {"force": True})
    assert CANARY in json.dumps(job)
    planned = finished(server, "/sleep", {"dry_run": True})["result"]["plan"]["id"]
    assert post(server, "/erase", {"conversation": "c"})["verified"]
    assert CANARY not in json.dumps(get(server, "/jobs"))
    assert server.client.get(f"{ROOT}/plans/{planned}").status_code == 404
    post(server, "/messages", body, 201, **{"idempotency-key": "k"})
    assert len(server.store.within("acme", "alice").messages("c")) == 1


# ---- nights


def test_a_night_is_planned_shown_applied_and_undone(server: Server) -> None:
    memory = server.store.within("acme", "alice")
    memory.add("Alice has a dentist appointment", category="event")
    server.clock.advance(days=400)
    job = finished(server, "/sleep", {"dry_run": True})
    plan = job["result"]["plan"]
    assert job["state"] == "done"
    assert any("fade" in part["cause"] or "expire" in part["cause"] for part in plan["parts"])
    assert get(server, f"/plans/{plan['id']}")["did"] == plan["did"]
    assert len(get(server, "/facts")["items"]) == 1
    post(server, f"/plans/{plan['id']}:apply")
    assert get(server, "/facts")["items"] == []
    assert "was applied" in post(server, f"/plans/{plan['id']}:apply", code=404)["detail"]
    post(server, f"/runs/{plan['id']}:undo")
    assert len(get(server, "/facts")["items"]) == 1


def test_a_plan_that_changes_nothing_may_be_applied_again_and_makes_no_run(server: Server) -> None:
    plan = finished(server, "/sleep", {"dry_run": True})["result"]["plan"]["id"]
    assert [post(server, f"/plans/{plan}:apply") for _ in range(2)] == [{"receipts": []}] * 2
    get(server, f"/runs/{plan}", 404)


def test_the_events_of_a_job_are_numbered_and_continue_after_the_last_one_seen(server: Server) -> None:
    post(server, "/messages", {"messages": [{"role": "user", "content": "I own a boat."}]}, 201)
    answer = server.client.post(f"{ROOT}/sleep")
    address = f"{answer.headers['location']}/events"
    whole = server.client.get(address).text.split("\n\n")[:-1]
    numbers = [int(event.split("\n")[0].removeprefix("id: ")) for event in whole]
    assert numbers == list(range(1, len(whole) + 1))
    assert json.loads(whole[-1].split("data: ")[1]) == {"state": "done"}
    rest = server.client.get(address, headers={"last-event-id": "3"}).text.split("\n\n")[:-1]
    assert rest == whole[3:]


def test_a_restarted_server_says_what_became_of_its_plans_and_jobs(server: Server) -> None:
    server.store.within("acme", "alice").add("Alice has a dentist appointment", category="event")
    server.clock.advance(days=400)
    job = finished(server, "/sleep", {"dry_run": True})
    plan, applied = job["result"]["plan"]["id"], finished(server, "/sleep")["result"]["run_id"]
    with TestClient(build_app(server.store), base_url="http://localhost") as restarted:
        gone = {path: restarted.get(ROOT + path) for path in (f"/jobs/{job['id']}", f"/jobs/{job['id']}/events")}
        gone |= {path: restarted.get(ROOT + path) for path in (f"/plans/{plan}", f"/plans/{applied}")}
        gone["apply"] = restarted.post(f"{ROOT}/plans/{plan}:apply")
    assert {answer.status_code for answer in gone.values()} == {404}
    details = [answer.json()["detail"] for answer in gone.values()]
    hints = ("list of runs", "list of runs", "dry run", "was applied", "dry run")
    assert all(hint in detail for hint, detail in zip(hints, details, strict=True)), details
    assert get(server, f"/runs/{applied}")["id"] == applied


def test_only_a_key_that_is_trusted_as_the_user_vouches_for_a_file(server: Server) -> None:
    line = b'{"role": "user", "content": "Walnuts make me ill.", "id": "1"}\n'
    for trust, vouched in (("assistant", 0), ("user", 1)):
        key = server.key("acme", trust=trust)
        answer = server.client.post(f"{ROOT}/imports?trust=user&name={trust}.jsonl", content=line, headers=key)
        server.client.get(f"{answer.headers['location']}/events", headers=key)
        result = server.client.get(answer.headers["location"], headers=key).json()["result"]
        assert (result["messages"], result["vouched"]) == (1, vouched)
    refused = server.client.post(f"{ROOT}/imports?trust=tool&name=a.jsonl", content=line, headers=key)
    assert refused.status_code == 422


def test_a_file_is_imported_once_and_undone(server: Server) -> None:
    lines = b'{"role": "user", "content": "Walnuts make me ill.", "id": "1"}\n'
    for known in (0, 1):
        answer = server.client.post(f"{ROOT}/imports?name=chat.jsonl", content=lines)
        server.client.get(f"{answer.headers['location']}/events")
        result = server.client.get(answer.headers["location"]).json()["result"]
        assert (result["messages"], result["known"]) == (1 - known, known)
    broken = server.client.post(f"{ROOT}/imports?name=a.json", content=b"{")
    server.client.get(f"{broken.headers['location']}/events")
    failed = server.client.get(broken.headers["location"]).json()
    assert (failed["state"], failed["problem"]["status"]) == ("failed", 400)


def test_a_job_of_another_scope_is_not_found(server: Server) -> None:
    job = finished(server, "/sleep")
    assert server.client.get(f"/v1/scopes/other/jobs/{job['id']}").status_code == 404


def test_status_health_cost_and_charts_are_read(server: Server) -> None:
    post(server, "/facts", {"text": "Alice likes tea"}, 201)
    assert get(server, "/status")["counts"] == {"semantic": {"active": 1}}
    assert get(server, "/health")["ok"]
    assert get(server, "/cost")["total"]["calls"] == 0
    chart = server.client.get(f"{ROOT}/plots/growth.svg")
    assert chart.headers["content-type"] == "image/svg+xml"
    assert chart.text.startswith("<svg")
    assert server.client.get(f"{ROOT}/plots/nothing.svg").status_code == 422


def test_what_waits_for_review_is_released_or_rejected(occupied: Server) -> None:
    address = "/v1/scopes/other%2Fbob/review"
    (held,) = occupied.client.get(address).json()["items"]
    assert held["phase"] == "quarantined"
    assert occupied.client.post(f"{address}/{held['id']}:release").status_code == 200
    assert occupied.client.get(address).json()["items"] == []


def test_a_key_without_a_scope_in_the_path_means_its_own(server: Server) -> None:
    header = server.key("acme/alice")
    assert server.client.post("/v1/facts", json={"text": "Alice likes tea"}, headers=header).status_code == 201
    assert len(server.store.within("acme", "alice").get_all()) == 1
    job = server.client.post("/v1/sleep", headers=header)
    assert job.headers["location"].startswith("/v1/scopes/acme%2Falice/jobs/")


# ---- the description


def test_every_route_documents_its_errors_and_refuses_unknown_fields(server: Server) -> None:
    for root in ("/v1", "/mem0"):
        described = server.client.get(f"{root}/openapi.json").json()
        for path, methods in described["paths"].items():
            for method, operation in methods.items():
                assert {"400", "401", "403", "404", "409", "422", "503"} <= set(operation["responses"]), (method, path)
                assert operation.get("description"), (method, path)
    bodies = server.client.get("/v1/openapi.json").json()["components"]["schemas"]
    asked = {name for name in bodies if bodies[name].get("additionalProperties") is False}
    assert {"NewFact", "NewMessages", "Question", "ContextQuestion", "NewNote", "Erasure", "Sleep"} <= asked


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [("GET", "/v1/none", 404), ("PUT", "/v1/scopes", 405), ("GET", "/v1/", 404), ("GET", "/no%0Ane", 404)],
)
def test_errors_of_paths_are_problems_too(server: Server, method: str, path: str, code: int) -> None:
    answer = server.client.request(method, path)
    assert answer.status_code == code
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()) == {"type", "title", "status", "detail"}


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/scopes", "GET"),
        (f"{ROOT[3:]}/facts/x", "DELETE, GET, PATCH"),
        (f"{ROOT[3:]}/facts/x:pin", "DELETE, GET, PATCH, POST"),
    ],
)
def test_a_wrong_method_is_answered_with_all_methods_of_the_path(server: Server, path: str, methods: str) -> None:
    answer = server.client.put(f"/v1{path}")
    assert answer.headers["allow"] == methods
    assert answer.json()["detail"] == f"this address takes {methods}"


def test_a_body_that_is_no_json_is_answered_with_the_place(server: Server) -> None:
    headers = {"content-type": "application/json"}
    answer = server.client.post(f"{ROOT}/facts", content='{"text": "x"', headers=headers)
    (error,) = answer.json()["errors"]
    assert error["at"] == "body"
    assert error["says"].endswith("Expecting ',' delimiter, at character 12")


@pytest.mark.parametrize(
    ("query", "at", "says"),
    [
        ("query=tea", "query/query", "there is no query parameter of this name: use q"),
        ("q=tea&limit=3", "query/limit", "there is no query parameter of this name: use top_k"),
        ("q=tea&conversatoin=c", "query/conversatoin", "there is no query parameter of this name: use conversation"),
    ],
)
def test_an_unknown_query_parameter_is_refused_with_the_name_to_use(
    server: Server, query: str, at: str, says: str
) -> None:
    answer = server.client.get(f"{ROOT}/search?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    problem = answer.json()
    assert problem["type"] == "urn:slowwave:problem:invalid-request"
    assert problem["errors"] == [{"at": at, "says": says}]


def test_every_address_of_v1_refuses_an_unknown_query_parameter(server: Server) -> None:
    for path in (
        "/v1/scopes",
        f"{ROOT}/facts",
        f"{ROOT}/events",
        f"{ROOT}/runs",
        f"{ROOT}/notes",
        f"{ROOT}/conversations",
    ):
        answer = server.client.get(path, params={"colour": "red"})
        assert answer.status_code == 422, path
        assert answer.json()["errors"][0]["at"] == "query/colour"
    assert server.client.post(f"{ROOT}/facts", params={"colour": "red"}, json={"text": "Tea"}).status_code == 422
    assert server.store.within("acme", "alice").get_all() == []


def test_an_unknown_field_is_refused_with_the_name_to_use(server: Server) -> None:
    problem = post(server, "/search", {"q": "tea"}, 422)
    assert problem["detail"] == "body: there is no field 'q': use query"
    said = {"messages": [{"role": "user", "content": "Tea"}], "chat": "a"}
    assert post(server, "/messages", said, 422)["detail"].startswith("body: there is no field 'chat': use ")
    assert "use one of query, " in post(server, "/context", {"query": "tea", "zzz": 1}, 422)["detail"]


def test_messages_are_taken_in_each_form_of_the_library(server: Server) -> None:
    sent = [
        {
            "role": "human",
            "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
        {"role": "user", "content": [{"type": "tool_result", "content": {"temp": 9}}], "name": "ada", "id": None},
        {"type": "function_call_output", "call_id": "c", "output": "Rain"},
    ]
    done = post(server, "/messages", {"messages": sent, "conversation": "c"}, 201)
    assert done["notes"] == [
        "not stored, because without text: message 1",
        "fields of messages that are not stored: tool_calls (1)",
    ]
    listed = get(server, "/conversations/c/messages")["items"]
    assert [(one["role"], one["content"]) for one in listed] == [
        ("user", "Look\n[image]"),
        ("tool", '{"temp": 9}'),
        ("tool", "Rain"),
    ]
    assert post(server, "/messages", {"messages": [{"role": "robot", "content": "Hi"}]}, 400)["detail"]


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        (
            "/facts",
            {"text": "Bob owns the ferry", "category": None, "kind": None, "metadata": None, "trust": None},
            201,
        ),
        ("/search", {"query": "ferry", "top_k": None, "deep": None}, 200),
        ("/context", {"query": None, "budget_tokens": None, "profile": None}, 200),
        ("/consolidate", {"conversation": None, "force": None}, 202),
    ],
)
def test_null_for_an_optional_field_is_as_absent(server: Server, path: str, body: Any, code: int) -> None:  # noqa: ANN401 - JSON
    post(server, path, body, code)
    required = {"text": None} if path == "/facts" else {"query": None} if path == "/search" else None
    if required:
        post(server, path, required, 422)


def test_while_the_database_is_away_a_request_is_told_to_come_again(own: str) -> None:
    proxy = Proxy(own)
    with (
        Slowwave.open(proxy.url, llm=None, embedder="none", config=Config(lock_seconds=0.5)) as store,
        TestClient(build_app(store), base_url="http://localhost") as client,
    ):
        assert client.post("/v1/scopes/a/search", json={"query": "tea"}).status_code == 200
        proxy.close()
        for method, path, body in (
            ("POST", "/v1/scopes/a/search", {"query": "tea"}),
            ("POST", "/v1/scopes/a/facts", {"text": "Mia likes tea"}),
            ("GET", "/v1/scopes/a/facts", None),
            ("POST", "/mem0/search", {"query": "tea", "user_id": "a"}),
        ):
            answer = client.request(method, path, json=body)
            assert (answer.status_code, answer.headers.get("retry-after")) == (503, "1"), (path, answer.text)
