"""Only what a log gains is read, wherever rotation takes it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pgassay.server.hosts.local import HERE
from pgassay.trials.server_log.follow import LogFollower, file_name_pattern
from pgassay.trials.server_log.log_files import HostFiles, LogUnreadable

WEEKDAYS = file_name_pattern("postgresql-%a.log", ".log")


class Folder:
    """A log directory under a test's hand."""

    def __init__(self, path: Path, current: str) -> None:
        self.path, self.current = path, current
        self._ticks = 1_700_000_000

    def write(self, name: str, text: str, mode: str = "a") -> None:
        with (self.path / name).open(mode) as file:
            file.write(text)
        self._ticks += 1
        os.utime(self.path / name, (self._ticks, self._ticks))

    def follow(self, *, truncates: bool = False, most: int = 1 << 20) -> LogFollower:
        files = HostFiles(HERE, self.path, os.geteuid(), lambda: self.current)
        return LogFollower(files, self.current, rotates_to=WEEKDAYS, truncates=truncates, most=most)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path, "postgresql-Mon.log")
    made.write("postgresql-Mon.log", "before\n")
    return made


def read(follower: LogFollower) -> list[bytes | None]:
    return list(follower.pieces())


def test_what_was_there_is_passed_over(folder: Folder) -> None:
    follower = folder.follow()
    folder.write("postgresql-Mon.log", "after\n")
    assert read(follower) == [b"after\n"]
    assert read(follower) == []
    folder.write("postgresql-Mon.log", "more\n")
    assert read(follower) == [b"more\n"]


def test_a_file_that_is_gone_before_its_end_was_read_is_counted(folder: Folder) -> None:
    follower = folder.follow()
    folder.write("postgresql-Mon.log", "end of mon")
    assert read(follower) == [b"end of mon"]
    folder.write("postgresql-Mon.log", "day\n")
    folder.write("postgresql-Tue.log", "tuesday\n")
    (folder.path / "postgresql-Mon.log").unlink()
    folder.current = "postgresql-Tue.log"
    # Half a line of the one is not joined to the other.
    assert read(follower) == [None, b"tuesday\n"]
    assert follower.cut_short == 1
    assert read(follower) == []
    assert follower.cut_short == 1


def test_rotation_is_followed_through_every_file_in_order(folder: Folder) -> None:
    follower = folder.follow()
    folder.write("postgresql-Mon.log", "end of monday\n")
    folder.write("postgresql-Tue.log", "all of tuesday\n")
    folder.write("postgresql-Wed.log", "wednesday\n")
    folder.write("other-Tue.log", "not ours\n")
    folder.current = "postgresql-Wed.log"
    assert read(follower) == [b"end of monday\n", None, b"all of tuesday\n", None, b"wednesday\n"]
    folder.write("postgresql-Wed.log", "on\n")
    assert read(follower) == [b"on\n"]


@pytest.mark.parametrize(("truncates", "mode"), [(True, "w"), (False, "a")])
def test_a_name_that_comes_round_again_is_read_from_where_it_was_begun(
    folder: Folder, truncates: bool, mode: str
) -> None:
    folder.write("postgresql-Tue.log", "last week\n")
    follower = folder.follow(truncates=truncates)
    folder.write("postgresql-Tue.log", "this week, longer\n", mode)
    folder.current = "postgresql-Tue.log"
    assert read(follower) == [None, b"this week, longer\n"]


def test_a_truncated_file_is_read_from_its_start_and_counted(folder: Folder) -> None:
    """As logrotate's copytruncate does."""
    follower = folder.follow()
    assert follower.cut_short == 0
    folder.write("postgresql-Mon.log", "new\n", "w")
    # What was held back of the old file does not go on in the new one.
    assert read(follower) == [None, b"new\n"]
    assert follower.cut_short == 1
    folder.write("postgresql-Mon.log", "more\n")
    assert read(follower) == [b"more\n"]
    assert follower.cut_short == 1


def test_a_file_that_is_gone_is_named_in_the_error(folder: Folder) -> None:
    follower = folder.follow()
    (folder.path / "postgresql-Mon.log").unlink()
    with pytest.raises(LogUnreadable, match=r"Mon\.log of this host: No such file"):
        read(follower)


@pytest.mark.parametrize("truncates", [True, False])
def test_after_a_file_that_could_not_be_read_nothing_is_read_twice(
    folder: Folder, truncates: bool
) -> None:
    follower = folder.follow(truncates=truncates)
    folder.write("postgresql-Mon.log", "end of monday\n")
    folder.write("postgresql-Tue.log", "tuesday\n")
    folder.write("postgresql-Wed.log", "wednesday\n")
    folder.current = "postgresql-Wed.log"
    aside = (folder.path / "postgresql-Wed.log").rename(folder.path / "aside")
    pieces = follower.pieces()
    assert [next(pieces) for _ in range(4)] == [b"end of monday\n", None, b"tuesday\n", None]
    with pytest.raises(LogUnreadable):
        next(pieces)
    aside.rename(folder.path / "postgresql-Wed.log")
    assert read(follower) == [b"wednesday\n"]


def test_a_link_to_somebody_elses_file_is_not_followed(folder: Folder) -> None:
    follower = folder.follow()
    (folder.path / "postgresql-Mon.log").unlink()
    (folder.path / "postgresql-Mon.log").symlink_to("/etc/passwd")
    with pytest.raises(LogUnreadable):
        read(follower)


def test_no_more_than_the_limit_is_read_and_the_rest_is_counted(folder: Folder) -> None:
    follower = folder.follow(most=10)
    folder.write("postgresql-Mon.log", "0123456789abcdef")
    assert read(follower) == [b"0123456789", None]
    assert follower.passed_over == 6
    folder.write("postgresql-Mon.log", "next")
    assert read(follower) == [b"next"]


@pytest.mark.parametrize(
    ("setting", "ending", "name"),
    [
        ("postgresql-%Y-%m-%d_%H%M%S.log", ".log", "postgresql-2026-11-21_193142.log"),
        ("postgresql-%Y-%m-%d_%H%M%S.log", ".csv", "postgresql-2026-11-21_193142.csv"),
        ("pg.%a", ".json", "pg.Mon.json"),
        ("server.log", ".json", "server.json"),
    ],
)
def test_log_filename_is_understood(setting: str, ending: str, name: str) -> None:
    pattern = file_name_pattern(setting, ending)
    assert pattern.fullmatch(name)
    assert not pattern.fullmatch(f"x{name}")
    assert isinstance(pattern, re.Pattern)
