"""What a log gains from now on, across rotation.

Enters: a way to the log's files. Leaves: pieces of them, in order, with a sign where a file ends.
Never: reads more than its bound at a time, or a file that is not of this log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pgassay.trials.server_log.log_files import FileState, LogFiles, LogUnreadable

PIECE = 1 << 20
MOST_AT_A_TIME = 32 << 20


class LogFollower:
    """Reads what is added to a log; it remembers how far each file was read, and begins at the end
    of what is there now.

    Raises LogUnreadable.
    """

    def __init__(
        self,
        files: LogFiles,
        first: str,
        *,
        rotates_to: re.Pattern[str] | None,
        truncates: bool,
        most: int = MOST_AT_A_TIME,
    ) -> None:
        self._files, self._reading = files, first
        self._rotates_to, self._truncates, self._most = rotates_to, truncates, most
        with files.opened() as opened:
            self._listed = dict(opened.listing())
        if first not in self._listed:
            raise LogUnreadable(f"{first} is not among the files of its directory")
        self._read_to = {name: state.size for name, state in self._listed.items()}
        self.passed_over = 0
        """Bytes left unread because there were more than `most`."""
        self.cut_short = 0
        """How often the file that was read last was truncated or gone: another program
        than the server truncated or removed it, and what came between is not known."""

    def pieces(self) -> Iterator[bytes | None]:
        """Yields what was written since the last call, piece by piece; None after a file that is at
        its end.

        Raises LogUnreadable.
        """
        left = self._most
        with self._files.opened() as opened:
            listing = opened.listing()
            now = opened.current() or self._reading
            names = self._to_read(listing, now)
            if listing and self._reading not in (*listing, now):
                self.cut_short += 1
                yield None
            for name in names:
                position = self._begin_at(name, listing)
                if position < self._read_to.get(name, 0) and name == self._reading:
                    self.cut_short += 1
                    yield None
                # Kept step by step: where reading breaks off it goes on the next time.
                self._reading = name
                while left > 0:
                    self._read_to[name] = position
                    piece = opened.read(name, position, min(PIECE, left))
                    if not piece:
                        break
                    position += len(piece)
                    left -= len(piece)
                    yield piece
                size = listing[name].size if name in listing else position
                if left <= 0 and size > position:
                    self.passed_over += size - position
                    position = size
                    yield None
                elif name != now:
                    yield None
                self._read_to[name] = position
                if name in listing:
                    self._listed[name] = listing[name]
            self._listed, self._reading = dict(listing), now

    def _to_read(self, listing: Mapping[str, FileState], now: str) -> list[str]:
        """The file read last, those filled since, the present one."""
        filled = [
            name
            for name, state in listing.items()
            if name not in (self._reading, now)
            and self._rotates_to is not None
            and self._rotates_to.fullmatch(name)
            and self._listed.get(name) != state
        ]
        filled.sort(key=lambda name: listing[name].modified_ns)
        first = [self._reading] if self._reading in listing or not listing else []
        return list(dict.fromkeys([*first, *filled, now]))

    def _begin_at(self, name: str, listing: Mapping[str, FileState]) -> int:
        position = self._read_to.get(name, 0)
        if name in listing and listing[name].size < position:
            return 0  # it was begun anew
        if name != self._reading and self._truncates:
            return 0  # a name that comes round again
        return position


def file_name_pattern(log_filename: str, ending: str) -> re.Pattern[str]:
    """Returns a pattern of the names that log_filename gives at any time, for one form of the
    log."""
    base = log_filename.removesuffix(".log") + ending if ending != ".log" else log_filename
    parts = re.split(r"%[-_0^#]?[EO]?.", base)
    return re.compile(".+?".join(map(re.escape, parts)))
