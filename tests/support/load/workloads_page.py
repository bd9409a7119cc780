"""The example of docs/workloads.md, or of another page, as the files it shows.

Enters: a folder. Leaves: the page's experiment file and the other files in it.
Never: changes the example.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGES = Path(__file__).parents[3] / "docs"
PAGE = PAGES / "workloads.md"
_BLOCK = re.compile(r"^```(?:toml|sql)\n(?:#|--) (\S+)\n.*?^```", re.MULTILINE | re.DOTALL)


def write_example(
    folder: Path, page: str = "workloads.md", experiment: str = "smallbank.toml"
) -> Path:
    """Write every file of the page into `folder`; the path of its experiment file."""
    for match in _BLOCK.finditer((PAGES / page).read_text("utf-8")):
        file = folder / match[1]
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text("\n".join(match[0].splitlines()[1:-1]) + "\n")
    return folder / experiment
