"""Settings files of coding agents in any form: an installation changes its own entries, and a removal restores the bytes."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.attack.campaign import Place

from slowwave.errors import SlowwaveError
from slowwave.hooks import jsonc, toml_entry
from slowwave.hooks.clients import CLIENTS, NAME, Client, Folders
from slowwave.hooks.install import carry_out, plan_install, plan_uninstall

COMMANDS: Final = (["/opt/x y/slowwave", "--scope", "é"], ["slowwave"])
SPACES: Final = ("", " ", "\n  ", "\r\n", "\t", " // c, ]\n", "/* {, */", '\n// "mcpServers": {\n')
PLAIN: Final = ("", " ", "\n  ", "\r\n\t")
KEYS: Final = ("a", "mcpServers", "servers", "mcp", "é", "x y", 'slow"wave', "//", "/*", "", "\u2028", "slowwave2")
SCALARS: Final = (1, -2.5, True, None, "x", "{", "}", ",", "é\u2028", "//no", "/*", 1e30)
EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd", "Foreign")
TABLES: Final = (
    "a = 1\n",
    "x.y = nan # c\n",
    "[x]\ny = '''\n[mcp_servers.slowwave]\n'''\n",
    '[z]\ny = """\n[mcp_servers.slowwave]\n"""\n',
    '[mcp_servers.other]\ncommand = "x"\nargs = [\n"a",\n]\n',
    "# [mcp_servers.slowwave]\n",
    "[mcp_servers]\n",
    "[[arr]]\nz = 1\n",
    '[mcp_servers."slow.wave"]\ncommand = "q"\n',
    "\n\n",
    "[ mcp_servers . 'other2' ]\ncommand = 'q' # c\n",
)

Value = Callable[[], str]


def installs(place: Place) -> int:
    """Installs twice and removes, in random files of a random agent."""
    chance, done = place.chance, 0
    for done in place.times(150):  # noqa: B007 - counted
        home = place.new()
        client = chance.choice(list(CLIENTS))
        files = _written(home, CLIENTS[client], chance)
        before = {path: path.read_bytes() for path in files}
        folders, hooks = Folders(home=home, project=home), CLIENTS[client].hooks is not None
        try:
            carry_out(plan_install(client, COMMANDS[0], folders, hooks=hooks))
        except SlowwaveError:
            assert {path: path.read_bytes() for path in files} == before
            continue
        for path in files:
            _is_only_ours(CLIENTS[client], path.name, before[path].decode(), path.read_bytes().decode())
        once = {path: path.read_bytes() for path in files}
        assert carry_out(plan_install(client, COMMANDS[0], folders, hooks=hooks)) == []
        if chance.random() < 0.5:
            carry_out(plan_install(client, COMMANDS[1], folders, hooks=hooks))
        carry_out(plan_uninstall(client, folders))
        assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before, (once, before)
    return done + 1


def _is_only_ours(client: Client, name: str, before: str, after: str) -> None:
    """The entry is there, and all that is not ours is as it was."""
    parse: Callable[[str], Any] = (
        toml_entry.parsed if name.endswith(".toml") else lambda text: jsonc.parse(text or "{}").value
    )
    old, new = parse(before if before.strip() else ""), parse(after)
    try:
        json.loads(before)
    except ValueError:
        pass
    else:
        assert json.loads(after) == new
    place = client.place[0]
    if name == Path(client.file).name and not (client.hooks and name == Path(client.hooks).name):
        assert NAME in new[place]
        new[place].pop(NAME)
    for key in {*old, *new} - {"hooks"}:
        assert (old.get(key) or {}) == (new.get(key) or {}) if key == place else old[key] == new[key], key
    for event, entries in (old.get("hooks") or {}).items():
        assert [entry for entry in new["hooks"][event] if entry in entries] == entries


def _written(home: Path, client: Client, chance: Random) -> list[Path]:
    """Some of the settings files of an agent."""
    spaces = PLAIN if chance.random() < 0.5 else SPACES
    made = []
    for name, text in ((client.file, _settings(client, chance, spaces)), (client.hooks, _hooks(chance, spaces))):
        if name is not None and chance.random() < 0.85:
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            made.append(path)
    return made


def _settings(client: Client, chance: Random, spaces: Sequence[str]) -> str:
    if client.toml:
        text = "".join(chance.sample(TABLES, chance.randrange(6)))
        return text.replace("\n", "\r\n") if chance.random() < 0.3 else text[: len(text) - chance.randrange(2)]
    keys = [*chance.sample(KEYS, chance.randrange(5)), *client.place]
    own: Value = lambda: chance.choice(["{}", "{ }", _object(["other"], chance, spaces)])  # noqa: E731 - one of several
    return _object(keys, chance, spaces, {client.place[0]: own}) + chance.choice(["", "\n", "\r\n\n"])


def _hooks(chance: Random, spaces: Sequence[str]) -> str:
    def entries() -> str:
        commands = chance.choices(
            ["echo hi", "/x/other hook", "'unbalanced", "mytool --slowwave"], k=chance.randrange(3)
        )
        return _array(
            [json.dumps({"hooks": [{"type": "command", "command": one}]}) for one in commands], chance, spaces
        )

    def events() -> str:
        return _object(chance.sample(EVENTS, chance.randrange(5)), chance, spaces, dict.fromkeys(EVENTS, entries))

    return _object([*chance.sample(KEYS, chance.randrange(3)), "hooks"], chance, spaces, {"hooks": events})


def _object(
    keys: Sequence[str], chance: Random, spaces: Sequence[str], known: Mapping[str, Value] | None = None
) -> str:
    """An object with these keys; values that are not known are random."""
    members = []
    for key in chance.sample(list(dict.fromkeys(keys)), len(set(keys))):
        value = (known or {}).get(key, lambda: _value(chance, spaces))()
        members.append(f"{json.dumps(key, ensure_ascii=False)}{chance.choice(spaces)}:{chance.choice(spaces)}{value}")
    return f"{{{_listed(members, chance, spaces)}}}"


def _array(items: Sequence[str], chance: Random, spaces: Sequence[str]) -> str:
    return f"[{_listed(items, chance, spaces)}]"


def _listed(items: Sequence[str], chance: Random, spaces: Sequence[str]) -> str:
    inner = ",".join(f"{chance.choice(spaces)}{item}{chance.choice(spaces)}" for item in items)
    comma = "," if items and spaces is SPACES and chance.random() < 0.3 else ""
    return f"{inner}{comma}{chance.choice(spaces)}"


def _value(chance: Random, spaces: Sequence[str], depth: int = 0) -> str:
    if depth == 2 or chance.random() < 0.5:
        return json.dumps(chance.choice(SCALARS), ensure_ascii=False)
    return _array([_value(chance, spaces, depth + 1) for _ in range(chance.randrange(3))], chance, spaces)
