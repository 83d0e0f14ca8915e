"""Write the type stubs of the public API: `python tools/write_stubs.py`.

`__init__.pyi` lists the names that `slowwave` loads when they are first used. `aio.pyi` has the methods of AgentMemory and
Slowwave as coroutines, with the same signatures: at run time the async classes build them from the synchronous ones, which
a type checker cannot follow.
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import slowwave
from slowwave.aio import OPENERS, VIEWS

SOURCE: Final = Path(__file__).parents[1] / "src" / "slowwave"
HEADER: Final = "# Written by tools/write_stubs.py: do not edit.\n"
AIO: Final = """
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Self, TypeVar

_View = TypeVar("_View")
VIEWS: frozenset[str]
OPENERS: frozenset[str]

class Opening(Coroutine[Any, Any, _View]):
    def __init__(self, open_it: Callable[[], Coroutine[Any, Any, _View]]) -> None: ...
    def __await__(self) -> Generator[Any, None, _View]: ...
    def send(self, value: Any, /) -> Any: ...
    def throw(self, *error: Any) -> Any: ...
    def close(self) -> None: ...
    async def __aenter__(self) -> _View: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
"""
CLASS: Final = """
class Async{facade}:
    def __init__(self, {attribute}: {facade}) -> None: ...
    @property
    def {attribute}(self) -> {facade}: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
"""
SCOPE: Final = """    @property
    def scope(self) -> str: ...
"""
VERBS: Final = """

def verbs(facade: type[AgentMemory | Slowwave] = ...) -> dict[str, Callable[..., Awaitable[Any]]]: ...
"""


def package_stub() -> str:
    """The text of `__init__.pyi`."""
    modules: dict[str, list[str]] = defaultdict(list)
    for name, module in slowwave._MODULES.items():  # noqa: SLF001 - the table this file is written from
        modules[module].append(name)
    imports = [f"from slowwave.{module} import {', '.join(modules[module])}" for module in sorted(modules)]
    return "\n".join([HEADER, *imports, "", "__version__: str", f"__all__ = {sorted(slowwave.__all__)}", ""])


def aio_stub() -> str:
    """The text of `aio.pyi`."""
    imports = ["from slowwave.agent_memory import AgentMemory", "from slowwave.whole_store import Slowwave"]
    classes = ""
    for module, facade, attribute in (("agent_memory", "AgentMemory", "memory"), ("whole_store", "Slowwave", "store")):
        tree = ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))
        found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == facade)
        methods = [method for node in found.body for method in _methods(node)]
        used = {name for method in methods for node in ast.walk(method) for name in _names(node)}
        imports += [line for node in ast.walk(tree) for line in _imports(node, used)]
        classes += CLASS.format(facade=facade, attribute=attribute) + SCOPE * (attribute == "memory")
        classes += "\n".join(f"    {line}" for method in methods for line in ast.unparse(method).splitlines()) + "\n"
    head = "\n".join(dict.fromkeys(imports))
    return f"{HEADER}{head}\n{AIO}{classes}\n{VERBS}"


def _methods(node: ast.stmt) -> Iterator[ast.stmt]:
    """A public method as it is in the async class, or an alias of one."""
    if isinstance(node, ast.Assign) and ast.unparse(node) != "default = in_memory":
        yield node
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
        return
    decorators = [name for name in node.decorator_list if ast.unparse(name) in {"classmethod", "property"}]
    if decorators and node.name not in OPENERS:
        return
    for defaults in (node.args.defaults, node.args.kw_defaults):
        defaults[:] = [ast.Constant(...) if isinstance(default, ast.Name) else default for default in defaults]
    kind: type[ast.FunctionDef | ast.AsyncFunctionDef] = ast.AsyncFunctionDef
    if node.name in VIEWS | OPENERS:
        kind = ast.FunctionDef
        annotation = "Opening[Self]" if node.name in OPENERS else ast.unparse(node.returns or ast.Name("Self"))
        node.returns = ast.Name("AsyncAgentMemory" if annotation == "AgentMemory" else annotation)
    yield kind(
        name=node.name,
        args=node.args,
        returns=node.returns,
        decorator_list=decorators,
        body=[ast.Expr(ast.Constant(...))],
        lineno=node.lineno,
    )


def _names(node: ast.AST) -> Iterator[str]:
    """The names in a node, also those in a quoted annotation."""
    if isinstance(node, ast.Name):
        yield node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from re.findall(r"\w+", node.value)


def _imports(node: ast.AST, used: set[str]) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and (names := {alias.name for alias in node.names} & used):
        yield f"from {node.module} import {', '.join(names)}"


def formatted(text: str, name: str) -> str:
    """The text as ruff sorts and formats it."""
    for command in (["check", "--fix", "--quiet", "--select", "F401,I,PYI020,RUF022"], ["format"]):
        run = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(SOURCE / name), "-"]
        text = subprocess.run(run, input=text, capture_output=True, text=True, check=True, cwd=SOURCE).stdout
    return text


def stubs() -> dict[Path, str]:
    """The path and the text of each stub."""
    texts = {"__init__.pyi": package_stub(), "aio.pyi": aio_stub()}
    return {SOURCE / name: formatted(text, name) for name, text in texts.items()}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
        print(path)
