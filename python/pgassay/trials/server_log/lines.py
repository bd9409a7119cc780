"""Whole lines out of a file that is read in pieces.

Enters: bytes as they are read. Leaves: lines without their ends. Never: keeps a line longer than
any that is understood; its rest is passed over, and counted by whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterator

LONGEST_LINE = 1 << 20


class LineBuffer:
    """Cuts pieces into lines; a line without its end waits for the next piece."""

    def __init__(self) -> None:
        self._rest = b""
        self._passing_over = False
        self.too_long = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that end in these bytes."""
        *whole, rest = (self._rest + data).split(b"\n")
        for line in whole:
            if self._passing_over:
                self._passing_over = False
            else:
                yield line.removesuffix(b"\r")
        self._rest = rest
        if len(rest) > LONGEST_LINE:
            self._rest = b""
            self.too_long += not self._passing_over
            self._passing_over = True

    def finish(self) -> bytes:
        """What the file ends with, after its last line end."""
        rest, self._rest, self._passing_over = self._rest, b"", False
        return rest
