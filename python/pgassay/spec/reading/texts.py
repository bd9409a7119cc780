"""Find and read text files that users name.

Enters: a path, or bytes in any encoding. Leaves: the text, or a SpecError with the file and the
fix. Never: guesses an encoding or interprets the text.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from pgassay.refusals.refusal import Refusal
from pgassay.spec.reading.suggest import did_you_mean

BYTE_ORDER_MARK = "\ufeff"
"""Some editors write it at the start of UTF-8 files; psql drops it too."""


def path_from(text: str, beside: Path) -> Path:
    """Returns the path that a file in the folder `beside` means by a text; `~` is a home
    directory."""
    try:
        return beside / Path(text).expanduser()
    except RuntimeError:
        return beside / text  # no such user: then it is a name like any other


_MOST_LOOKED_AT = 1_000
_MOST_NAMED = 3
Roots = tuple[Path, ...]
"""Folders that files may be read in; none for any place."""


def is_file(path: Path) -> bool:
    """Returns whether a path is a file; a name that is too long or has a zero byte is none."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises for too long a name


def near_files(path: Path, roots: Roots) -> str:
    """Returns a clause that names files of the same kind beside a missing one whose names are like
    its own; an empty text where there are none."""
    if not may_read(path, roots):
        return ""
    try:
        found = [one.name for one in islice(os.scandir(path.parent), _MOST_LOOKED_AT)]
    except (OSError, ValueError):
        return ""
    stems = {one.stem: shown(one.name) for one in map(Path, found) if one.suffix == path.suffix}
    near = [stems[stem] for stem in get_close_matches(path.stem, stems, n=_MOST_NAMED)]
    return did_you_mean(shown(path.name), near)


def text_of(path: Path, roots: Roots = ()) -> str:
    """Returns the text of a file with its line ends, without a byte order mark; raises
    SpecError."""
    return decoded(bytes_of(path, roots), str(path))


def bytes_of(path: Path, roots: Roots = ()) -> bytes:
    """Returns the bytes of a file that an experiment names; raises SpecError."""
    if not may_read(path, roots):
        raise Refusal("outside-of-the-folder").in_file(str(path))
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Refusal("file-missing", near=near_files(path, roots)).in_file(str(path)) from None
    except OSError as error:
        raise Refusal("file-unreadable", why=error.strerror).in_file(str(path)) from None
    except ValueError:
        raise Refusal("zero-byte-in-name").in_file(str(path)) from None


def shown(text: bytes | str) -> str:
    """The text for people and for files in UTF-8: each byte that is not UTF-8 by its number, as in
    `caf\\xe9`. In a `str` such bytes are those that Python could not decode of an argument."""
    raw = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return raw.decode("utf-8", "backslashreplace")


def may_read(path: Path, roots: Roots) -> bool:
    """Returns whether a file lies in one of these folders, if there are any."""
    real = Path(os.path.realpath(path))
    return not roots or any(real.is_relative_to(os.path.realpath(root)) for root in roots)


def decoded(raw: bytes, file: str) -> str:
    """Returns the text of bytes that were read from `file`; raises SpecError where they are no
    UTF-8."""
    try:
        return raw.decode("utf-8").removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise Refusal("not-utf8", line=line).in_file(file) from None
