"""The tables of docs/json.md."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "json.md"


def documented(title: str, schema: str = "pgassay.load/1") -> set[str]:
    """The keys of a section's table, with those of the counts where it refers to them."""
    part = PAGE.read_text("utf-8").split(f"## `{schema}`\n")[1].split("\n## ")[0]
    section = part.split(f"### {title}\n")[1].split("\n### ")[0]
    found = set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))
    return found | documented("the counts") if section.startswith("\nThe counts") else found
