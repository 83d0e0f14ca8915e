import pytest
from hypothesis import given, strategies as st

from slowwave.model.message import ROLES
from slowwave.policy.guard.trust import ORDER, least, trust_of_role, trusted

sources = st.lists(st.sampled_from([*ORDER, "a stranger"]))


@pytest.mark.parametrize(
    ("role", "trust"), [("user", "user"), ("system", "user"), ("assistant", "assistant"), ("tool", "tool")]
)
def test_every_role_is_a_kind_of_source(role: str, trust: str) -> None:
    assert trust_of_role(role) == trust


def test_no_role_is_without_trust() -> None:
    assert {trust_of_role(role) for role in ROLES} <= set(ORDER)


def test_the_order_of_trust() -> None:
    assert ORDER == ("user", "assistant", "tool", "import", "web", "llm")


@given(sources)
def test_a_derived_memory_has_the_trust_of_its_least_trusted_source(sources: list[str]) -> None:
    assert all(trusted(source, least(sources)) for source in sources)
    assert not sources or least(sources) in sources


@given(sources, st.integers(min_value=1, max_value=5))
def test_repetition_never_raises_trust(sources: list[str], times: int) -> None:
    assert least(sources * times) == least(sources)


def test_a_memory_without_sources_is_trusted_least() -> None:
    assert least([]) == "llm"


def test_an_unknown_kind_is_trusted_least() -> None:
    assert not trusted("a stranger", "llm")
    assert trusted("llm", "a stranger")
