"""A short round of every class of the attack campaign, and the program that runs the long one."""

import logging
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.attack import ATTACKS
from tests.attack.__main__ import main
from tests.attack.campaign import SHORT, Place

from slowwave.testing.postgres import PostgresServer

SIZES = {"kills": 0.04, "churn": 0.03, "imports": 0.1, "arguments": 0.1, "commands": 0.1, "texts": 0.1, "servers": 0.2}
"""Smaller rounds of the classes that take longest."""


@pytest.fixture(autouse=True)
def level() -> Iterator[None]:
    """Some classes silence the log of the library, which other tests read."""
    log = logging.getLogger("slowwave")
    before = log.level
    yield
    log.setLevel(before)


LONG = {"churn": "its processes race, so that a round is never the same twice"}
"""Classes that only `make test-long` and `make attack` run, each with the reason."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in ATTACKS])
def test_a_short_round_of_each_class_finds_nothing(name: str, tmp_path: Path) -> None:
    assert ATTACKS[name](Place(Random(f"short/{name}"), tmp_path, size=SIZES.get(name, SHORT))) > 0


@pytest.mark.parametrize("name", ["kills", "scopes", "doors", "interrupts", "threads", "clocks", "versions"])
def test_a_short_round_finds_nothing_on_postgres(
    name: str, tmp_path: Path, postgres: PostgresServer, migrated: str
) -> None:
    class Always(Place):
        def store(self) -> str:
            return postgres.database(migrated)

    assert ATTACKS[name](Always(Random(f"short/{name}"), tmp_path, size=0.05)) > 0


def test_a_fault_is_reported_with_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.attack.__main__._server", lambda _: "postgresql://nowhere")
    monkeypatch.setattr("tests.attack.__main__._started", lambda *_: ("exit code 1", 0))
    monkeypatch.setattr("sys.argv", ["attack", "--seconds", "0.01", "--seed", "7", "--only", "vaults"])
    assert main() == 1
    output = capsys.readouterr().out
    assert "repeat it: python -m tests.attack --only vaults --seed 7 --round 0" in output


@pytest.mark.parametrize("wrong", [["--only", "nothing"], ["--round", "1"], ["--round", "1", "--seed", "7"]])
def test_wrong_options_of_the_campaign_are_refused(wrong: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["attack", *wrong])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
