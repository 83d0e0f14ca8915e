"""Two sentences of one person: which later one outdates the earlier one, and which leaves it alone."""

import pytest

from slowwave.policy.comparison.pair_rules import outdated_by
from slowwave.policy.comparison.restatement import superseded_hits


@pytest.mark.parametrize(
    ("new", "old", "value"),
    [
        ("The rehearsal is on Friday, not Thursday.", "The rehearsal is on Thursday.", "Thursday"),
        ("It's Bea, not Beatrix.", "My name is Beatrix.", "Beatrix"),
        ("I've moved out of Graz to Linz.", "I live in Graz.", "Graz"),
        ("I left Fairphone.", "I work at Fairphone.", "Fairphone"),
        ("I take my tea plain now, not with sugar.", "I take my tea with sugar.", "sugar"),
    ],
)
def test_what_is_denied_or_left_is_outdated(new: str, old: str, value: str) -> None:
    found = outdated_by(new, old)
    assert found is not None
    assert (found.old_value, found.certain) == (value, True)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We booked the cabin in Tromsø for March.", "We might book the cabin in Tromsø for March."),
        ("From now on always answer in English.", "Always answer in German."),
    ],
)
def test_a_plain_statement_after_a_doubt_and_a_newer_instruction_outdate_perhaps(new: str, old: str) -> None:
    found = outdated_by(new, old)
    assert found is not None
    assert not found.certain


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I went to the market.", "Maybe I should go to the gym."),
        ("I might move out of Graz.", "I live in Graz."),
        ("The dog is not only sweet but also clever.", "The dog is sweet."),
        ("Always use metres when I ask about distance.", "Always add a table when I ask about data."),
        ("I don't like tea.", "I like tea."),
        ("If I left Fairphone I would travel.", "I work at Fairphone."),
    ],
)
def test_other_pairs_leave_the_older_one_alone(new: str, old: str) -> None:
    assert outdated_by(new, old) is None


def test_the_older_hit_of_a_denied_value_is_marked() -> None:
    ranked = [("The rehearsal is on Thursday.", 1, None), ("Sorry, the rehearsal is on Friday, not Thursday.", 2, None)]
    (pair,) = superseded_hits("When is the rehearsal?", ranked)
    assert (pair.newer, pair.older, pair.stale) == (1, 0, True)
