"""Checks the rules of the code: one sentence at the top of each file, public docstrings, few broad excepts."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import slowwave

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "slowwave"
MODULES = sorted(SOURCE.rglob("*.py"))
READS_PACKAGE_DATA = frozenset(
    {
        *("policy/text/languages.py", "policy/text/lexicon.py", "policy/text/word_frequency.py"),
        *("policy/guard/order_words.py", "policy/guard/secret_words.py"),
        "policy/guard/seed_words.py",
    }
)
"""The only modules of `policy` that read files: the tables of the package itself."""


def _told(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@cache
def _trees() -> tuple[tuple[Path, ast.Module], ...]:
    return tuple((path, ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES)


def test_every_module_starts_with_a_docstring() -> None:
    for path, tree in _trees():
        words = ast.get_docstring(tree)
        assert words, f"{_told(path)} says nothing"
        first = words.splitlines()[0]
        assert first.endswith((".", "!", "?", ":")), f"{_told(path)}: {first!r} is no sentence"


def test_every_public_name_is_exported_and_documented() -> None:
    for name in slowwave.__all__:
        thing = getattr(slowwave, name)
        assert (thing.__doc__ or "").strip(), f"{name} has no docstring"
        for verb, function in getattr(thing, "__dict__", {}).items():  # a type alias has none
            if callable(function) and not verb.startswith("_"):
                assert (getattr(function, "__doc__", "") or "").strip(), f"{name}.{verb} has no docstring"


def test_an_unknown_name_is_refused_and_the_known_names_are_listed() -> None:
    with pytest.raises(AttributeError, match=r"dir\(slowwave\) lists its names"):
        slowwave.Nothing  # noqa: B018 - looking is the point
    assert dir(slowwave) == sorted(slowwave.__all__)


def _broad(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
            if any(one is None or getattr(one, "id", "") in {"Exception", "BaseException"} for one in caught):
                yield node.lineno


def _raises_again(tree: ast.Module, line: int) -> bool:
    handlers = (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.lineno == line)
    return any(isinstance(node, ast.Raise) and node.exc is None for one in handlers for node in ast.walk(one))


FAULT_TOLERANT = {Path("cli/hook_cmd.py"), Path("clients/wrapping.py")}


def test_broad_excepts_stand_only_where_foreign_code_is_called() -> None:
    """At the doors of models and embedders. Elsewhere one may clean up after itself, and raises again.

    A coding agent refuses the prompt of a person if its hook fails: the hook reports every error and ends with 0. A
    wrapped client counts every failure of its memory, because the call of the program must not fail.
    """
    swallowing = {
        path.relative_to(SOURCE)
        for path, tree in _trees()
        if any(not _raises_again(tree, line) for line in _broad(tree))
    }
    assert {path.parts[0] for path in swallowing - FAULT_TOLERANT} <= {"minds", "embedders"}


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_the_ground_floor_knows_no_clock_no_chance_no_file() -> None:
    forbidden = {"random", "secrets", "time", "os", "io", "pathlib", "socket", "sqlite3", "apsw"}
    for path, tree in _trees():
        if path.relative_to(SOURCE).parts[0] in {"policy", "model"}:
            assert not {name.split(".")[0] for name in _imports(tree)} & forbidden, _told(path)
            calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
            assert not calls & {"datetime.now", "datetime.utcnow", "date.today", "open", "uuid1", "uuid4"}, _told(path)
            assert ("get_data" in calls) == (_told(path) in READS_PACKAGE_DATA), _told(path)
            assert not set(_imports(tree)) & {"importlib.resources", "codecs"}, _told(path)


def test_only_the_store_writes_and_only_settings_read_the_environment() -> None:
    for path, tree in _trees():
        room = path.relative_to(SOURCE).parts[0]
        text = path.read_text(encoding="utf-8")
        # Whether a terminal knows colours is no setting; `address` alone decides where OPENAI_API_KEY is sent; `channel` makes
        # a hash of the variables, and may not wait for `settings`, which every hook would have to load.
        if _told(path) not in {"settings.py", "cli/output.py", "transport/address.py", "hooks/channel.py"}:
            assert "os.environ" not in text, _told(path)
            assert "getenv" not in text, _told(path)
        if room not in {"stores", "testing"}:
            assert not {name.split(".")[0] for name in _imports(tree)} & {"sqlite3", "apsw"}, _told(path)


OPENING = frozenset(
    {"open", "fdopen", "read_bytes", "read_text", "write_bytes", "write_text", "touch", "memmap", "fromfile"}
    | {"VFSFile"}
)
"""Calls that open a file, by the last part of their name. Closing any descriptor releases the locks of the process."""
MAY_OPEN = {
    ("stores/migrations.py", "read_text"): "the scripts of the package",
    ("stores/sql.py", "read_text"): "the query files of the package",
    ("stores/postgres/migrate.py", "read_bytes"): "the scripts of the package",
    ("stores/sqlite/check.py", "open"): "creates the file of a backup exclusively: it cannot be a store that is open",
    ("stores/sqlite/bytes.py", "VFSFile"): "SQLite's own files, which it keeps open while the process holds locks",
}


def _opened(tree: ast.Module) -> Iterator[str]:
    """The last part of each name that is called, or inherited from, to open a file."""
    for node in ast.walk(tree):
        of = node.func if isinstance(node, ast.Call) else None
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        for one in (of, *bases):
            name = one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "")
            if name in OPENING:
                yield name


def test_no_store_opens_a_file_beside_sqlite() -> None:
    """Each place that opens one is named with its reason, and each that is named is there still."""
    opened = {
        (_told(path), name) for path, tree in _trees() if _told(path).startswith("stores/") for name in _opened(tree)
    }
    assert opened == set(MAY_OPEN)
    imported = {name.partition(".")[0] for path, tree in _trees() if "stores" in path.parts for name in _imports(tree)}
    assert not imported & {"shutil", "mmap", "io"}


def test_no_second_sqlite_library_is_loaded() -> None:
    """Python's own has locks of its own in the same process, which those of apsw do not see."""
    assert [_told(path) for path, tree in _trees() if "sqlite3" in set(_imports(tree))] == []


