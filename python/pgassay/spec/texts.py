"""Text of files that users name.

Enters: a path. Leaves: its text, or a SpecError with the file and the fix. Never: guesses an
encoding, or what the text means.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.errors import SpecError

BYTE_ORDER_MARK = "\ufeff"
"""Which some editors put before UTF-8; no part of the text, as for psql."""


def text_of(path: Path) -> str:
    """The text, line ends as they are, without a byte order mark."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise SpecError("there is no such file", file=str(path)) from None
    except OSError as error:
        raise SpecError(f"cannot be read: {error.strerror}", file=str(path)) from None
    return decoded(raw, str(path))


def decoded(raw: bytes, file: str) -> str:
    """The text of these bytes, read from `file`."""
    try:
        return raw.decode("utf-8").removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SpecError(f"is not UTF-8 text (line {line}); save it as UTF-8", file=file) from None
