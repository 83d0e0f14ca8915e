"""Print the development requirements of pyproject.toml, for a pip that knows no dependency groups yet."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
print(" ".join(requirement.replace(" ", "") for requirement in project["dependency-groups"]["dev"]))
