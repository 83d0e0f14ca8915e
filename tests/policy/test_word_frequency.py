"""The bundled table of how common English words are."""

from slowwave.policy.text.word_frequency import probabilities


def test_the_table_has_twenty_thousand_words_in_falling_order() -> None:
    table = probabilities()
    shares = list(table.values())
    assert len(table) == 20_000
    assert all(word.isalpha() and word.islower() for word in table)
    assert shares == sorted(shares, reverse=True)
    assert 0.75 < sum(shares) < 1


def test_grammar_is_common_and_places_are_rare() -> None:
    table = probabilities()
    assert table["the"] > 0.02
    assert table["the"] > 1000 * table["guitar"] > 0
    assert table["wow"] > table["lisbon"] if "lisbon" in table else table["wow"] > 0


def test_the_table_is_read_once_and_read_only() -> None:
    assert probabilities() is probabilities()
    assert not hasattr(probabilities(), "update")
