"""Keys, rights, scopes, names of the server and sizes of requests."""

from datetime import datetime, timedelta

import pytest
from starlette.testclient import TestClient
from tests.server.conftest import ALICE, BOB, CANARY, Server

from slowwave import Slowwave
from slowwave.errors import InputError, NotFoundError, SettingsError
from slowwave.model.access import RIGHTS
from slowwave.server.access.authentication import Authenticator, check_address
from slowwave.server.access.errors import ForbiddenError, UnauthorizedError
from slowwave.server.access.guards import BODY_MOST
from slowwave.server.app import Serving, build_app
from slowwave.server.mem0.ids import to_uuid

FACTS = "/v1/scopes/acme%2Falice/facts"


def kind(response: object) -> str:
    return str(response.json()["type"]).removeprefix("urn:slowwave:problem:")  # type: ignore[attr-defined]


def test_the_store_has_the_hash_of_a_key_only(server: Server) -> None:
    made = server.store.add_key("laptop", prefix="acme", rights=["read"])
    assert made.secret.startswith("sw_")
    assert len(made.secret) == 3 + 52
    assert server.store.verify_key(made.secret) == made.key
    assert made.secret not in repr(server.store.list_keys()) + repr(made) + str(made.key)
    assert server.store.verify_key(made.secret[:-1]) is None


def test_a_server_without_keys_admits_this_machine_and_one_with_keys_needs_them(server: Server) -> None:
    assert server.client.get(FACTS).status_code == 200
    header = server.key()
    answer = server.client.get(FACTS)
    assert (answer.status_code, kind(answer)) == (401, "no-key")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert server.client.get(FACTS, headers=header).status_code == 200


def test_revoking_the_last_key_does_not_open_the_server(server: Server) -> None:
    header = server.key()
    server.store.revoke_key(server.store.list_keys()[0].id)
    assert server.client.get(FACTS, headers=header).status_code == 401
    assert server.client.get(FACTS).status_code == 401


def test_an_expired_key_opens_nothing(server: Server) -> None:
    header = server.key(expires_at=server.clock() + timedelta(hours=1))
    assert server.client.get(FACTS, headers=header).status_code == 200
    server.clock.now += timedelta(hours=1)
    assert server.client.get(FACTS, headers=header).status_code == 401


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Token"])
def test_a_key_is_taken_with_the_schemes_of_http_and_of_mem0(server: Server, scheme: str) -> None:
    secret = server.key()["authorization"].split()[1]
    assert server.client.get(FACTS, headers={"authorization": f"{scheme} {secret}"}).status_code == 200
    assert server.client.get(FACTS, headers={"authorization": f"Basic {secret}"}).status_code == 401
    assert server.client.get(FACTS, headers={"authorization": secret}).status_code == 401


def test_a_key_opens_its_prefix_and_below_and_nothing_beside_it(server: Server) -> None:
    header = server.key("acme")
    codes = {
        path: server.client.get(f"/v1/scopes/{path}/facts", headers=header).status_code
        for path in ("acme", "acme%2Falice", "acme2", "other%2Fbob", "ACME", "acme%2F..%2Fother", "%2Facme", "acme%2F")
    }
    assert codes == {
        "acme": 200,
        "acme%2Falice": 200,
        "acme2": 403,
        "other%2Fbob": 403,
        "ACME": 403,
        "acme%2F..%2Fother": 400,
        "%2Facme": 400,
        "acme%2F": 400,
    }


def test_the_answer_to_a_foreign_scope_is_the_same_whether_it_exists(occupied: Server) -> None:
    header = occupied.key("acme")
    there, missing = (
        occupied.client.get(f"/v1/scopes/{path}/facts", headers=header).text for path in ("other%2Fbob", "other%2Fbog")
    )
    assert there.replace("bob", "bog") == missing


@pytest.mark.parametrize("right", RIGHTS)
def test_each_right_allows_what_it_names_only(server: Server, right: str) -> None:
    header = server.key("acme", right)
    fact = server.store.within("acme", "alice").add("Alice likes tea").ids[0]
    asked = {
        "read": server.client.get(FACTS, headers=header),
        "write": server.client.post(FACTS, headers=header, json={"text": "Alice likes rye"}),
        "review": server.client.get("/v1/scopes/acme/review", headers=header),
        "erase": server.client.post("/v1/scopes/acme%2Falice/erase", headers=header, json={"id": fact}),
        "admin": server.client.get("/v1/keys", headers=header),
    }
    allowed = {name for name, answer in asked.items() if answer.is_success}
    assert allowed == (set(RIGHTS) if right == "admin" else {right})
    assert {answer.status_code for answer in asked.values() if not answer.is_success} <= {403}


