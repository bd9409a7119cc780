"""Whether a path, as a user gave it, is a path of this machine or the URL of a run in a store.

Enters: the path. Leaves: the URL, or the path of this machine. Never: opens anything, or imports
the room `stores`.
"""

from __future__ import annotations

import re
from pathlib import Path

from pgassay.refusals.refusal import SetupRefused

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)
"""With one slash: `Path` folds two into one. One letter is no scheme."""
_THIS_MACHINE = ("file", "local")


def url_of(path: Path) -> str | None:
    """Returns the URL that a path stands for; None where it is a path of this machine."""
    found = _URL.fullmatch(str(path))
    if found is None or found[1] in _THIS_MACHINE:
        return None
    scheme, place = found[1], found[2].rstrip("/")
    user, at, _ = place.partition("/")[0].rpartition("@")
    if at and ":" in user:
        raise SetupRefused("password-in-url", f"{scheme}://…")
    if "::" in str(path) or "?" in place or "#" in place:
        raise SetupRefused("options-in-url", f"{scheme}://…")
    if not place or ".." in place.split("/"):
        raise SetupRefused("url-without-folder", str(path), scheme=scheme)
    return f"{scheme}://{place}"


def local_path(path: Path) -> Path:
    """Returns the path of this machine, also where it was written as file:///…."""
    found = _URL.fullmatch(str(path))
    return Path("/", found[2]) if found and found[1] in _THIS_MACHINE else path


def refuse_url(path: Path | None, command: str) -> None:
    """Raises SetupError for a URL where something is only ever written on this machine."""
    if path is not None and url_of(path) is not None:
        raise SetupRefused("no-store-here", command=command)
