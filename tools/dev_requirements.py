"""Print the development requirements of pyproject.toml, for versions of pip without dependency groups."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
print(" ".join(requirement.replace(" ", "") for requirement in project["dependency-groups"]["dev"]))
