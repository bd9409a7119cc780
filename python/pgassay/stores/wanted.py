"""Which files of a run are read.

Enters: patterns of names below the run's directory. Leaves: what is fetched of a file.
Never: knows commands.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from pgassay.samples.layout import JOURNAL
from pgassay.samples.overview import HEAD_KEYS


@dataclass(frozen=True)
class Wanted:
    """The files of a run that are read whole, and the files of which the first kilobytes
    will do."""

    whole: tuple[str, ...] = ()
    """Patterns, in which `*` stands for any text, also for one with a slash."""
    heads: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    """Patterns of what is not read."""

    def is_whole(self, name: str) -> bool:
        """Returns whether all of a file is read."""
        return _matches(name, self.whole) and not _matches(name, self.but)

    def __or__(self, other: Wanted) -> Wanted:
        return Wanted(self.whole + other.whole, self.heads + other.heads)

    @property
    def has_other_folders(self) -> bool:
        """Whether anything but trials and files of the top folder is read."""
        return "*" in self.whole


EVERYTHING = Wanted(whole=("*",))
TO_ANALYSE = Wanted(whole=("*",), but=("analysis.json", "report.*"))
OVERVIEW = Wanted(whole=(JOURNAL,), heads=tuple(HEAD_KEYS))
"""What `samples.overview` reads."""


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
