"""`slowwave install`: what is changed in settings, what stays, and what is refused."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, strategies as st

from slowwave import InputError
from slowwave.cli.app import app
from slowwave.hooks import jsonc, toml_entry
from slowwave.hooks.clients import CLIENTS, Folders
from slowwave.hooks.install import carry_out, plan_install, plan_uninstall

COMMAND = ["/opt/slow wave/bin/slowwave", "--scope", "alice"]
MINE = """{
\t// my own settings
\t"theme": "dark", /* keep */
\t"mcpServers": {"other": {"command": "o", "args": []}},
\t"servers": {"other": {"command": "o"}},
\t"mcp": {"other": {"command": ["o"]}},
\t"hooks": {
\t\t"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "my own hook"}]},],
\t\t"PostToolUse": [{"hooks": [{"type": "command", "command": "other"}]}]
\t},
}
"""
MY_TOML = 'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "o"\n\n[profiles.a]\nb = 1\n'
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
"""Any values of JSON."""


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return Folders(home=tmp_path / "home", project=tmp_path / "project")


def _files(folders: Folders, client: str) -> list[Path]:
    one = CLIENTS[client]
    base = folders.project if one.in_project else folders.home
    return [base / one.file, *([folders.home / one.hooks] if one.hooks else [])]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _install(folders: Folders, client: str) -> list[Path]:
    return carry_out(plan_install(client, COMMAND, folders, hooks=CLIENTS[client].hooks is not None))


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_an_entry_is_added_beside_those_of_others_and_removed_to_the_byte(folders: Folders, client: str) -> None:
    files = _files(folders, client)
    for file in files:
        _write(file, MY_TOML if file.suffix == ".toml" else MINE)
        file.chmod(0o640)
    before = {file: file.read_bytes() for file in files}
    assert _install(folders, client) == files
    first = files[0].read_text(encoding="utf-8")
    content: Any = tomllib.loads(first) if files[0].suffix == ".toml" else jsonc.parse(first).value
    servers = content[CLIENTS[client].place[0]]
    words = servers["slowwave"]["command"]
    words = words if isinstance(words, list) else [words, *servers["slowwave"]["args"]]
    assert words[:4] == [*COMMAND, "mcp"]
    assert set(servers) == {"other", "slowwave"}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o640}
    assert carry_out(plan_uninstall(client, folders)) == files
    assert {file: file.read_bytes() for file in files} == before
    assert {file for folder in (folders.home, folders.project) for file in folder.rglob("*") if file.is_file()} == {
        *files
    }


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_files_that_an_installation_made_are_removed_and_empty_objects_come_back(folders: Folders, client: str) -> None:
    files = _files(folders, client)
    _install(folders, client)
    carry_out(plan_uninstall(client, folders))
    assert [file for file in files if file.exists()] == []
    empty = {
        file: "\n# mine\n" if file.suffix == ".toml" else f'{{"{CLIENTS[client].place[0]}": {{}}, "hooks":{{}} }}'
        for file in files
    }
    for file, text in empty.items():
        _write(file, text)
    _install(folders, client)
    carry_out(plan_uninstall(client, folders))
    assert {file: file.read_text(encoding="utf-8") for file in files} == empty


@pytest.mark.parametrize("client", sorted(CLIENTS))
@pytest.mark.parametrize("text", ["", "\n"])
def test_a_file_without_content_has_none_afterwards(folders: Folders, client: str, text: str) -> None:
    files = _files(folders, client)
    for file in files:
        _write(file, text)
    _install(folders, client)
    assert carry_out(plan_uninstall(client, folders)) == files
    assert {file.read_text(encoding="utf-8") for file in files} == {text}
    assert [*folders.home.rglob("*.before-slowwave"), *folders.project.rglob("*.before-slowwave")] == []


@pytest.mark.parametrize(
    "text",
    [
        "{ }",
        "{\n}",
        "{/* c */}",
        '{"hooks": {"Stop": [ ], "x": {}}, "PLACE": { }}\r\n',
        '{"PLACE": {"o": {} // the last one\n}, "hooks": {} /* h */, // end\n}',
        '{"hooks": {"Stop": [{"hooks": [{"command": "o"}]} // mine, and last\n]}}',
    ],
)
@pytest.mark.parametrize("client", sorted(name for name, one in CLIENTS.items() if not one.toml))
def test_every_form_of_a_file_comes_back_to_the_byte_also_after_two_installations(
    folders: Folders, client: str, text: str
) -> None:
    text = text.replace("PLACE", CLIENTS[client].place[0])
    files = _files(folders, client)
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    _install(folders, client)
    carry_out(plan_install(client, ["slowwave"], folders, hooks=CLIENTS[client].hooks is not None))
    carry_out(plan_uninstall(client, folders))
    assert {file.read_bytes() for file in files} == {text.encode()}
    assert [*folders.home.rglob("*.before-slowwave"), *folders.project.rglob("*.before-slowwave")] == []


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers]\n",
        "[mcp_servers]\n\n[mcp_servers.other]\ncommand = 'x'",
        "\n\n",
        "x = nan\r\n[y]\r\nz = 1\r\n",
        "[x]\ny = '''\n[mcp_servers.slowwave]\n'''\n",
        '[x]\ny = """\n[mcp_servers.slowwave]\n\\""""\n# [mcp_servers.slowwave]\n',
    ],
)
def test_every_form_of_a_toml_file_comes_back_to_the_byte_also_after_two_installations(
    folders: Folders, text: str
) -> None:
    settings = folders.home / ".codex/config.toml"
    settings.parent.mkdir()
    settings.write_bytes(text.encode())
    _install(folders, "codex")
    carry_out(plan_install("codex", ["slowwave"], folders, hooks=True))
    assert toml_entry.parsed(settings.read_text())["mcp_servers"]["slowwave"]["command"] == "slowwave"
    carry_out(plan_uninstall("codex", folders))
    assert [file for file in folders.home.rglob("*") if file.is_file()] == [settings]
    assert settings.read_bytes() == text.encode()


def test_a_removal_from_a_file_that_was_changed_says_what_it_left(tmp_path: Path) -> None:
    settings = tmp_path / ".codex/config.toml"
    _write(settings, "[mcp_servers]\n")
    _run(tmp_path, "codex", "--command", "slowwave")
    settings.write_text(settings.read_text() + "\n# about x\n[x]\ny = 1\n")
    said = _run(tmp_path, "codex", "--uninstall").stdout
    assert settings.read_text() == "[mcp_servers]\n\n# about x\n[x]\ny = 1\n"
    assert f"{settings} was changed after the installation" in said
    assert "slowwave" in settings.with_name("config.toml.before-slowwave").read_text()


@pytest.mark.parametrize(
    ("text", "index", "left"),
    [
        ('{"x": [0, // c\n1]}', 1, '{"x": [0 // c\n]}'),
        ('{"x": [0 /*,*/, 1]}', 1, '{"x": [0 /*,*/]}'),
        ('{"x": [0, /* a, b */ 1]}', 1, '{"x": [0 /* a, b */ ]}'),
        ('{"x": [ // c\n0,]}', 0, '{"x": [ // c\n]}'),
    ],
)
def test_a_removed_element_pulls_nothing_into_a_comment(text: str, index: int, left: str) -> None:
    assert jsonc.without_element(text, ("x",), index) == left


def test_an_edit_that_would_make_another_value_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be changed here"):
        jsonc.without_member('{"a": 1, "a": 2}', (), "a")  # the first one would count then


def test_what_was_changed_after_an_installation_stays(folders: Folders) -> None:
    settings = folders.home / ".gemini/settings.json"
    _write(settings, '{"mcpServers": {}}')
    _install(folders, "gemini")
    installed = settings.read_text(encoding="utf-8")
    settings.write_text(installed.replace("{", '{"theme": "dark", ', 1), encoding="utf-8")
    carry_out(plan_uninstall("gemini", folders))
    assert json.loads(settings.read_text(encoding="utf-8")) == {"theme": "dark"}


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_a_second_installation_changes_nothing(folders: Folders, client: str) -> None:
    assert _install(folders, client) == _files(folders, client)
    assert _install(folders, client) == []


@pytest.mark.parametrize("client", sorted(name for name, one in CLIENTS.items() if one.hooks))
def test_hooks_are_added_once_and_the_hooks_of_others_stay(folders: Folders, client: str) -> None:
    hooks = folders.home / str(CLIENTS[client].hooks)
    _write(hooks, MINE)
    _install(folders, client)
    carry_out(plan_install(client, ["slowwave"], folders, hooks=True))
    events = jsonc.parse(hooks.read_text(encoding="utf-8")).value["hooks"]
    commands = {
        event: [hook["command"] for entry in entries for hook in entry["hooks"]] for event, entries in events.items()
    }
    assert commands == {
        **{event: ["slowwave hook"] for event in CLIENTS[client].events},
        "Stop": ["slowwave hook", "my own hook"],
        "PostToolUse": ["other"],
    }


def test_the_former_file_stays_beside_the_new_one(folders: Folders) -> None:
    settings = folders.home / ".gemini/settings.json"
    _write(settings, MINE)
    _install(folders, "gemini")
    assert settings.with_name("settings.json.before-slowwave").read_text(encoding="utf-8") == MINE


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"mcpServers": []}', '{"a": 1} x', '{"a" 1}', "\x00", "[" * 5000, '{"mcpServers": 3}']
)
def test_a_broken_file_is_refused_and_stays_as_it_is(folders: Folders, text: str) -> None:
    settings = folders.home / ".cursor/mcp.json"
    _write(settings, text)
    with pytest.raises(InputError, match="was not changed"):
        _install(folders, "cursor")
    assert settings.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "text",
    ["[x", "mcp_servers = 3", "mcp_servers = {slowwave = {command = 'x'}}", "mcp_servers.slowwave.command = 'x'"],
)
def test_toml_in_a_form_that_is_not_understood_is_refused(folders: Folders, text: str) -> None:
    settings = folders.home / ".codex/config.toml"
    _write(settings, text)
    with pytest.raises(InputError, match="was not changed"):
        _install(folders, "codex")
    assert settings.read_text(encoding="utf-8") == text


def test_a_broken_hooks_file_leaves_the_other_file_unchanged(folders: Folders) -> None:
    _write(folders.home / ".claude/settings.json", "{")
    with pytest.raises(InputError):
        _install(folders, "claude-code")
    assert not (folders.home / ".claude.json").exists()


@pytest.mark.parametrize("link", [".vscode", ".vscode/mcp.json", ".vscode/mcp.json.before-slowwave"])
def test_a_symbolic_link_is_refused_wherever_it_is_on_the_way(folders: Folders, tmp_path: Path, link: str) -> None:
    target = tmp_path / "elsewhere"
    if link == ".vscode":
        target.mkdir()
    else:
        target.write_text("{}")
        (folders.project / ".vscode").mkdir()
    (folders.project / link).symlink_to(target)
    with pytest.raises(InputError, match="symbolic link"):
        _install(folders, "vscode")
    assert list(target.iterdir()) == [] if target.is_dir() else target.read_text() == "{}"


def test_a_file_that_changed_in_the_meantime_is_not_overwritten(folders: Folders) -> None:
    changes = plan_install("cursor", COMMAND, folders, hooks=False)
    _write(folders.home / ".cursor/mcp.json", '{"new": 1}')
    with pytest.raises(InputError, match="another program"):
        carry_out(changes)
    assert (folders.home / ".cursor/mcp.json").read_text() == '{"new": 1}'


def test_an_agent_without_hooks_is_refused_by_name(folders: Folders) -> None:
    with pytest.raises(InputError, match="claude-code, codex"):
        plan_install("cursor", COMMAND, folders, hooks=True)


def _run(tmp_path: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["install", *words, "--home", str(tmp_path)])


def test_a_dry_run_shows_the_change_and_makes_none(tmp_path: Path) -> None:
    shown = _run(tmp_path, "claude-code", "--hooks", "--dry-run", "--command", "uvx slowwave")
    assert '+      "command": "uvx",' in shown.stdout
    assert "uvx slowwave hook" in shown.stdout
    assert list(tmp_path.iterdir()) == []


def test_what_a_person_does_next_is_said_after_each_change(tmp_path: Path) -> None:
    last = [
        _run(tmp_path, "codex", *words, "--command", "slowwave").stdout.splitlines()[-1]
        for words in (("--hooks",), ("--hooks",), ("--uninstall",), ("--uninstall",))
    ]
    assert last == [
        "to use it, start a new session; Codex asks once whether you trust new hooks",
        "nothing to change",
        "sessions that are open use it until they end",
        "nothing to change",
    ]


def test_a_wrong_agent_is_answered_with_the_names(tmp_path: Path) -> None:
    refused = _run(tmp_path, "claud-code")
    assert refused.exit_code == 2
    assert "Invalid value for 'AGENT': 'claud-code' is not one of 'claude-code', 'codex'" in refused.stderr


def test_the_named_store_is_absolute_in_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run(tmp_path, "cursor", "--store", "m.db", "--command", "slowwave").exit_code == 0
    entry = json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"]["slowwave"]
    assert entry == {"command": "slowwave", "args": ["--store", str(tmp_path / "m.db"), "mcp"]}


@given(
    content=st.dictionaries(st.text(), _values, max_size=4),
    value=_values,
    key=st.text(),
    indent=st.sampled_from([None, 2, "\t"]),
)
def test_an_added_member_changes_nothing_else_and_is_removed_to_the_byte(
    content: dict[str, Any], value: object, key: str, indent: int | str | None
) -> None:
    text = json.dumps(content, indent=indent) + "\n"
    if key in content:
        content = {name: one for name, one in content.items() if name != key}
        text = json.dumps(content, indent=indent) + "\n"
    added = jsonc.with_member(text, (), key, value)
    assert json.loads(added) == {**content, key: value}
    assert jsonc.parse(added).value == json.loads(added)
    assert jsonc.without_member(added, (), key) == text


@pytest.mark.parametrize(
    "text", ["", "\n", "a = 1", "[mcp_servers]\n", "[mcp_servers.slowwave]\ncommand = 'old'\n[x]\ny = 1\n"]
)
def test_a_toml_entry_is_set_whatever_stands_before_it(text: str) -> None:
    changed = toml_entry.with_entry(text, "mcp_servers", "slowwave", {"command": 'a\\b "c"', "args": ["ü"]})
    assert tomllib.loads(changed)["mcp_servers"]["slowwave"] == {"command": 'a\\b "c"', "args": ["ü"]}
