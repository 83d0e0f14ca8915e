import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import example, given, strategies as st

from slowwave.errors import InputError
from slowwave.model.config import RANKING_PROFILES, RETENTION_POLICIES, Config

NUMBERS = sorted(
    f.name for f in fields(Config) if isinstance(f.default, (int, float)) and not isinstance(f.default, bool)
)
ANNOTATIONS = {f.name: f.type for f in fields(Config)}
junk = st.sampled_from([None, "7", True, math.nan, math.inf, -math.inf, -2, [], {}, 10**12])


def test_the_defaults_are_the_sources() -> None:
    config = Config()
    assert (config.max_facts_per_pass, config.min_messages, config.confidence_threshold) == (8, 6, 0.5)
    assert (config.half_life_days, config.forgetting_threshold, config.core_top_k) == (14.0, 0.1, 5)
    assert (config.consolidation_retention_threshold, config.consolidation_group_size) == (0.20, 5)
    assert (config.consolidation_similarity_threshold, config.dedup_similarity_threshold) == (0.70, 0.92)
    assert (config.core_access_threshold, config.core_stability_threshold, config.core_session_threshold) == (
        10,
        0.85,
        3,
    )
    assert (config.immediate_window, config.recent_window, config.summary_profile) == (64, 64, "summarizer")
    assert (config.relevance_archive_threshold, config.archive_max_idle_days, config.archive_exempt_score) == (
        0.2,
        90,
        0.5,
    )


@example("core_top_k", None)
@given(st.sampled_from(NUMBERS), junk)
def test_every_number_refuses_invalid_values(name: str, value: object) -> None:
    if value is None and (name == "core_top_k" or "None" in str(ANNOTATIONS[name])):
        assert getattr(Config(**{name: value}), name) is None
        return
    with pytest.raises(InputError, match=f"{name}="):
        Config(**{name: value})


@pytest.mark.parametrize("policy", RETENTION_POLICIES)
def test_every_retention_policy_can_be_chosen(policy: str) -> None:
    assert Config(retention_policy=policy).retention_policy == policy


@pytest.mark.parametrize("profile", RANKING_PROFILES)
def test_every_ranking_profile_can_be_chosen(profile: str) -> None:
    assert Config(ranking_profile=profile).ranking_profile == profile


@pytest.mark.parametrize(
    "name", ["consolidate_every_turns", "sleep_every_ingests", "hot_messages_max", "hot_words_max", "hot_facts_max"]
)
def test_a_limit_or_trigger_may_be_off(name: str) -> None:
    assert getattr(Config(**{name: None}), name) is None
    assert getattr(Config(**{name: 3}), name) == 3


def test_all_violations_are_reported_at_once() -> None:
    with pytest.raises(InputError) as raised:
        Config(
            max_facts_per_pass=0,
            retention_policy="weibull",
            ranking_profile="",
            summary_profile=" ",
            category_ttl_days={"gotcha": 0, "finding": None},
            category_tokens_max={"project": 0},
        )
    for name in (
        "max_facts_per_pass=0",
        "'weibull'",
        "ranking_profile",
        "summary_profile",
        "['gotcha']=0",
        "['project']=0",
    ):
        assert name in str(raised.value)
    assert "finding" not in str(raised.value)


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InputError, match="smaller than consolidation_group_size"):
        Config(consolidation_group_size=8, consolidation_max_group_size=7)
    with pytest.raises(InputError, match="what fades is compressed first"):
        Config(forgetting_threshold=0.2)


def test_a_config_is_frozen_with_its_tables() -> None:
    table = {"gotcha": 3.0}
    config = Config(category_ttl_days=table)
    table["gotcha"] = 4.0
    assert config.category_ttl_days["gotcha"] == 3.0
    with pytest.raises(TypeError):
        config.category_ttl_days["gotcha"] = 4.0
    with pytest.raises(FrozenInstanceError):
        config.min_messages = 1


def test_a_table_of_settings_is_a_config_and_unknown_names_are_reported() -> None:
    assert Config.from_mapping({"min_messages": 2}) == Config(min_messages=2)
    with pytest.raises(InputError, match=r"unknown settings min_mesages; known are .*min_messages"):
        Config.from_mapping({"min_mesages": 2})


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda config: pickle.loads(pickle.dumps(config))])
def test_a_config_can_be_copied_and_sent_to_another_process(again: Callable[[Config], Config]) -> None:
    config = Config(min_messages=7, category_ttl_days={"goal": 30.0})
    assert again(config) == config
    with pytest.raises(TypeError):
        again(config).category_ttl_days["goal"] = 1.0  # type: ignore[index]
