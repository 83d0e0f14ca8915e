"""A plan can be kept in a file and carried out later, unless what it was made for has changed."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, Config, Message
from slowwave.errors import InputError
from slowwave.formats import plan_file
from slowwave.model.operations import Add, Change
from slowwave.model.plan import Plan
from slowwave.testing import FrozenClock

THINGS = ("rakes", "spades", "hoses", "pots", "seeds", "gloves")


def lived(path: Path, scope: str = "default") -> AgentMemory:
    clock = FrozenClock()
    config = Config(hot_words_max=60, category_ttl_days={"observation": 5}, consolidation_group_size=2)
    memory = AgentMemory.open(path, scope=scope, llm=None, clock=clock, config=config)
    memory.add_messages([Message(role="user", content=f"Remark {n} about garden {n * 7}") for n in range(18)], "a")
    memory.consolidate("a", force=True)
    memory.sleep()
    for number, thing in enumerate(THINGS):
        memory.add(f"The shed holds {number} {thing}", category="observation")
        memory.add(f"Anna bought {number} {thing}", category="finding", kind="episodic")
    clock.advance(days=45)
    return memory


def new_entries(plan: Plan) -> list[object]:
    added = [one.entry for one in plan.operations if isinstance(one, Add)]
    changed = (one for one in plan.operations if isinstance(one, Change))
    return added + [one.entry for one in changed if one.before.visible_text != one.after.visible_text]


def test_a_saved_plan_equals_the_plan_and_can_be_applied(tmp_path: Path) -> None:
    with lived(tmp_path / "m.db") as memory:
        report = memory.sleep(dry_run=True)
        memory.save_plan(report.plan, tmp_path / "plan.json")
        plan = memory.load_plan(tmp_path / "plan.json")
        assert plan == report.plan
        assert new_entries(plan) == new_entries(report.plan) != [], "what is searchable of new words is as it was"
        memory.apply(plan)
        assert memory.doctor(deep=True) == []
        assert not memory.get_all(categories=["observation"])
        again = memory.apply(plan)
        assert not any(receipt.applied for receipt in again)
        assert any("was changed since this was planned" in str(receipt) for receipt in again)


def test_a_plan_that_cannot_be_written_whole_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with lived(tmp_path / "m.db") as memory:
        plan = memory.sleep(dry_run=True).plan
        before = sorted(tmp_path.iterdir())
        with monkeypatch.context() as patched:
            patched.setattr("slowwave.formats.atomic_file.os.fsync", fail)
            with pytest.raises(InputError, match="No space left"):
                memory.save_plan(plan, tmp_path / "plan.json")
        assert sorted(tmp_path.iterdir()) == before
        memory.save_plan(plan, tmp_path / "plan.json")
        assert memory.load_plan(tmp_path / "plan.json").id == plan.id


def test_a_plan_file_is_never_overwritten_and_another_scope_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    with lived(tmp_path / "m.db") as memory, lived(tmp_path / "m.db", "other") as other:
        memory.save_plan(memory.sleep(dry_run=True).plan, path)
        with pytest.raises(InputError, match="cannot be written"):
            memory.save_plan(memory.sleep(dry_run=True).plan, path)
        with pytest.raises(InputError, match="is a plan for scope default, not other"):
            other.load_plan(path)


def _erasing(saved: dict[str, Any]) -> None:
    saved["parts"][0]["groups"][0]["operations"][0] = {"op": "erase", "memory": "x", "because": "y"}


def _nameless(saved: dict[str, Any]) -> None:
    operations = [each for part in saved["parts"] for group in part["groups"] for each in group["operations"]]
    next(each for each in operations if isinstance(each.get("after"), dict))["after"]["id"] = 7


def _timeless(saved: dict[str, Any]) -> None:
    saved["at"] = "yesterday"


def _newer(saved: dict[str, Any]) -> None:
    saved["version"] = 99


def _costly(saved: dict[str, Any]) -> None:
    saved["cost"]["calls"] = "many"


def _no_memory(saved: dict[str, Any]) -> None:
    saved["parts"][0]["groups"][0]["operations"][0]["after"] = {
        "type": "cursor",
        "conversation": "c",
        "cursor": "d",
        "seq": 1,
    }


@pytest.mark.parametrize("spoil", [_erasing, _nameless, _timeless, _newer, _costly, _no_memory])
def test_a_file_without_a_plan_is_refused(tmp_path: Path, spoil: Callable[[dict[str, Any]], None]) -> None:
    path = tmp_path / "plan.json"
    with lived(tmp_path / "m.db") as memory:
        memory.save_plan(memory.sleep(dry_run=True).plan, path)
        saved = json.loads(path.read_text(encoding="utf-8"))
        spoil(saved)
        path.write_text(json.dumps(saved), encoding="utf-8")
        with pytest.raises(InputError, match=r"damaged plan|plan of version"):
            memory.load_plan(path)
        path.write_text("{", encoding="utf-8")
        with pytest.raises(InputError, match=re.escape(str(path))):
            memory.load_plan(path)
        with pytest.raises(InputError, match="cannot read"):
            memory.load_plan(tmp_path / "none.json")


def test_a_plan_file_of_an_older_version_is_read(tmp_path: Path) -> None:
    with lived(tmp_path / "m.db") as memory:
        report = memory.sleep(dry_run=True)
        memory.save_plan(report.plan, tmp_path / "plan.json")
        stored = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
        for plan in (stored, *stored["parts"]):
            del plan["undoes"]
            for group in plan["groups"]:
                del group["conversations"], group["count_of"]
        (tmp_path / "older.json").write_text(json.dumps(stored), encoding="utf-8")
        older = memory.load_plan(tmp_path / "older.json")
    assert [operation.because for operation in older.operations] == [one.because for one in report.plan.operations]


def test_a_device_is_not_read_as_a_plan() -> None:
    with pytest.raises(InputError, match="cannot read /dev/zero: it is not a regular file"):
        plan_file.read("/dev/zero")
