"""The pinned requirements of the package alone, without those of its development.

Enters: pyproject.toml, requirements.txt, the packages of this environment, which say what they need
themselves. Leaves: the part of requirements.txt that a user of the wheel needs. Never: pins another
version than requirements.txt does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def pinned(root: Path) -> str:
    """Lines of requirements.txt, with their hashes."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    needed = closure(project["dependencies"])
    # A requirement begins a line; its hashes follow on indented ones.
    blocks = re.split(r"(?m)^(?=[A-Za-z0-9])", (root / "requirements.txt").read_text("utf-8"))
    kept = [one for one in blocks if one.strip() and _name(one) in needed]
    missing = needed - {_name(one) for one in kept}
    if missing:
        raise SystemExit(f"requirements.txt lacks {', '.join(sorted(missing))}: make requirements")
    return "".join(kept)


def closure(written: Iterable[str]) -> set[str]:
    """The names of packages that these requirements need, directly or not."""
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(one) for one in written]
    while waiting:
        one = waiting.pop()
        key = (canonicalize_name(one.name), frozenset(one.extras))
        if key in found:
            continue
        try:
            inner = requires(one.name) or []
        except PackageNotFoundError:  # of another system or Python
            continue
        found.add(key)
        waiting += [need for need in map(Requirement, inner) if _applies(need, one.extras)]
    return {str(name) for name, _ in found}


def _applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _name(block: str) -> str:
    return str(canonicalize_name(re.split(r"[=\[ ;<>~!]", block, maxsplit=1)[0]))
