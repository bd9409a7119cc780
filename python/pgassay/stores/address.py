"""Where this machine keeps copies of runs that lie in a store.

Enters: the URL of a run (`samples/address.py`). Leaves: the folders of its copies; copies as URLs,
for messages. Never: imports fsspec, or opens anything.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path


def copy_of(url: str) -> Path:
    """Returns the folder of a copy that was read; what lies there can be read again."""
    return copies_folder() / _folder(url)


def working_copy_of(url: str) -> Path:
    """Returns the folder where a run is carried out that goes to this URL."""
    return _working_copies() / _folder(url)


def url_of_working_copy(path: Path) -> str:
    """Returns the URL of the run that a copy is of."""
    scheme, *parts = path.relative_to(_working_copies()).parts
    return f"{scheme}://{'/'.join(parts)}"


def shown(path: Path) -> str:
    """Writes a path for people and programs: a copy is shown as the URL it was read from."""
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
