"""Which commit of pgassay this is.

Enters: commit.txt, which `make dist` writes into the package, or the checkout that the package lies
in. Leaves: the commit's name, empty where neither is there. Never: looks at a repository that is
not pgassay's own.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from pgassay import __version__

_PACKAGE = Path(__file__).parent
_CHECKOUT = _PACKAGE.parents[1]
WRITTEN = "commit.txt"


def commit() -> str:
    """Returns the commit of this pgassay, such as `4dbf0d4a01`, with ` and changes` where files
    differ from it."""
    name, has_changes = commit_and_changes()
    return f"{name} and changes" if has_changes else name


@cache
def commit_and_changes() -> tuple[str, bool]:
    """Returns the name of the commit, and whether files differ from it."""
    written = _PACKAGE / WRITTEN
    if written.is_file():
        return written.read_text("utf-8").strip(), False
    if not (_CHECKOUT / ".git").exists():
        return "", False
    name = _git("rev-parse", "--short=10", "HEAD")
    return name, bool(name and _git("status", "--porcelain", "-uno"))


def version_line() -> str:
    """Returns the line that `--version` prints."""
    return f"pgassay {__version__}" + (f" ({commit()})" if commit() else "")


def _git(*command: str) -> str:
    """What git prints; nothing where it is not installed or refuses (another user's checkout)."""
    try:
        done = subprocess.run(
            ["git", "-C", str(_CHECKOUT), *command],  # noqa: S607 - whichever is on the PATH
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
