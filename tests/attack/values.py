"""Odd values, typed and untyped, at every public argument of the library and every argument of the command line."""

import os
import struct
from contextlib import chdir
from random import Random
from typing import Any

from tests.arguments import calls
from tests.arguments.command_lines import COMMANDS, invoker, tried, words_for, written
from tests.arguments.odd_values import MAKERS
from tests.attack.campaign import Place


def odd(chance: Random, depth: int = 0) -> Any:  # noqa: ANN401 - what is tried
    """A value of the table, or one that chance makes: a text of any characters, a number of any bits, or a container."""
    kind = chance.randrange(8 if depth < 3 else 5)
    if kind < 3:
        return MAKERS[chance.choice(sorted(MAKERS))]()
    if kind == 3:
        highest = chance.choice([0x7F, 0x2FF, 0xFFFF, 0x10FFFF])
        return "".join(chr(chance.randrange(highest)) for _ in range(chance.choice([1, 3, 30, 700])))
    if kind == 4:
        return chance.choice(
            [struct.unpack("<d", chance.randbytes(8))[0], chance.getrandbits(chance.choice([8, 63, 64, 200]))]
        )
    if kind == 5:
        return [odd(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 6:
        return {f"{chance.random()}": odd(chance, depth + 1) for _ in range(chance.randrange(4))}
    return tuple(odd(chance, depth + 1) for _ in range(chance.randrange(3)))


def arguments(place: Place) -> int:
    """Values at random arguments of the library; then the store is sound and can be read."""
    by_function = calls.cases()
    with chdir(place.folder):
        keeper = calls.Place(place.folder)
        for done in place.times(600):  # noqa: B007 - counted
            case = place.chance.choice(by_function[place.chance.choice(sorted(by_function))])
            value = odd(place.chance)
            try:
                calls.attempt(keeper, case, value)
            except Exception as error:
                error.add_note(f"{case.function}({case.argument}={_shown(value)})")
                raise
        assert keeper.store.doctor(deep=True) == []
        calls.readable(keeper)
        keeper.store.close()
    return done + 1


def _shown(value: object) -> str:
    try:
        return f"{value!r:.200}"
    except Exception:  # noqa: BLE001 - the representation of a hostile value
        return f"a {type(value).__name__}"


def command_line(place: Place) -> int:
    """Texts at random arguments of the command line."""
    with chdir(place.folder):
        invoke = invoker(place.folder)
        done = 0
        for _ in place.times(60):
            path, command = COMMANDS[place.chance.choice(sorted(COMMANDS))]
            parameters = [one for one in command.params if tried(one)]
            if not parameters:
                continue
            parameter = place.chance.choice(parameters)
            word = place.chance.choice(words_for(parameter))
            if place.chance.random() < 0.3:
                made = odd(place.chance)
                word = os.fsdecode(made.encode(errors="replace").replace(b"\0", b"")) if isinstance(made, str) else word
                word = word if word.isprintable() else "x"
            invoke([*path, *written(command, parameter, word)])
            done += 1
    return done
