from hypothesis import given, strategies as st

from slowwave.policy.ranking.places import OF_OTHERS, Claim, allowed_places, fair_order

SOURCES = st.sampled_from([None, "web", "tool"])


def _claim(source: str | None, word: str, *, competes: bool = True) -> Claim:
    return Claim(source=source, words=frozenset({word}), competes=competes)


@given(st.lists(st.tuples(SOURCES, st.booleans()), max_size=40))
def test_a_source_of_low_trust_has_its_share_while_others_compete(rows: list[tuple[str | None, bool]]) -> None:
    claims = [_claim(source, str(n), competes=competes) for n, (source, competes) in enumerate(rows)]
    order = fair_order(claims)
    assert sorted(order) == list(range(len(claims)))
    for n in range(1, len(order) + 1):
        source = claims[order[n - 1]].source
        if source is None:
            continue
        taken = sum(claims[place].source == source for place in order[:n])
        left = [claims[place].source for place in order[n:] if claims[place].competes]
        if None in left:
            assert taken <= allowed_places(n)
        if set(left) - {source} and taken > allowed_places(n, share=OF_OTHERS):
            assert all(claims[place].source in {source, "web", "tool"} for place in order[n - 1 :])


@given(st.lists(st.booleans(), max_size=30))
def test_the_order_stays_without_sources_of_low_trust(competes: list[bool]) -> None:
    claims = [_claim(None, "same", competes=one) for one in competes]
    assert fair_order(claims) == list(range(len(claims)))


def test_a_source_keeps_its_places_if_nothing_competes() -> None:
    claims = [_claim("web", str(n)) for n in range(5)]
    assert fair_order([*claims, _claim(None, "x", competes=False)]) == [0, 1, 2, 3, 4, 5]


def test_texts_that_repeat_each_other_count_once() -> None:
    claims = [_claim("web", "kestrel"), _claim("web", "kestrel"), _claim("tool", "kestrel"), _claim("web", "swift")]
    assert fair_order(claims)[-1] == 1