def test_who_may_write_but_not_review_releases_nothing(occupied: Server) -> None:
    held = occupied.store.within("other", "bob").review()[0].id
    path = f"/v1/scopes/other%2Fbob/review/{held}:release"
    for rights in (["write"], ["review"]):
        assert occupied.client.post(path, headers=occupied.key("other", *rights)).status_code == 403
    assert occupied.client.post(path, headers=occupied.key("other", "review", "write")).status_code == 200


def test_who_may_read_but_not_review_sees_no_words_of_what_waits(occupied: Server) -> None:
    bob, mem0 = (occupied.store.within(*path) for path in (("other", "bob"), ("other", "mem0", "user.bob")))
    held, other = bob.review()[0].id, mem0.review()[0].id
    scope = "/v1/scopes/other%2Fbob"
    paths = {
        f"{scope}/facts?phase=quarantined&kind=message": 403,
        f"{scope}/facts?phase=cold&phase=quarantined": 403,
        f"{scope}/facts/{held}": 403,
        f"{scope}/facts/{held}/history": 403,
        f"{scope}/facts/{held}/explanation": 403,
        f"/mem0/v1/memories/{to_uuid(other)}/": 403,
        f"/mem0/v1/memories/{to_uuid(other)}/history/": 403,
        f"{scope}/health": 200,
    }
    reader, reviewer = occupied.key("other", "read"), occupied.key("other", "read", "review")
    for path, code in paths.items():
        answer = occupied.client.get(path, headers=reader)
        assert (path, answer.status_code, "Ignore all" in answer.text) == (path, code, False)
        assert occupied.client.get(path, headers=reviewer).status_code in {200, 404}
    assert occupied.client.get(f"{scope}/facts/{held}", headers=reviewer).json()["id"] == held
    assert "Ignore all" in occupied.client.get(f"{scope}/health", headers=reviewer).text


def test_reviving_what_waits_needs_the_right_to_review(occupied: Server) -> None:
    bob = occupied.store.within("other", "bob")
    held = bob.review()[0].id
    path = f"/v1/scopes/other%2Fbob/facts/{held}:revive"
    assert occupied.client.post(path, headers=occupied.key("other", "write")).status_code == 403
    assert bob.get(held).phase == "quarantined"
    assert occupied.client.post(path, headers=occupied.key("other", "write", "review")).status_code == 200
    assert bob.get(held).phase == "active"


def test_what_was_rejected_is_neither_shown_nor_revived_without_the_right_to_review(occupied: Server) -> None:
    bob = occupied.store.within("other", "bob")
    held = bob.review()[0].id
    path = f"/v1/scopes/other%2Fbob/facts/{held}"
    client, header = occupied.client, occupied.key("other", "read", "write")
    refused = (
        client.patch(path, headers=header, json={"category": "person"}),
        client.delete(path, headers=header),
        client.post("/v1/scopes/other%2Fbob/facts:delete", headers=header, json={"ids": [held]}),
        client.post(f"{path}:pin", headers=header),
        client.post(f"{path}:unpin", headers=header),
    )
    assert [answer.status_code for answer in refused] == [403] * 5
    bob.reject(held)
    for answer in (client.get(path, headers=header), client.post(f"{path}:revive", headers=header)):
        assert (answer.status_code, "Ignore all" in answer.text) == (403, False)
    (rowed,) = bob.add("Bob rows").ids
    bob.delete(rowed)
    assert client.get(f"/v1/scopes/other%2Fbob/facts/{rowed}", headers=header).json()["phase"] == "retracted"
    assert client.get(path, headers=occupied.key("other", "read", "review")).json()["phase"] == "retracted"


def test_what_is_written_with_a_key_is_trusted_no_more_than_the_key(server: Server) -> None:
    header = server.key("acme", trust="assistant")
    made = server.client.post(FACTS, headers=header, json={"text": "Alice likes tea", "trust": "user"}).json()
    assert server.store.within("acme", "alice").get(made["ids"][0]).trust == "assistant"


def test_a_key_makes_keys_within_its_own_limits(server: Server) -> None:
    header = server.key("acme", "admin", trust="tool")
    assert server.client.post("/v1/keys", headers=header, json={"label": "x"}).status_code == 403
    assert server.client.post("/v1/keys", headers=header, json={"label": "x", "prefix": "acme2"}).status_code == 403
    made = server.client.post("/v1/keys", headers=header, json={"label": "x", "prefix": "acme/a", "trust": "user"})
    assert made.status_code == 201
    assert made.json()["key"]["trust"] == "tool"
    foreign = server.store.add_key("other", prefix="other").key.id
    assert server.client.delete(f"/v1/keys/{foreign}", headers=header).status_code == 404
    listed = server.client.get("/v1/keys", headers=header).json()["items"]
    assert {key["prefix"] for key in listed} == {"acme", "acme/a"}
    assert "secret" not in listed[0]


