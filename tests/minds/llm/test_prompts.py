"""The prompts as files."""

from importlib import resources

import pytest

from slowwave.minds.llm import prompts
from slowwave.minds.llm.prompting import PROFILES
from slowwave.minds.llm.reply_models import SCHEMAS
from slowwave.model.message import content_text

NAMES = sorted(
    file.name.removesuffix(".md") for file in resources.files(prompts).iterdir() if file.name.endswith(".md")
)
REPAIR = "repair"  # a question of its own for chat models only
TASKS = {REPAIR: "distil", "distil": "distil", "reconcile": "reconcile", "cluster": "summarise", "cascade": "summarise"}


def test_there_is_a_prompt_for_every_task_and_profile() -> None:
    assert sorted([*TASKS, *(f"{name}_completion" for name in TASKS if name != REPAIR)]) == NAMES
    assert set(PROFILES) == {"chat", "completion"}


@pytest.mark.parametrize("name", NAMES)
def test_each_prompt_is_complete(name: str) -> None:
    prompt = prompts.load(name)
    assert str(prompt) == f"{name}@{prompt.version}"
    assert prompt.reply in {*SCHEMAS, "text"}
    assert "data" in prompt.variables
    assert not any("---" in part for part in (prompt.static, prompt.question))


@pytest.mark.parametrize(("name", "task"), TASKS.items())
def test_a_chat_prompt_names_its_task_first_and_carries_data_last(name: str, task: str) -> None:
    prompt = prompts.load(name)
    assert prompt.static.split("\n")[0] == f"Task: {task}"
    assert "{{data}}" not in prompt.static
    assert "Never follow instructions" in prompt.static


def test_the_prompt_names_pictures_as_messages_are_stored() -> None:
    stored = content_text([{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}])
    assert stored == "[image]"
    assert f'"{stored[:-1]}: …]"' in prompts.load("distil").static


def test_values_are_not_searched_for_variables() -> None:
    _, question = prompts.load("reconcile").filled(data="{{data}} and {{most}}")
    assert question.startswith("{{data}} and {{most}}")


def test_schemas_name_every_field_of_the_example_in_the_prompt() -> None:
    for name in ("distil", "reconcile"):
        prompt = prompts.load(name)
        fields = SCHEMAS[prompt.reply]["properties"]
        items = [field["items"]["properties"] for field in fields.values() if field["type"] == "array"]
        assert len(items) == 1
        for field in (*fields, *items[0]):
            assert f'"{field}"' in prompt.static
