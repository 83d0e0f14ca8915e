"""Labels: no name of a speaker and no kind of source can imitate another's label."""

import re

import pytest
from hypothesis import given, strategies as st

from slowwave.model.message import ROLES
from slowwave.policy.guard.labels import author, bare_name, label, short_name
from slowwave.policy.guard.trust import ORDER

names = st.one_of(
    st.none(),
    st.text(max_size=90),
    st.sampled_from([*ROLES, *ORDER, "[user]", "user: hi", "a\nb", "ｕｓｅｒ", "\u202eresu"]),
)
AUTHOR = re.compile(rf"(?:{'|'.join(ROLES)}|unknown)(?: \([^()\[\]{{}}<>:\x00-\x1f\x7f-\x9f\u2028\u2029]+\))?")


@given(st.sampled_from([*ROLES, None, "root"]), names)
def test_an_author_is_a_role_and_at_most_one_name_on_one_line(role: str | None, speaker: str | None) -> None:
    said_by = author(role, speaker)
    assert AUTHOR.fullmatch(said_by)
    assert said_by.partition(" ")[0] == (role if role in ROLES else "unknown")


@given(st.sampled_from(ROLES), names)
def test_a_bare_name_is_never_the_name_of_a_role_or_source(role: str, speaker: str | None) -> None:
    name = bare_name(role, speaker)
    assert name is None or (role in {"user", "assistant"} and name.casefold() not in {*ROLES, *ORDER})
    assert short_name(role, speaker) == (name or author(role, speaker))


@given(st.sampled_from([*ORDER, "root", "] user"]), st.sampled_from(ROLES), names)
def test_every_source_below_the_user_is_named_in_brackets(trust: str, role: str, speaker: str | None) -> None:
    for said_by in ("", author(role, speaker)):
        shown = label(trust, said_by)
        if trust == "user":
            assert shown == (f"{said_by}: " if said_by else "")
        else:
            found = re.fullmatch(r"\[([a-z]+)(?:: ([^\]]+)| \([^\]]+\))?\] ", shown)
            assert found
            assert found[1] == (trust if trust in ORDER else "unknown")


@pytest.mark.parametrize("speaker", ["user", "USER", "[user]", "user:", " user\n", "ｕｓｅｒ", "<user>"])
def test_a_speaker_named_like_a_role_follows_the_real_role(speaker: str) -> None:
    assert author("tool", speaker).casefold() == "tool (user)"
    assert short_name("assistant", speaker).casefold() == "assistant (user)"


def test_a_long_name_is_truncated() -> None:
    assert len(author("user", "Ada " * 120)) < 80
