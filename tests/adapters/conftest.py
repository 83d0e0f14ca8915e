"""Checks of the adapters, each in an environment with its framework, which `make test-adapters` builds."""

import os
from pathlib import Path

NAME = os.environ.get("SLOWWAVE_ADAPTER", "")
"""The module of the adapter whose framework is installed; empty outside of `make test-adapters`."""
_own = f"test_{NAME}" if NAME else "no test"
collect_ignore = [path.name for path in Path(__file__).parent.glob("test_*.py") if not path.stem.startswith(_own)]
collect_ignore += [
    "langgraph_shims.py"
]  # imports the framework, and is copied into the folder of the framework's tests
