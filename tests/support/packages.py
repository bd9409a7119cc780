"""Packages of the distribution that tests use.

Enters: tests/packages.txt. Leaves: the path of a package's program; where it is missing the test is
skipped, or fails with `CI` set. Never: installs one.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

_LISTED = (Path(__file__).parents[1] / "packages.txt").read_text("utf-8").splitlines()
_FOUND_BY = dict(line.split() for line in _LISTED)
_LACKS = "package not installed: "


def needs(package: str) -> str:
    """The path of the program, or file, by which the package is known."""
    name = _FOUND_BY[package]
    if name.startswith("/"):
        found = name if Path(name).exists() else None
    else:
        found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(_LACKS + package)
    return found


def lacking(reasons: Iterable[str]) -> dict[str, int]:
    """How many of these skipped tests wait for each package."""
    found: dict[str, int] = {}
    for reason in reasons:
        if lacks := re.search(rf"{_LACKS}([\w-]+)", reason):
            package = lacks[1]
            found[package] = found.get(package, 0) + 1
    return found
