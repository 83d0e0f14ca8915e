"""No request without the right to it sees a word of another owner, on any route of any interface."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.server.conftest import CANARY, NAME, Server

from slowwave.server.mem0.ids import to_uuid

HOSTILE = ("other%2Fbob", "%25own")
MORE_HOSTILE = (
    *("acme%2F..%2Fother%2Fbob", "acme%2f%2e%2e%2fother%2fbob", "other%252Fbob", "..%2Fother%2Fbob", "acme%00%2Fother"),
    *(
        "acme%2F%2Fother%2Fbob",
        "%2Fother%2Fbob",
        "other/bob",
        "acme/../other/bob",
        "*",
        "%25",
        "%ff",
        "acme%0d%0aother",
    ),
    *("other%2Fbob%2F", "%own", "acme,other%2Fbob", "acme|other", "%2E%2E", "'%20OR%201=1--"),
)
"""Ways to write the scope of bob, or to break out of "acme"."""


def routes(server: Server, root: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of each route."""
    described = server.client.get(f"{root}/openapi.json").json()
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), f"{root}{path}", operation


def body(operation: dict[str, Any]) -> str | None:
    """A body that asks for everything."""
    if "requestBody" not in operation:
        return None
    asked = {"query": "plays", "filters": {"OR": [{"user_id": "*"}, {"user_id": "bob"}]}, "user_id": "bob"}
    return json.dumps(asked | {"ids": ["x"], "messages": [{"role": "user", "content": "hi"}], "text": "hi"})


def requests(server: Server, scope: str) -> Iterator[tuple[str, str, str | None]]:
    """Each route, with the ids and names of what is bob's."""
    bob = server.store.within("other", "bob")
    fact, run = bob.get_all()[0].id, bob.runs()[0].id
    ids = {"fact_id": fact, "memory_id": fact, "run_id": run, "plan_id": run, "job_id": run, "key_id": "none"}
    for root in ("/v1", "/mem0"):
        for method, path, operation in routes(server, root):
            known = {**ids, "memory_id": to_uuid(fact)} if root == "/mem0" else ids
            known |= {"scope": scope, "name": NAME, "kind": "user", "event_id": to_uuid(fact)}
            full = re.sub(r"\{(\w+)\}", lambda part, known=known: known.get(part[1], "x"), path)
            yield method, f"{full}?q=plays&user_id=bob&prefix=other&folder={NAME}&seconds=0", body(operation)


def seen(server: Server, headers: dict[str, str], scope: str) -> list[str]:
    """The requests whose answer has bob's word, which no request names."""
    found = []
    for method, path, content in requests(server, scope):
        answer = server.client.request(
            method, path, content=content, headers={**headers, "content-type": "application/json"}
        )
        assert answer.status_code < 500 or answer.status_code == 501, (method, path, answer.text)
        if CANARY in answer.text:
            found.append(f"{method} {path}: {answer.text[:200]}")
    return found


def unchanged(server: Server) -> None:
    bob = server.store.within("other", "bob")
    assert [fact.text for fact in bob.get_all()] == [f"Bob plays the {CANARY}"]
    assert len(bob.review()) == 1
    assert bob.read_note(NAME, folder=NAME) is not None


@pytest.mark.parametrize("scope", [*HOSTILE, *(pytest.param(one, marks=pytest.mark.long) for one in MORE_HOSTILE)])
def test_a_key_of_another_owner_sees_nothing_whatever_scope_it_names(occupied: Server, scope: str) -> None:
    header = occupied.key("acme", "read", "write", "review", "erase", "admin")
    assert seen(occupied, header, scope) == []
    unchanged(occupied)


def test_expired_revoked_unknown_and_missing_keys_see_nothing(occupied: Server) -> None:
    expired = occupied.key("other", expires_at=occupied.clock() + timedelta(hours=1))
    revoked = occupied.key("other")
    occupied.store.revoke_key(occupied.store.list_keys()[-1].id)
    occupied.clock.now += timedelta(hours=2)
    for headers in (expired, revoked, {"authorization": "Bearer sw_none"}, {"authorization": "Bearer"}, {}):
        assert occupied.client.get("/v1/facts", headers=headers).status_code == 401
    for headers in (expired, {}):
        assert seen(occupied, headers, "other%2Fbob") == []
    unchanged(occupied)


def test_a_key_without_the_right_to_read_sees_nothing(occupied: Server) -> None:
    assert seen(occupied, occupied.key("other", "erase"), "other%2Fnobody") == []
    unchanged(occupied)


def test_the_owner_sees_the_word(occupied: Server) -> None:
    assert CANARY in occupied.client.get("/v1/facts", headers=occupied.key("other/bob", "read")).text
    listed = occupied.client.post("/mem0/v3/memories/", headers=occupied.key("other", "read"), json={})
    assert CANARY in listed.text
