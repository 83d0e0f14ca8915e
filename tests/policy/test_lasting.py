from datetime import UTC, datetime, timedelta

import pytest

from slowwave.model.config import Config
from slowwave.model.memory import Kind, Memory
from slowwave.policy.retention.lasting import durability, own_end
from slowwave.policy.retention.policies import expiry, fade_date, has_ended, is_expired

SAID = datetime(2026, 3, 1, tzinfo=UTC)
CONFIG = Config()


def fact(text: str, category: str = "observation", kind: Kind = "semantic", **values: object) -> Memory:
    return Memory(
        id="m", scope="s", kind=kind, text=text, category=category, recorded_at=SAID, valid_from=SAID, **values
    )


@pytest.mark.parametrize(
    ("text", "category", "kind"),
    [
        ("Ines is a nurse", "identity", "semantic"),
        ("Ines loves rye bread", "preference", "semantic"),
        ("Ines has three brothers", "person", "semantic"),
        ("Ines swims twice a week", "observation", "semantic"),
        ("Ines married Paul on 3 May 2025", "observation", "episodic"),
        ("Ines got a new job", "observation", "episodic"),
        ("Ines lost her job at the mill", "observation", "episodic"),
        ("Ines graduated in 2019", "observation", "episodic"),
        ("The choir of Ines took home first place in Graz", "observation", "episodic"),
        ("Ines moved to Graz", "observation", "episodic"),
        ("Ines published a book of poems", "observation", "episodic"),
        ("Ines adopted a puppy", "observation", "episodic"),
        ("Ines started learning the cello", "observation", "episodic"),
        ("Ines joined the harbour choir", "observation", "episodic"),
        ("Ines joined a fire brigade", "observation", "episodic"),
        ("Ines is applying for a visa", "observation", "episodic"),
        ("Ines is one of the people who founded the choir", "observation", "episodic"),
        ("Ines inherited a clock from an aunt", "other", "semantic"),
        ("Her daughter is allergic to penicillin", "other", "episodic"),
        ("Ines can't have dairy", "other", "semantic"),
    ],
)
def test_what_a_person_is_and_the_turning_points_of_a_life_last(text: str, category: str, kind: Kind) -> None:
    assert durability(fact(text, category, kind)) == "lasting"


@pytest.mark.parametrize(
    ("text", "category", "kind", "expected"),
    [
        ("Ines went to the zoo with the kids on 3 May 2025", "observation", "episodic", "ordinary"),
        ("Ines had soup for lunch", "observation", "episodic", "ordinary"),
        ("Ines first placed the soup on the stove", "observation", "episodic", "ordinary"),
        ("The mill uses port 8080", "project", "semantic", "ordinary"),
        ("The barn hums", "other", "semantic", "ordinary"),
        ("Ines is thinking about trying pottery", "goal", "semantic", "passing"),
        ("Ines is swamped with work", "observation", "semantic", "passing"),
        ("Ines joined a cycling club on 3 May 2025", "observation", "episodic", "ordinary"),
        ("Ines is planning a trip to Porto", "observation", "semantic", "passing"),
        ("Ines is planning a trip to Porto on 5 May 2026", "goal", "semantic", "ordinary"),
        ("Ines is planning a wedding", "goal", "semantic", "lasting"),
        ("Ines had a great time at the fair", "observation", "episodic", "passing"),
        ("Ines runs in May and June", "observation", "semantic", "lasting"),
        ("Ines cooked for people who lost their jobs", "observation", "episodic", "ordinary"),
        ("The talk fired up the crowd", "observation", "episodic", "ordinary"),
        ("The rule was applied to the harbour", "observation", "episodic", "ordinary"),
    ],
)
def test_an_outing_is_ordinary_and_a_mood_or_a_vague_plan_passes(
    text: str, category: str, kind: Kind, expected: str
) -> None:
    assert durability(fact(text, category, kind)) == expected


def test_an_observation_of_little_worth_does_not_last() -> None:
    assert durability(fact("It is nice", importance=0.2)) == "ordinary"


