"""Runs the command line as a user does, and makes a small workload for it.

Enters: arguments. Leaves: finished processes, folders of a workload.
Never: looks inside the package.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from support.runs.forked import run

LIMIT_S = 600
"""Of a command: for one that fills a disk with its load, on a machine that ten others keep busy."""


def pgassay(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`pgassay ARGUMENTS`, run to its end."""
    return run(["-m", "pgassay", *map(str, arguments)], os.environ | environment, LIMIT_S)


def last_line(text: str) -> str:
    """The last line of a command's output."""
    return text.strip().splitlines()[-1].strip()


def shop_workload(beside: Path, script: str, *, weight: float = 1.0) -> Path:
    """A workload folder `shop` with one table and one scenario, `buy`."""
    folder = beside / "shop"
    folder.mkdir()
    (folder / "workload.toml").write_text(
        f"title = 'Shop'\n[scenarios]\nbuy = {{ file = 'buy.sql', weight = {weight} }}\n"
    )
    (folder / "schema.sql").write_text("CREATE TABLE item (id int);")
    (folder / "data.sql").write_text("INSERT INTO item SELECT generate_series(1, :scale);")
    (folder / "buy.sql").write_text(script)
    return folder
