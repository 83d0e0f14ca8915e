"""Tests of keys and of answers to repeated requests: inherit `AccessContract` and define a `store` fixture."""

# ruff: noqa: D102  # a test's name is its sentence

from dataclasses import replace
from datetime import timedelta

from slowwave.model.access import AccessKey, StoredAnswer
from slowwave.model.operations import Erase
from slowwave.ports import Store
from slowwave.testing.builders import NOW, SCOPE, add, fact, plan

KEY = AccessKey(
    id="k1", label="Laptop", prefix="acme", rights=frozenset({"read", "write"}), trust="assistant", created_at=NOW
)
CLAIM = StoredAnswer("abc", "process-1", NOW, None)
LONG_AGO = NOW - timedelta(days=1)


class AccessContract:
    """Tests of keys and answers. The `store` fixture of the inheriting class returns an empty, open store."""

    def test_a_key_is_read_back_by_its_hash_with_all_its_fields(self, store: Store) -> None:
        assert not store.has_access_keys()
        other = replace(KEY, id="k2", prefix="", expires_at=NOW + timedelta(hours=1), trust="user", made_by="k1")
        store.add_access_key(KEY, "aa")
        store.add_access_key(other, "bb")
        assert store.has_access_keys()
        assert store.access_keys() == [KEY, other]
        assert store.access_key("bb") == (other, "bb")
        assert store.access_key("cc") is None

    def test_a_revoked_key_stays_listed_with_the_time_of_its_first_revocation(self, store: Store) -> None:
        store.add_access_key(KEY, "aa")
        assert store.revoke_access_key("k1", NOW)
        assert store.revoke_access_key("k1", NOW + timedelta(hours=1))
        assert not store.revoke_access_key("k2", NOW)
        assert store.access_keys() == [replace(KEY, revoked_at=NOW)]

    def test_a_name_is_claimed_once_and_its_answer_is_returned(self, store: Store) -> None:
        assert store.claim_answer(SCOPE, "n", CLAIM, LONG_AGO) is None
        assert store.claim_answer(SCOPE, "n", CLAIM._replace(holder="process-2"), LONG_AGO) == CLAIM
        assert store.claim_answer("other", "n", CLAIM, LONG_AGO) is None
        store.put_answer(SCOPE, "n", "process-2", "of another process")
        store.put_answer(SCOPE, "n", "process-1", "done")
        assert store.claim_answer(SCOPE, "n", CLAIM, LONG_AGO) == CLAIM._replace(answer="done")

    def test_a_name_without_an_answer_is_freed_or_taken_over(self, store: Store) -> None:
        second = CLAIM._replace(holder="process-2")
        store.claim_answer(SCOPE, "n", CLAIM, LONG_AGO)
        store.put_answer(SCOPE, "n", "process-1", None)
        assert store.claim_answer(SCOPE, "n", CLAIM, LONG_AGO) is None
        assert store.take_claim(SCOPE, "n", second, "process-1")
        assert not store.take_claim(SCOPE, "n", CLAIM._replace(holder="process-3"), "process-1")
        assert store.claim_answer(SCOPE, "n", CLAIM, LONG_AGO) == second

    def test_an_old_name_is_free_again(self, store: Store) -> None:
        store.claim_answer(SCOPE, "n", CLAIM, LONG_AGO)
        store.put_answer(SCOPE, "n", "process-1", "done")
        later = CLAIM._replace(at=NOW + timedelta(days=2))
        assert store.claim_answer(SCOPE, "n", later, NOW + timedelta(days=1)) is None

    def test_an_erase_deletes_the_answers_of_its_scope_only(self, store: Store) -> None:
        tea = fact("Likes tea")
        store.apply(plan(add(tea)))
        for scope in (SCOPE, "other"):
            store.claim_answer(scope, "n", CLAIM, LONG_AGO)
            store.put_answer(scope, "n", "process-1", "Likes tea")
        store.apply(plan(Erase(memory=tea.id, because="asked")))
        assert store.claim_answer("other", "n", CLAIM, LONG_AGO) == CLAIM._replace(answer="Likes tea")
        assert store.claim_answer(SCOPE, "n", CLAIM, LONG_AGO) is None
