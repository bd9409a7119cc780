"""What many tests make alike, made once for all processes of pytest.

Enters: what it is made from, and how. Leaves: a folder or an object as if it had just been made.
Never: outlives this run of pytest, or keeps what a test could change for another.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

FOLDER = "PGASSAY_TESTS_KEPT"
"""The variable that names the folder, which tests/conftest.py makes and removes."""
Made = TypeVar("Made")


def kept_folder(make: Callable[[Path], object], *of: object) -> Path:
    """A folder as `make` fills it, for this `of` alone; to be copied, and never to be changed."""
    folder = Path(os.environ[FOLDER])
    final = folder / hashlib.sha256(repr((make.__qualname__, *of)).encode()).hexdigest()
    if not final.exists():
        aside = Path(tempfile.mkdtemp(dir=folder))
        make(aside / "made")
        try:
            (aside / "made").rename(final)
        except OSError:  # another process was as quick
            if not final.exists():
                raise
        shutil.rmtree(aside)
    return final


def kept_object(make: Callable[[], Made], *of: object) -> Made:
    """What `make` returns, for this `of` alone; each caller has its own."""

    def into(folder: Path) -> None:
        folder.mkdir()
        (folder / "object").write_bytes(pickle.dumps(make()))

    found: Made = pickle.loads((kept_folder(into, make.__qualname__, *of) / "object").read_bytes())  # noqa: S301 (our own)
    return found