def test_a_read_only_server_refuses_every_right_to_change(server: Server) -> None:
    authenticator = Authenticator(server.store, read_only=True)
    caller = authenticator.caller(None)
    assert caller.memory(ALICE, "read").scope == ALICE
    for right in ("write", "erase", "admin"):
        with pytest.raises(ForbiddenError):
            caller.memory(ALICE, right)


def test_a_door_that_is_always_needs_key_needs_a_key_before_one_exists(server: Server) -> None:
    with pytest.raises(UnauthorizedError):
        Authenticator(server.store, always_needs_key=True).caller(None)


def test_an_address_of_other_machines_needs_a_valid_key(server: Server) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "memory.example.com"):
        with pytest.raises(SettingsError):
            check_address(server.store, host)
    for host in ("127.0.0.1", "localhost", "::1"):
        check_address(server.store, host)
    made = server.store.add_key("laptop")
    check_address(server.store, "0.0.0.0")
    server.store.revoke_key(made.key.id)
    with pytest.raises(SettingsError):
        check_address(server.store, "0.0.0.0")


def test_wrong_keys_are_refused_before_they_are_made(server: Server) -> None:
    for wrong in (
        {"rights": []},
        {"rights": ["all"]},
        {"rights": [{}]},
        {"prefix": "/a"},
        {"trust": "god"},
        {"expires_at": server.clock() - timedelta(days=1)},
    ):
        with pytest.raises(InputError):
            server.store.add_key("x", **wrong)
    with pytest.raises(NotFoundError):
        server.store.revoke_key("none")
    assert server.store.list_keys() == []


# ---- names, origins and sizes


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("localhost:8765", 200),
        ("127.0.0.1", 200),
        ("[::1]:8765", 200),
        ("memory.example.com", 200),
        ("MEMORY.example.com.:80", 200),
        ("evil.example.com", 421),
        ("localhost.evil.com", 421),
        ("127.0.0.1.evil.com", 421),
        ("user@localhost", 421),
        ("localhost:x", 421),
        ("", 421),
    ],
)
def test_names_that_the_server_does_not_have_are_refused(server: Server, host: str, code: int) -> None:
    client = TestClient(build_app(server.store, Serving(names=["Memory.Example.com"])), base_url="http://localhost")
    assert client.get("/healthz", headers={"host": host}).status_code == code


@pytest.mark.parametrize(
    ("origin", "code"),
    [("http://localhost", 200), ("http://evil.com", 403), ("null", 403), ("http://localhost:81", 403)],
)
def test_pages_of_other_sites_send_no_requests(server: Server, origin: str, code: int) -> None:
    answer = server.client.get("/healthz", headers={"origin": origin})
    assert answer.status_code == code
    assert "access-control-allow-origin" not in answer.headers


