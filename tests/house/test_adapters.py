"""Adapters without their frameworks, which this environment does not have."""

import importlib
import logging
import sys
from pathlib import Path

import pytest

from slowwave import ClosedError, InputError, adapters
from slowwave.adapters import EXTRAS, missing, tolerated

MODULES = sorted(path.stem for path in Path(str(adapters.__file__)).parent.glob("[a-z]*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_an_adapter_without_its_framework_names_the_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frameworks = ("agent_framework", "agents", "anthropic", "google", "langchain", "langgraph", "llama_index")
    for name in (*frameworks, "langchain_core", "pydantic_ai", "strands"):
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails
        for part in [loaded for loaded in sys.modules if loaded.startswith(f"{name}.")]:
            monkeypatch.delitem(sys.modules, part)
    monkeypatch.delitem(sys.modules, f"slowwave.adapters.{module}", raising=False)
    with pytest.raises(ImportError, match=rf"pip install 'slowwave\[{EXTRAS[module]}\]'"):
        importlib.import_module(f"slowwave.adapters.{module}")


def test_the_error_names_what_is_not_installed() -> None:
    error = missing("slowwave.adapters.strands", ImportError("no", name="strands"))
    assert (error.name, str(error)) == ("strands", "strands is not installed: pip install 'slowwave[strands]'")


def test_a_tolerated_failure_is_logged_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "slowwave.adapters"), tolerated("storing a run"):
        raise ClosedError("the memory of Ada")
    assert [record.getMessage() for record in caplog.records] == ["storing a run failed: ClosedError"]


def test_an_invalid_argument_is_raised_unless_it_is_tolerated_too() -> None:
    with pytest.raises(InputError), tolerated("x"):
        raise InputError("no such name")
    with tolerated("x", also_input=True):
        raise InputError("no such name")


def test_errors_of_the_program_are_not_tolerated() -> None:
    with pytest.raises(ZeroDivisionError), tolerated("x", also_input=True):
        raise ZeroDivisionError
