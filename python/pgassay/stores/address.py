"""URLs of runs, and where this machine keeps copies of them.

Enters: a path as a user gave it. Leaves: the URL it means, the folders of its copies; copies as
URLs, for messages. Never: imports fsspec, or opens anything.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pgassay.errors import SetupError

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)
"""With one slash: `Path` folds two into one. One letter is no scheme."""
_THIS_MACHINE = ("file", "local")


def url_of(path: Path) -> str | None:
    """The URL that a path stands for; None where it is a path of this machine."""
    found = _URL.fullmatch(str(path))
    if found is None or found[1] in _THIS_MACHINE:
        return None
    scheme, place = found[1], found[2].rstrip("/")
    user, at, _ = place.partition("/")[0].rpartition("@")
    if at and ":" in user:
        raise SetupError(
            f"{scheme}://…: a password may not be written in a URL; the store's library takes"
            " credentials from the environment or from its own files"
        )
    if "::" in str(path) or "?" in place or "#" in place:
        raise SetupError(
            f"{scheme}://…: a run is named by a URL without `?`, `#` and `::`; options of the"
            " store's library belong in the environment or in its own files"
        )
    if not place or ".." in place.split("/"):
        raise SetupError(f"{path}: names no folder of a store; write {scheme}://BUCKET/FOLDER")
    return f"{scheme}://{place}"


def local_path(path: Path) -> Path:
    """A path of this machine, also where it was written as file:///…."""
    found = _URL.fullmatch(str(path))
    return Path("/", found[2]) if found and found[1] in _THIS_MACHINE else path


def refuse_url(path: Path | None, command: str) -> None:
    """Raises SetupError for a URL where something is only ever written on this machine."""
    if path is not None and url_of(path) is not None:
        raise SetupError(
            f"`pgassay {command}` writes on this machine only; give --out a path, and copy the"
            " directory to the store afterwards"
        )


def copy_of(url: str) -> Path:
    """Where files are kept that were read; what lies there can be read again."""
    return copies_folder() / _folder(url)


def working_copy_of(url: str) -> Path:
    """Where a run is carried out that goes to this URL."""
    return _working_copies() / _folder(url)


def url_of_working_copy(path: Path) -> str:
    """Returns the URL of the run that a copy is of."""
    scheme, *parts = path.relative_to(_working_copies()).parts
    return f"{scheme}://{'/'.join(parts)}"


def shown(path: Path) -> str:
    """A path for people and programs: a copy is shown as the URL it was read from."""
    return with_urls(str(path))


def with_urls(text: str) -> str:
    """Returns a text with URLs where it names copies."""
    if "pgassay/runs/" not in text:
        return text
    return re.sub(rf"{re.escape(str(copies_folder()))}/([a-z][a-z0-9+.-]+)/", r"\1://", text)


def _folder(url: str) -> str:
    return url.replace("://", "/", 1)


def copies_folder() -> Path:
    """Returns the folder below which all copies of stored runs lie."""
    import platformdirs  # only where a store is named: `pgassay --help` need not wait for it

    return _resolved(platformdirs.user_cache_path("pgassay") / "runs")


def _working_copies() -> Path:
    import platformdirs

    return _resolved(platformdirs.user_data_path("pgassay") / "runs")


@cache
def _resolved(path: Path) -> Path:
    return path.resolve()