def test_a_body_over_the_limit_is_refused_with_and_without_a_length(server: Server) -> None:
    big = b" " * (BODY_MOST + 1)
    answer = server.client.post(FACTS, content=big, headers={"content-type": "application/json"})
    assert (answer.status_code, kind(answer)) == (413, "too-large")
    pieces = (big[: BODY_MOST // 2] for _ in range(3))
    answer = server.client.post(FACTS, content=pieces, headers={"content-type": "application/json"})
    assert (answer.status_code, kind(answer)) == (413, "too-large")


def test_a_form_of_a_page_is_no_request(server: Server) -> None:
    answer = server.client.post(FACTS, content=b'{"text": "Alice likes tea"}', headers={"content-type": "text/plain"})
    assert answer.status_code == 422
    assert server.store.within("acme", "alice").get_all() == []


def test_a_closed_store_is_not_ready(server: Server) -> None:
    assert server.client.get("/readyz").status_code == 200
    server.store.close()
    assert server.client.get("/healthz").status_code == 200
    assert server.client.get("/readyz").status_code == 503


def test_the_store_is_shared_with_the_library(server: Server) -> None:
    with Slowwave.open(":memory:", llm=None, embedder="none") as other:
        other.within("other", "bob").add(f"Bob plays the {CANARY}")
    assert server.client.get("/v1/scopes/other%2Fbob/facts").json() == {"items": [], "next": None}
    server.store.within("other", "bob").add(f"Bob plays the {CANARY}")
    assert BOB in server.client.get("/v1/scopes/other%2Fbob/facts").text


def test_a_key_without_the_right_to_read_gets_no_words_back(server: Server) -> None:
    word = "zqkestrel"
    alice, client = server.store.within("acme", "alice"), server.client
    fact = alice.add(f"Ada owns the {word} ferry").ids[0]
    note = alice.note("n", f"the {word} plan").ids[0]
    header, scope = server.key("acme/alice", "write", "review"), "/v1/scopes/acme%2Falice"
    near = [
        client.post(f"{scope}/facts", headers=header, json={"text": text})
        for text in ("Ada owns the ferry", "Ada has sold the ferry", "Ada no longer owns the ferry")
    ]
    answers = [
        *near,
        client.post(f"{scope}/facts:batch", headers=header, json={"facts": [{"text": "Bob owns the ferry"}]}),
        client.post(f"{scope}/messages", headers=header, json={"messages": [{"role": "user", "content": "Hello"}]}),
        client.patch(f"{scope}/facts/{fact}", headers=header, json={"category": "person"}),
        client.post(f"{scope}/facts/{fact}:pin", headers=header),
        client.post(f"{scope}/facts/{fact}:unpin", headers=header),
        client.post(f"{scope}/facts/{fact}:use", headers=header),
        deleted := client.delete(f"{scope}/facts/{fact}", headers=header),
        client.post(f"{scope}/facts/{fact}:revive", headers=header),
        client.post(f"{scope}/facts:delete", headers=header, json={"ids": [fact]}),
        client.post(f"{scope}/runs/{deleted.json()['run_id']}:undo", headers=header, json={"cascade": True}),
        client.put(f"{scope}/notes/n", headers={**header, "If-Match": '"1"'}, json={"text": "another"}),
        client.delete(f"{scope}/notes/n", headers=header),
        client.post(f"{scope}/sleep", headers=header, json={"dry_run": True}),
        client.post(f"{scope}/consolidate", headers=header, json={"force": True}),
    ]
    assert [answer.status_code for answer in answers if not answer.is_success] == []
    assert [answer.text for answer in answers if word in answer.text] == []
    assert [(one["operation"], one["memory_id"]) for one in deleted.json()["outcomes"]] == [("DELETE", fact)]
    assert all(one["reason"] == one["text"] == "" for answer in near for one in answer.json()["outcomes"])
    reader = client.post(f"{scope}/facts:delete", headers=server.key("acme", "read", "write"), json={"ids": [note]})
    assert reader.json()["outcomes"][0]["text"] == "another"


def test_a_key_of_mem0s_clients_without_the_right_to_read_gets_no_words_back(server: Server) -> None:
    ada = server.store.within("acme", "mem0", "user.ada")
    fact = to_uuid(ada.add("Ada owns the zqkestrel ferry").ids[0])
    asked = {"metadata": {"seen": True}}
    answers = {
        rights: server.client.put(f"/mem0/v1/memories/{fact}/", headers=server.key("acme", *rights), json=asked)
        for rights in (("write",), ("read", "write"))
    }
    assert answers["write",].json() == {"id": fact}
    assert answers["read", "write"].json()["memory"] == "Ada owns the zqkestrel ferry"


def test_a_key_makes_no_key_that_outlives_it(server: Server) -> None:
    ends = server.clock() + timedelta(hours=1)
    header = server.key("acme", "admin", expires_at=ends)
    asked = ({}, {"expires_at": (ends + timedelta(days=1)).isoformat()}, {"expires_at": ends.isoformat()})
    made = [
        server.client.post(
            "/v1/keys", headers=header, json={"label": "k", "prefix": "acme", "rights": ["admin"], **more}
        )
        for more in (*asked, {"expires_at": (ends - timedelta(minutes=30)).isoformat()})
    ]
    maker = server.store.list_keys()[0].id
    keys = [answer.json()["key"] for answer in made]
    assert [datetime.fromisoformat(key["expires_at"]) for key in keys] == [ends] * 3 + [ends - timedelta(minutes=30)]
    assert {key["made_by"] for key in keys} == {maker}
    server.clock.now += timedelta(hours=2)
    for answer in made:
        later = {"authorization": f"Bearer {answer.json()['secret']}"}
        assert server.client.get("/v1/keys", headers=later).status_code == 401


def test_revoking_a_key_can_revoke_what_was_made_with_it(server: Server) -> None:
    def made(header: dict[str, str]) -> dict[str, str]:
        asked = {"label": "k", "prefix": "acme", "rights": ["admin"]}
        secret = server.client.post("/v1/keys", headers=header, json=asked).json()["secret"]
        return {"authorization": f"Bearer {secret}"}

    root, leaked = server.key("", "admin"), server.key("acme", "admin")
    child, other = made(leaked), made(root)
    grandchild = made(child)
    identity = server.store.list_keys()[1].id
    assert server.client.delete(f"/v1/keys/{identity}", headers=root).is_success
    codes = [server.client.get("/v1/keys", headers=key).status_code for key in (leaked, child, grandchild, other)]
    assert codes == [401, 200, 200, 200]
    assert server.client.delete(f"/v1/keys/{identity}?cascade=true", headers=root).is_success
    codes = [server.client.get("/v1/keys", headers=key).status_code for key in (leaked, child, grandchild, other)]
    assert codes == [401, 401, 401, 200]
