"""Checks of the adapters, each in an environment with its framework, which `make test-adapters` builds."""

import os
from pathlib import Path

NAME = os.environ.get("SLOWWAVE_ADAPTER", "")
"""The module of the adapter whose framework is installed; empty outside of `make test-adapters`."""
collect_ignore = [path.name for path in Path(__file__).parent.glob("test_*.py") if path.stem != f"test_{NAME}"]