def test_after_a_year_what_lasts_is_hot_and_what_passes_went_first() -> None:
    texts = ("Ines swims twice a week", "Ines is thinking about trying pottery")
    swims, pottery = (fade_date(fact(text), CONFIG, CONFIG.forgetting_threshold) for text in texts)
    assert swims > SAID + timedelta(days=2 * 365)
    assert pottery < SAID + timedelta(days=120)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Ines is going to Rome on 5 May 2026", datetime(2026, 5, 7, tzinfo=UTC)),
        ("In August 2026 Ines is having an exhibition", datetime(2026, 9, 2, tzinfo=UTC)),
        ("Ines will go to a fair in March 2026 to meet weavers", datetime(2026, 4, 2, tzinfo=UTC)),
        ("Ines has an interview on 14 July 2026", datetime(2026, 7, 16, tzinfo=UTC)),
        ("Ines works at the mill until 30 June 2026", datetime(2026, 7, 2, tzinfo=UTC)),
        ("Ines's last day at the mill is 30 June 2026", datetime(2026, 7, 2, tzinfo=UTC)),
        ("Ines is pregnant", SAID + timedelta(days=300)),
        ("Ines is 34 years old", SAID + timedelta(days=365)),
        ("Ines lives with her sister at the moment", SAID + timedelta(days=90)),
    ],
)
def test_plans_and_states_end_by_their_own_words(text: str, end: datetime) -> None:
    memory = fact(text, "identity")
    assert own_end(memory) == expiry(memory, CONFIG) == end
    assert not has_ended(memory, end)
    assert has_ended(memory, end + timedelta(seconds=1))
    assert is_expired(memory, CONFIG, end + timedelta(seconds=1))


@pytest.mark.parametrize(
    "text",
    [
        "Ines is working at the mill since 5 May 2024",
        "Ines went to Rome on 5 May 2025",
        "Ines is starting a new job on 5 May 2026",
        "Ines was born on 5 May 1990",
        "Ines is going to Rome",
        "The trail is 34 km long",
    ],
)
def test_what_is_past_a_turning_point_or_undated_has_no_end(text: str) -> None:
    assert own_end(fact(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "Ines is planning a trip to Porto as of March 2026",
        "Ines wants to get fitter as of June 2026",
        "Ines is training for the rowing team from 9 April 2026",
        "Ines wants to learn Danish and has been learning it since May 2026",
        "Ines hopes to finish the quilt that she started in April 2026",
        "In March 2026 Ines wants to learn to sail",
        "In March 2026 Ines plans to learn to sail",
        "Ines is looking for a flat in March 2026",
        "On 1 March 2026 Ines plans to write to her aunt",
    ],
)
def test_the_time_at_which_a_plan_was_told_or_begins_does_not_end_it(text: str) -> None:
    assert own_end(fact(text)) is None


def test_a_plan_ends_with_its_own_date_beside_that_of_its_telling() -> None:
    memory = fact("As of March 2026 Ines is planning a trip to Porto on 5 May 2026")
    assert own_end(memory) == datetime(2026, 5, 7, tzinfo=UTC)


def test_what_a_person_pins_has_no_end() -> None:
    memory = fact("Ines is pregnant", "identity", pinned=True)
    assert expiry(memory, CONFIG) is None
    assert not has_ended(memory, SAID + timedelta(days=1000))


def test_a_search_that_still_goes_on_passes() -> None:
    assert durability(fact("Jon is still searching for a place to open a studio")) == "passing"
    assert durability(fact("Ines is lending a hand in finding a flat")) == "passing"
    assert durability(fact("Jon plays the cello")) == "lasting"


def test_a_dated_decision_ends_after_its_day() -> None:
    launch = fact("The team will launch Aria on 20 March 2026", "active_decision")
    assert not has_ended(launch, datetime(2026, 3, 20, 12, tzinfo=UTC))
    assert has_ended(launch, datetime(2026, 3, 23, tzinfo=UTC))
    assert is_expired(launch, CONFIG, datetime(2026, 3, 23, tzinfo=UTC))
    rule = fact("The team uses Postgres since 20 March 2026", "active_decision")
    assert own_end(rule) is None
