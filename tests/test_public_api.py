"""The public API: every type that callers meet is exported, the stubs are current, and type checkers find wrong types."""

import importlib
import importlib.util
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import slowwave
from slowwave import AgentMemory, MemoryConsolidator, Slowwave, agent_memory, compat, whole_store

ROOT = Path(__file__).parents[1]
INTERNAL = frozenset({"IndexEntry"})
"""Classes of fields that a caller has no use for: the search index entry of an operation."""


def _names() -> dict[str, object]:
    """The names that annotations of the facades use, those under `if TYPE_CHECKING` too."""
    names = vars(agent_memory) | vars(whole_store)
    for line in (inspect.getsource(agent_memory) + inspect.getsource(whole_store)).splitlines():
        if line.startswith("    from slowwave.") and " import " in line:
            module, _, imported = line.strip().removeprefix("from ").partition(" import ")
            names |= {name: getattr(importlib.import_module(module), name) for name in imported.split(", ")}
    return names


def _classes(annotation: object) -> Iterator[type]:
    """The classes of this package in an annotation."""
    for argument in typing.get_args(annotation):
        yield from _classes(argument)
    origin = typing.get_origin(annotation) or annotation
    if inspect.isclass(origin) and origin.__module__.startswith("slowwave"):
        yield origin


def _hints(thing: object, names: dict[str, object]) -> dict[str, object]:
    return typing.get_type_hints(inspect.unwrap(thing), globalns=names)  # type: ignore[arg-type]


def _returned() -> Iterator[type]:
    names = _names()
    for facade in (AgentMemory, Slowwave, MemoryConsolidator):
        for name, method in inspect.getmembers(facade):
            function = method.fget if isinstance(method, property) else getattr(method, "__func__", method)
            if not name.startswith("_") and inspect.isfunction(function):
                yield from _classes(_hints(function, names | vars(compat)).get("return"))


def test_every_type_that_a_public_method_returns_is_exported() -> None:
    """Also the types of the fields of these types."""
    checked: set[type] = set()
    remaining = set(_returned())
    assert len(remaining) > 20
    while remaining:
        kind = remaining.pop()
        checked.add(kind)
        if kind is not slowwave.Ports:  # its fields are for pipelines
            hints = typing.get_type_hints(kind, globalns=vars(sys.modules[kind.__module__]))
            remaining |= {found for hint in hints.values() for found in _classes(hint)} - checked
    assert {kind.__name__ for kind in checked} - set(slowwave.__all__) == INTERNAL


def test_each_exported_name_is_the_class_of_its_module() -> None:
    for name, module in slowwave._MODULES.items():
        assert getattr(slowwave, name) is getattr(importlib.import_module(f"slowwave.{module}"), name)


def test_importing_the_package_loads_none_of_its_modules() -> None:
    code = "import slowwave, sys; assert [name for name in sys.modules if name.startswith('slowwave')] == ['slowwave']"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_stubs_are_current() -> None:
    """Run `python tools/write_stubs.py` after a change of the facade or of the exported names."""
    pytest.importorskip("ruff", reason="ruff formats the stubs")
    spec = importlib.util.spec_from_file_location("write_stubs", ROOT / "tools" / "write_stubs.py")
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for path, text in tool.stubs().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is out of date: run python tools/write_stubs.py"


def test_an_async_program_is_type_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """`async_program.py` has correct calls, and wrong ones marked with the error that mypy --strict must report."""
    api = pytest.importorskip("mypy.api")
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    program = str(ROOT / "tests" / "async_program.py")
    output, errors, status = api.run(
        ["--strict", "--config-file=", f"--cache-dir={ROOT / '.mypy_cache' / 'public_api'}", program]
    )
    assert (status, errors) == (0, ""), output