FORBIDDEN = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def test_no_work_remains_after_the_pass() -> None:
    for path in MODULES:
        assert not FORBIDDEN.search(path.read_text(encoding="utf-8")), _told(path)
    names = {part for path in MODULES for part in path.relative_to(SOURCE).parts}
    assert not names & {"utils.py", "helpers.py", "misc.py", "common.py", "utils"}


PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]


def _mentioned(page: Path) -> Iterator[str]:
    """Paths of rooms and files that a page names."""
    text = page.read_text(encoding="utf-8")
    yield from re.findall(
        r"`((?:policy|pipelines|stores|minds|model|cli|embedders|formats|testing|transport)/[\w/]+)(?:\.py)?`", text
    )
    yield from re.findall(r"\]\(([^)#:]+)\)", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_only_existing_memories(page: Path) -> None:
    for name in _mentioned(page):
        places = (ROOT / name, SOURCE / name, SOURCE / f"{name}.py")
        assert any(place.exists() for place in places), f"{page.name} names {name!r}"


def test_the_architecture_names_every_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.suffix == ".py" or path.is_dir()}
    for room in sorted(rooms - {"__init__", "__pycache__", "py.typed"}):
        assert re.search(rf"\b{room}\b", text), f"ARCHITECTURE.md does not name {room}"


def test_every_number_has_its_line_in_the_tuning_page() -> None:
    page = ROOT / "docs" / "tuning.md"
    text = page.read_text(encoding="utf-8")
    for name in slowwave.Config.__dataclass_fields__:
        assert f"`{name}`" in text, f"docs/tuning.md does not explain {name}"


RETIRED = frozenset(
    [
        "Again",
        "Clash",
        "Doom",
        "Faint",
        "Given",
        "Handle",
        "Joined",
        "Kept",
        "Lane",
        "Night",
        "Paper",
        "Rest",
        "Said",
        "Staged",
        "Stale",
        "Standing",
        "Stated",
        "Taken",
        "Taker",
        "Taking",
        "Upkeep",
        "Wanted",
        "Weighed",
        "Worked",
        "add_up",
        "affords",
        "asks_how_it_is",
        "bareness",
        "born",
        "deed",
        "doomed",
        "facts_over",
        "gone_faint",
        "let_go",
        "messages_over",
        "minded",
        "nobody",
        "noted",
        "of_owned",
        "one_group",
        "paid",
        "pointed_at",
        "put_off",
        "says_nothing",
        "stands_alone",
        "unpaced",
        "unrealised",
        "untold",
        "unwatched",
        "whoever",
        "wired",
        "words_over",
    ]
)
"""Names of an earlier private vocabulary. A reader could not guess what they mean, so none of them may return."""


def _identifiers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def test_no_retired_name_returns() -> None:
    used = {
        f"{path.relative_to(SOURCE)}:{name}"
        for path, tree in _trees()
        for name in (path.stem, *_identifiers(tree))
        if name.lstrip("_") in RETIRED
    }
    assert used == set()
