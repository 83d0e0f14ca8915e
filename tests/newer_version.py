"""A newer version of the package to play against: a copy of this one with one more migration for each kind of store."""

import shutil
from pathlib import Path

import slowwave
from slowwave.stores.migrations import migrations

_MIGRATION = """{readable}
ALTER TABLE memories ADD COLUMN news TEXT;
ALTER TABLE runs ADD COLUMN news TEXT;
CREATE TABLE news (scope BIGINT NOT NULL, text TEXT NOT NULL);
"""


def newer_package(folder: Path, *, readable: bool) -> Path:
    """Write it, and return the folder for PYTHONPATH. `readable`: programs of this version can use its schema in Postgres."""
    source = Path(slowwave.__file__).parent
    shutil.copytree(source, folder / "slowwave", ignore=shutil.ignore_patterns("__pycache__"))
    for kind in ("sqlite", "postgres"):
        latest = migrations(kind)[-1][0]
        script = _MIGRATION.format(readable=f"-- readable from {latest}" if readable else "")
        (folder / f"slowwave/stores/{kind}/sql/{latest + 1:04}_news.sql").write_text(script)
    return folder
