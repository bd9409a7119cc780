"""Unpack an archive that this project made, with every Python that it promises.

Enters: a tar archive. Leaves: its files below a folder. Never: writes outside of that folder.
"""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath


def unpack(archive: Path, folder: Path) -> None:
    """Extract files and folders; refuse an archive with links or paths that lead out.

    Python has a filter for that since 3.11.4, and Debian 12 has 3.11.2.
    """
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(folder, filter="data")
            return
        for member in packed.getmembers():
            path = PurePosixPath(member.name)
            if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
                raise ValueError(f"{archive}: {member.name} is not a file or folder inside of it")
        packed.extractall(folder)  # noqa: S202 - every name was checked
